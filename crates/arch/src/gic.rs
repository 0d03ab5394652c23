//! What is IMPLEMENTATION DEFINED of a PE's GIC virtual CPU interface, most of which ICH_VTR_EL2 tells. IHI 0069.

use crate::feature::Switch;
use crate::field::{icc_ctlr_el1 as ctlr, ich_hcr_el2 as hcr, ich_lr_el2 as lr, ich_vtr_el2 as vtr};
use core::fmt;

/// Does the CPU interface report its misuse by SError interrupts (ICH_VTR_EL2.SEIS, ICC_CTLR_EL1.SEIS)? It may then;
/// the machine's policy says whether it does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Seis {
    /// No.
    Off,
    /// Yes: a guest's misuse gives the guest a virtual SError interrupt, where HCR_EL2.AMO asks for virtual ones.
    On,
    /// Yes, and some of a guest's reach the hypervisor as physical ones whatever HCR_EL2.AMO says. Linux works around such an
    /// interface in the Apple M1 and M2 (its commit df652bcf1136 tells of it).
    Broken,
}

/// The virtual CPU interface of one PE.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VirtualInterface {
    /// List registers, 1 to 16.
    pub list_registers: u8,
    /// Bits of a virtual priority, 5 to 8 and no fewer than `preemption_bits`.
    pub priority_bits: u8,
    /// Bits of it that decide about preemption, 5 to 7.
    pub preemption_bits: u8,
    /// Bits of a virtual INTID, 16 or 24.
    pub id_bits: u8,
    /// A3V: the interface has Aff3 in registers that send SGIs.
    pub a3v: Switch,
    /// System errors.
    pub seis: Seis,
    /// TDS: there is ICH_HCR_EL2.TDIR.
    pub tds: Switch,
    /// nV4: there is no direct injection of virtual interrupts (GICv4).
    pub nv4: Switch,
    /// DVIM: there is ICH_HCR_EL2.DVIM. Only with direct injection.
    pub dvim: Switch,
    /// ICH_HCR_EL2.TDIR traps only while ICH_HCR_EL2.En is set. Implementations differ.
    pub tdir_needs_en: Switch,
}

impl VirtualInterface {
    /// What most cores have: four list registers, five bits of priority and preemption.
    pub const DEFAULT: Self = Self {
        list_registers: 4,
        priority_bits: 5,
        preemption_bits: 5,
        id_bits: 16,
        a3v: Switch::On,
        seis: Seis::Off,
        tds: Switch::On,
        nv4: Switch::On,
        dvim: Switch::Off,
        tdir_needs_en: Switch::Off,
    };

    /// ICH_VTR_EL2.
    #[must_use]
    pub const fn vtr(&self) -> u64 {
        vtr::ListRegs.of(self.list_registers as u64 - 1)
            | vtr::DVIM.of(bit(self.dvim))
            | vtr::TDS.of(bit(self.tds))
            | vtr::nV4.of(bit(self.nv4))
            | vtr::A3V.of(bit(self.a3v))
            | vtr::SEIS.of(self.reports_errors() as u64)
            | vtr::IDbits.of(self.id_bits_field())
            | vtr::PREbits.of(self.preemption_bits as u64 - 1)
            | vtr::PRIbits.of(self.priority_bits as u64 - 1)
    }

    /// The read-only fields of ICV_CTLR_EL1. RSS: SGIs of the virtual interface reach Aff0 up to 255.
    #[must_use]
    pub const fn ctlr(&self) -> u64 {
        ctlr::PRIbits.of(self.priority_bits as u64 - 1)
            | ctlr::IDbits.of(self.id_bits_field())
            | ctlr::SEIS.of(self.reports_errors() as u64)
            | ctlr::A3V.of(bit(self.a3v))
            | ctlr::RSS.of(1)
    }

    /// Whether SEIS is set.
    #[must_use]
    pub const fn reports_errors(&self) -> bool {
        !matches!(self.seis, Seis::Off)
    }

