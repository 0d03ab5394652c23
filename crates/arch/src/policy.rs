//! Where the architecture permits several outcomes, a policy chooses.

use core::fmt;
use core::str::FromStr;

/// How the machine chooses among outcomes that the architecture permits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Policy {
    /// The kindest to software: what is UNPREDICTABLE is ignored as far as it may be, and no error is raised that need not be.
    #[default]
    Benign,
    /// The outcomes that software forgets: errors that may be raised are; where outcomes are equal in that, they vary with
    /// the seed.
    Adversarial {
        /// Chooses among equal ones.
        seed: u64,
    },
}

/// A policy's text is neither `benign` nor `adversarial` nor `adversarial:SEED`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoSuchPolicy;

impl fmt::Display for NoSuchPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("give benign, adversarial or adversarial:SEED, SEED a number below 2^64")
    }
}

impl core::error::Error for NoSuchPolicy {}

impl FromStr for Policy {
    type Err = NoSuchPolicy;

    /// `benign`, `adversarial` (seed 0) or `adversarial:SEED`.
    fn from_str(text: &str) -> Result<Self, NoSuchPolicy> {
        match text {
            "benign" => Ok(Self::Benign),
            "adversarial" => Ok(Self::Adversarial { seed: 0 }),
            _ => {
                let seed = text.strip_prefix("adversarial:").filter(|seed| seed.bytes().all(|b| b.is_ascii_digit()));
                Ok(Self::Adversarial { seed: seed.and_then(|seed| seed.parse().ok()).ok_or(NoSuchPolicy)? })
            }
        }
    }
}

/// The choices of one part of the machine, one after the other. The same policy and part choose the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Choices {
    policy: Policy,
    state: u64,
}

impl Choices {
    /// The choices of the part with this number.
    #[must_use]
    pub const fn new(policy: Policy, part: u64) -> Self {
        let seed = match policy {
            Policy::Benign => 0,
            Policy::Adversarial { seed } => seed,
        };
        Self { policy, state: seed ^ part.wrapping_mul(0xd134_2543_de82_ef95) }
    }

    /// Is an error raised that need not be?
    #[must_use]
    pub const fn raises_errors(&self) -> bool {
        matches!(self.policy, Policy::Adversarial { .. })
    }

    /// Does the outcome happen that a benign machine does not have? One half of the times.
    pub const fn unusual(&mut self) -> bool {
        if matches!(self.policy, Policy::Benign) {
            return false;
        }
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) & 1 == 1
    }

    /// Goes on from a state that [`Choices::state`] gave.
    pub const fn set_state(&mut self, state: u64) {
        self.state = state;
    }

    /// What distinguishes one state of the choices from another, for hashes.
    #[must_use]
    pub const fn state(&self) -> u64 {
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        assert_eq!("benign".parse(), Ok(Policy::Benign));
        assert_eq!("adversarial".parse(), Ok(Policy::Adversarial { seed: 0 }));
        assert_eq!("adversarial:7".parse(), Ok(Policy::Adversarial { seed: 7 }));
        for text in
            ["", "Benign", "adversarial:", "adversarial:x", "adversarial:+1", "adversarial:18446744073709551616"]
        {
            assert_eq!(text.parse::<Policy>(), Err(NoSuchPolicy), "{text}");
        }
    }

    #[test]
    fn choices_repeat_and_vary() {
        let run = |policy, part| {
            let mut choices = Choices::new(policy, part);
            (0..64).fold(0u64, |bits, _| bits << 1 | u64::from(choices.unusual()))
        };
        let adversarial = |seed| Policy::Adversarial { seed };
        assert_eq!(run(Policy::Benign, 3), 0);
        assert_eq!(run(adversarial(5), 3), run(adversarial(5), 3));
        let others = [run(adversarial(5), 3), run(adversarial(6), 3), run(adversarial(5), 4)];
        assert!(others.iter().all(|bits| (16..48).contains(&bits.count_ones())), "{others:x?}");
        assert!(others[0] != others[1] && others[0] != others[2]);
    }
}
