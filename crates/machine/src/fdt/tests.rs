use dtoolkit::fdt::Fdt;
use dtoolkit::{Node, Property};
use proptest::prelude::*;

use super::*;

static PLAIN: Topology = Topology { shape: None, nodes: Vec::new(), distances: Vec::new() };

fn description() -> Description<'static> {
    Description {
        preset: "cortex-a57",
        cpus: 4,
        memory: 1 << 30,
        topology: &PLAIN,
        bootargs: "console=ttyAMA0 quiet",
        initrd: Some(0x4800_0000..0x4810_0123),
        seed: 7,
        hypervisor: Hypervisor::Absent,
        monitors: Monitors::Present,
        firmware: Firmware::StoodInFor,
        controller: Controller::default(),
    }
}

fn value(blob: &[u8], path: &str, property: &str) -> Vec<u8> {
    let fdt = Fdt::new(blob).unwrap();
    let node = fdt.find_node(path).unwrap_or_else(|| panic!("no node {path}"));
    node.property(property).unwrap_or_else(|| panic!("no {property} in {path}")).value().to_vec()
}

fn words(blob: &[u8], path: &str, property: &str) -> Vec<u32> {
    value(blob, path, property).chunks(4).map(|c| u32::from_be_bytes(c.try_into().unwrap())).collect()
}

#[test]
fn the_board() {
    let blob = generate(&description());
    assert_eq!(value(&blob, "/", "compatible"), b"linux,dummy-virt\0");
    assert_eq!(words(&blob, "/memory@40000000", "reg"), [0, 0x4000_0000, 0, 0x4000_0000]);
    assert_eq!(value(&blob, "/chosen", "bootargs"), b"console=ttyAMA0 quiet\0");
    assert_eq!(value(&blob, "/chosen", "stdout-path"), b"/pl011@9000000\0");
    assert_eq!(words(&blob, "/chosen", "linux,initrd-start"), [0, 0x4800_0000]);
    assert_eq!(words(&blob, "/chosen", "linux,initrd-end"), [0, 0x4810_0123]);
    assert_eq!(words(&blob, "/intc@8000000", "reg"), [0, 0x800_0000, 0, 0x1_0000, 0, 0x80a_0000, 0, 0x8_0000]);
    assert_eq!(words(&blob, "/pl011@9000000", "interrupts"), [0, 1, 4]);
    assert_eq!(words(&blob, "/virtio_mmio@a003e00", "interrupts"), [0, 47, 4]);
    assert_eq!(words(&blob, "/timer", "interrupts"), [1, 13, 4, 1, 14, 4, 1, 11, 4, 1, 10, 4]);
    assert_eq!(words(&blob, "/pmu", "interrupts"), [1, 7, 4]);
    assert_eq!(value(&blob, "/psci", "method"), b"hvc\0");
    assert_eq!(value(&blob, "/cpus/cpu@3", "compatible"), b"arm,cortex-a57\0");
}

#[test]
fn seeds_follow_from_the_seed() {
    let chosen = |seed| {
        let blob = generate(&Description { seed, ..description() });
        (value(&blob, "/chosen", "rng-seed"), value(&blob, "/chosen", "kaslr-seed"))
    };
    assert_eq!(chosen(1), chosen(1));
    assert_ne!(chosen(1).0, chosen(2).0);
    assert_ne!(chosen(1).1, chosen(2).1);
    assert_eq!((chosen(1).0.len(), chosen(1).1.len()), (32, 8));
}

#[test]
fn many_cpus() {
    let blob = generate(&Description { cpus: 512, initrd: None, bootargs: "", ..description() });
    assert!((blob.len() as u64) < MAX_DTB);
    let fdt = Fdt::new(&blob).unwrap();
    let cpus = fdt.find_node("/cpus").unwrap();
    assert_eq!(cpus.children().count(), 512);
    assert_eq!(words(&blob, "/cpus/cpu@1f0f", "reg"), [0x1f0f]);
    assert_eq!(words(&blob, "/intc@8000000", "#redistributor-regions"), [2]);
    assert_eq!(words(&blob, "/intc@8000000", "reg")[8..], [64, 0, 0, 389 * 0x2_0000]);
    let chosen = fdt.find_node("/chosen").unwrap();
    assert!(chosen.property("bootargs").is_none() && chosen.property("linux,initrd-start").is_none());
}

