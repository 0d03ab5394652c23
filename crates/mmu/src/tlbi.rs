//! TLBI instructions: what they name.

use arch::sysreg::Enc;
use arch::{Ipa, Va};

use crate::{Entry, Granule, Regime, Scope};

/// Which PEs execute a TLBI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broadcast {
    /// The issuing PE.
    Local,
    /// Its Inner Shareable domain.
    Inner,
    /// Its Outer Shareable domain (FEAT_TLBIOS).
    Outer,
}

/// Which ASIDs a TLBI by address matches; global entries match either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsidMatch {
    /// Entries of this ASID, and global ones.
    This(u16),
    /// All.
    Any,
}

/// Which VMIDs a TLBI matches. Regimes without VMIDs hold 0 in their entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VmidMatch {
    /// One virtual machine.
    This(u16),
    /// All.
    Any,
}

/// Which levels of the tables a TLBI names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Levels {
    /// All that a walk passes.
    All,
    /// The last alone.
    Last,
}

/// The TTL hint: the leaf descriptor's granule and level. An entry of another level need not be removed; the TLB here
/// removes it all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ttl {
    /// Granule.
    pub granule: Granule,
    /// Level, 0 to 3; 0 only where the granule has leaves there, else the hint says nothing (see `decode`).
    pub level: i8,
}

/// What a TLBI names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlbiTarget {
    /// Everything in the regime.
    All,
    /// The non-global entries of an ASID.
    Asid(u16),
    /// What translates an address.
    Va {
        /// The address, bits \[63:56\] repeating bit 55.
        va: Va,
        /// Of which ASIDs.
        asid: AsidMatch,
    },
    /// What translates any address of a range.
    Range {
        /// First address.
        start: Va,
        /// Length; 0 where the range is ill-formed, which removes nothing.
        bytes: u64,
        /// Of which ASIDs.
        asid: AsidMatch,
    },
    /// What stage 2 translates any intermediate address of a range to; 1 byte for the forms of one address.
    Ipa {
        /// First address.
        start: Ipa,
        /// Length; 0 where the range is ill-formed, which removes nothing.
        bytes: u64,
    },
}

/// Which translations a TLBI of the EL1&0 regime acts on. Those of both stages together count as of stage 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlbiStages {
    /// Stage 1's, and combined ones.
    One,
    /// Stage 2's alone.
    Two,
    /// All.
    Both,
}

/// Which TLBI instructions exist: `ID_AA64ISAR0_EL1.TLB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlbiSupport {
    /// Those of Armv8.0.
    Base,
    /// Also FEAT_TLBIOS.
    OuterShareable,
    /// Also FEAT_TLBIRANGE.
    Range,
}

/// The state of the issuing PE that a TLBI depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The regime that the EL1 forms act on: EL1&0, or EL2&0 where `HCR_EL2.{E2H,TGE}` are both set.
    pub regime: Regime,
    /// The current VMID; 0 without EL2.
    pub vmid: u16,
    /// FEAT_TTL: is bits \[47:44\] of the operand a hint?
    pub ttl: crate::Switch,
    /// The DS bit of the regime's TCR (and FEAT_LPA2): range operands are in units of 64 KiB then.
    pub ds: crate::Switch,
    /// The same of stage 2, `VTCR_EL2.DS`.
    pub stage2_ds: crate::Switch,
    /// Which forms exist.
    pub support: TlbiSupport,
}

/// A TLBI instruction with its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlbiOp {
    /// Who executes it.
    pub broadcast: Broadcast,
    /// On which regime.
    pub regime: Regime,
    /// For which virtual machines.
    pub vmid: VmidMatch,
    /// What it names.
    pub target: TlbiTarget,
    /// Of which stages.
    pub stages: TlbiStages,
    /// Which levels.
    pub levels: Levels,
    /// The hint.
    pub ttl: Option<Ttl>,
}

fn granule(bits: u64) -> Option<Granule> {
    match bits & 3 {
        1 => Some(Granule::K4),
        2 => Some(Granule::K16),
        3 => Some(Granule::K64),
        _ => None,
    }
}

