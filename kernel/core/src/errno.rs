//! Linux's error numbers (include/uapi/asm-generic/errno*.h), as system calls return them, negated.

use core::fmt;

use hal::uaccess::Fault;

/// An error number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub i32);

macro_rules! errnos {
    ($($(#[$doc:meta])* $name:ident = $value:literal;)*) => {
        #[allow(missing_docs)]
        impl Errno { $(pub const $name: Self = Self($value);)* }
        impl fmt::Debug for Errno {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    $(Self::$name => f.write_str(stringify!($name)),)*
                    Self(other) => write!(f, "errno {other}"),
                }
            }
        }
    };
}

errnos! {
    EPERM = 1; ENOENT = 2; ESRCH = 3; EINTR = 4; EIO = 5; ENXIO = 6; E2BIG = 7; ENOEXEC = 8; EBADF = 9; ECHILD = 10;
    EAGAIN = 11; ENOMEM = 12; EACCES = 13; EFAULT = 14; EBUSY = 16; EEXIST = 17; EXDEV = 18; ENODEV = 19; ENOTDIR = 20;
    EISDIR = 21; EINVAL = 22; ENFILE = 23; EMFILE = 24; ENOTTY = 25; EFBIG = 27; ENOSPC = 28; ESPIPE = 29; EROFS = 30;
    EMLINK = 31; EPIPE = 32; EDOM = 33; ERANGE = 34; EDEADLK = 35; ENAMETOOLONG = 36; ENOSYS = 38; ENOTEMPTY = 39;
    ELOOP = 40; EOVERFLOW = 75; ENOTSOCK = 88; EMSGSIZE = 90; ENOPROTOOPT = 92;
    EPROTONOSUPPORT = 93; ESOCKTNOSUPPORT = 94; EOPNOTSUPP = 95; EAFNOSUPPORT = 97; ECONNRESET = 104; EISCONN = 106;
    ENOTCONN = 107; ETIMEDOUT = 110; ECONNREFUSED = 111; EOWNERDEAD = 130;
    // Not for programs: what becomes of a system call that a signal interrupted (include/linux/errno.h).
    ERESTARTSYS = 512; ERESTARTNOINTR = 513; ERESTARTNOHAND = 514; ERESTART_RESTARTBLOCK = 516;
}

impl From<Fault> for Errno {
    fn from(_: Fault) -> Self {
        Self::EFAULT
    }
}

/// What kernel functions give.
pub type Result<T> = core::result::Result<T, Errno>;
