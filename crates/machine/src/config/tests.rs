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
    let parsed = |text: &str| text.parse::<FeatureSetting>().map(|s| (s.cpu, s.name, s.value));
    assert_eq!(parsed("FEAT_LSE=off"), Ok((None, "FEAT_LSE".into(), Presence::Off)));
    assert_eq!(parsed("3:LPA2=on"), Ok((Some(3), "LPA2".into(), Presence::On)));
    for text in ["", "FEAT_LSE", "=on", "1:=on", "x:FEAT_LSE=on", "-1:FEAT_LSE=on", "FEAT_LSE=", "FEAT_LSE=maybe"] {
        assert_eq!(parsed(text), Err(ConfigError::FeatureSyntax(text.into())));
    }
}

#[test]
fn settings_of_one_cpu() {
    let features = ["A=on", "1:B=on", "0:C=on"].map(|text| text.parse().unwrap()).to_vec();
    let config = CpuConfig { features, ..CpuConfig::default() };
    let names = |cpu| config.settings(cpu).map(|s| s.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names(0), ["A", "C"]);
    assert_eq!(names(1), ["A", "B"]);
    assert_eq!(names(2), ["A"]);
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
    let cases: [(Change, &[&str]); 14] = [
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
        (
            |c| c.disks = (0..33).map(|n| format!("{n}").parse().unwrap()).collect(),
            &["33 times --disk", "32 virtio-mmio"],
        ),
        (|c| c.disks = vec!["a".parse().unwrap(), "a,ro".parse().unwrap()], &["--disk a:", "twice"]),
        (|c| c.timeout = Some(Duration::ZERO), &["--timeout 0"]),
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