impl TlbiOp {
    /// Decodes the forms that act on EL2's regimes and on virtual machines (op0 = 1, op1 = 4, CRn = 8), which EL2 may
    /// execute. Those by intermediate address remove what is held of stage 2 alone; software follows them by one that removes
    /// the combined entries.
    #[must_use]
    pub fn decode_el2(enc: Enc, xt: u64, origin: Origin, el2: Regime) -> Option<Self> {
        if (enc.op0(), enc.op1(), enc.crn()) != (1, 4, 8) {
            return None;
        }
        let with = |stages, broadcast, regime, vmid, target, levels, needs| {
            (origin.support >= needs).then_some(Self { broadcast, regime, vmid, target, stages, levels, ttl: None })
        };
        let op = |broadcast, regime, vmid, target, levels, needs| {
            with(TlbiStages::One, broadcast, regime, vmid, target, levels, needs)
        };
        let this = VmidMatch::This(origin.vmid);
        // Stage 2 by intermediate address: CRm 0 is shareable, 4 local and outer.
        let by_ipa = match (enc.crm(), enc.op2()) {
            (0, 1 | 5) => Some((Broadcast::Inner, TlbiSupport::Base)),
            (0, 2 | 6) => Some((Broadcast::Inner, TlbiSupport::Range)),
            (4, 1 | 5) => Some((Broadcast::Local, TlbiSupport::Base)),
            (4, 2 | 6) => Some((Broadcast::Local, TlbiSupport::Range)),
            (4, 0 | 4) => Some((Broadcast::Outer, TlbiSupport::OuterShareable)),
            (4, 3 | 7) => Some((Broadcast::Outer, TlbiSupport::Range)),
            _ => None,
        };
        if let Some((broadcast, needs)) = by_ipa {
            let levels = if enc.op2() & 4 == 0 { Levels::All } else { Levels::Last };
            let target = match needs {
                TlbiSupport::Range => ipa_range(xt, origin),
                _ => TlbiTarget::Ipa { start: Ipa((xt & IPA_PAGES) << 12), bytes: 1 },
            };
            return with(TlbiStages::Two, broadcast, Regime::El10, this, target, levels, needs);
        }
        let (broadcast, range) = match enc.crm() {
            7 => (Broadcast::Local, false),
            3 => (Broadcast::Inner, false),
            1 => (Broadcast::Outer, false),
            6 => (Broadcast::Local, true),
            2 => (Broadcast::Inner, true),
            5 => (Broadcast::Outer, true),
            _ => return None,
        };
        let needs = match (broadcast, range) {
            (_, true) => TlbiSupport::Range,
            (Broadcast::Outer, false) => TlbiSupport::OuterShareable,
            _ => TlbiSupport::Base,
        };
        let none = VmidMatch::This(0);
        // By address in EL2's own regime: with an ASID in the EL2&0 regime only.
        let asid = match el2 {
            Regime::El20 => AsidMatch::This((xt >> 48) as u16),
            _ => AsidMatch::Any,
        };
        match (enc.op2(), range) {
            (0, false) => op(broadcast, el2, none, TlbiTarget::All, Levels::All, needs),
            (4 | 6, false) => {
                let vmid = if enc.op2() == 4 { VmidMatch::Any } else { this };
                with(TlbiStages::Both, broadcast, Regime::El10, vmid, TlbiTarget::All, Levels::All, needs)
            }
            (1 | 5, _) => {
                let levels = if enc.op2() == 5 { Levels::Last } else { Levels::All };
                let target = if range {
                    range_target(xt, asid, origin).0
                } else {
                    TlbiTarget::Va { va: Va(((xt << 20) as i64 >> 8) as u64), asid }
                };
                op(broadcast, el2, none, target, levels, needs)
            }
            _ => None,
        }
    }

    /// Decodes the EL1 forms (op0 = 1, op1 = 0, CRn = 8): VMALLE1, VAE1, ASIDE1, VAAE1, VALE1, VAALE1, their IS and OS
    /// forms, and the range forms. `xt` is the operand; a PE with 8-bit ASIDs clears its upper eight bits, which are
    /// RES0 there. `None`: no such instruction with `origin.support`.
    #[must_use]
    pub fn decode(enc: Enc, xt: u64, origin: Origin) -> Option<Self> {
        if (enc.op0(), enc.op1(), enc.crn()) != (1, 0, 8) {
            return None;
        }
        let (broadcast, range) = match enc.crm() {
            7 => (Broadcast::Local, false),
            3 => (Broadcast::Inner, false),
            1 => (Broadcast::Outer, false),
            6 => (Broadcast::Local, true),
            2 => (Broadcast::Inner, true),
            5 => (Broadcast::Outer, true),
            _ => return None,
        };
        let needs = match (broadcast, range) {
            (_, true) => TlbiSupport::Range,
            (Broadcast::Outer, false) => TlbiSupport::OuterShareable,
            _ => TlbiSupport::Base,
        };
        if origin.support < needs {
            return None;
        }
        let asid = (xt >> 48) as u16;
        let (asid_match, levels) = match enc.op2() {
            0 | 2 if !range => (AsidMatch::Any, Levels::All),
            1 => (AsidMatch::This(asid), Levels::All),
            3 => (AsidMatch::Any, Levels::All),
            5 => (AsidMatch::This(asid), Levels::Last),
            7 => (AsidMatch::Any, Levels::Last),
            _ => return None,
        };
        let mut ttl = None;
        let target = match (enc.op2(), range) {
            (0, _) => TlbiTarget::All,
            (2, _) => TlbiTarget::Asid(asid),
            (_, true) => {
                let (target, hint) = range_target(xt, asid_match, origin);
                ttl = hint;
                target
            }
            (_, false) => {
                if origin.ttl.is_on() {
                    ttl = granule(xt >> 46).and_then(|granule| hint(granule, xt >> 44 & 3, origin));
                }
                let va = (xt << 20) as i64 >> 8;
                TlbiTarget::Va { va: Va(va as u64), asid: asid_match }
            }
        };
        let vmid = VmidMatch::This(origin.vmid);
        Some(Self { broadcast, regime: origin.regime, vmid, target, stages: TlbiStages::One, levels, ttl })
    }

