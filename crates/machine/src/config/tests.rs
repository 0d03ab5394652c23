use super::*;

fn good() -> MachineConfig {
    MachineConfig { kernel: Some("Image".into()), ..MachineConfig::default() }
}

#[test]
fn sizes() {
    for (text, bytes) in [
        ("1G", Some(1 << 30)),
        ("512M", Some(512 << 20)),
        ("64k", Some(64 << 10)),
        ("2T", Some(2 << 40)),
        ("1048576", Some(1 << 20)),
        ("0", Some(0)),
        ("", None),
        ("G", None),
        ("1GB", None),
        ("1.5G", None),
        ("-1", None),
        ("+1", None),
        ("1 G", None),
        ("0x10", None),
        ("18446744073709551615", Some(u64::MAX)),
        ("18446744073709551616", None),
        ("16777216T", None),
        ("1é", None),
    ] {
        assert_eq!(parse_size(text), bytes, "{text:?}");
    }
}

#[test]
fn feature_settings() {
    use arch::feature::Feature::*;
    use arch::feature::{Setting, Switch};
    let parsed = |text: &str| text.parse::<FeatureSetting>().map(|s| (s.cpu, s.asked));
    assert_eq!(parsed("FEAT_LSE=off"), Ok((None, Asked::Cpu(Request::Feature(FEAT_LSE, Switch::Off)))));
    assert_eq!(parsed("3:lpa2=on"), Ok((Some(3), Asked::Cpu(Request::Feature(FEAT_LPA2, Switch::On)))));
    assert_eq!(parsed("0:pa-bits=40"), Ok((Some(0), Asked::Cpu(Request::Set(Setting::PaBits, 40)))));
    assert_eq!(parsed("its=on"), Ok((None, Asked::Board(BoardRequest::Its(Presence::Present)))));
    for (text, part) in [
        ("", "not NAME=VALUE"),
        ("lse", "not NAME=VALUE"),
        ("lse=maybe", "`on` or `off`"),
        ("lsee=on", "FEAT_LSE"),
        ("pa-bits=41", "32, 36, 40"),
        ("x:lse=on", "`x` before the colon"),
        ("-1:lse=on", "`-1` before the colon"),
        (":lse=on", "`` before the colon"),
        ("its=yes", "its is `on` or `off`, not `yes`"),
        ("0:its=on", "the board's"),
        ("gic=4", "gic is 2 or 3, not `4`"),
    ] {
        let message = parsed(text).unwrap_err().to_string();
        assert!(message.starts_with(&format!("--feature {text}: ")) && message.contains(part), "{message}");
    }
}

#[test]
fn the_controller() {
    let controller = |settings: &[&str]| {
        let features = settings.iter().map(|text| text.parse().unwrap()).collect();
        MachineConfig { cpu: CpuConfig { features, ..CpuConfig::default() }, ..good() }.controller()
    };
    assert_eq!(controller(&[]), Controller { version: GicVersion::V3, its: Presence::Absent });
    assert_eq!(controller(&["its=on", "lse=off"]), Controller { version: GicVersion::V3, its: Presence::Present });
    assert_eq!(controller(&["its=on", "its=off"]), Controller::default());
    assert_eq!(controller(&["gic=2"]), Controller { version: GicVersion::V2, its: Presence::Absent });
    assert_eq!(controller(&["gic=2", "gic=3"]), Controller::default());
}

#[test]
fn models() {
    use arch::feature::Feature::{FEAT_GICv3, FEAT_LSE};
    let cpu = CpuConfig { features: vec!["gic=2".parse().unwrap()], ..CpuConfig::default() };
    let old = MachineConfig { cpus: 8, cpu, ..good() };
    assert_eq!(old.validate(None), Ok(()));
    assert!(old.models().unwrap().iter().all(|model| !model.has(FEAT_GICv3)));
    let features = vec!["1:lse=off".parse().unwrap()];
    let cpu = CpuConfig { preset: "neoverse-n1".into(), features, gic: Vec::new() };
    let models = MachineConfig { cpus: 3, cpu, ..good() }.models().unwrap();
    assert_eq!(models.iter().map(|m| m.has(FEAT_LSE)).collect::<Vec<_>>(), [true, false, true]);
}

