//! How the tool ends.

use std::process::ExitCode;

/// Exit statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// 0: the guest powered the machine off, or the user ended it at the console, or what was asked has been printed.
    Success,
    /// 1: the tool cannot go on.
    ToolError,
    /// 2: the command line, or a file that it names, cannot be used.
    Usage,
    /// 3: the guest asked for a reset, or stopped in a way that no one handles.
    GuestStopped,
    /// 124: a limit was reached.
    Limit,
    /// The code that the guest ended itself with, by semihosting.
    Guest(u8),
}

impl Status {
    /// As the operating system sees it.
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::ToolError => 1,
            Self::Usage => 2,
            Self::GuestStopped => 3,
            Self::Limit => 124,
            Self::Guest(code) => code,
        }
    }

    /// The guest's code; one that has more than 8 bits becomes 255, not a success by accident.
    pub fn of_guest(code: u32) -> Self {
        Self::Guest(u8::try_from(code).unwrap_or(u8::MAX))
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        status.code().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_the_guest() {
        assert_eq!([0, 7, 255, 256, u32::MAX].map(|code| Status::of_guest(code).code()), [0, 7, 255, 255, 255]);
    }
}
