//! Pointer authentication. DDI 0487 D8.10; the shared pseudocode InsertPAC, AuthenticatePAC, Strip and ComputePAC.

mod qarma;

use arch::esr::{PacKey, Syndrome, pac_fail};
use arch::feature::Feature;
use arch::field::{Field, hcr_el2, sctlr_el1 as sctlr, tcr_el1 as tcr, tcr_el2};
use arch::model::CpuModel;
use arch::sysreg::Reg;
use arch::{El, Va};
use mmu::Half;
use sem::PauthKey;

use crate::pe::Pe;
use crate::stop::Stop;
use qarma::Qarma;

/// How codes are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    /// FEAT_PACQARMA5 or FEAT_PACQARMA3.
    Qarma(Qarma),
    /// FEAT_PACIMP: the IMPLEMENTATION DEFINED one, see [`fast_hash`].
    Fast,
}

/// What becomes of a pointer that is not canonical, and what a failed authentication does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// FEAT_PAuth: a bit of the code is inverted; the result has an error code.
    Base,
    /// FEAT_EPAC: the code is zero.
    Epac,
    /// FEAT_PAuth2: codes are added by exclusive or.
    Pauth2,
    /// FEAT_FPAC: a failure of an instruction that does nothing else is an exception.
    Fpac,
    /// FEAT_FPACCOMBINE: every failure is.
    FpacCombine,
}

/// Is the authentication a part of an instruction that then uses the pointer?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combined {
    /// No.
    No,
    /// Yes: a branch, an exception return, a load.
    Yes,
}

/// What a PE has of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pauth {
    algorithm: Algorithm,
    level: Level,
    /// FEAT_CONSTPACFIELD: bit 55 selects the range, whatever TBI says.
    const_field: bool,
}

impl Pauth {
    /// What `model` has.
    pub(crate) fn of(model: &CpuModel) -> Option<Self> {
        let algorithm = match model.pauth_algorithm()? {
            Feature::FEAT_PACQARMA5 => Algorithm::Qarma(Qarma::FIVE),
            Feature::FEAT_PACQARMA3 => Algorithm::Qarma(Qarma::THREE),
            _ => Algorithm::Fast,
        };
        let levels = [
            (Feature::FEAT_FPACCOMBINE, Level::FpacCombine),
            (Feature::FEAT_FPAC, Level::Fpac),
            (Feature::FEAT_PAuth2, Level::Pauth2),
            (Feature::FEAT_EPAC, Level::Epac),
            (Feature::FEAT_PAuth, Level::Base),
        ];
        let (_, level) = levels.into_iter().find(|(feature, _)| model.has(*feature))?;
        Some(Self { algorithm, level, const_field: model.has(Feature::FEAT_CONSTPACFIELD) })
    }

    /// ComputePAC; the key is its upper and its lower half.
    fn code(self, known: &mut KnownCodes, pointer: u64, modifier: u64, key: [u64; 2]) -> u64 {
        match self.algorithm {
            Algorithm::Qarma(qarma) => known.get([pointer, modifier, key[0], key[1]], qarma),
            Algorithm::Fast => fast_hash(pointer, modifier, key),
        }
    }
}

/// Codes that the ciphers gave: most are asked for twice, on the way into a function and out of it.
pub(crate) struct KnownCodes(Box<[Option<Known>]>);

#[derive(Clone, Copy)]
struct Known {
    /// Pointer, modifier, key.
    input: [u64; 4],
    code: u64,
}

const KNOWN: usize = 512;

impl KnownCodes {
    pub(crate) fn new() -> Self {
        Self(vec![None; KNOWN].into_boxed_slice())
    }

    fn get(&mut self, input: [u64; 4], qarma: Qarma) -> u64 {
        // Calls differ in the lower bits of the return address and of the stack pointer.
        let slot = &mut self.0[((input[0] >> 2) ^ (input[1] >> 4) ^ input[3]) as usize % KNOWN];
        match slot {
            Some(known) if known.input == input => known.code,
            _ => {
                let code = qarma.encrypt(input[0], input[1], [input[2], input[3]]);
                *slot = Some(Known { input, code });
                code
            }
        }
    }
}

