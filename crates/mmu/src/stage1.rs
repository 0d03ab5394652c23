//! The configuration of stage 1, decoded once per change of its registers.

use arch::{Pa, Va};

use crate::{Access, AccessKind, Endian, Fault, FaultKind, MemAttr, Privilege, Shareability};

/// Something that is either implemented and enabled, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Switch {
    /// Absent or disabled.
    #[default]
    Off,
    /// Present and enabled.
    On,
}

impl Switch {
    /// Bit `n` of `value`.
    #[inline(always)]
    #[must_use]
    pub const fn bit(value: u64, n: u32) -> Self {
        if value >> n & 1 != 0 { Self::On } else { Self::Off }
    }
    /// Is it on?
    #[inline(always)]
    #[must_use]
    pub const fn is_on(self) -> bool {
        matches!(self, Self::On)
    }
    /// On where both are.
    #[inline(always)]
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        if self.is_on() { other } else { Self::Off }
    }
}

/// A translation regime (EL3 is not modelled).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Regime {
    /// EL1&0.
    El10 = 0,
    /// EL2, `HCR_EL2.E2H` clear: one range, no ASID, no EL0.
    El2 = 1,
    /// EL2&0, `HCR_EL2.E2H` set.
    El20 = 2,
}

impl Regime {
    /// Does it have two address ranges, ASIDs and unprivileged accesses?
    #[inline(always)]
    #[must_use]
    pub const fn has_el0(self) -> bool {
        !matches!(self, Self::El2)
    }
}

/// A translation granule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Granule {
    /// 4 KiB.
    K4,
    /// 16 KiB.
    K16,
    /// 64 KiB.
    K64,
}

impl Granule {
    /// log2 of the page size in bytes.
    #[inline(always)]
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Self::K4 => 12,
            Self::K16 => 14,
            Self::K64 => 16,
        }
    }
    /// Address bits that one level of a table resolves.
    #[inline(always)]
    #[must_use]
    pub const fn stride(self) -> u8 {
        self.bits() - 3
    }
    /// log2 of what one descriptor at `level` maps.
    #[inline(always)]
    #[must_use]
    pub const fn shift(self, level: i8) -> u8 {
        self.bits() + self.stride() * (3 - level) as u8
    }
    /// log2 of the number of descriptors in a contiguous run at `level`; 0 where the Contiguous bit has no meaning.
    #[must_use]
    pub const fn contiguous_log2(self, level: i8) -> u8 {
        match (self, level) {
            (Self::K4, 1..=3) => 4,
            (Self::K16, 2) | (Self::K64, 2..=3) => 5,
            (Self::K16, 3) => 7,
            _ => 0,
        }
    }
}

/// How far a granule is supported at stage 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GranuleSupport {
    /// Not at all.
    Absent,
    /// With addresses of up to 48 bits (64 KiB: up to 52 by FEAT_LPA and FEAT_LVA).
    Present,
    /// With addresses of up to 52 bits by FEAT_LPA2; has no meaning for 64 KiB.
    Lpa2,
}

/// What a Block descriptor with the nT bit set does, where the implementation may choose (BBM levels 1 and 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NtPolicy {
    /// It translates, and no TLB holds it.
    Uncached,
    /// It is a Translation fault.
    Faults,
}

/// What hardware updates in descriptors: `ID_AA64MMFR1_EL1.HAFDBS`, or what TCR enables of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HwUpdate {
    /// Nothing.
    None,
    /// The Access flag.
    AccessFlag,
    /// The Access flag and the dirty state.
    Dirty,
}

/// What a PE implements of the MMU. Features whose only effect lies in other state (FEAT_PAN, FEAT_PAN2, FEAT_UAO)
/// show in the [`Access`] that the caller makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MmuFeatures {
    /// Physical address bits: 32, 36, 40, 42, 44, 48 or 52 (52 is FEAT_LPA, with the 64 KiB granule).
    pub pa_bits: u8,
    /// FEAT_LVA: 52-bit virtual addresses with the 64 KiB granule.
    pub lva: Switch,
    /// The 4 KiB granule.
    pub granule_4k: GranuleSupport,
    /// The 16 KiB granule.
    pub granule_16k: GranuleSupport,
    /// The 64 KiB granule.
    pub granule_64k: GranuleSupport,
    /// FEAT_HAFDBS.
    pub hafdbs: HwUpdate,
    /// FEAT_HPDS.
    pub hpds: Switch,
    /// FEAT_PAN3: `SCTLR_ELx.EPAN`.
    pub epan: Switch,
    /// 16-bit ASIDs.
    pub asid16: Switch,
    /// FEAT_E0PD.
    pub e0pd: Switch,
    /// FEAT_TTST: small address ranges.
    pub ttst: Switch,
    /// TBID exists, which comes with FEAT_PAuth.
    pub tbid: Switch,
    /// `ID_AA64MMFR2_EL1.BBM`, 0 to 2.
    pub bbm: u8,
    /// What nT does at BBM levels 1 and 2.
    pub nt: NtPolicy,
    /// FEAT_XNX: for stage 2.
    pub xnx: Switch,
    /// FEAT_S2FWB.
    pub s2fwb: Switch,
    /// 16-bit VMIDs.
    pub vmid16: Switch,
}

