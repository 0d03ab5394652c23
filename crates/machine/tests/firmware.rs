//! Code runs from flash memory, which it may change; what it writes is kept where the user said so, and nowhere else; snapshots
//! hold flash and the firmware's configuration.

mod common;

use std::fs;
use std::path::Path;

use common::{Kept, bytes, options};
use snapshot::{Reader, SnapshotError, Writer};
use vambrace_machine::config::{ConfigError, FirmwareConfig, VariableWrites, Variables};
use vambrace_machine::snapshots::maker;
use vambrace_machine::{Description, Machine, MachineConfig, Outcome, Semihosting, SetupError};

/// In the first bank: prints a byte that a subroutine in the second bank gives, has that changed by programming it, prints
/// what it gives then; prints the first item of the configuration device and the first byte of the device tree.
const CODE: &[u32] = &[
    0xd2a1_2002, // movz x2, #0x0900, lsl #16: the UART
    0xd2a0_8003, // movz x3, #0x0400, lsl #16: the second bank
    0xd63f_0060, // blr x3
    0x3900_0041, // strb w1, [x2]
    0x5280_0804, // mov w4, #0x40: word program
    0xb900_0064, // str w4, [x3]
    0x5281_8425, // movz w5, #0x0c21
    0x72aa_5005, // movk w5, #0x5280, lsl #16: movz w1, #'a'
    0xb900_0065, // str w5, [x3]
    0x5280_1fe4, // mov w4, #0xff: read array
    0xb900_0064, // str w4, [x3]
    0xd63f_0060, // blr x3
    0x3900_0041, // strb w1, [x2]
    0xd2a1_2046, // movz x6, #0x0902, lsl #16: the configuration device
    0x5280_0087, // mov w7, #4
    0x3940_00c1, // 1: ldrb w1, [x6]
    0x3900_0041, // strb w1, [x2]
    0x7100_04e7, // subs w7, w7, #1
    0x54ff_ffa1, // b.ne 1b
    0xd2a8_0007, // movz x7, #0x4000, lsl #16: RAM
    0x3940_00e1, // ldrb w1, [x7]
    0x3900_0041, // strb w1, [x2]
    0xd280_0100, // mov x0, #8
    0xf2b0_8000, // movk x0, #0x8400, lsl #16: SYSTEM_OFF
    0xd400_0002, // hvc #0
];

/// In the second bank.
const VARIABLES: &[u32] = &[
    0x5280_0fe1, // movz w1, #0x7f
    0xd65f_03c0, // ret
];

const PRINTED: &[u8] = b"\x7faQEMU\xd0";

fn config(dir: &Path, writes: VariableWrites) -> MachineConfig {
    let (code, path) = (dir.join("code.fd"), dir.join("vars.fd"));
    fs::write(&code, bytes(CODE)).unwrap();
    fs::write(&path, bytes(VARIABLES)).unwrap();
    let mut config = MachineConfig {
        firmware: Some(FirmwareConfig { code, variables: Some(Variables { path, writes }) }),
        memory: 16 << 20,
        max_insns: Some(10_000),
        ..Default::default()
    };
    config.cpu.features.push("el2=off".parse().unwrap());
    config
}

/// Runs to the end; the hash of the final state.
fn run(config: &MachineConfig) -> u64 {
    config.validate(None).unwrap();
    let console = Kept::default();
    let mut machine = Machine::from_config(config, options(&console)).unwrap();
    assert_eq!(machine.run(), Outcome::PoweredOff);
    assert_eq!(console.bytes(), PRINTED);
    machine.state_hash()
}

#[test]
fn code_in_flash_runs_and_changes() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path(), VariableWrites::Forgotten);
    assert_eq!(run(&config), run(&config));
    assert_eq!(fs::read(dir.path().join("vars.fd")).unwrap(), bytes(VARIABLES), "the file was not to be written");
}

#[test]
fn what_is_to_be_kept_is() {
    let dir = tempfile::tempdir().unwrap();
    run(&config(dir.path(), VariableWrites::Kept));
    let kept = fs::read(dir.path().join("vars.fd")).unwrap();
    assert_eq!(kept, bytes(&[0x5280_0c21, VARIABLES[1]]));
    assert_eq!(fs::read(dir.path().join("code.fd")).unwrap(), bytes(CODE));
}

