//! `cargo xtask layers`: arrows between our crates point down only.

use anyhow::{Result, bail};

use crate::metadata::{Metadata, Package};

/// Layer of each crate in tenths, so that crates of one floor of the house that may use each other
/// have an order too: `event` stands on `arch`, `sem` on `ir`, `cpu` on `mmu`, the disk on its transport.
const LAYERS: &[(&str, u32)] = &[
    ("vambrace-arch", 0),
    ("vambrace-event", 5),
    ("vambrace-symbols", 5),
    ("vambrace-snapshot", 8),
    ("vambrace-ir", 10),
    ("vambrace-bus", 10),
    ("vambrace-sem", 15),
    ("vambrace-mmu", 20),
    ("vambrace-cpu", 25),
    ("vambrace-jit", 30),
    ("vambrace-gic", 30),
    ("vambrace-pl011", 30),
    ("vambrace-pl031", 30),
    ("vambrace-pl061", 30),
    ("vambrace-pflash", 30),
    ("vambrace-fw-cfg", 30),
    ("vambrace-virtio-mmio", 30),
    ("vambrace-virtio-blk", 35),
    ("vambrace-virtio-rng", 35),
    ("vambrace-virtio-net", 35),
    ("vambrace-virtio-vsock", 35),
    ("vambrace-virtio-9p", 35),
    ("vambrace-virtio-console", 35),
    ("vambrace-machine", 40),
    ("vambrace-profile", 50),
    ("vambrace-rules", 50),
    ("vambrace-lab", 50),
    ("vambrace", 60),
    // The kernel is a house of its own, on the same facts.
    ("vambrace-kernel-hal", 10),
    ("vambrace-kernel-core", 20),
    ("vambrace-kernel-image", 30),
    ("vambrace-kernel-model-core", 5),
    ("vambrace-kernel-models", 20),
    // Beside the house: they may use all of it, and none of it uses them.
    ("vambrace-oracle", SIDE),
    ("vambrace-fuzz", SIDE),
    ("xtask", SIDE),
];

const SIDE: u32 = 100;

/// Runs the task.
pub fn run() -> Result<()> {
    let metadata = Metadata::load()?;
    let members: Vec<&Package> = metadata.members().collect();
    let wrong = violations(&members, LAYERS);
    for line in &wrong {
        eprintln!("layers: {line}");
    }
    if !wrong.is_empty() {
        bail!("{} arrow(s) between crates do not point down; the table is in {}", wrong.len(), file!());
    }
    println!("layers: {} crates, all arrows point down", members.len());
    Ok(())
}

/// Each unknown crate and each dependency (dev-dependencies aside: tests may reach anywhere) that
/// does not point to a lower layer.
fn violations(members: &[&Package], layers: &[(&str, u32)]) -> Vec<String> {
    let layer = |name: &str| layers.iter().find(|(known, _)| *known == name).map(|(_, layer)| *layer);
    let mut wrong = Vec::new();
    for member in members {
        let Some(from) = layer(&member.name) else {
            wrong.push(format!("{} has no layer", member.name));
            continue;
        };
        for dependency in &member.dependencies {
            let is_ours = members.iter().any(|other| other.name == dependency.name);
            if !is_ours || dependency.kind.as_deref() == Some("dev") {
                continue;
            }
            // One without a layer is reported as a member.
            let Some(to) = layer(&dependency.name) else { continue };
            if to >= from {
                wrong.push(format!(
                    "{} (layer {}.{}) uses {} (layer {}.{})",
                    member.name,
                    from / 10,
                    from % 10,
                    dependency.name,
                    to / 10,
                    to % 10
                ));
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    fn package(name: &str, uses: &[(&str, Option<&str>)]) -> Package {
        Package {
            id: name.into(),
            name: name.into(),
            version: "0".into(),
            license: None,
            dependencies: uses
                .iter()
                .map(|(name, kind)| Dependency { name: (*name).into(), kind: kind.map(str::to_owned) })
                .collect(),
        }
    }

    #[test]
    fn arrows_up_and_sideways_are_found() {
        let packages = [
            package("low", &[("high", None), ("serde", None)]),
            package("high", &[("low", None), ("peer", Some("build"))]),
            package("peer", &[("high", Some("dev"))]),
        ];
        let members: Vec<&Package> = packages.iter().collect();
        let layers = [("low", 0), ("high", 10), ("peer", 10)];
        assert_eq!(
            violations(&members, &layers),
            ["low (layer 0.0) uses high (layer 1.0)", "high (layer 1.0) uses peer (layer 1.0)"]
        );
    }

    #[test]
    fn a_crate_without_a_layer_fails() {
        let packages = [package("new", &[])];
        let members: Vec<&Package> = packages.iter().collect();
        assert_eq!(violations(&members, LAYERS), ["new has no layer"]);
    }
}