impl MmuFeatures {
    /// Armv8.0 with 44-bit physical addresses, 16-bit ASIDs and all granules: Cortex-A57's MMU.
    pub const V8_0: Self = Self {
        pa_bits: 44,
        lva: Switch::Off,
        granule_4k: GranuleSupport::Present,
        granule_16k: GranuleSupport::Absent,
        granule_64k: GranuleSupport::Present,
        hafdbs: HwUpdate::None,
        hpds: Switch::Off,
        epan: Switch::Off,
        asid16: Switch::On,
        e0pd: Switch::Off,
        ttst: Switch::Off,
        tbid: Switch::Off,
        bbm: 0,
        nt: NtPolicy::Uncached,
        xnx: Switch::Off,
        s2fwb: Switch::Off,
        vmid16: Switch::Off,
    };

    /// Everything that this crate implements.
    pub const ALL: Self = Self {
        pa_bits: 52,
        lva: Switch::On,
        granule_4k: GranuleSupport::Lpa2,
        granule_16k: GranuleSupport::Lpa2,
        granule_64k: GranuleSupport::Present,
        hafdbs: HwUpdate::Dirty,
        hpds: Switch::On,
        epan: Switch::On,
        asid16: Switch::On,
        e0pd: Switch::On,
        ttst: Switch::On,
        tbid: Switch::On,
        bbm: 2,
        nt: NtPolicy::Uncached,
        xnx: Switch::On,
        s2fwb: Switch::On,
        vmid16: Switch::On,
    };

    fn support(&self, granule: Granule) -> GranuleSupport {
        match granule {
            Granule::K4 => self.granule_4k,
            Granule::K16 => self.granule_16k,
            Granule::K64 => self.granule_64k,
        }
    }

    /// The granule that a TG field stands for. A reserved value, or a granule that is absent, acts as one that is
    /// implemented (IMPLEMENTATION DEFINED which): the smallest.
    fn granule(&self, asked: Option<Granule>) -> Granule {
        let present = |g: &Granule| self.support(*g) != GranuleSupport::Absent;
        asked
            .filter(present)
            .or_else(|| [Granule::K4, Granule::K16, Granule::K64].into_iter().find(present))
            .unwrap_or(Granule::K4)
    }
}

/// The registers of one regime, raw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Regs {
    /// Which regime they belong to.
    pub regime: Regime,
    /// `SCTLR_ELx`.
    pub sctlr: u64,
    /// `TCR_ELx`.
    pub tcr: u64,
    /// `TTBR0_ELx`.
    pub ttbr0: u64,
    /// `TTBR1_ELx`; ignored in the EL2 regime.
    pub ttbr1: u64,
    /// `MAIR_ELx`.
    pub mair: u64,
    /// The current VMID in the EL1&0 regime with EL2 enabled, else 0.
    pub vmid: u16,
    /// Is stage 2 in use?
    pub stage2: Switch,
    /// `HCR_EL2.{NV, NV1}` both set, in the EL1&0 regime: the tables are a guest hypervisor's for EL2.
    pub nv1: Switch,
    /// What memory is with translation off where `HCR_EL2.DC` says so: Normal write-back, tagged with `DCT`.
    pub default_attr: Option<MemAttr>,
}

/// One of the two address ranges; bit 55 selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Half {
    /// TTBR0's.
    Lower = 0,
    /// TTBR1's.
    Upper = 1,
}

impl Half {
    /// The half that `va` lies in.
    #[inline(always)]
    #[must_use]
    pub const fn of(va: Va) -> Self {
        if va.0 >> 55 & 1 == 0 { Self::Lower } else { Self::Upper }
    }
}