#[test]
fn snapshots() {
    let dir = tempfile::tempdir().unwrap();
    for writes in [VariableWrites::Forgotten, VariableWrites::Kept] {
        let config = config(dir.path(), writes);
        let whole = run(&config);
        let file = fs::read(dir.path().join("vars.fd")).unwrap();
        fs::write(dir.path().join("vars.fd"), bytes(VARIABLES)).unwrap();
        // The pause comes at the end of a round: behind the whole program, but for its last instruction.
        let config = MachineConfig { pause: Some(1), ..config };
        let mut code = bytes(&CODE[..CODE.len() - 1]);
        code.extend(bytes(&[0xd503_207f, CODE[CODE.len() - 1]])); // wfi
        fs::write(dir.path().join("code.fd"), code).unwrap();
        let console = Kept::default();
        let mut machine = Machine::from_config(&config, options(&console)).unwrap();
        let outcome = machine.run();
        assert!(matches!(outcome, Outcome::Paused | Outcome::Stuck(_)), "{outcome:?}");
        let before = machine.state_hash();
        assert_ne!(before, whole);
        let mut writer = Writer::new(Vec::new(), maker()).unwrap();
        Description { config: config.clone(), semihosting: Semihosting::Off }.save(&mut writer).unwrap();
        machine.save(&mut writer).unwrap();
        let saved = writer.finish().unwrap();
        drop(machine);
        // The image of the code need not be there any more.
        fs::remove_file(dir.path().join("code.fd")).unwrap();
        let restore = || {
            let mut reader = Reader::new(&saved[..], maker()).unwrap();
            let description = Description::load(&mut reader).unwrap();
            assert_eq!(description.config.firmware, config.firmware);
            Machine::from_snapshot(&description.config, options(&Kept::default()), &mut reader)
        };
        assert_eq!(restore().unwrap().state_hash(), before);
        assert_eq!(fs::read(dir.path().join("vars.fd")).unwrap(), file);
        if writes == VariableWrites::Kept {
            fs::write(dir.path().join("vars.fd"), bytes(VARIABLES)).unwrap();
            let refused = restore().err();
            assert!(matches!(&refused, Some(SetupError::Snapshot(SnapshotError::Value { .. }))), "{refused:?}");
        }
    }
}

#[test]
fn files_that_cannot_be() {
    let dir = tempfile::tempdir().unwrap();
    let good = config(dir.path(), VariableWrites::Forgotten);
    let message = |config: &MachineConfig| match Machine::from_config(config, options(&Kept::default())) {
        Ok(_) => panic!("it was taken"),
        Err(error) => error.to_string(),
    };
    let with = |code: &Path| MachineConfig {
        firmware: Some(FirmwareConfig { code: code.into(), variables: None }),
        ..good.clone()
    };
    assert!(message(&with(&dir.path().join("none"))).starts_with("--firmware "));
    assert!(message(&with(dir.path())).contains("a directory, not a file"));
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(message(&with(&file)).contains("the file is empty"));
    fs::File::create(&file).unwrap().set_len((64 << 20) + 1).unwrap();
    assert!(message(&with(&file)).contains("larger than 67108864 bytes"));
    let kernel = MachineConfig { kernel: Some(file.clone()), ..good.clone() };
    assert!(message(&kernel).contains("nor an EFI application"));
    let kept = Variables { path: dir.path().join("nothing"), writes: VariableWrites::Kept };
    let code = dir.path().join("code.fd");
    let kept = MachineConfig { firmware: Some(FirmwareConfig { code, variables: Some(kept) }), ..good.clone() };
    assert!(message(&kept).contains("to keep what the guest writes"));
    let append = MachineConfig { append: Some("quiet".into()), ..good.clone() };
    assert_eq!(append.validate(None), Err(ConfigError::FirmwareWithoutKernel("--append")));
    let initrd = MachineConfig { initrd: Some("i".into()), ..good };
    assert_eq!(initrd.validate(None), Err(ConfigError::FirmwareWithoutKernel("--initrd")));
}
