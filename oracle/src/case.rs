//! A case: a few instructions, the registers and memory they find, and how they ended. With one line of text for both,
//! which the files in `oracle/cases` hold.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::str::FromStr;

use anyhow::{Context, Error, Result, bail, ensure};

/// Where the breakpoints start.
pub const CODE: u64 = 0x2000_0000;
/// Their size in bytes.
pub const CODE_SIZE: u64 = 0x1_0000;
/// Where the instructions stand, amid breakpoints.
pub const PC: u64 = CODE + 0x8000;
/// The page of memory that a case may use.
pub const DATA: u64 = 0x2002_0000;
/// Its size in bytes. What is around it is not mapped.
pub const DATA_SIZE: u64 = 0x1000;
/// The most instructions of a case.
pub const WORDS: usize = 16;

/// The registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// X0 to X30.
    pub x: [u64; 31],
    /// SP.
    pub sp: u64,
    /// PC.
    pub pc: u64,
    /// N, Z, C, V in bits \[31:28\].
    pub nzcv: u64,
    /// V0 to V31.
    pub q: [u128; 32],
    /// FPSR.
    pub fpsr: u32,
    /// FPCR.
    pub fpcr: u32,
}

/// Instructions and what they find.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// The instructions, 1 to [`WORDS`].
    pub words: Vec<u32>,
    /// The registers; the PC is always [`PC`].
    pub state: State,
    /// The page's bytes are `sem::eval::Fill::Hash` of this.
    pub seed: u64,
}

/// How it ended. Where, the PC says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It came to a breakpoint.
    Done,
    /// SIGILL: UNDEFINED.
    Undefined,
    /// SIGSEGV at this address, without its tag: an access or a fetch.
    Fault(u64),
    /// SIGBUS: alignment.
    Alignment,
    /// It did not end.
    Endless,
    /// Theirs only: the judge itself died.
    Died,
    /// Ours only: an encoding that is known but not done.
    NotDone,
    /// Ours only: it asked for something that no case may ask for, such as a system call.
    Leaves,
}

/// What became of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The registers after.
    pub state: State,
    /// How it ended.
    pub end: End,
    /// The 8-byte words of the page that changed, by address.
    pub memory: BTreeMap<u64, u64>,
}

impl State {
    /// Every register with a name as text uses it, and its value.
    pub fn registers(&self) -> impl Iterator<Item = (String, u128)> + '_ {
        let x = self.x.iter().enumerate().map(|(n, &value)| (format!("x{n}"), u128::from(value)));
        let q = self.q.iter().enumerate().map(|(n, &value)| (format!("q{n}"), value));
        let others = [("sp", self.sp), ("pc", self.pc), ("nzcv", self.nzcv)]
            .into_iter()
            .chain([("fpcr", self.fpcr.into()), ("fpsr", self.fpsr.into())]);
        x.chain(others.map(|(name, value)| (name.to_owned(), u128::from(value)))).chain(q)
    }

    /// Sets the register that text calls `name`.
    pub fn set(&mut self, name: &str, value: u128) -> Result<()> {
        let word = u64::try_from(value);
        match (name, name.split_at_checked(1)) {
            ("sp", _) => self.sp = word?,
            ("pc", _) => self.pc = word?,
            ("nzcv", _) => self.nzcv = word?,
            ("fpcr", _) => self.fpcr = u32::try_from(value)?,
            ("fpsr", _) => self.fpsr = u32::try_from(value)?,
            (_, Some(("x", n))) => *self.x.get_mut(n.parse::<usize>()?).context("no such register")? = word?,
            (_, Some(("q", n))) => *self.q.get_mut(n.parse::<usize>()?).context("no such register")? = value,
            _ => bail!("no register {name}"),
        }
        Ok(())
    }
}

fn hexadecimal(text: &str) -> Result<u128> {
    u128::from_str_radix(text, 16).with_context(|| format!("{text} is not a hexadecimal number"))
}

fn assignment(text: &str) -> Result<(&str, &str)> {
    text.split_once('=').with_context(|| format!("{text} has no ="))
}

/// `words=4e60d420,d503201f seed=1 x1=7 q2=40`: registers that are not named are 0. All numbers are hexadecimal.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.words.iter().map(|word| format!("{word:08x}")).collect();
        write!(f, "words={} seed={:x}", words.join(","), self.seed)?;
        for (name, value) in self.state.registers().filter(|(name, value)| *value != 0 && name != "pc") {
            write!(f, " {name}={value:x}")?;
        }
        Ok(())
    }
}