/// Can a range be walked at all?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RangeState {
    /// Yes.
    Walk,
    /// TxSZ is out of bounds: every access is a level 0 Translation fault. The manual lets an implementation clamp
    /// instead (unless FEAT_LVA is there and TxSZ is too small); always faulting is what it requires newest.
    BadSize,
    /// EPD: a TLB miss is a level 0 Translation fault.
    Disabled,
    /// The table base lies beyond the output size: a level 0 Address size fault.
    BadBase,
}

/// How descriptors hold addresses of more than 48 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressForm {
    /// They do not.
    Bits48,
    /// FEAT_LPA: bits \[51:48\] in \[15:12\] (64 KiB granule).
    Lpa,
    /// FEAT_LPA2 with DS set: bits \[51:50\] in \[9:8\], which then hold no shareability.
    Lpa2(Shareability),
}

/// How TTBR holds the table base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BaseForm {
    /// Bits \[47:1\].
    Bits48,
    /// Bits \[47:6\], and \[51:48\] in \[5:2\]; such a table is at least 64-byte aligned.
    Bits52,
}

/// One address range, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VaRange {
    pub state: RangeState,
    pub granule: Granule,
    /// Input address bits.
    pub ia_bits: u8,
    /// Output address bits.
    pub out_bits: u8,
    pub start_level: i8,
    pub form: AddressForm,
    pub table: Pa,
    pub hpd: Switch,
    e0pd: Switch,
    /// The state as far as TCR decides it.
    tcr_state: RangeState,
    base: BaseForm,
    /// log2 of the alignment of the table base.
    base_align: u8,
    /// The bits that must all equal bit 55 (or be zero in a regime of one range).
    data_mask: u64,
    fetch_mask: u64,
}

/// What a range is decoded from: TCR's fields for it in one place, whatever the layout.
struct RangeFields {
    tsz: u64,
    granule: Option<Granule>,
    sh: u64,
    ttbr: u64,
    ps: u64,
    epd: Switch,
    hpd: Switch,
    tbi: Switch,
    tbid: Switch,
    e0pd: Switch,
    ds: Switch,
}

const fn ones(top: u8, low: u8) -> u64 {
    (u64::MAX >> (63 - top)) & (u64::MAX << low)
}

impl VaRange {
    fn new(f: &RangeFields, features: &MmuFeatures) -> Self {
        let granule = features.granule(f.granule);
        let lpa2 = features.support(granule) == GranuleSupport::Lpa2 && granule != Granule::K64;
        let lpa = granule == Granule::K64 && features.pa_bits >= 52;
        let form = if lpa2 && f.ds.is_on() {
            AddressForm::Lpa2(Shareability::from_bits(f.sh))
        } else if lpa {
            AddressForm::Lpa
        } else {
            AddressForm::Bits48
        };
        let wide_va = matches!(form, AddressForm::Lpa2(_)) || (granule == Granule::K64 && features.lva.is_on());
        let min_tsz = if wide_va { 12 } else { 16 };
        let max_tsz = match (features.ttst, granule) {
            (Switch::Off, _) => 39,
            (Switch::On, Granule::K64) => 47,
            (Switch::On, _) => 48,
        };
        let size_ok = (min_tsz..=max_tsz).contains(&f.tsz);
        let ia_bits = 64 - f.tsz.clamp(min_tsz, max_tsz) as u8;

        let asked = [32, 36, 40, 42, 44, 48, 52, 52][(f.ps & 7) as usize];
        let limit = if matches!(form, AddressForm::Bits48) { 48 } else { 52 };
        let out_bits = asked.min(limit).min(features.pa_bits);

        let start_level = 3 - ((ia_bits - 1 - granule.bits()) / granule.stride()) as i8;
        let entries = ia_bits - granule.shift(start_level);
        let base = if matches!(form, AddressForm::Lpa2(_)) || (lpa && f.ps & 7 == 6) {
            BaseForm::Bits52
        } else {
            BaseForm::Bits48
        };
        let base_align = if base == BaseForm::Bits52 { (entries + 3).max(6) } else { entries + 3 };
        let tcr_state = if !size_ok {
            RangeState::BadSize
        } else if f.epd.is_on() {
            RangeState::Disabled
        } else {
            RangeState::Walk
        };
        let (data_top, fetch_top) = match (f.tbi, f.tbid) {
            (Switch::Off, _) => (63, 63),
            (Switch::On, Switch::On) => (55, 63),
            (Switch::On, Switch::Off) => (55, 55),
        };
        let mut range = Self {
            state: tcr_state,
            granule,
            ia_bits,
            out_bits,
            start_level,
            form,
            table: Pa(0),
            hpd: f.hpd,
            e0pd: f.e0pd,
            tcr_state,
            base,
            base_align,
            data_mask: ones(data_top, ia_bits),
            fetch_mask: ones(fetch_top, ia_bits),
        };
        range.set_table(f.ttbr);
        range
    }

