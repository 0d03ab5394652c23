//! The small types of `arch` and `event`.

use arch::policy::Policy;
use arch::sysreg::Enc;
use arch::{El, Ipa, Pa, Va};
use event::World;

use crate::{Codec, Invalid, Persist, persist_fields, persist_names};

macro_rules! wrappers {
    ($($ty:ty)*) => {$(
        impl Persist for $ty {
            fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
                self.0.persist(codec)
            }
        }
    )*};
}

wrappers! { Va Pa Ipa Enc }

persist_names!(El { El0 = 0, El1 = 1, El2 = 2, El3 = 3 });
persist_fields!(World { vmid, stage2 });

impl Persist for Policy {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let mut seed = match *self {
            Self::Benign => None,
            Self::Adversarial { seed } => Some(seed),
        };
        seed.persist(codec)?;
        *self = seed.map_or(Self::Benign, |seed| Self::Adversarial { seed });
        Ok(())
    }
}
