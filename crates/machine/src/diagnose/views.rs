//! The symbols of a kernel that may run elsewhere than it was linked.

use arch::sysreg::Reg;
use arch::{El, Pa, Va};
use cpu::Pe;
use symbols::{Location, Symbols};

/// Linux puts its image at the same offset from a multiple of this in bytes, linked and loaded (booting.rst).
const IMAGE_ALIGNMENT: u64 = 2 << 20;

/// The same symbols at each place where the kernel can be, the most probable first.
pub(super) struct Views(Vec<Symbols>);

impl Views {
    /// For a kernel that `pe` runs, as well as `others`, and which was entered at `entry`.
    pub fn new<'a>(symbols: &Symbols, pe: &'a Pe, others: impl Iterator<Item = &'a Pe>, entry: Pa) -> Self {
        let by_vectors = |pe| vectors(pe).into_iter().filter_map(|vbar| symbols.with_vectors_at(vbar));
        let mut views: Vec<_> = by_vectors(pe).collect();
        views.push(symbols.with_slide(0));
        // While this one is in EL0 with KPTI, another may be in the kernel.
        views.extend(others.flat_map(by_vectors));
        // As long as the MMU is off, and in code that switches it on, addresses are physical.
        views.extend(physical_symbols(symbols, entry).filter(|_| pe.pstate().el != El::El0));
        let mut seen = Vec::new();
        views.retain(|view| {
            let is_new = !seen.contains(&view.slide());
            seen.push(view.slide());
            is_new
        });
        Self(views)
    }

    pub fn lookup(&self, va: Va) -> Option<Location<'_>> {
        self.0.iter().find_map(|view| view.lookup(va))
    }
}

/// Where the exception vectors are of whoever takes the exceptions of `pe`, and those of the other level: a kernel at EL2 may be
/// in a guest of its own now.
pub(crate) fn vectors(pe: &Pe) -> [Va; 2] {
    let of = match pe.default_target() {
        El::El2 => [Reg::VBAR_EL2, Reg::VBAR_EL1],
        _ => [Reg::VBAR_EL1, Reg::VBAR_EL2],
    };
    of.map(|vbar| Va(pe.stored(vbar)))
}

/// The symbols of a kernel that was entered at `entry`, at physical addresses.
pub(crate) fn physical_symbols(symbols: &Symbols, entry: Pa) -> Option<Symbols> {
    let (_, _, first) = symbols.with_slide(0).iter().next()?;
    let linked = first.align_down(IMAGE_ALIGNMENT);
    Some(symbols.with_slide(entry.align_down(IMAGE_ALIGNMENT).0.wrapping_sub(linked.0)))
}
