//! The PL011's registers: PrimeCell UART (PL011) Technical Reference Manual, Arm DDI 0183, chapter 3.

/// `UARTDR`: data.
pub const DR: u64 = 0x000;
/// `UARTRSR` (read) and `UARTECR` (write): receive status and error clear.
pub const RSR: u64 = 0x004;
/// `UARTFR`: flags.
pub const FR: u64 = 0x018;
/// `UARTILPR`: IrDA low-power counter.
pub const ILPR: u64 = 0x020;
/// `UARTIBRD`: integer baud rate.
pub const IBRD: u64 = 0x024;
/// `UARTFBRD`: fractional baud rate.
pub const FBRD: u64 = 0x028;
/// `UARTLCR_H`: line control.
pub const LCR_H: u64 = 0x02c;
/// `UARTCR`: control.
pub const CR: u64 = 0x030;
/// `UARTIFLS`: interrupt FIFO levels.
pub const IFLS: u64 = 0x034;
/// `UARTIMSC`: interrupt mask.
pub const IMSC: u64 = 0x038;
/// `UARTRIS`: raw interrupt status.
pub const RIS: u64 = 0x03c;
/// `UARTMIS`: masked interrupt status.
pub const MIS: u64 = 0x040;
/// `UARTICR`: interrupt clear.
pub const ICR: u64 = 0x044;
/// `UARTDMACR`: DMA control.
pub const DMACR: u64 = 0x048;
/// First of the eight identification registers.
pub const ID: u64 = 0xfe0;

/// `UARTPeriphID0` to 3 and `UARTPCellID0` to 3. Revision 1, whose FIFOs are 16 deep.
pub const IDS: [u8; 8] = [0x11, 0x10, 0x14, 0x00, 0x0d, 0xf0, 0x05, 0xb1];

/// Bits of `UARTFR`.
pub mod fr {
    /// Clear to send, data set ready, data carrier detect: a terminal is connected.
    pub const CONNECTED: u32 = 0b111;
    /// Receive FIFO empty.
    pub const RXFE: u32 = 1 << 4;
    /// Receive FIFO full.
    pub const RXFF: u32 = 1 << 6;
    /// Transmit FIFO empty.
    pub const TXFE: u32 = 1 << 7;
}

/// Bits of the interrupt registers.
pub mod int {
    /// Receive.
    pub const RX: u32 = 1 << 4;
    /// Transmit.
    pub const TX: u32 = 1 << 5;
    /// Receive timeout.
    pub const RT: u32 = 1 << 6;
    /// Overrun error.
    pub const OE: u32 = 1 << 10;
}

/// `UARTLCR_H.FEN`: FIFOs enabled.
pub const LCR_H_FEN: u32 = 1 << 4;
/// `UARTRSR.OE`: overrun.
pub const RSR_OE: u32 = 1 << 3;

/// Bits of `UARTCR`.
pub mod cr {
    /// UART enable.
    pub const UARTEN: u32 = 1 << 0;
    /// Loopback enable.
    pub const LBE: u32 = 1 << 7;
    /// Receive enable.
    pub const RXE: u32 = 1 << 9;
    /// Reset value: transmit and receive enabled, the UART not.
    pub const RESET: u32 = 0x300;
}

/// Reset value of `UARTIFLS`: both FIFOs at half.
pub const IFLS_RESET: u32 = 0x12;
/// Depth of the receive FIFO.
pub const DEPTH: usize = 16;

/// The fill level that raises the receive interrupt, for `UARTIFLS`. Reserved values act as the highest one.
pub const fn receive_level(ifls: u32) -> usize {
    match ifls >> 3 & 7 {
        0 => DEPTH / 8,
        1 => DEPTH / 4,
        2 => DEPTH / 2,
        3 => DEPTH * 3 / 4,
        _ => DEPTH * 7 / 8,
    }
}
