//! The PL061's registers: PrimeCell General Purpose Input/Output (PL061) Technical Reference Manual, Arm DDI 0190, chapter 3.

/// End of `GPIODATA`, which is at every offset below: bits \[9:2\] of the address say which lines are meant.
pub const DATA_END: u64 = 0x400;
/// `GPIODIR`: 1 for an output.
pub const DIR: u64 = 0x400;
/// `GPIOIS`: 1 for an interrupt by level, 0 by edge.
pub const IS: u64 = 0x404;
/// `GPIOIBE`: both edges.
pub const IBE: u64 = 0x408;
/// `GPIOIEV`: 1 for the rising edge or the high level.
pub const IEV: u64 = 0x40c;
/// `GPIOIE`: interrupt mask, 1 for enabled.
pub const IE: u64 = 0x410;
/// `GPIORIS`: raw interrupt status.
pub const RIS: u64 = 0x414;
/// `GPIOMIS`: masked interrupt status.
pub const MIS: u64 = 0x418;
/// `GPIOIC`: interrupt clear.
pub const IC: u64 = 0x41c;
/// `GPIOAFSEL`: mode control.
pub const AFSEL: u64 = 0x420;
/// First of the eight identification registers.
pub const ID: u64 = 0xfe0;
/// `GPIOPeriphID0` to 3 and `GPIOPCellID0` to 3.
pub const IDS: [u8; 8] = [0x61, 0x10, 0x04, 0x00, 0x0d, 0xf0, 0x05, 0xb1];
