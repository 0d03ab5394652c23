//! Which CPUs are near each other, and near which memory: sockets, clusters and cores in MPIDR_EL1 and the device tree's
//! cpu-map; NUMA nodes and their distances in the device tree.

use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::config::{ConfigError, PAGE, parse_size};
use crate::map;

/// Most cores of a cluster: an SGI's target list (ICC_SGI1R_EL1.TargetList) has 16 bits.
const MAX_CORES: usize = 16;
/// The distance of a node to itself; others are farther.
const LOCAL: u8 = 10;
/// The distance of two nodes of which nothing was said.
const REMOTE: u8 = 20;

/// How the CPUs lie together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Sockets and clusters; `None`: clusters of 16 in Aff1, and the device tree says nothing.
    pub shape: Option<Shape>,
    /// NUMA nodes, in the order of their memory. None: there is one.
    pub nodes: Vec<Node>,
    /// Distances, both ways, of pairs of nodes.
    pub distances: Vec<Distance>,
}

/// Sockets, each of so many clusters, each of so many cores. CPUs are numbered through them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Sockets: Aff2.
    pub sockets: usize,
    /// Clusters of a socket: Aff1.
    pub clusters: usize,
}

/// A NUMA node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Bytes of memory, a multiple of the largest page.
    pub memory: u64,
    /// Its CPUs; none for memory alone.
    pub cpus: Option<RangeInclusive<usize>>,
}

/// How far two nodes are from each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distance {
    /// The nodes.
    pub between: (usize, usize),
    /// 11 to 254; 10 is near.
    pub is: u8,
}

impl FromStr for Shape {
    type Err = ConfigError;

    /// `sockets=S`, `clusters=C` or both with a comma between.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let mut shape = Self { sockets: 1, clusters: 1 };
        for word in text.split(',') {
            let count = word.split_once('=').and_then(|(name, count)| Some((name, count.parse().ok()?)));
            match count.filter(|(_, count)| (1..=map::MAX_CPUS).contains(count)) {
                Some(("sockets", count)) => shape.sockets = count,
                Some(("clusters", count)) => shape.clusters = count,
                _ => return Err(ConfigError::TopologySyntax(text.to_owned())),
            }
        }
        Ok(shape)
    }
}

impl FromStr for Node {
    type Err = ConfigError;

    /// `memory=SIZE[,cpus=A-B]`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let error = || ConfigError::NumaSyntax(text.to_owned());
        let (mut memory, mut cpus) = (None, None);
        for word in text.split(',') {
            match word.split_once('=') {
                Some(("memory", size)) => memory = parse_size(size),
                Some(("cpus", range)) => {
                    let (first, last) = range.split_once('-').unwrap_or((range, range));
                    let (first, last) = (first.parse().map_err(|_| error())?, last.parse().map_err(|_| error())?);
                    cpus = Some(first..=last);
                }
                _ => return Err(error()),
            }
        }
        let is_good = |bytes: &u64| *bytes != 0 && bytes.is_multiple_of(PAGE);
        let memory = memory.filter(is_good).ok_or_else(error)?;
        if cpus.as_ref().is_some_and(RangeInclusive::is_empty) {
            return Err(error());
        }
        Ok(Self { memory, cpus })
    }
}

impl FromStr for Distance {
    type Err = ConfigError;

    /// `A:B=D`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let parse = || {
            let (nodes, is) = text.split_once('=')?;
            let (a, b) = nodes.split_once(':')?;
            let (between, is) = ((a.parse().ok()?, b.parse().ok()?), is.parse().ok()?);
            (between.0 != between.1 && (LOCAL + 1..u8::MAX).contains(&is)).then_some(Self { between, is })
        };
        parse().ok_or_else(|| ConfigError::DistanceSyntax(text.to_owned()))
    }
}

impl Topology {
    /// Does it fit `cpus` CPUs and `memory` bytes?
    pub fn validate(&self, cpus: usize, memory: u64) -> Result<(), ConfigError> {
        let wrong = |reason: String| Err(ConfigError::Topology(reason));
        if let Some(Shape { sockets, clusters }) = self.shape {
            let all = sockets.saturating_mul(clusters);
            if all == 0 || !cpus.is_multiple_of(all) {
                return wrong(format!(
                    "--cpus {cpus} is not a multiple of {sockets} sockets times {clusters} clusters"
                ));
            }
            if cpus / all > MAX_CORES {
                return wrong(format!("a cluster of {} CPUs; it has at most {MAX_CORES}", cpus / all));
            }
            if clusters > 256 || sockets > 256 {
                return wrong("more than 256 clusters or sockets".to_owned());
            }
        }
        if let Some(far) = self.distances.iter().find(|d| d.between.0.max(d.between.1) >= self.nodes.len()) {
            return wrong(format!("--numa-distance {}:{}: there is no such node", far.between.0, far.between.1));
        }
        if self.nodes.is_empty() {
            return Ok(());
        }
        // Sizes of a terabyte and more fit; their sum might not.
        let sum = self.nodes.iter().try_fold(0u64, |sum, node| sum.checked_add(node.memory));
        if sum != Some(memory) {
            return wrong(format!("the --numa nodes do not have the {memory} bytes of --memory together"));
        }
        for cpu in 0..cpus {
            let count = self.nodes.iter().filter(|node| node.has(cpu)).count();
            if count != 1 {
                return wrong(format!(
                    "CPU {cpu} is in {count} --numa nodes, not in one; say which CPUs a node has with ,cpus=A-B"
                ));
            }
        }
        if let Some(last) = self.nodes.iter().filter_map(|node| node.cpus.as_ref()).map(|c| *c.end()).max()
            && last >= cpus
        {
            return wrong(format!("a --numa node has CPU {last}; there are {cpus}"));
        }
        Ok(())
    }

