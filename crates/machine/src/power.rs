//! The power button: who presses it, and when.

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::config::ConfigError;

/// When it is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Press {
    /// After so many instructions and exceptions, all CPUs together; or when the guest sleeps for ever.
    Instructions(u64),
    /// At this time of the guest's, in nanoseconds since power-on.
    Time(u64),
}

impl FromStr for Press {
    type Err = ConfigError;

    /// `insns=N` or `seconds=S`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let press = match text.split_once('=') {
            Some(("insns", count)) => count.parse().ok().map(Self::Instructions),
            Some(("seconds", seconds)) => {
                let seconds: Option<f64> = seconds.parse().ok();
                seconds.filter(|s| (0.0..1e9).contains(s)).map(|s| Self::Time((s * 1e9) as u64))
            }
            _ => None,
        };
        press.ok_or_else(|| ConfigError::PowerButton(text.to_owned()))
    }
}

/// The button of one machine. Clones are the same one to a hand, but only one is armed.
#[derive(Clone, Debug, Default)]
pub struct PowerButton {
    armed: Option<Press>,
    /// A hand is on it.
    pressed: Arc<AtomicBool>,
}

impl PowerButton {
    /// It will be pressed once.
    pub fn arm(&mut self, press: Press) {
        self.armed = Some(press);
    }

    /// Setting this flag presses it at the next round.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.pressed.clone()
    }

    /// Presses it at the next round.
    pub(crate) fn press(&mut self) {
        self.armed = None;
        self.pressed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_armed(&self) -> bool {
        self.armed.is_some()
    }

    /// When time alone presses it, in nanoseconds.
    pub(crate) fn deadline(&self) -> Option<u64> {
        match self.armed {
            Some(Press::Time(at)) => Some(at),
            _ => None,
        }
    }

    /// Is it pressed now, after `done` instructions, at `now` in nanoseconds? Once only.
    pub(crate) fn is_due(&mut self, done: u64, now: u64) -> bool {
        let is_due = match self.armed {
            Some(Press::Instructions(count)) => done >= count,
            Some(Press::Time(at)) => now >= at,
            None => false,
        };
        if is_due {
            self.armed = None;
        }
        self.pressed.swap(false, Ordering::Relaxed) || is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_pressed_once() {
        let mut button = PowerButton::default();
        assert!(!button.is_due(u64::MAX, u64::MAX));
        button.arm("insns=100".parse().expect("a time"));
        assert_eq!([99, 100, 101].map(|done| button.is_due(done, 0)), [false, true, false]);
        button.arm("seconds=1.5".parse().expect("a time"));
        assert_eq!(button.deadline(), Some(1_500_000_000));
        assert_eq!(
            [1_499_999_999, 1_500_000_000, 1_500_000_001].map(|now| button.is_due(0, now)),
            [false, true, false]
        );
        button.flag().store(true, Ordering::Relaxed);
        assert_eq!([0, 0].map(|_| button.is_due(0, 0)), [true, false]);
        for text in ["", "insns", "insns=x", "insns=-1", "seconds=-1", "seconds=nan", "now"] {
            assert_eq!(text.parse::<Press>(), Err(ConfigError::PowerButton(text.into())));
        }
    }
}