#[test]
fn gic_settings() {
    let gic = vec!["list-registers=16,seis=on".parse().unwrap(), "1:list-registers=2".parse().unwrap()];
    let cpu = CpuConfig { gic, ..CpuConfig::default() };
    let models = MachineConfig { cpus: 2, cpu, ..good() }.models().unwrap();
    assert_eq!(models.iter().map(|m| m.gic.list_registers).collect::<Vec<_>>(), [16, 2]);
    assert!(models.iter().all(|m| m.gic.reports_errors()));
    for (text, part) in [
        ("", "`` is not NAME=VALUE"),
        ("list-registers=0", "list-registers is 1 to 16, not `0`"),
        ("x:tds=on", "`x` before the colon"),
        ("lrs=3", "there are list-registers"),
    ] {
        let message = text.parse::<GicSetting>().unwrap_err().to_string();
        assert!(message.starts_with(&format!("--gic {text}: ")) && message.contains(part), "{message}");
    }
}

#[test]
fn disks() {
    let parsed = |text: &str| text.parse::<Disk>();
    assert_eq!(parsed("a,ro"), Ok(Disk { path: "a".into(), access: DiskAccess::ReadOnly }));
    assert_eq!(parsed("a"), Ok(Disk { path: "a".into(), access: DiskAccess::ReadWrite }));
    for text in ["", ",ro"] {
        assert_eq!(parsed(text), Err(ConfigError::DiskSyntax(text.into())));
    }
}

#[test]
fn time_modes() {
    assert_eq!("insn".parse(), Ok(TimeMode::Insn));
    assert_eq!("wall".parse(), Ok(TimeMode::Wall));
    assert_eq!("".parse::<TimeMode>(), Err(ConfigError::TimeSyntax(String::new())));
    assert!(matches!("cost=x".parse::<TimeMode>(), Err(ConfigError::NotYet { flag: "--time", .. })));
}

#[test]
fn the_host_says_how_much_memory_it_has() {
    assert!(host_memory().is_some_and(|bytes| bytes > MIN_MEMORY));
}