    /// Socket, cluster and core of CPU `index` of `cpus`, where the user named a shape.
    pub fn place(&self, index: usize, cpus: usize) -> Option<(usize, usize, usize)> {
        let Shape { sockets, clusters } = self.shape?;
        let cores = (cpus / (sockets * clusters)).max(1);
        Some((index / (cores * clusters), index / cores % clusters, index % cores))
    }

    /// The affinity of CPU `index` of `cpus`: socket, cluster and core in Aff2, Aff1 and Aff0.
    pub fn affinity(&self, index: usize, cpus: usize) -> u64 {
        match self.place(index, cpus) {
            Some((socket, cluster, core)) => (socket << 16 | cluster << 8 | core) as u64,
            None => map::affinity(index),
        }
    }

    /// The node of CPU `cpu`, where there are nodes.
    pub fn node_of(&self, cpu: usize) -> Option<usize> {
        self.nodes.iter().position(|node| node.has(cpu))
    }

    /// How far node `a` is from node `b`.
    pub fn distance(&self, a: usize, b: usize) -> u8 {
        let between = |d: &&Distance| d.between == (a, b) || d.between == (b, a);
        match self.distances.iter().rfind(between) {
            _ if a == b => LOCAL,
            Some(distance) => distance.is,
            None => REMOTE,
        }
    }
}

impl Node {
    fn has(&self, cpu: usize) -> bool {
        self.cpus.as_ref().is_some_and(|cpus| cpus.contains(&cpu))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topology(shape: &str, nodes: &[&str], distances: &[&str]) -> Topology {
        Topology {
            shape: (!shape.is_empty()).then(|| shape.parse().unwrap()),
            nodes: nodes.iter().map(|text| text.parse().unwrap()).collect(),
            distances: distances.iter().map(|text| text.parse().unwrap()).collect(),
        }
    }

    #[test]
    fn sockets_and_clusters_are_affinities() {
        let two = topology("sockets=2,clusters=2", &[], &[]);
        let affinities: Vec<u64> = (0..8).map(|cpu| two.affinity(cpu, 8)).collect();
        assert_eq!(affinities, [0, 1, 0x100, 0x101, 0x1_0000, 0x1_0001, 0x1_0100, 0x1_0101]);
        let none = Topology::default();
        assert_eq!([0, 17].map(|cpu| none.affinity(cpu, 32)), [0, 0x101]);
        assert!(two.validate(8, 1 << 30).is_ok());
        for (shape, cpus) in [("sockets=3", 8), ("sockets=2", 64), ("clusters=2,sockets=8", 8)] {
            assert!(topology(shape, &[], &[]).validate(cpus, 1 << 30).is_err(), "{shape} {cpus}");
        }
        for bad in ["", "sockets", "sockets=0", "sockets=x", "cores=4", "sockets=2,", "sockets=513"] {
            assert!(bad.parse::<Shape>().is_err(), "{bad}");
        }
    }

    #[test]
    fn nodes_have_all_cpus_and_all_memory() {
        let nodes = ["memory=512M,cpus=0-1", "cpus=2-3,memory=256M", "memory=256M"];
        let three = topology("", &nodes, &["0:1=15", "2:0=40"]);
        assert!(three.validate(4, 1 << 30).is_ok());
        assert_eq!([0, 1, 2, 3, 4].map(|cpu| three.node_of(cpu)), [Some(0), Some(0), Some(1), Some(1), None]);
        assert_eq!([(0, 0), (0, 1), (1, 0), (0, 2), (2, 1)].map(|(a, b)| three.distance(a, b)), [10, 15, 15, 40, 20]);
        for (cpus, memory) in [(4, 2 << 30), (3, 1 << 30), (5, 1 << 30)] {
            assert!(three.validate(cpus, memory).is_err(), "{cpus} {memory}");
        }
        assert!(topology("", &["memory=1G,cpus=0-3", "memory=1G,cpus=3-4"], &[]).validate(5, 2 << 30).is_err());
        assert!(topology("", &["memory=1G,cpus=0"], &["0:1=20"]).validate(1, 1 << 30).is_err());
        for bad in ["", "memory=1G,cpus=2-1", "memory=0", "memory=1000", "cpus=1", "memory=1G,cpus=x", "size=1G"] {
            assert!(bad.parse::<Node>().is_err(), "{bad}");
        }
        for bad in ["", "0:1", "0:1=10", "0:1=255", "0:0=20", "0,1=20", "a:1=20"] {
            assert!(bad.parse::<Distance>().is_err(), "{bad}");
        }
    }
}
