//! The 9P transport (VIRTIO 1.2, §5.14 leaves it to the protocol) and 9P2000.L: Plan 9's intro(5) for the messages common to
//! all dialects, the protocol description of diod for Linux's.

/// Device type (§5).
pub const DEVICE_ID: u32 = 9;
/// Largest size of the request queue.
pub const QUEUE_SIZE: u16 = 128;
/// `VIRTIO_9P_MOUNT_TAG`: the configuration space has the length of a name (2) and the name.
pub const MOUNT_TAG: u64 = 1;

/// The dialect.
pub const VERSION: &[u8] = b"9P2000.L";
/// What a server answers that does not know the client's dialect.
pub const UNKNOWN: &[u8] = b"unknown";
/// The largest message, in bytes.
pub const MAX_MSIZE: u32 = 1 << 20;
/// The least that a client may ask for: less does not hold an entry of a directory.
pub const MIN_MSIZE: u32 = 4096;
/// Bytes before the fields of a message: size (4), type (1), tag (2).
pub const HEADER: usize = 7;
/// Bytes of the answer to a read or a directory's reading before its data.
pub const READ_HEADER: u32 = 11;
/// Most names of a walk.
pub const MAX_NAMES: u16 = 16;

/// Types of requests. An answer's type is one more.
pub mod kind {
    /// The answer to a request that failed: an error number of Linux.
    pub const RLERROR: u8 = 7;
    /// File system.
    pub const STATFS: u8 = 8;
    /// Open.
    pub const LOPEN: u8 = 12;
    /// Create and open.
    pub const LCREATE: u8 = 14;
    /// Make a symbolic link.
    pub const SYMLINK: u8 = 16;
    /// Make a special file.
    pub const MKNOD: u8 = 18;
    /// Rename by fid.
    pub const RENAME: u8 = 20;
    /// Read a symbolic link.
    pub const READLINK: u8 = 22;
    /// Attributes.
    pub const GETATTR: u8 = 24;
    /// Change attributes.
    pub const SETATTR: u8 = 26;
    /// Extended attribute.
    pub const XATTRWALK: u8 = 30;
    /// Make an extended attribute.
    pub const XATTRCREATE: u8 = 32;
    /// Read a directory.
    pub const READDIR: u8 = 40;
    /// Make durable.
    pub const FSYNC: u8 = 50;
    /// Lock a range.
    pub const LOCK: u8 = 52;
    /// Who holds a lock?
    pub const GETLOCK: u8 = 54;
    /// Make a hard link.
    pub const LINK: u8 = 70;
    /// Make a directory.
    pub const MKDIR: u8 = 72;
    /// Rename by directory and name.
    pub const RENAMEAT: u8 = 74;
    /// Remove by directory and name.
    pub const UNLINKAT: u8 = 76;
    /// Version and size of messages.
    pub const VERSION: u8 = 100;
    /// Authentication.
    pub const AUTH: u8 = 102;
    /// The root as a fid.
    pub const ATTACH: u8 = 104;
    /// Cancel a request.
    pub const FLUSH: u8 = 108;
    /// From a fid to another by names.
    pub const WALK: u8 = 110;
    /// Read.
    pub const READ: u8 = 116;
    /// Write.
    pub const WRITE: u8 = 118;
    /// Forget a fid.
    pub const CLUNK: u8 = 120;
    /// Remove the file of a fid, and forget it.
    pub const REMOVE: u8 = 122;
}

/// Error numbers of Linux that the server itself gives.
pub mod errno {
    /// Not permitted.
    pub const EPERM: u32 = 1;
    /// Input or output.
    pub const EIO: u32 = 5;
    /// Bad file descriptor: here, fid.
    pub const EBADF: u32 = 9;
    /// No memory: here, of the host's for what a client keeps.
    pub const ENOMEM: u32 = 12;
    /// Permission.
    pub const EACCES: u32 = 13;
    /// Not a directory.
    pub const ENOTDIR: u32 = 20;
    /// Invalid.
    pub const EINVAL: u32 = 22;
    /// Too many open.
    pub const ENFILE: u32 = 23;
    /// Read-only.
    pub const EROFS: u32 = 30;
    /// Name too long.
    pub const ENAMETOOLONG: u32 = 36;
    /// Protocol.
    pub const EPROTO: u32 = 71;
    /// Too long for what it is to fit into.
    pub const EOVERFLOW: u32 = 75;
    /// Not supported.
    pub const EOPNOTSUPP: u32 = 95;
}

/// Flags of an open (`P9_DOTL_*`).
pub mod open {
    /// Read, write, both.
    pub const ACCESS: u32 = 3;
    /// Only write.
    pub const WRITE: u32 = 1;
    /// Read and write.
    pub const READ_WRITE: u32 = 2;
    /// Create.
    pub const CREATE: u32 = 0o100;
    /// Only if it is not there.
    pub const EXCLUSIVE: u32 = 0o200;
    /// Empty it.
    pub const TRUNCATE: u32 = 0o1000;
    /// Only a directory.
    pub const DIRECTORY: u32 = 0o200_000;
}

/// Types of a qid.
pub mod qid {
    /// A directory.
    pub const DIRECTORY: u8 = 0x80;
    /// A symbolic link.
    pub const SYMLINK: u8 = 0x02;
    /// Anything else.
    pub const FILE: u8 = 0;
}

/// What a change of attributes changes.
pub mod setattr {
    /// Permissions.
    pub const MODE: u32 = 0x1;
    /// Owner.
    pub const UID: u32 = 0x2;
    /// Group.
    pub const GID: u32 = 0x4;
    /// Length.
    pub const SIZE: u32 = 0x8;
    /// Time of modification.
    pub const MTIME: u32 = 0x20;
    /// To the one given, not to now.
    pub const MTIME_SET: u32 = 0x100;
}

/// `P9_GETATTR_BASIC`: all that stat knows.
pub const GETATTR_BASIC: u64 = 0x7ff;
/// Flag of a removal: it is a directory.
pub const AT_REMOVEDIR: u32 = 0x200;
/// The answer to a request for a lock: granted.
pub const LOCK_SUCCESS: u8 = 0;
/// Nobody holds the lock.
pub const UNLOCKED: u8 = 2;
/// Magic number of the file system, as statfs has it (V9FS_MAGIC).
pub const MAGIC: u32 = 0x0102_1997;