    /// The bits of ICH_HCR_EL2 that are not RES0. vSGIEOICount belongs to GICv4.1, which no model has.
    #[must_use]
    pub const fn hcr_mask(&self) -> u64 {
        let always = hcr::En.mask()
            | hcr::UIE.mask()
            | hcr::LRENPIE.mask()
            | hcr::NPIE.mask()
            | hcr::VGrp0EIE.mask()
            | hcr::VGrp0DIE.mask()
            | hcr::VGrp1EIE.mask()
            | hcr::VGrp1DIE.mask()
            | hcr::TC.mask()
            | hcr::TALL0.mask()
            | hcr::TALL1.mask()
            | hcr::EOIcount.mask();
        let tsei = if self.reports_errors() { hcr::TSEI.mask() } else { 0 };
        always | tsei | when(self.tds, hcr::TDIR.mask()) | when(self.dvim, hcr::DVIM.mask())
    }

    /// The bits of an ICH_LR<n>_EL2 that are not RES0 always. Those of pINTID that mean nothing without HW are kept.
    #[must_use]
    pub const fn lr_mask(&self) -> u64 {
        lr::vINTID.of((1 << self.id_bits) - 1)
            | lr::pINTID.mask()
            | lr::Priority.of(self.priority_mask() as u64)
            | lr::Group.mask()
            | lr::HW.mask()
            | lr::State.mask()
    }

    /// The implemented bits of a virtual priority.
    #[must_use]
    pub const fn priority_mask(&self) -> u8 {
        (0xff00u16 >> self.priority_bits) as u8
    }

    /// ICH_AP0R<n>_EL2, ICV_AP0R<n>_EL1 and those of group 1: 1, 2 or 4 of them.
    #[must_use]
    pub const fn active_priority_registers(&self) -> u8 {
        1 << (self.preemption_bits - 5)
    }

    const fn id_bits_field(&self) -> u64 {
        (self.id_bits == 24) as u64
    }
}

const fn bit(switch: Switch) -> u64 {
    matches!(switch, Switch::On) as u64
}

const fn when(switch: Switch, mask: u64) -> u64 {
    if matches!(switch, Switch::On) { mask } else { 0 }
}

/// A property of the virtual CPU interface by its name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Property {
    /// `list-registers`.
    ListRegisters,
    /// `priority-bits`.
    PriorityBits,
    /// `preemption-bits`.
    PreemptionBits,
    /// `id-bits`.
    IdBits,
    /// `a3v`.
    A3v,
    /// `seis`.
    Seis,
    /// `tds`.
    Tds,
    /// `nv4`.
    Nv4,
    /// `dvim`.
    Dvim,
    /// `tdir-needs-en`.
    TdirNeedsEn,
}

