//! Time stands still.

/// Ticks.
pub fn now() -> u64 {
    0
}
/// Ticks a second.
pub fn frequency() -> u64 {
    1_000_000_000
}
/// Nothing.
pub fn set_deadline(_deadline: u64) {}
/// Nothing.
pub fn stop() {}