    /// Must `entry` go? TTL is not looked at: keeping an entry for it is permitted, never required.
    #[inline]
    #[must_use]
    pub fn matches(&self, entry: &Entry) -> bool {
        let vmid = match self.vmid {
            VmidMatch::This(vmid) => self.regime != Regime::El10 || entry.vmid == vmid,
            VmidMatch::Any => true,
        };
        if entry.regime != self.regime || !vmid {
            return false;
        }
        let of = |asid: AsidMatch| match (asid, entry.scope) {
            (AsidMatch::Any, _) | (_, Scope::Global) => true,
            (AsidMatch::This(a), Scope::Asid(b)) => a == b,
        };
        match self.target {
            TlbiTarget::Ipa { .. } => false,
            TlbiTarget::All => true,
            TlbiTarget::Asid(asid) => entry.scope == Scope::Asid(asid),
            TlbiTarget::Va { va, asid } => entry.covers(va) && of(asid),
            TlbiTarget::Range { start, bytes, asid } => {
                let after = entry.va.0.wrapping_sub(start.0) < bytes;
                let before = start.0.wrapping_sub(entry.va.0) < entry.size() && bytes != 0;
                (after || before) && of(asid)
            }
        }
    }
}

/// The intermediate address in the operand of IPAS2E1: bits \[51:12\] in \[39:0\].
const IPA_PAGES: u64 = (1 << 40) - 1;

/// The operand of RIPAS2E1, as in [`range_target`] but for the ASID and the sign: intermediate addresses have none.
fn ipa_range(xt: u64, origin: Origin) -> TlbiTarget {
    let Some(granule) = granule(xt >> 46) else { return TlbiTarget::Ipa { start: Ipa(0), bytes: 0 } };
    let unit = if origin.stage2_ds.is_on() { 16 } else { granule.bits() };
    let start = Ipa((xt & ((1 << 37) - 1)) << unit);
    TlbiTarget::Ipa { start, bytes: range_bytes(xt, granule) }
}

/// The length that SCALE and NUM of a range operand give.
fn range_bytes(xt: u64, granule: Granule) -> u64 {
    let (scale, num) = (xt >> 44 & 3, xt >> 39 & 31);
    (num + 1) << (5 * scale + 1 + u64::from(granule.bits()))
}

/// A TTL hint; `None` where the level is one at which the granule has no leaf (reserved, or "any level").
fn hint(granule: Granule, level: u64, origin: Origin) -> Option<Ttl> {
    let level = level as i8;
    let leaf = match (granule, level) {
        (_, 2 | 3) | (Granule::K4 | Granule::K64, 1) => true,
        (Granule::K4, 0) | (Granule::K16, 1) => origin.ds.is_on(),
        _ => false,
    };
    leaf.then_some(Ttl { granule, level })
}

/// The operand of a range form: ASID \[63:48\], TG \[47:46\], SCALE \[45:44\], NUM \[43:39\], TTL \[38:37\],
/// BaseADDR \[36:0\].
fn range_target(xt: u64, asid: AsidMatch, origin: Origin) -> (TlbiTarget, Option<Ttl>) {
    let Some(granule) = granule(xt >> 46) else {
        // A reserved TG: nothing needs to be invalidated.
        return (TlbiTarget::Range { start: Va(0), bytes: 0, asid }, None);
    };
    let unit = if origin.ds.is_on() { 16 } else { granule.bits() };
    let base = ((xt << 27) as i64 >> 27) << unit;
    // Bit 36 of BaseADDR stands for all address bits above it.
    let start = (base << 8) >> 8;
    let bytes = range_bytes(xt, granule);
    // TTL 0 in a range form says nothing.
    let ttl = match xt >> 37 & 3 {
        0 => None,
        level => hint(granule, level, origin),
    };
    (TlbiTarget::Range { start: Va(start as u64), bytes, asid }, ttl)
}