impl Property {
    /// All.
    pub const ALL: [Self; 10] = [
        Self::ListRegisters,
        Self::PriorityBits,
        Self::PreemptionBits,
        Self::IdBits,
        Self::A3v,
        Self::Seis,
        Self::Tds,
        Self::Nv4,
        Self::Dvim,
        Self::TdirNeedsEn,
    ];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ListRegisters => "list-registers",
            Self::PriorityBits => "priority-bits",
            Self::PreemptionBits => "preemption-bits",
            Self::IdBits => "id-bits",
            Self::A3v => "a3v",
            Self::Seis => "seis",
            Self::Tds => "tds",
            Self::Nv4 => "nv4",
            Self::Dvim => "dvim",
            Self::TdirNeedsEn => "tdir-needs-en",
        }
    }

    /// The values it takes, as text for messages.
    #[must_use]
    pub const fn range(self) -> &'static str {
        match self {
            Self::ListRegisters => "1 to 16",
            Self::PriorityBits => "5 to 8",
            Self::PreemptionBits => "5 to 7",
            Self::IdBits => "16 or 24",
            Self::Seis => "on, off or broken",
            Self::A3v | Self::Tds | Self::Nv4 | Self::Dvim | Self::TdirNeedsEn => "on or off",
        }
    }

    /// Its value in `interface`, as it is written.
    #[must_use]
    pub fn value(self, interface: &VirtualInterface) -> PropertyValue {
        let switch = |value| PropertyValue::Text(if value == Switch::On { "on" } else { "off" });
        match self {
            Self::ListRegisters => PropertyValue::Number(interface.list_registers),
            Self::PriorityBits => PropertyValue::Number(interface.priority_bits),
            Self::PreemptionBits => PropertyValue::Number(interface.preemption_bits),
            Self::IdBits => PropertyValue::Number(interface.id_bits),
            Self::A3v => switch(interface.a3v),
            Self::Seis => PropertyValue::Text(match interface.seis {
                Seis::Off => "off",
                Seis::On => "on",
                Seis::Broken => "broken",
            }),
            Self::Tds => switch(interface.tds),
            Self::Nv4 => switch(interface.nv4),
            Self::Dvim => switch(interface.dvim),
            Self::TdirNeedsEn => switch(interface.tdir_needs_en),
        }
    }

    /// Sets it in `interface`; `None` where it does not take `text`.
    fn set(self, interface: &mut VirtualInterface, text: &str) -> Option<()> {
        let number = |least: u8, most: u8| text.parse::<u8>().ok().filter(|n| (least..=most).contains(n));
        let switch = || match text {
            "on" => Some(Switch::On),
            "off" => Some(Switch::Off),
            _ => None,
        };
        match self {
            Self::ListRegisters => interface.list_registers = number(1, 16)?,
            Self::PriorityBits => interface.priority_bits = number(5, 8)?,
            Self::PreemptionBits => interface.preemption_bits = number(5, 7)?,
            Self::IdBits => interface.id_bits = number(16, 24).filter(|n| matches!(n, 16 | 24))?,
            Self::Seis if text == "broken" => interface.seis = Seis::Broken,
            Self::Seis => interface.seis = if switch()? == Switch::On { Seis::On } else { Seis::Off },
            Self::A3v => interface.a3v = switch()?,
            Self::Tds => interface.tds = switch()?,
            Self::Nv4 => interface.nv4 = switch()?,
            Self::Dvim => interface.dvim = switch()?,
            Self::TdirNeedsEn => interface.tdir_needs_en = switch()?,
        }
        Some(())
    }
}

/// A property's value for people.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PropertyValue {
    /// A count.
    Number(u8),
    /// A word.
    Text(&'static str),
}

impl fmt::Display for PropertyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Why a virtual CPU interface cannot be as asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PropertyError<'a> {
    /// There is no `=`.
    NoValue(&'a str),
    /// No property has this name.
    Unknown(&'a str),
    /// The property does not take this value.
    BadValue(Property, &'a str),
}

impl fmt::Display for PropertyError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoValue(text) => write!(f, "`{text}` is not NAME=VALUE, such as list-registers=4"),
            Self::Unknown(name) => {
                write!(f, "no property is called `{name}`; there are ")?;
                for (n, property) in Property::ALL.into_iter().enumerate() {
                    write!(f, "{}{}", if n == 0 { "" } else { ", " }, property.name())?;
                }
                Ok(())
            }
            Self::BadValue(property, value) => {
                write!(f, "{} is {}, not `{value}`", property.name(), property.range())
            }
        }
    }
}

impl core::error::Error for PropertyError<'_> {}

/// Why properties do not go together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contradiction {
    /// More bits of preemption than of priority.
    Preemption,
    /// DVIM without direct injection.
    Dvim,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Preemption => "preemption-bits is more than priority-bits",
            Self::Dvim => "dvim=on masks direct injection, which nv4=on says is absent",
        })
    }
}

impl core::error::Error for Contradiction {}