/// Each error, and that its message names the flag (or what is missing) and the value.
#[test]
fn errors() {
    type Change = fn(&mut MachineConfig);
    let disk = |text: &str| text.parse::<Disk>().unwrap();
    assert_eq!(good().validate(None), Ok(()));
    let cases: [(Change, &[&str]); 23] = [
        (|c| c.cpus = 0, &["--cpus 0", "1 to 512"]),
        (|c| c.cpus = 100_000, &["--cpus 100000", "1 to 512"]),
        (|c| c.memory = 1, &["--memory 1 ", "at least 16 MiB"]),
        (|c| c.memory = MIN_MEMORY - 1, &["--memory 16777215 ", "too small"]),
        (|c| c.memory = MIN_MEMORY + 1, &["--memory 16777217 ", "multiple of 64 KiB"]),
        (|c| c.memory = (1 << 40) + PAGE, &["--memory 1099511693312 ", "the host has only 1099511627776"]),
        (|c| c.memory = u64::MAX, &["--memory 18446744073709551615 ", "the host has only"]),
        (|c| c.kernel = None, &["--kernel"]),
        (|c| c.append = Some("x".repeat(2048)), &["--append", "2048", "2047"]),
        (|c| c.append = Some("a\0b".into()), &["--append", "zero byte"]),
        (|c| c.cpu.features = vec!["1:FEAT_LSE=on".parse().unwrap()], &["--feature 1:FEAT_LSE=on", "0 to 0"]),
        (|c| c.cpu.preset = "pentium".into(), &["--cpu pentium", "cortex-a57", "neoverse-n1", "max"]),
        (|c| c.cpu.features = vec!["fp=off".parse().unwrap()], &["--cpu cortex-a57", "CPU 0", "FEAT_FP"]),
        (|c| c.cpu.features = vec!["sve=on".parse().unwrap()], &["FEAT_SVE is not modelled yet"]),
        (
            |c| c.disks = (0..33).map(|n| format!("{n}").parse().unwrap()).collect(),
            &["33 times --disk", "32 virtio-mmio"],
        ),
        (|c| c.disks = vec!["a".parse().unwrap(), "a,ro".parse().unwrap()], &["--disk a:", "twice"]),
        (|c| c.timeout = Some(Duration::ZERO), &["--timeout 0"]),
        (|c| c.cpu.gic = vec!["1:tds=off".parse().unwrap()], &["--gic 1:tds=off", "0 to 0"]),
        (
            |c| (c.cpu.features, c.cpus) = (vec!["gic=2".parse().unwrap()], 9),
            &["--feature gic=2", "--cpus 9 are too many, it serves 8"],
        ),
        (
            |c| c.cpu.features = ["gic=2", "its=on"].map(|text| text.parse().unwrap()).into(),
            &["--feature gic=2", "its=on is a GICv3's"],
        ),
        (
            |c| {
                c.cpu.features = vec!["gic=2".parse().unwrap()];
                c.cpu.gic = vec!["tds=off".parse().unwrap()];
            },
            &["--feature gic=2", "--gic tds=off is about a GICv3's"],
        ),
        (|c| c.cpu.gic = vec!["dvim=on".parse().unwrap()], &["--gic dvim=on: ", "nv4=on says is absent"]),
        (
            |c| c.cpu.gic = vec!["preemption-bits=7".parse().unwrap(), "0:priority-bits=6".parse().unwrap()],
            &["--gic 0:priority-bits=6: preemption-bits is more"],
        ),
    ];
    for (change, parts) in cases {
        let mut config = good();
        change(&mut config);
        let message = config.validate(Some(1 << 40)).unwrap_err().to_string();
        for part in parts {
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
    }
    let config = MachineConfig { disks: vec![disk("a,ro"), disk("a,ro")], ..good() };
    assert_eq!(config.validate(None), Ok(()));
}

/// What a preset's hardware has that needs EL2 comes and goes with EL2.
#[test]
fn what_needs_el2_goes_with_it() {
    use arch::feature::Feature::*;
    let model = |preset: &str, settings: &[&str]| {
        let features = settings.iter().map(|text| text.parse().unwrap()).collect();
        let cpu = CpuConfig { preset: preset.into(), features, ..CpuConfig::default() };
        MachineConfig { cpu, ..good() }.models().unwrap().remove(0)
    };
    let less = model("max", &["el2=off"]);
    assert!([FEAT_EL2, FEAT_VHE, FEAT_HCX, FEAT_FGT].into_iter().all(|feature| !less.has(feature)));
    let max = model("max", &[]);
    assert!([FEAT_VHE, FEAT_E2H0, FEAT_GTG, FEAT_HCX, FEAT_FGT].into_iter().all(|feature| max.has(feature)));
    let old = model("cortex-a57", &[]);
    assert!(old.has(FEAT_EL2) && !old.has(FEAT_VHE));
    assert!(!model("neoverse-n1", &["vhe=off"]).has(FEAT_VHE));
    assert!(!model("neoverse-n1", &["el2=off"]).has(FEAT_EL2));
}

#[test]
fn shares() {
    let share = |text: &str| text.parse::<Share>();
    let of =
        |path: &str, access, tag: Option<&str>| Ok(Share { path: path.into(), access, tag: tag.map(str::to_owned) });
    assert_eq!(share("dir"), of("dir", DiskAccess::ReadWrite, None));
    assert_eq!(share("dir,ro"), of("dir", DiskAccess::ReadOnly, None));
    assert_eq!(share("a,b,tag=x,ro"), of("a,b", DiskAccess::ReadOnly, Some("x")));
    assert_eq!(share("dir,ro,tag=x"), of("dir", DiskAccess::ReadOnly, Some("x")));
    for bad in ["", ",ro", "dir,tag=", &format!("dir,tag={}", "x".repeat(128))] {
        assert_eq!(share(bad), Err(ConfigError::ShareSyntax(bad.into())));
    }
}