#[test]
fn text() {
    let text = dump(&generate(&description())).unwrap();
    assert!(text.contains("pl011@9000000 {") && text.contains("enable-method"), "{text}");
}

const NOTHING: Additions<'static> = Additions { bootargs: None, initrd: None, memory: 1 << 30 };

#[test]
fn a_users_tree_is_completed() {
    let user = generate(&Description { initrd: None, ..description() });
    let kept = complete(&user, &NOTHING).unwrap();
    assert_eq!(value(&kept, "/chosen", "bootargs"), b"console=ttyAMA0 quiet\0");
    assert_eq!(words(&kept, "/memory@40000000", "reg"), [0, 0x4000_0000, 0, 0x4000_0000]);

    let additions = Additions { bootargs: Some("debug"), initrd: Some(0x4200_0000..0x4200_1000), ..NOTHING };
    let changed = complete(&user, &additions).unwrap();
    assert_eq!(value(&changed, "/chosen", "bootargs"), b"debug\0");
    assert_eq!(words(&changed, "/chosen", "linux,initrd-end"), [0, 0x4200_1000]);
    assert_eq!(words(&changed, "/memory@40000000", "reg"), words(&user, "/memory@40000000", "reg"));
    assert_eq!(value(&changed, "/chosen", "kaslr-seed"), value(&user, "/chosen", "kaslr-seed"));
}

#[test]
fn a_tree_without_memory_and_chosen_gets_them() {
    let mut tree = DeviceTree::new();
    tree.root = Builder::new("").set("#address-cells", 1u32).set("#size-cells", 1u32).0;
    let blob = complete(&tree.to_dtb(), &Additions { bootargs: Some("x"), ..NOTHING }).unwrap();
    assert_eq!(words(&blob, "/memory@40000000", "reg"), [0x4000_0000, 0x4000_0000]);
    assert_eq!(value(&blob, "/chosen", "bootargs"), b"x\0");
}

/// Memory that is not there is refused; how RAM is divided among nodes is not looked at, nor what is switched off.
#[test]
fn memory_that_is_not_in_ram_is_refused() {
    let tree = |cells: [u32; 2], reg: &[u32], status: Option<&str>| {
        let mut tree = DeviceTree::new();
        tree.root = Builder::new("").set("#address-cells", cells[0]).set("#size-cells", cells[1]).0;
        let reg: Vec<u8> = reg.iter().flat_map(|word| word.to_be_bytes()).collect();
        let mut node = Builder::new("memory@40000000").set("device_type", "memory").set("reg", reg);
        if let Some(status) = status {
            node = node.set("status", status);
        }
        tree.root.add_child(node.0);
        complete(&tree.to_dtb(), &NOTHING)
    };
    let ram = 0x4000_0000;
    assert!(tree([1, 1], &[ram, 1 << 29, ram + (1 << 29), 1 << 29], None).is_ok());
    assert!(tree([2, 2], &[1, 0, 0, 0], None).is_ok(), "of no size");
    assert!(tree([1, 1], &[0, 4096], Some("disabled")).is_ok());
    for reg in [[ram, (1 << 30) + 1], [ram - 1, 1], [0, u32::MAX], [u32::MAX, u32::MAX]] {
        assert!(matches!(tree([1, 1], &reg, Some("okay")), Err(DtbError::MemoryOutsideRam { .. })), "{reg:x?}");
    }
    let words = [u32::MAX; 8];
    assert!(matches!(tree([4, 4], &words, None), Err(DtbError::MemoryOutsideRam { .. })));
    assert_eq!(
        tree([2, 2], &words[..5], None),
        Err(DtbError::MemoryReg { node: "memory@40000000".into(), bytes: 20, entry: 16 })
    );
    for cells in [[0, 1], [5, 1], [2, 0], [2, u32::MAX]] {
        assert!(matches!(tree(cells, &[], None), Err(DtbError::Cells { .. })), "{cells:?}");
    }
}

#[test]
fn padding_after_the_tree_is_dropped() {
    let mut user = generate(&description());
    let before = complete(&user, &NOTHING).unwrap();
    user.extend([0xff; 100]);
    assert_eq!(complete(&user, &NOTHING).unwrap(), before);
}