impl VirtualInterface {
    /// Applies `NAME=VALUE[,NAME=VALUE...]`. Whether the result is one that can be, [`VirtualInterface::check`] says.
    pub fn apply<'a>(&mut self, text: &'a str) -> Result<(), PropertyError<'a>> {
        for part in text.split(',') {
            let (name, value) = part.split_once('=').ok_or(PropertyError::NoValue(part))?;
            let property = Property::ALL.into_iter().find(|p| p.name() == name).ok_or(PropertyError::Unknown(name))?;
            property.set(self, value).ok_or(PropertyError::BadValue(property, value))?;
        }
        Ok(())
    }

    /// Whether the properties go together.
    pub fn check(&self) -> Result<(), Contradiction> {
        if self.preemption_bits > self.priority_bits {
            return Err(Contradiction::Preemption);
        }
        if self.dvim == Switch::On && self.nv4 == Switch::On {
            return Err(Contradiction::Dvim);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn vtr_tells_the_properties() {
        // PRIbits 31:29, PREbits 28:26, IDbits 25:23, SEIS 22, A3V 21, nV4 20, TDS 19, DVIM 18, ListRegs 4:0.
        assert_eq!(VirtualInterface::DEFAULT.vtr(), 4 << 29 | 4 << 26 | 1 << 21 | 1 << 20 | 1 << 19 | 3);
        let mut other = VirtualInterface::DEFAULT;
        let all =
            "priority-bits=8,preemption-bits=7,id-bits=24,seis=on,a3v=off,nv4=off,tds=off,dvim=on,list-registers=16";
        assert_eq!(other.apply(all), Ok(()));
        assert_eq!(other.vtr(), 7 << 29 | 6 << 26 | 1 << 23 | 1 << 22 | 1 << 18 | 15);
        assert_eq!(other.check(), Ok(()));
    }

    #[test]
    fn bits_that_a_property_brings() {
        let mask = |text: &str| {
            let mut interface = VirtualInterface::DEFAULT;
            interface.apply(text).unwrap();
            (interface.hcr_mask(), interface.lr_mask())
        };
        // DVIM 15, TDIR 14, TSEI 13; vSGIEOICount 8 never.
        assert_eq!(mask("tds=off").0, 0xf800_1cff);
        assert_eq!(mask("tds=on,seis=broken").0, 0xf800_7cff);
        assert_eq!(mask("nv4=off,dvim=on").0, 0xf800_dcff);
        assert_eq!(mask("tds=on").1, 0xf0f8_1fff_0000_ffff);
        assert_eq!(mask("priority-bits=7,id-bits=24").1, 0xf0fe_1fff_00ff_ffff);
    }

    #[test]
    fn every_property_takes_its_values_and_says_them() {
        for property in Property::ALL {
            let mut changed = 0;
            for text in ["1", "5", "6", "7", "8", "16", "24", "on", "off", "broken"] {
                let mut interface = VirtualInterface::DEFAULT;
                if property.set(&mut interface, text).is_some() {
                    assert_eq!(property.value(&interface).to_string(), text, "{}", property.name());
                    changed += u32::from(interface != VirtualInterface::DEFAULT);
                }
            }
            assert!(changed > 0, "{} changes nothing", property.name());
        }
    }

    #[test]
    fn messages() {
        let error = |text| VirtualInterface::DEFAULT.clone().apply(text).unwrap_err().to_string();
        for (text, part) in [
            ("tds", "`tds` is not NAME=VALUE"),
            ("lr=4", "no property is called `lr`; there are list-registers, priority-bits"),
            ("seis=on,list-registers=17", "list-registers is 1 to 16, not `17`"),
            ("list-registers=0", "1 to 16, not `0`"),
            ("seis=maybe", "seis is on, off or broken, not `maybe`"),
            ("id-bits=20", "16 or 24, not `20`"),
            ("", "`` is not NAME=VALUE"),
        ] {
            assert!(error(text).contains(part), "{text}: {}", error(text));
        }
        let check = |text| {
            let mut interface = VirtualInterface::DEFAULT;
            interface.apply(text).unwrap();
            interface.check()
        };
        assert_eq!(check("preemption-bits=6"), Err(Contradiction::Preemption));
        assert_eq!(check("dvim=on"), Err(Contradiction::Dvim));
    }
}