/// The IMPLEMENTATION DEFINED code: a keyed hash of two 64 by 64 bit multiplications, each folded by exclusive or of the
/// product's halves. It protects no secret; what counts is that it is cheap and that every bit of pointer, modifier and
/// key changes every bit of the code about half of the time.
fn fast_hash(pointer: u64, modifier: u64, [upper, lower]: [u64; 2]) -> u64 {
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let first = fold(pointer ^ upper ^ 0xa076_1d64_78bd_642f, modifier ^ lower ^ 0xe703_7ed1_a0b4_28db);
    fold(first ^ 0x8ebc_6af0_9c88_c6e3, first.rotate_left(32) ^ upper ^ lower.rotate_left(17) ^ 0x5899_65cc_7537_4cc3)
}

/// Bits \[top:low\]; none where `low` is above `top`.
const fn ones(top: u32, low: u32) -> u64 {
    if low > top { 0 } else { (u64::MAX >> (63 - top)) & (u64::MAX << low) }
}

const BIT55: u64 = 1 << 55;

/// What an address is used for: TBI differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Instructions.
    Instruction,
    /// Data.
    Data,
}

impl Purpose {
    fn of(key: PauthKey) -> Self {
        match key {
            PauthKey::IA | PauthKey::IB => Self::Instruction,
            PauthKey::DA | PauthKey::DB => Self::Data,
        }
    }
}

/// What the top byte of an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Top {
    /// A tag: TBI applies.
    Tag,
    /// A part of the address or of the code.
    Used,
}

/// A pointer's parts as the translation controls make them.
#[derive(Clone, Copy)]
struct Layout {
    /// The extension bits and those that may hold a code: all above the address, but for a tag.
    whole: u64,
    /// Those that hold the code: the same without bit 55.
    field: u64,
    top: Top,
}

/// The extension bits of an address in `half`.
const fn extension(half: Half) -> u64 {
    match half {
        Half::Lower => 0,
        Half::Upper => u64::MAX,
    }
}

impl Pe {
    /// The top byte in the lower and in the upper range (EffectiveTBI).
    fn tops(&self, purpose: Purpose) -> [Top; 2] {
        let control = self.translation_control();
        let top = |tbi: Field, tbid: Field| {
            let tagged = tbi.is_set(control) && (purpose == Purpose::Data || !tbid.is_set(control));
            if tagged { Top::Tag } else { Top::Used }
        };
        if self.stage1.regime.has_el0() {
            [top(tcr::TBI0, tcr::TBID0), top(tcr::TBI1, tcr::TBID1)]
        } else {
            [top(tcr_el2::TBI, tcr_el2::TBID); 2]
        }
    }

    /// The layout of a pointer with that top byte whose address lies in `half`.
    fn layout(&self, top: Top, half: Half) -> Layout {
        // CalculateBottomPACBit; a TxSZ out of bounds acts as the nearest one in bounds.
        let half = if self.stage1.regime.has_el0() { half } else { Half::Lower };
        let whole = ones(if top == Top::Tag { 55 } else { 63 }, self.stage1.address_bits(half));
        Layout { whole, field: whole & !BIT55, top }
    }

    /// The key of address authentication, and its enable in SCTLR_ELx.
    fn address_key(&self, key: PauthKey) -> ([u64; 2], Field) {
        let (hi, lo, enable) = match key {
            PauthKey::IA => (Reg::APIAKeyHi_EL1, Reg::APIAKeyLo_EL1, sctlr::EnIA),
            PauthKey::IB => (Reg::APIBKeyHi_EL1, Reg::APIBKeyLo_EL1, sctlr::EnIB),
            PauthKey::DA => (Reg::APDAKeyHi_EL1, Reg::APDAKeyLo_EL1, sctlr::EnDA),
            PauthKey::DB => (Reg::APDBKeyHi_EL1, Reg::APDBKeyLo_EL1, sctlr::EnDB),
        };
        ([self.reg(hi), self.reg(lo)], enable)
    }

    /// What the PE has and the key's value, where the key is enabled.
    fn enabled(&self, key: PauthKey) -> Option<(Pauth, [u64; 2])> {
        let pauth = self.pauth?;
        let (value, enable) = self.address_key(key);
        enable.is_set(self.control()).then_some((pauth, value))
    }

