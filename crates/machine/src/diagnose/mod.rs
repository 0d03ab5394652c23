//! Where the CPUs are and how they came there, for whoever reads why a run ended: place, instruction, registers,
//! backtrace, with the names of a kernel's symbols.

use std::fmt;

use arch::sysreg::Reg;
use arch::{El, Va};
use cpu::Pe;
use sem::text::disassemble;
use symbols::Symbols;

use crate::run::Machine;
use crate::schedule::CpuState;

pub(crate) mod backtrace;
#[cfg(test)]
mod tests;
mod views;

use backtrace::Frame;
use views::Views;
pub(crate) use views::{physical_symbols, vectors};

/// An address, and what is there as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The address.
    pub va: Va,
    /// `symbol+offset/size`, both in bytes.
    pub symbol: Option<String>,
}

impl Place {
    /// The symbol's name alone.
    fn function(&self) -> Option<&str> {
        self.symbol.as_deref().and_then(|symbol| symbol.split('+').next())
    }
}

/// One CPU that is not off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// Its number.
    pub cpu: usize,
    /// What it does.
    pub state: CpuState,
    /// Its exception level.
    pub el: El,
    /// The next instruction, which is the one that an error of the tool is about.
    pub pc: Place,
    /// Its word and text; `None` where it cannot be read.
    pub instruction: Option<(u32, String)>,
    /// X0 to X30.
    pub x: [u64; 31],
    /// The current stack pointer.
    pub sp: u64,
    /// PSTATE, as in an SPSR.
    pub pstate: u64,
    /// Where X30 points: the caller, in a function that has not called another.
    pub lr: Place,
    /// Registers of translation and exceptions, with their values.
    pub system: Vec<(Reg, u64)>,
    /// Where the callers go on, from the innermost on; at most 65.
    pub backtrace: Vec<Place>,
}

/// What is shown of the level that takes the CPU's exceptions.
const SYSTEM_EL2: [Reg; 10] = [
    Reg::ESR_EL2,
    Reg::FAR_EL2,
    Reg::ELR_EL2,
    Reg::SPSR_EL2,
    Reg::VBAR_EL2,
    Reg::SCTLR_EL2,
    Reg::TCR_EL2,
    Reg::TTBR0_EL2,
    Reg::TTBR1_EL2,
    Reg::HCR_EL2,
];
const SYSTEM_EL1: [Reg; 9] = [
    Reg::ESR_EL1,
    Reg::FAR_EL1,
    Reg::ELR_EL1,
    Reg::SPSR_EL1,
    Reg::VBAR_EL1,
    Reg::SCTLR_EL1,
    Reg::TCR_EL1,
    Reg::TTBR0_EL1,
    Reg::TTBR1_EL1,
];

/// Callers in the one line of a CPU.
const SHORT: usize = 16;

impl Machine {
    /// Where the CPUs that are not off are. `symbols` are those of the kernel, at link addresses.
    #[must_use]
    pub fn diagnose(&self, symbols: &Symbols) -> Vec<Diagnosis> {
        let cpus = || self.board().cpus.iter().filter(|cpu| cpu.state != CpuState::Off);
        let of = |cpu: &crate::schedule::Cpu| {
            let others = cpus().map(|cpu| &*cpu.pe);
            Diagnosis::of(&cpu.pe, cpu.state, &Views::new(symbols, &cpu.pe, others, self.entry()))
        };
        cpus().map(of).collect()
    }
}