    /// Stage 2's range: T0SZ, SL0 and SL2 choose size and start level apart, tables of the start level may be
    /// concatenated up to 16-fold, and a combination that does not fit is a level 0 Translation fault.
    pub(crate) fn stage2(vtcr: u64, vttbr: u64, features: &MmuFeatures) -> Self {
        let field = |low: u32, bits: u32| vtcr >> low & ((1 << bits) - 1);
        let tg0 = match field(14, 2) {
            0 => Some(Granule::K4),
            1 => Some(Granule::K64),
            2 => Some(Granule::K16),
            _ => None,
        };
        let fields = RangeFields {
            tsz: field(0, 6),
            granule: tg0,
            sh: field(12, 2),
            ttbr: vttbr,
            ps: field(16, 3),
            epd: Switch::Off,
            hpd: Switch::Off,
            tbi: Switch::Off,
            tbid: Switch::Off,
            e0pd: Switch::Off,
            ds: Switch::bit(vtcr, 32),
        };
        let mut range = Self::new(&fields, features);
        let lpa2 = matches!(range.form, AddressForm::Lpa2(_));
        let pa_max = features.pa_bits;
        // SL2 counts with DS, which the 64 KiB granule does not have (AArch64.S2InvalidSL).
        let start = match (range.granule, Switch::bit(vtcr, 33).and(Switch::bit(u64::from(lpa2), 0)), field(6, 2)) {
            (Granule::K4, Switch::On, 0) => Some(-1),
            (_, Switch::On, _) | (Granule::K64, Switch::Off, 3) => None,
            (Granule::K4, Switch::Off, 2) => (pa_max >= 44).then_some(0),
            (Granule::K4, Switch::Off, 3) => features.ttst.is_on().then_some(3),
            (Granule::K4, Switch::Off, sl0) => Some(2 - sl0 as i8),
            (Granule::K16, Switch::Off, 2) => (pa_max >= 42).then_some(1),
            (Granule::K16, Switch::Off, 3) => lpa2.then_some(0),
            (Granule::K64, Switch::Off, 2) => (pa_max >= 44).then_some(1),
            (Granule::K16 | Granule::K64, Switch::Off, sl0) => Some(3 - sl0 as i8),
        };
        // Intermediate addresses have no more bits than physical ones (AArch64.S2MinTxSZ).
        if range.ia_bits > pa_max {
            range.tcr_state = RangeState::BadSize;
        }
        match start {
            Some(level) => {
                let shift = range.granule.shift(level);
                let fits = range.ia_bits > shift && range.ia_bits <= shift + range.granule.stride() + 4;
                if !fits {
                    range.tcr_state = RangeState::BadSize;
                }
                range.start_level = level;
                let entries = range.ia_bits.saturating_sub(shift);
                range.base_align = if range.base == BaseForm::Bits52 { (entries + 3).max(6) } else { entries + 3 };
            }
            None => range.tcr_state = RangeState::BadSize,
        }
        range.set_table(vttbr);
        range
    }

    fn set_table(&mut self, ttbr: u64) {
        let base = match self.base {
            BaseForm::Bits48 => ttbr & ones(47, 1),
            BaseForm::Bits52 => ttbr & ones(47, 6) | (ttbr >> 2 & 15) << 48,
        };
        self.table = Pa(base).align_down(1 << self.base_align);
        let beyond = self.table.0 >> self.out_bits != 0;
        self.state = if self.tcr_state == RangeState::Walk && beyond { RangeState::BadBase } else { self.tcr_state };
    }

    /// May a block descriptor stand at `level`?
    pub(crate) fn block_at(&self, level: i8) -> bool {
        match (self.granule, level) {
            (_, 2) | (Granule::K4, 1) => true,
            (Granule::K4, 0) | (Granule::K16, 1) => matches!(self.form, AddressForm::Lpa2(_)),
            (Granule::K64, 1) => matches!(self.form, AddressForm::Lpa),
            _ => false,
        }
    }