#[test]
fn broken_trees() {
    let good = generate(&description());
    let with_word = |at: usize, word: u32| {
        let mut blob = good.clone();
        blob[at..at + 4].copy_from_slice(&word.to_be_bytes());
        complete(&blob, &NOTHING).unwrap_err()
    };
    assert_eq!(complete(&[], &NOTHING), Err(DtbError::NoHeader(0)));
    assert_eq!(complete(&good[..39], &NOTHING), Err(DtbError::NoHeader(39)));
    assert_eq!(with_word(0, 0xfeed_d00d), DtbError::Magic(0xfeed_d00d));
    let actual = good.len();
    assert_eq!(with_word(4, actual as u32 + 1), DtbError::Truncated { totalsize: actual as u32 + 1, actual });
    assert_eq!(with_word(4, u32::MAX), DtbError::TooLarge(u32::MAX.into()));
    // A totalsize within the header, blocks outside the blob, a version from the future.
    for (at, word) in [(4, 16), (8, u32::MAX), (12, actual as u32 + 4), (32, u32::MAX), (36, u32::MAX), (24, 99)] {
        assert!(matches!(with_word(at, word), DtbError::Malformed(_)), "{word:#x} at {at}");
    }
    let long = "x".repeat(MAX_DTB as usize);
    assert!(matches!(complete(&good, &Additions { bootargs: Some(&long), ..NOTHING }), Err(DtbError::TooLarge(_))));
}

#[test]
fn deep_nesting_is_refused() {
    // Written by hand: what builds a tree recurses.
    let levels = 150_000u32;
    let mut structure: Vec<u8> = Vec::new();
    structure.extend([0, 0, 0, 1, 0, 0, 0, 0]);
    (0..levels).for_each(|_| structure.extend([0, 0, 0, 1, b'n', 0, 0, 0]));
    (0..=levels).for_each(|_| structure.extend([0, 0, 0, 2]));
    structure.extend([0, 0, 0, 9]);
    let total = 56 + structure.len() as u32;
    let header = [0xd00d_feed, total, 56, total, 40, 17, 16, 0, 0, structure.len() as u32];
    let mut blob: Vec<u8> = header.iter().flat_map(|word| word.to_be_bytes()).collect();
    blob.extend([0; 16]);
    blob.extend(structure);
    assert_eq!(complete(&blob, &NOTHING), Err(DtbError::TooDeep));
    assert_eq!(dump(&blob), Err(DtbError::TooDeep));
}

proptest! {
    /// Whatever a blob holds, it is completed or refused.
    #[test]
    fn mutated_trees(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
                     cut in any::<prop::sample::Index>(), header in any::<bool>()) {
        let mut blob = generate(&Description { cpus: 2, ..description() });
        let range = if header { 40 } else { blob.len() };
        for (index, byte) in edits {
            blob[index.index(range)] = byte;
        }
        let _ = complete(&blob, &NOTHING);
        let _ = dump(&blob);
        blob.truncate(cut.index(blob.len()));
        let _ = complete(&blob, &NOTHING);
    }

    /// Structure blocks of random tokens.
    #[test]
    fn random_structures(tokens in prop::collection::vec(prop_oneof![1u32..5, Just(9), any::<u32>(), 0u32..64], 0..64)) {
        let total = 56 + 4 * tokens.len() as u32 + 16;
        let header = [0xd00d_feed, total, 56, total - 16, 40, 17, 16, 0, 16, 4 * tokens.len() as u32];
        let words = header.into_iter().chain([0; 4]).chain(tokens).chain([0x6162_6300; 4]);
        let blob: Vec<u8> = words.flat_map(u32::to_be_bytes).collect();
        let _ = complete(&blob, &NOTHING);
        let _ = dump(&blob);
    }
}

