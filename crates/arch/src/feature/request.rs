//! What a user asks of a CPU: `NAME=VALUE`, where NAME is a feature or a setting.

use super::{Feature, without_prefix};
use core::fmt;

/// On or off.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// A property of a CPU that is a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Setting {
    /// Physical address bits: 32, 36, 40, 42, 44, 48 or 52.
    PaBits,
    /// ASID bits: 8 or 16.
    AsidBits,
    /// Breakpoints, 2 to 16.
    Breakpoints,
    /// Watchpoints, 2 to 16.
    Watchpoints,
    /// PMU event counters, 0 to 31.
    PmuCounters,
}

impl Setting {
    /// Every setting.
    pub const ALL: [Self; 5] = [Self::PaBits, Self::AsidBits, Self::Breakpoints, Self::Watchpoints, Self::PmuCounters];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PaBits => "pa-bits",
            Self::AsidBits => "asid-bits",
            Self::Breakpoints => "breakpoints",
            Self::Watchpoints => "watchpoints",
            Self::PmuCounters => "pmu-counters",
        }
    }

    /// The values it takes, as text for messages.
    #[must_use]
    pub const fn range(self) -> &'static str {
        match self {
            Self::PaBits => "32, 36, 40, 42, 44, 48 or 52",
            Self::AsidBits => "8 or 16",
            Self::Breakpoints | Self::Watchpoints => "2 to 16",
            Self::PmuCounters => "0 to 31",
        }
    }

    /// Whether `value` is one it takes.
    #[must_use]
    pub const fn takes(self, value: u8) -> bool {
        match self {
            Self::PaBits => matches!(value, 32 | 36 | 40 | 42 | 44 | 48 | 52),
            Self::AsidBits => matches!(value, 8 | 16),
            Self::Breakpoints | Self::Watchpoints => value >= 2 && value <= 16,
            Self::PmuCounters => value <= 31,
        }
    }
}

/// One thing asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Request {
    /// A feature on or off.
    Feature(Feature, Switch),
    /// A setting, with a value that it takes.
    Set(Setting, u8),
}

/// Why a request is not understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestError<'a> {
    /// There is no `=`.
    NoValue(&'a str),
    /// No feature and no setting has this name; `near` are the nearest ones.
    Unknown {
        /// The name given.
        name: &'a str,
        /// Names like it, the nearest first.
        near: [&'static str; 3],
    },
    /// A feature is `on` or `off`.
    NotASwitch {
        /// The feature.
        feature: Feature,
        /// The value given.
        value: &'a str,
    },
    /// The setting does not take this value.
    BadValue {
        /// The setting.
        setting: Setting,
        /// The value given.
        value: &'a str,
    },
}

impl fmt::Display for RequestError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoValue(text) => write!(f, "`{text}` is not NAME=VALUE, such as lse=off"),
            Self::Unknown { name, near } => {
                write!(f, "no feature is called `{name}`; near it are {}, {} and {}", near[0], near[1], near[2])
            }
            Self::NotASwitch { feature, value } => write!(f, "{feature} is `on` or `off`, not `{value}`"),
            Self::BadValue { setting, value } => {
                write!(f, "{} is {}, not `{value}`", setting.name(), setting.range())
            }
        }
    }
}

impl core::error::Error for RequestError<'_> {}

impl Request {
    /// Reads `NAME=VALUE`. A feature's name comes with or without `FEAT_`; case does not matter.
    pub fn parse(text: &str) -> Result<Self, RequestError<'_>> {
        let (name, value) = text.split_once('=').ok_or(RequestError::NoValue(text))?;
        if let Some(setting) = Setting::ALL.into_iter().find(|s| s.name().eq_ignore_ascii_case(name)) {
            return match value.parse() {
                Ok(number) if setting.takes(number) => Ok(Self::Set(setting, number)),
                _ => Err(RequestError::BadValue { setting, value }),
            };
        }
        let feature = Feature::by_name(name).ok_or_else(|| RequestError::Unknown { name, near: near(name) })?;
        if value.eq_ignore_ascii_case("on") {
            Ok(Self::Feature(feature, Switch::On))
        } else if value.eq_ignore_ascii_case("off") {
            Ok(Self::Feature(feature, Switch::Off))
        } else {
            Err(RequestError::NotASwitch { feature, value })
        }
    }
}

/// The three names nearest to `name`.
fn near(name: &str) -> [&'static str; 3] {
    let bare = without_prefix(name).as_bytes();
    let names = || Feature::ALL.into_iter().map(Feature::name).chain(Setting::ALL.into_iter().map(Setting::name));
    let mut best = [(usize::MAX, ""); 3];
    for candidate in names() {
        let distance = distance(bare, without_prefix(candidate).as_bytes());
        if let Some(at) = best.iter().position(|&(d, _)| distance < d) {
            best[at..].rotate_right(1);
            best[at] = (distance, candidate);
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The edit distance of two names, case aside. A name longer than any real one is cut.
fn distance(a: &[u8], b: &[u8]) -> usize {
    const LONGEST: usize = 32;
    let (a, b) = (&a[..a.len().min(LONGEST)], &b[..b.len().min(LONGEST)]);
    let mut row: [usize; LONGEST + 1] = core::array::from_fn(|i| i);
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replace = diagonal + usize::from(!x.eq_ignore_ascii_case(y));
            diagonal = row[j + 1];
            row[j + 1] = replace.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use Feature::*;

    #[test]
    fn good_requests() {
        assert_eq!(Request::parse("FEAT_LSE=off"), Ok(Request::Feature(FEAT_LSE, Switch::Off)));
        assert_eq!(Request::parse("el2=ON"), Ok(Request::Feature(FEAT_EL2, Switch::On)));
        assert_eq!(Request::parse("pa-bits=40"), Ok(Request::Set(Setting::PaBits, 40)));
    }

    #[test]
    fn bad_requests() {
        assert_eq!(Request::parse("lse"), Err(RequestError::NoValue("lse")));
        assert_eq!(Request::parse("lse=2"), Err(RequestError::NotASwitch { feature: FEAT_LSE, value: "2" }));
        assert_eq!(Request::parse("pa-bits=41"), Err(RequestError::BadValue { setting: Setting::PaBits, value: "41" }));
        assert!(matches!(Request::parse("pmu-counters=999"), Err(RequestError::BadValue { .. })));
        let text = std::format!("{}", Request::parse("atomiks=on").unwrap_err());
        assert!(text.starts_with("no feature is called `atomiks`; near it are "), "{text}");
        let Err(RequestError::Unknown { near, .. }) = Request::parse("feat_lcrpc=on") else { panic!() };
        assert_eq!(near[0], "FEAT_LRCPC");
        let long = std::format!("{}=on", "x".repeat(5000));
        assert!(matches!(Request::parse(&long), Err(RequestError::Unknown { .. })));
        assert!(Request::parse("=").is_err() && Request::parse("é=on").is_err());
    }

    #[test]
    fn distances() {
        assert_eq!(distance(b"kitten", b"SITTING"), 3);
        assert_eq!((distance(b"", b"abc"), distance(b"abc", b"")), (3, 3));
    }
}
