//! Pointer authentication of programs: keys are a thread's, its maker's at first, and new with each program.

use core::sync::atomic::{AtomicU64, Ordering};

use hal::pauth::{self, Enabled, Key, Keys, Pauth};
use hal::percpu::{self, MAX_CPUS};
use hal::sync::SpinLock;

use crate::errno::{Errno, Result};
use crate::feature::{self, Capability};
use crate::proc::Thread;
use crate::random;
use crate::sched::CURRENT;

/// PR_PAC_AP{IA,IB,DA,DB}KEY
const ADDRESS_KEYS: u64 = 0xf;
/// PR_PAC_APGAKEY
const GENERIC_KEY: u64 = 0x10;

/// A thread's part; only the thread itself changes it.
#[derive(Debug, Default)]
pub struct ThreadKeys {
    /// Names what is in `state`: equal numbers, equal keys. 0: none yet.
    number: AtomicU64,
    state: SpinLock<(Keys, Enabled)>,
}

static NEXT: AtomicU64 = AtomicU64::new(1);
/// Whose number each CPU's registers have.
static LOADED: [AtomicU64; MAX_CPUS] = [const { AtomicU64::new(0) }; MAX_CPUS];

fn load(pauth: Pauth, keys: &ThreadKeys) {
    let (state, number) = (*keys.state.lock(), keys.number.load(Ordering::Relaxed));
    pauth.load(&state.0, state.1);
    LOADED[percpu::id()].store(number, Ordering::Relaxed);
}

/// In a switch: the registers become the next thread's.
#[inline]
pub fn switch(next: &Thread) {
    let Some(pauth) = pauth::get() else { return };
    let number = next.keys.number.load(Ordering::Relaxed);
    // Threads of one program have one set, unless they changed it; an idle thread has none.
    if number != 0 && number != LOADED[percpu::id()].load(Ordering::Relaxed) {
        load(pauth, &next.keys);
    }
}

/// A new thread has its maker's.
pub fn inherit(new: &Thread, from: &Thread) {
    *new.keys.state.lock() = *from.keys.state.lock();
    new.keys.number.store(from.keys.number.load(Ordering::Relaxed), Ordering::Relaxed);
}

fn random_key() -> Key {
    let mut bytes = [[0; 8]; 2];
    for half in &mut bytes {
        random::fill(half);
    }
    bytes.map(u64::from_le_bytes)
}

/// The current thread's become what `change` makes of them.
fn change(pauth: Pauth, change: impl FnOnce(&mut Keys, &mut Enabled)) {
    let current = CURRENT.get();
    {
        let mut state = current.keys.state.lock();
        let (keys, enabled) = &mut *state;
        change(keys, enabled);
    }
    current.keys.number.store(NEXT.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    load(pauth, &current.keys);
}

/// exec: new keys, all of them enabled.
pub fn reset() {
    let Some(pauth) = pauth::get() else { return };
    let fresh: Keys = core::array::from_fn(|_| random_key());
    change(pauth, |keys, enabled| (*keys, *enabled) = (fresh, [true; 4]));
}

/// PR_PAC_RESET_KEYS: new keys in place of those of the mask; 0: of all.
pub fn reset_keys(mask: u64) -> Result<()> {
    let pauth = pauth::get().ok_or(Errno::EINVAL)?;
    let has_generic = feature::has(Capability::PauthGeneric);
    if mask & !(ADDRESS_KEYS | GENERIC_KEY) != 0 || mask & GENERIC_KEY != 0 && !has_generic {
        return Err(Errno::EINVAL);
    }
    let is_wanted = |n: usize| mask == 0 || mask >> n & 1 != 0;
    let fresh: [Option<Key>; 5] = core::array::from_fn(|n| is_wanted(n).then(random_key));
    change(pauth, |keys, _| {
        for (key, new) in keys.iter_mut().zip(fresh) {
            *key = new.unwrap_or(*key);
        }
    });
    Ok(())
}

/// PR_PAC_SET_ENABLED_KEYS: of the keys of `mask`, those of `enabled` are, the others not.
pub fn set_enabled(mask: u64, enabled: u64) -> Result<()> {
    let pauth = pauth::get().ok_or(Errno::EINVAL)?;
    if mask & !ADDRESS_KEYS != 0 || enabled & !mask != 0 {
        return Err(Errno::EINVAL);
    }
    change(pauth, |_, now| {
        for (n, is) in now.iter_mut().enumerate().filter(|(n, _)| mask >> n & 1 != 0) {
            *is = enabled >> n & 1 != 0;
        }
    });
    Ok(())
}

/// PR_PAC_GET_ENABLED_KEYS
pub fn enabled() -> Result<u64> {
    pauth::get().ok_or(Errno::EINVAL)?;
    let enabled = CURRENT.get().keys.state.lock().1;
    Ok(enabled.into_iter().enumerate().fold(0, |bits, (n, is)| bits | u64::from(is) << n))
}
