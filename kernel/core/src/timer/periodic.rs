//! When something is due, once or again and again.

/// Times of some clock, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Periodic {
    /// The next time, if there is one.
    pub deadline: Option<u64>,
    /// Between times; 0: there is one only.
    pub interval: u64,
}

/// A setting as programs give and get it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Setting {
    /// Between times; 0: once.
    pub interval: u64,
    /// Until the next time; 0: never.
    pub value: u64,
}

impl Periodic {
    /// The first time is `value`, of the clock or from `now`.
    pub fn new(setting: Setting, is_absolute: bool, now: u64) -> Self {
        if setting.value == 0 {
            return Self::default();
        }
        let deadline = if is_absolute { setting.value } else { now.saturating_add(setting.value) };
        Self { deadline: Some(deadline), interval: setting.interval }
    }

    /// Moves the deadline behind `now` by whole intervals; how many.
    pub fn forward(&mut self, now: u64) -> u64 {
        let Some(deadline) = self.deadline.filter(|deadline| *deadline <= now && self.interval > 0) else { return 0 };
        let count = (now - deadline) / self.interval + 1;
        self.deadline = Some(deadline.saturating_add(count.saturating_mul(self.interval)));
        count
    }

    /// What is left, at least `least` if it is due and not done.
    pub fn setting(&self, now: u64, least: u64) -> Setting {
        let value = self.deadline.map_or(0, |deadline| deadline.saturating_sub(now).max(least));
        Setting { interval: self.interval, value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_moves_by_whole_intervals() {
        let mut times = Periodic::new(Setting { interval: 10, value: 5 }, false, 100);
        assert_eq!(times.deadline, Some(105));
        assert_eq!(times.forward(104), 0);
        assert_eq!((times.forward(105), times.deadline), (1, Some(115)));
        assert_eq!((times.forward(144), times.deadline), (3, Some(145)));
        assert_eq!((times.forward(145), times.deadline), (1, Some(155)));
        assert_eq!(times.setting(150, 1), Setting { interval: 10, value: 5 });
        assert_eq!(times.setting(160, 1).value, 1);
    }

    #[test]
    fn once_is_once() {
        let mut times = Periodic::new(Setting { interval: 0, value: 500 }, true, 100);
        assert_eq!((times.forward(1000), times.deadline), (0, Some(500)));
        assert_eq!(Periodic::new(Setting { interval: 7, value: 0 }, true, 0), Periodic::default());
    }

    #[test]
    fn the_end_of_time_is_reached() {
        let mut times = Periodic::new(Setting { interval: u64::MAX, value: u64::MAX }, false, 100);
        assert_eq!(times.deadline, Some(u64::MAX));
        times.forward(u64::MAX);
        assert_eq!(times.deadline, Some(u64::MAX));
    }
}