    /// The address in a descriptor: of the next table, or of memory, in units of `1 << low` bytes.
    #[inline]
    pub(crate) fn address(&self, descriptor: u64, low: u8) -> u64 {
        match self.form {
            AddressForm::Bits48 => descriptor & ones(47, low),
            AddressForm::Lpa => descriptor & ones(47, low) | (descriptor >> 12 & 15) << 48,
            AddressForm::Lpa2(_) => {
                // A block of level 0 ends above bit 49 for no granule, so the mask is never empty.
                descriptor & ones(49, low) | (descriptor >> 8 & 3) << 50
            }
        }
    }
}

/// Memory attributes with translation off (DDI 0487 D8.2.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OffAttr {
    pub data: MemAttr,
    pub fetch: MemAttr,
    pub sh: Shareability,
}

impl OffAttr {
    fn new(regs: &Regs) -> Self {
        if let Some(attr) = regs.default_attr {
            return Self { data: attr, fetch: attr, sh: Shareability::Non };
        }
        let fetch = if regs.sctlr >> 12 & 1 != 0 { MemAttr::NORMAL_WT_RA } else { MemAttr::NORMAL_NC };
        Self { data: MemAttr::DEVICE_NGNRNE, fetch, sh: Shareability::Outer }
    }
}

/// An address that passed the range checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// The address; bits \[63:56\] repeat bit 55.
    pub va: Va,
    /// Its range.
    pub half: Half,
}

/// Stage 1 of one regime, decoded from its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage1 {
    /// The regime.
    pub regime: Regime,
    /// Is translation enabled (`SCTLR_ELx.M`)?
    pub enabled: Switch,
    /// The VMID that entries are tagged with.
    pub vmid: u16,
    /// Is stage 2 in use behind it?
    pub stage2: Switch,
    /// The current ASID; 0 in the EL2 regime.
    pub asid: u16,
    pub(crate) wxn: Switch,
    pub(crate) epan: Switch,
    pub(crate) nv1: Switch,
    pub(crate) endian: Endian,
    pub(crate) update: HwUpdate,
    pub(crate) nt: Option<NtPolicy>,
    pub(crate) mair: u64,
    /// With translation off.
    pub(crate) off: OffAttr,
    pub(crate) ranges: [VaRange; 2],
    off_data_mask: u64,
    off_fetch_mask: u64,
    shared_top: Switch,
    /// Which TTBR holds the ASID, and how much of it counts; `None` in the EL2 regime.
    asid_from: Option<(Half, u16)>,
}