#[test]
fn topology() {
    let topology = Topology {
        shape: Some("sockets=2,clusters=2".parse().unwrap()),
        nodes: ["memory=256M,cpus=0-3", "memory=768M,cpus=4-7"].map(|text| text.parse().unwrap()).into(),
        distances: vec!["0:1=33".parse().unwrap()],
    };
    let blob = generate(&Description { cpus: 8, topology: &topology, ..description() });
    assert_eq!(words(&blob, "/cpus/cpu@10101", "reg"), [0x1_0101]);
    let last = words(&blob, "/cpus/cpu@10101", "phandle");
    assert_eq!(words(&blob, "/cpus/cpu-map/socket1/cluster1/core1", "cpu"), last);
    assert_eq!(words(&blob, "/cpus/cpu-map/socket0/cluster1/core0", "cpu"), words(&blob, "/cpus/cpu@100", "phandle"));
    let fdt = Fdt::new(&blob).unwrap();
    for (path, children) in [("/cpus/cpu-map", 2), ("/cpus/cpu-map/socket0", 2), ("/cpus/cpu-map/socket1/cluster0", 2)]
    {
        assert_eq!(fdt.find_node(path).unwrap().children().count(), children, "{path}");
    }
    assert_eq!(words(&blob, "/memory@40000000", "reg"), [0, 0x4000_0000, 0, 256 << 20]);
    assert_eq!(words(&blob, "/memory@50000000", "reg"), [0, 0x5000_0000, 0, 768 << 20]);
    assert_eq!(words(&blob, "/memory@50000000", "numa-node-id"), [1]);
    assert_eq!(words(&blob, "/cpus/cpu@1", "numa-node-id"), [0]);
    assert_eq!(words(&blob, "/distance-map", "distance-matrix"), [0, 0, 10, 0, 1, 33, 1, 0, 33, 1, 1, 10]);
}

#[test]
fn the_its() {
    let blob = generate(&description());
    assert!(Fdt::new(&blob).unwrap().find_node("/intc@8000000/its@8080000").is_none());
    let blob = generate(&Description {
        controller: Controller { its: Presence::Present, ..Controller::default() },
        ..description()
    });
    let its = "/intc@8000000/its@8080000";
    assert_eq!(value(&blob, its, "compatible"), b"arm,gic-v3-its\0");
    assert_eq!(words(&blob, its, "reg"), [0, 0x808_0000, 0, 0x2_0000]);
    assert_eq!((words(&blob, its, "#msi-cells"), value(&blob, its, "msi-controller")), (vec![1], vec![]));
}

#[test]
fn a_gic_v2() {
    let controller = Controller { version: GicVersion::V2, ..Controller::default() };
    let gic = "/intc@8000000";
    let mut reg = vec![0, 0x800_0000, 0, 0x1_0000, 0, 0x801_0000, 0, 0x1_0000];
    let blob = generate(&Description { controller, hypervisor: Hypervisor::Absent, ..description() });
    assert_eq!(words(&blob, gic, "reg"), reg);
    let node = Fdt::new(&blob).unwrap();
    let node = node.find_node(gic).unwrap();
    assert!(["#redistributor-regions", "interrupts"].iter().all(|name| node.property(name).is_none()));
    let blob = generate(&Description { controller, hypervisor: Hypervisor::Present, ..description() });
    assert_eq!(value(&blob, gic, "compatible"), b"arm,cortex-a15-gic\0");
    reg.extend([0, 0x803_0000, 0, 0x1_0000, 0, 0x804_0000, 0, 0x1_0000]);
    assert_eq!(words(&blob, gic, "reg"), reg);
    assert_eq!(words(&blob, gic, "#interrupt-cells"), [3]);
    assert_eq!(words(&blob, gic, "interrupts"), [1, 9, 0xf04]);
    // The third cell of a PPI has the CPUs, four here.
    assert_eq!(words(&blob, "/timer", "interrupts")[..6], [1, 13, 0xf04, 1, 14, 0xf04]);
    assert_eq!(words(&blob, "/pmu", "interrupts"), [1, 7, 0xf04]);
    assert_eq!(words(&blob, "/pl011@9000000", "interrupts"), [0, 1, 4]);
}

#[test]
fn the_power_button() {
    let blob = generate(&description());
    assert_eq!(words(&blob, "/pl061@9030000", "interrupts"), [0, 7, 4]);
    let gpios = words(&blob, "/gpio-keys/poweroff", "gpios");
    assert_eq!(gpios, [words(&blob, "/pl061@9030000", "phandle")[0], 3, 0]);
    assert_eq!(words(&blob, "/gpio-keys/poweroff", "linux,code"), [116]);
}