impl Diagnosis {
    fn of(pe: &Pe, state: CpuState, views: &Views) -> Self {
        let place = |va: Va| Place { va, symbol: views.lookup(va).map(|location| location.to_string()) };
        // A return address is that of the instruction behind the call, which may be another function's first.
        let return_place = |va: Va| match views.lookup(va.add(4u64.wrapping_neg())) {
            Some(location) => {
                let symbol = symbols::Location { offset: location.offset + 4, ..location }.to_string();
                Place { va, symbol: Some(symbol) }
            }
            None => Place { va, symbol: None },
        };
        let word = word_at(pe, pe.pc());
        let system: &[Reg] = if pe.default_target() == El::El2 { &SYSTEM_EL2 } else { &SYSTEM_EL1 };
        let mut frames = backtrace::frames(pe);
        let lr = backtrace::without_signature(Va(pe.x_register(30)));
        if backtrace::is_caller(lr, views.lookup(pe.pc()), &frames) {
            frames.insert(0, Frame::Return(lr));
        }
        let backtrace = frames.into_iter().map(|frame| match frame {
            Frame::Return(va) => return_place(va),
            Frame::Exception(va) => place(va),
        });
        Self {
            cpu: pe.index(),
            state,
            el: pe.pstate().el,
            pc: place(pe.pc()),
            instruction: word.map(|word| (word, disassemble(word, pe.pc().0).to_string())),
            x: core::array::from_fn(|n| pe.x_register(n)),
            sp: pe.sp(),
            pstate: pe.pstate().to_spsr() | pe.nzcv(),
            lr: return_place(lr),
            system: system.iter().map(|reg| (*reg, pe.stored(*reg))).collect(),
            backtrace: backtrace.collect(),
        }
    }

    /// Is the CPU in this function, or in one that it called?
    #[must_use]
    pub fn is_in(&self, function: &str) -> bool {
        let mut places = [&self.pc].into_iter().chain(&self.backtrace);
        places.any(|place| place.function() == Some(function))
    }

    /// One line: CPU, level, place, callers.
    #[must_use]
    pub fn line(&self) -> String {
        let state = match self.state {
            CpuState::Running => "",
            CpuState::Sleeping => ", asleep",
            CpuState::Waiting => ", in WFE",
            CpuState::Off => ", off",
        };
        let mut line = format!("CPU {} in {}{state}: {}", self.cpu, el_name(self.el), self.pc);
        for name in self.backtrace.iter().filter_map(Place::function).take(SHORT) {
            line.push_str(" < ");
            line.push_str(name);
        }
        line
    }
}

const fn el_name(el: El) -> &'static str {
    match el {
        El::El0 => "EL0",
        El::El1 => "EL1",
        El::El2 => "EL2",
        El::El3 => "EL3",
    }
}

/// The instruction at `pc`, if it can be read as data.
fn word_at(pe: &Pe, pc: Va) -> Option<u32> {
    let pair = pe.peek(pc.align_down(8))?;
    match pc.0 & 7 {
        0 => Some(pair as u32),
        4 => Some((pair >> 32) as u32),
        _ => None,
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#018x}", self.va.0)?;
        self.symbol.as_ref().map_or(Ok(()), |symbol| write!(f, " {symbol}"))
    }
}

impl fmt::Display for Diagnosis {
    /// Several lines, the last with its newline.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "CPU {} in {} at {}", self.cpu, el_name(self.el), self.pc)?;
        match &self.instruction {
            Some((word, text)) => writeln!(f, "  instruction {word:08x}: {text}")?,
            None => writeln!(f, "  no instruction can be read there")?,
        }
        for (row, values) in self.x[..30].chunks(3).enumerate() {
            let first = 3 * row;
            for (n, value) in values.iter().enumerate() {
                write!(f, "  {:>3} {value:016x}", format!("x{}", first + n))?;
            }
            writeln!(f)?;
        }
        writeln!(f, "  x30 {:016x}   sp {:016x}  pstate {:08x}", self.x[30], self.sp, self.pstate)?;
        for row in self.system.chunks(3) {
            for (reg, value) in row {
                write!(f, "  {:>9} {value:016x}", reg.name())?;
            }
            writeln!(f)?;
        }
        if let Some(symbol) = &self.lr.symbol {
            writeln!(f, "  x30 is in {symbol}")?;
        }
        if !self.backtrace.is_empty() {
            writeln!(f, "  called from")?;
        }
        self.backtrace.iter().try_for_each(|place| writeln!(f, "    {place}"))
    }
}
