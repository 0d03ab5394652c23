//! What `--dtb` names. A tree that is accepted, with what the command line puts into it, is one again.

use machine::Topology;
use machine::fdt::{self, Additions, Description, Firmware, Hypervisor, Monitors};

use crate::{Input, Target};

pub const TARGET: Target = Target { name: "devicetree", run, seeds };

fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let additions = Additions {
        bootargs: input.of(&[None, Some(""), Some("console=ttyAMA0")]),
        initrd: input.of(&[None, Some((0x4800_0000, 0x4900_0000)), Some((0, 0))]).map(|(start, end)| start..end),
        memory: 16 << 20,
    };
    let blob = input.rest();
    let text = fdt::dump(blob);
    match fdt::complete(blob, &additions) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(whole) => {
            assert!(text.is_ok(), "a tree that is accepted has a text");
            fdt::dump(&whole).expect("a tree that was completed is one");
            assert_eq!(fdt::complete(&whole, &additions).as_deref(), Ok(whole.as_slice()), "nothing is added twice");
        }
    }
}

/// A blob of these structure words and strings.
fn blob(structure: &[u32], strings: &[u8]) -> Vec<u8> {
    let (at, len) = (56, structure.len() as u32 * 4);
    let strings_at = at + len;
    let header =
        [0xd00d_feed, strings_at + strings.len() as u32, at, strings_at, 40, 17, 16, 0, strings.len() as u32, len];
    let words = header.iter().chain(&[0; 4]).chain(structure);
    let mut bytes: Vec<u8> = words.flat_map(|word| word.to_be_bytes()).collect();
    bytes.extend(strings);
    bytes
}

fn seeds() -> Vec<Vec<u8>> {
    let topology = Topology::default();
    let generated = fdt::generate(&Description {
        preset: "cortex-a57",
        cpus: 2,
        memory: 16 << 20,
        topology: &topology,
        bootargs: "quiet",
        initrd: Some(0x4800_0000..0x4800_1000),
        hypervisor: Hypervisor::Present,
        monitors: Monitors::Present,
        firmware: Firmware::Started,
        controller: machine::Controller::default(),
        seed: 0,
    });
    let name = |text: &[u8; 4]| u32::from_be_bytes(*text);
    let trees = [
        generated,
        // Nothing but a root.
        blob(&[1, 0, 2, 9], b""),
        // The root's cells, memory without its kind, a chosen with a command line.
        blob(
            &[
                1,
                0,
                3,
                4,
                0,
                1,
                1,
                name(b"memo"),
                name(b"ry\0\0"),
                2,
                1,
                name(b"chos"),
                name(b"en\0\0"),
                3,
                4,
                15,
                name(b"ab\0\0"),
                2,
                2,
                9,
            ],
            b"#address-cells\0bootargs\0",
        ),
    ];
    trees
        .into_iter()
        .flat_map(|tree| [[&[0, 0], tree.as_slice()].concat(), [&[2, 1], tree.as_slice()].concat()])
        .collect()
}