    /// HCR_EL2.API clear: EL2 wants to see what the lower levels sign and authenticate.
    fn check_pauth_trap(&mut self) -> Result<(), Stop> {
        let lower = self.pstate.el < El::El2 && !(self.pstate.el == El::El0 && self.is_host_el0());
        if lower && self.has_el2() && !self.hcr(hcr_el2::API) {
            return Err(self.raise_to_el2(Syndrome::PAUTH_TRAP));
        }
        Ok(())
    }

    /// AddPACIA and its kind.
    pub(crate) fn sign_pointer(&mut self, key: PauthKey, pointer: u64, modifier: u64) -> Result<u64, Stop> {
        let Some((pauth, value)) = self.enabled(key) else { return Ok(pointer) };
        self.check_pauth_trap()?;
        let tops = self.tops(Purpose::of(key));
        let by_bit55 = Half::of(Va(pointer));
        let top = tops[by_bit55 as usize];
        // Where either range is tagged, bit 55 decides for both.
        let half = if pauth.const_field || tops.contains(&Top::Tag) {
            by_bit55
        } else if pointer >> 63 == 0 {
            Half::Lower
        } else {
            Half::Upper
        };
        let layout = self.layout(top, half);
        let mut code = pauth.code(
            &mut self.known_codes,
            pointer & !layout.whole | extension(half) & layout.whole,
            modifier,
            value,
        );
        let canonical = pointer & layout.whole == 0 || pointer & layout.whole == layout.whole;
        match pauth.level {
            Level::Base if !canonical => code ^= 1 << if top == Top::Tag { 54 } else { 62 },
            Level::Epac if !canonical => code = 0,
            Level::Base | Level::Epac => {}
            Level::Pauth2 | Level::Fpac | Level::FpacCombine => code ^= pointer,
        }
        Ok(pointer & !layout.whole | extension(half) & BIT55 | code & layout.field)
    }

    /// AuthIA and its kind.
    pub(crate) fn authenticate_pointer(
        &mut self,
        key: PauthKey,
        pointer: u64,
        modifier: u64,
        combined: Combined,
    ) -> Result<u64, Stop> {
        let Some((pauth, value)) = self.enabled(key) else { return Ok(pointer) };
        self.check_pauth_trap()?;
        let (layout, plain) = self.plain(Purpose::of(key), pointer);
        let code = pauth.code(&mut self.known_codes, plain, modifier, value);
        let signed = if pauth.level >= Level::Pauth2 { plain ^ code } else { code };
        if (pointer ^ signed) & layout.field == 0 {
            return Ok(plain);
        }
        if pauth.level >= Level::Pauth2 {
            if pauth.level == Level::FpacCombine || pauth.level == Level::Fpac && combined == Combined::No {
                return Err(self.raise(pac_fail(syndrome_key(key)), None));
            }
            return Ok(pointer ^ code & layout.field);
        }
        let error = if matches!(key, PauthKey::IA | PauthKey::DA) { 1 } else { 2 };
        let place = if layout.top == Top::Tag { 53 } else { 61 };
        Ok(plain & !(3 << place) | error << place)
    }

    /// Strip: the layout of `pointer`, and `pointer` with its extension bits in the place of the code.
    fn plain(&self, purpose: Purpose, pointer: u64) -> (Layout, u64) {
        let half = Half::of(Va(pointer));
        let layout = self.layout(self.tops(purpose)[half as usize], half);
        (layout, pointer & !layout.whole | extension(half) & layout.whole)
    }

    /// XPACI and XPACD.
    pub(crate) fn strip_pointer(&self, purpose: Purpose, pointer: u64) -> u64 {
        if self.pauth.is_some() { self.plain(purpose, pointer).1 } else { pointer }
    }

    /// PACGA.
    pub(crate) fn generic_code(&mut self, value: u64, modifier: u64) -> Result<u64, Stop> {
        self.check_pauth_trap()?;
        let key = [self.reg(Reg::APGAKeyHi_EL1), self.reg(Reg::APGAKeyLo_EL1)];
        let code = self.pauth.map_or(0, |pauth| pauth.code(&mut self.known_codes, value, modifier, key));
        Ok(code & !0xffff_ffff)
    }
}

fn syndrome_key(key: PauthKey) -> PacKey {
    match key {
        PauthKey::IA => PacKey::IA,
        PauthKey::IB => PacKey::IB,
        PauthKey::DA => PacKey::DA,
        PauthKey::DB => PacKey::DB,
    }
}
