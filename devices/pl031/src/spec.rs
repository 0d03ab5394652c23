//! The PL031's registers: PrimeCell Real Time Clock (PL031) Technical Reference Manual, Arm DDI 0224, chapter 3.

/// `RTCDR`: the counter, in seconds.
pub const DR: u64 = 0x00;
/// `RTCMR`: match.
pub const MR: u64 = 0x04;
/// `RTCLR`: load.
pub const LR: u64 = 0x08;
/// `RTCCR`: control.
pub const CR: u64 = 0x0c;
/// `RTCIMSC`: interrupt mask.
pub const IMSC: u64 = 0x10;
/// `RTCRIS`: raw interrupt status.
pub const RIS: u64 = 0x14;
/// `RTCMIS`: masked interrupt status.
pub const MIS: u64 = 0x18;
/// `RTCICR`: interrupt clear.
pub const ICR: u64 = 0x1c;
/// First of the eight identification registers.
pub const ID: u64 = 0xfe0;
/// `RTCPeriphID0` to 3 and `RTCPCellID0` to 3.
pub const IDS: [u8; 8] = [0x31, 0x10, 0x14, 0x00, 0x0d, 0xf0, 0x05, 0xb1];
