//! What there is: presets and features.

use std::fmt::Write as _;
use std::io::Write as _;

use arch::feature::{Feature, Setting, modelled};
use arch::gic::Property;
use arch::preset::{self, ALIASES, PRESETS, Source};
use machine::config::BoardRequest;

use crate::status::Status;

/// `vambrace cpus`
pub fn cpus() -> Status {
    print(&cpus_text())
}

/// `vambrace features`
pub fn features(name: Option<&str>) -> Status {
    let Some(name) = name else { return print(&features_text()) };
    if let Some(text) = preset_text(name) {
        return print(&text);
    }
    let known: Vec<_> = preset::names().collect();
    eprintln!("vambrace: features {name}: no such preset; there are {}", known.join(", "));
    Status::Usage
}

/// Whoever closed our standard output does not want to read on.
fn print(text: &str) -> Status {
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("vambrace: standard output: {error}");
            Status::ToolError
        }
        Ok(()) | Err(_) => Status::Success,
    }
}

// Writing to a string cannot fail; the results are dropped for that reason.

fn cpus_text() -> String {
    let mut out = String::from("preset         MIDR        values\n");
    for preset in &PRESETS {
        let source = match preset.source {
            Source::Published(source) => source.to_owned(),
            Source::Derived { from, because, .. } => format!("as {from}; {because}"),
        };
        let _ = writeln!(out, "{:<14} {:#010x}  {source}", preset.name, preset.midr);
    }
    for (alias, target) in ALIASES {
        let _ = writeln!(out, "{alias:<14} {:10}  another name for {target}", "");
    }
    if let Some(max) = preset::preset("max") {
        let _ = writeln!(out, "{:<14} {:#010x}  all that this version models", max.name, max.midr);
    }
    out
}

fn features_text() -> String {
    let modelled = modelled();
    let list = |wanted: bool| {
        let names = Feature::ALL.into_iter().filter(|f| modelled.has(*f) == wanted).map(Feature::name);
        columns(&names.collect::<Vec<_>>())
    };
    let mut out = format!("Features that this version models (--feature NAME=on|off):\n{}", list(true));
    let _ = write!(
        out,
        "\nFeatures that it knows and does not model yet:\n{}\nSettings (--feature NAME=VALUE):\n",
        list(false)
    );
    for setting in Setting::ALL {
        let _ = writeln!(out, "  {:<16} {}", setting.name(), setting.range());
    }
    out.push_str("\nOf the board (--feature NAME=VALUE; in parentheses what it is without):\n");
    for (name, values) in BoardRequest::NAMES {
        let _ = writeln!(out, "  {name:<16} {values}");
    }
    out.push_str("\nThe GIC's virtual CPU interface, with EL2 (--gic NAME=VALUE,...):\n");
    for property in Property::ALL {
        let _ = writeln!(out, "  {:<16} {}", property.name(), property.range());
    }
    out
}

fn preset_text(name: &str) -> Option<String> {
    let (model, hardware) = (preset::preset(name)?, preset::hardware(name)?);
    let names: Vec<_> = model.features.iter().map(Feature::name).collect();
    let (waiting, not_yet): (Vec<_>, Vec<_>) =
        hardware.features.minus(model.features).iter().partition(|feature| modelled().has(*feature));
    let mut out = format!("{name} has, as modelled:\n{}", columns(&names));
    for (features, title) in [
        (waiting, "It should have besides, modelled but for what it needs"),
        (not_yet, "It should have besides, not modelled yet"),
    ] {
        if !features.is_empty() {
            let _ =
                write!(out, "\n{title}:\n{}", columns(&features.into_iter().map(Feature::name).collect::<Vec<_>>()));
        }
    }
    let _ = writeln!(
        out,
        "\npa-bits={} asid-bits={} breakpoints={} watchpoints={} pmu-counters={}",
        model.pa_bits, model.asid_bits, model.breakpoints, model.watchpoints, model.pmu_counters
    );
    let gic = Property::ALL.map(|property| format!("{}={}", property.name(), property.value(&model.gic)));
    let _ = writeln!(out, "--gic {}", gic.join(","));
    Some(out)
}

/// Words in five columns.
fn columns(words: &[&str]) -> String {
    let mut out = String::new();
    for line in words.chunks(5) {
        let mut padded = String::from("  ");
        for word in line {
            let _ = write!(padded, "{word:<20}");
        }
        let _ = writeln!(out, "{}", padded.trim_end());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets() {
        let text = cpus_text();
        for name in preset::names() {
            assert!(text.lines().any(|line| line.starts_with(name)), "{name} is missing");
            let text = preset_text(name).unwrap_or_else(|| panic!("nothing of {name}"));
            assert!(text.contains("FEAT_FP") && text.contains("pa-bits="), "{text}");
            let gic = text.lines().find_map(|line| line.strip_prefix("--gic ")).unwrap_or_default();
            assert_eq!(arch::gic::VirtualInterface::DEFAULT.clone().apply(gic), Ok(()), "{gic}");
        }
        assert!(preset_text("pentium").is_none());
    }

    /// A preset's text says of no feature that it is not modelled where the list of all says that it is.
    #[test]
    fn modelled_means_the_same_everywhere() {
        for name in preset::names() {
            let text = preset_text(name).unwrap_or_default();
            let not_yet = text.split_once("not modelled yet:").map_or("", |(_, rest)| rest);
            let contrary = modelled().iter().find(|f| not_yet.split_whitespace().any(|word| word == f.name()));
            assert_eq!(contrary, None, "{name}");
        }
    }

    #[test]
    fn every_feature_is_listed() {
        let text = features_text();
        let words: Vec<_> = text.split_whitespace().collect();
        assert!(Feature::ALL.iter().all(|f| words.contains(&f.name())));
        assert!(Setting::ALL.iter().all(|s| words.contains(&s.name())));
        assert!(BoardRequest::NAMES.iter().all(|(name, _)| words.contains(name)));
        assert!(Property::ALL.iter().all(|p| words.contains(&p.name())));
    }
}