impl FromStr for Case {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut case = Self { state: State { pc: PC, ..State::default() }, ..Self::default() };
        for part in text.split_whitespace() {
            let (name, value) = assignment(part)?;
            match name {
                "words" => {
                    let words = value.split(',').map(|word| Ok(u32::from_str_radix(word, 16)?));
                    case.words = words.collect::<Result<_>>()?;
                }
                "seed" => case.seed = u64::from_str_radix(value, 16)?,
                _ => case.state.set(name, hexadecimal(value)?)?,
            }
        }
        ensure!((1..=WORDS).contains(&case.words.len()), "1 to {WORDS} words are needed");
        Ok(case)
    }
}

impl Outcome {
    /// What differs from before: `end=done pc=4 x3=5 [20020800]=77`. The PC is relative to the first instruction. For
    /// `of` the names in [`Outcome::from_text`].
    #[must_use]
    pub fn text(&self, of: &Case) -> String {
        let end = match self.end {
            End::Done => "done".to_owned(),
            End::Undefined => "undefined".to_owned(),
            End::Fault(address) => format!("fault:{address:x}"),
            End::Alignment => "alignment".to_owned(),
            End::Endless => "endless".to_owned(),
            End::Died => "died".to_owned(),
            End::NotDone => "notdone".to_owned(),
            End::Leaves => "leaves".to_owned(),
        };
        let mut text = format!("end={end} pc={:x}", self.state.pc.wrapping_sub(PC));
        for ((name, after), (_, before)) in self.state.registers().zip(of.state.registers()) {
            if after != before && name != "pc" {
                let _ = write!(text, " {name}={after:x}");
            }
        }
        for (address, value) in &self.memory {
            let _ = write!(text, " [{address:x}]={value:x}");
        }
        text
    }

    /// The outcome that [`Outcome::text`] says.
    pub fn from_text(text: &str, of: &Case) -> Result<Self> {
        let mut outcome = Self { state: of.state.clone(), end: End::Done, memory: BTreeMap::new() };
        for part in text.split_whitespace() {
            let (name, value) = assignment(part)?;
            match (name, value.split_once(':').unwrap_or((value, ""))) {
                ("end", ("done", "")) => outcome.end = End::Done,
                ("end", ("undefined", "")) => outcome.end = End::Undefined,
                ("end", ("fault", address)) => outcome.end = End::Fault(u64::from_str_radix(address, 16)?),
                ("end", ("alignment", "")) => outcome.end = End::Alignment,
                ("end", _) => bail!("no end {value}"),
                ("pc", _) => outcome.state.pc = PC.wrapping_add(u64::from_str_radix(value, 16)?),
                _ => match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
                    Some(address) => {
                        let (address, value) = (u64::from_str_radix(address, 16)?, u64::from_str_radix(value, 16)?);
                        outcome.memory.insert(address, value);
                    }
                    None => outcome.state.set(name, hexadecimal(value)?)?,
                },
            }
        }
        Ok(outcome)
    }

    /// Names what differs from `other`: registers, `end`, or `memory`. Empty where they are equal.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        // The cheap comparison first: nearly all cases are equal.
        if self == other {
            return Vec::new();
        }
        let registers = self.state.registers().zip(other.state.registers());
        let mut names: Vec<String> = registers.filter(|(a, b)| a != b).map(|((name, _), _)| name).collect();
        names.extend((self.end != other.end).then(|| "end".to_owned()));
        names.extend((self.memory != other.memory).then(|| "memory".to_owned()));
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_says_all() {
        let mut case = Case { words: vec![0xd503_201f, 0xffff_ffff], seed: 0xabc, ..Case::default() };
        case.state = State { pc: PC, sp: DATA, nzcv: 1 << 31, fpcr: 1 << 24, ..State::default() };
        case.state.x[30] = 7;
        case.state.q[31] = u128::MAX;
        assert_eq!(case.to_string().parse::<Case>().unwrap(), case);
        let mut after = Outcome { state: case.state.clone(), end: End::Fault(0x1234), memory: BTreeMap::new() };
        after.state.pc = PC - 8;
        after.state.fpsr = 1 << 27;
        after.state.x[30] = 0;
        after.memory.insert(DATA + 8, 99);
        let text = after.text(&case);
        assert_eq!(Outcome::from_text(&text, &case).unwrap(), after, "{text}");
        let mut other = after.clone();
        other.state.q[0] = 1;
        other.end = End::Done;
        assert_eq!(after.differences(&other), ["q0", "end"]);
        assert!("words= x1=5".parse::<Case>().is_err() && "words=1 y1=5".parse::<Case>().is_err());
    }
}