impl Stage1 {
    /// Decodes `regs` for a PE with `features`.
    #[must_use]
    pub fn new(regs: &Regs, features: &MmuFeatures) -> Self {
        let tcr = regs.tcr;
        let field = |low: u32, bits: u32| tcr >> low & ((1 << bits) - 1);
        let bit = |n: u32| Switch::bit(tcr, n);
        let tg0 = match field(14, 2) {
            0 => Some(Granule::K4),
            1 => Some(Granule::K64),
            2 => Some(Granule::K16),
            _ => None,
        };
        let tg1 = match field(30, 2) {
            1 => Some(Granule::K16),
            2 => Some(Granule::K4),
            3 => Some(Granule::K64),
            _ => None,
        };
        let two = regs.regime.has_el0();
        let (lower, upper, ha, hd, as_bit) = if two {
            let ps = field(32, 3);
            let ds = bit(59);
            let lower = RangeFields {
                tsz: field(0, 6),
                granule: tg0,
                sh: field(12, 2),
                ttbr: regs.ttbr0,
                ps,
                epd: bit(7),
                hpd: bit(41).and(features.hpds),
                tbi: bit(37),
                tbid: bit(51).and(features.tbid),
                e0pd: bit(55).and(features.e0pd),
                ds,
            };
            let upper = RangeFields {
                tsz: field(16, 6),
                granule: tg1,
                sh: field(28, 2),
                ttbr: regs.ttbr1,
                ps,
                epd: bit(23),
                hpd: bit(42).and(features.hpds),
                tbi: bit(38),
                tbid: bit(52).and(features.tbid),
                e0pd: bit(56).and(features.e0pd),
                ds,
            };
            (lower, upper, bit(39), bit(40), bit(36))
        } else {
            let only = || RangeFields {
                tsz: field(0, 6),
                granule: tg0,
                sh: field(12, 2),
                ttbr: regs.ttbr0,
                ps: field(16, 3),
                epd: Switch::Off,
                hpd: bit(24).and(features.hpds),
                tbi: bit(20),
                tbid: bit(29).and(features.tbid),
                e0pd: Switch::Off,
                ds: bit(32),
            };
            (only(), only(), bit(21), bit(22), Switch::Off)
        };
        let update = match (ha, hd) {
            (Switch::Off, _) => HwUpdate::None,
            (Switch::On, Switch::Off) => HwUpdate::AccessFlag.min(features.hafdbs),
            (Switch::On, Switch::On) => features.hafdbs,
        };
        let asid_mask = if as_bit.and(features.asid16).is_on() { 0xffff } else { 0xff };
        let asid_from = match (two, bit(22)) {
            (false, _) => None,
            (true, Switch::Off) => Some((Half::Lower, asid_mask)),
            (true, Switch::On) => Some((Half::Upper, asid_mask)),
        };
        let asid = match asid_from {
            None => 0,
            Some((Half::Lower, mask)) => (regs.ttbr0 >> 48) as u16 & mask,
            Some((Half::Upper, mask)) => (regs.ttbr1 >> 48) as u16 & mask,
        };
        let ranges = [VaRange::new(&lower, features), VaRange::new(&upper, features)];
        let off = |mask: u64| mask & ones(63, 55) | ones(55, features.pa_bits);
        Self {
            regime: regs.regime,
            enabled: Switch::bit(regs.sctlr, 0),
            vmid: if regs.regime == Regime::El10 { regs.vmid } else { 0 },
            stage2: if regs.regime == Regime::El10 { regs.stage2 } else { Switch::Off },
            asid,
            wxn: Switch::bit(regs.sctlr, 19),
            epan: if two { Switch::bit(regs.sctlr, 57).and(features.epan) } else { Switch::Off },
            nv1: if regs.regime == Regime::El10 { regs.nv1 } else { Switch::Off },
            endian: if regs.sctlr >> 25 & 1 != 0 { Endian::Big } else { Endian::Little },
            update,
            nt: (1..=2).contains(&features.bbm).then_some(features.nt),
            mair: regs.mair,
            off: OffAttr::new(regs),
            ranges,
            off_data_mask: off(ranges[0].data_mask),
            off_fetch_mask: off(ranges[0].fetch_mask),
            shared_top: if two { Switch::On } else { Switch::Off },
            asid_from,
        }
    }

    /// The bits of an address in that range, by TxSZ: 16 to 52. In the EL2 regime both ranges are the one there is.
    #[inline]
    #[must_use]
    pub fn address_bits(&self, half: Half) -> u32 {
        u32::from(self.ranges[half as usize].ia_bits)
    }

    /// TTBR0 or TTBR1 was written: the same as decoding all registers anew, but cheap, as kernels write them on
    /// every switch of address space (and some on every exception). In the EL2 regime only TTBR0 exists.
    #[inline]
    pub fn set_ttbr(&mut self, half: Half, value: u64) {
        self.ranges[half as usize].set_table(value);
        if let Some((from, mask)) = self.asid_from
            && from == half
        {
            self.asid = (value >> 48) as u16 & mask;
        }
    }

    /// Checks `va` against its range and strips the tag: what comes before any TLB look-up. EPD, which only a walk
    /// obeys, is not looked at.
    #[inline]
    pub fn input(&self, va: Va, access: Access) -> Result<Input, Fault> {
        let canonical = Va(((va.0 << 8) as i64 >> 8) as u64);
        let fetch = access.kind == AccessKind::Fetch;
        if !self.enabled.is_on() {
            // With translation off, an address beyond the physical size is an Address size fault at level 0.
            let mask = if fetch { self.off_fetch_mask } else { self.off_data_mask };
            if va.0 & mask != 0 {
                return Err(Fault::stage1(FaultKind::AddressSize, 0, access));
            }
            return Ok(Input { va: canonical, half: Half::Lower });
        }
        let half = if self.shared_top.is_on() { Half::of(va) } else { Half::Lower };
        let range = &self.ranges[half as usize];
        let mask = if fetch { range.fetch_mask } else { range.data_mask };
        let expected = if half == Half::Upper { mask } else { 0 };
        let denied = access.privilege == Privilege::El0 && range.e0pd.is_on();
        if va.0 & mask != expected || range.state == RangeState::BadSize || denied {
            return Err(Fault::stage1(FaultKind::Translation, 0, access));
        }
        Ok(Input { va: canonical, half })
    }
}
