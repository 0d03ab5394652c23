//! A writer for cpio archives in the "newc" format, which the kernel unpacks as initramfs.
//!
//! Own code, since device nodes must be possible without being root, and the bytes must depend on
//! the contents only: no times, no owners, inode numbers by position.

/// An archive being written.
#[derive(Debug, Default)]
pub struct Archive {
    bytes: Vec<u8>,
    entries: u32,
}

/// Character device numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    /// Class of device.
    pub major: u32,
    /// Which one of the class.
    pub minor: u32,
}

const DIRECTORY: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;
const SYMLINK: u32 = 0o120_000;
const CHARACTER: u32 = 0o020_000;

impl Archive {
    /// Adds a directory. Parents must have been added before (the kernel does not make them).
    pub fn directory(&mut self, path: &str) {
        self.entry(path, DIRECTORY | 0o755, None, b"");
    }

    /// Adds a file with its permission bits.
    pub fn file(&mut self, path: &str, permissions: u32, contents: &[u8]) {
        self.entry(path, REGULAR | permissions, None, contents);
    }

    /// Adds a symbolic link to `target`.
    pub fn symlink(&mut self, path: &str, target: &str) {
        self.entry(path, SYMLINK | 0o777, None, target.as_bytes());
    }

    /// Adds a character device node.
    pub fn character_device(&mut self, path: &str, permissions: u32, device: Device) {
        self.entry(path, CHARACTER | permissions, Some(device), b"");
    }

    /// The archive with its trailer.
    pub fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, None, b"");
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, device: Option<Device>, contents: &[u8]) {
        let device = device.unwrap_or(Device { major: 0, minor: 0 });
        self.entries += 1;
        let size = u32::try_from(contents.len()).expect("a file of an initramfs is below 4 GiB");
        let fields = [
            self.entries, // inode: unique, or the kernel takes files for hard links
            mode,
            0, // uid
            0, // gid
            1, // links
            0, // mtime
            size,
            0, // device that holds the file: major
            0, // and minor
            device.major,
            device.minor,
            path.len() as u32 + 1, // with the NUL
            0,                     // checksum, not used by 070701
        ];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08X}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(contents);
        self.pad();
    }

    /// Names (with header) and contents end on a multiple of four.
    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_110_bytes_and_everything_is_aligned() {
        let mut archive = Archive::default();
        archive.file("init", 0o755, b"hello");
        let bytes = archive.finish();
        assert_eq!(&bytes[..6], b"070701");
        assert_eq!(&bytes[14..22], b"000081ED"); // regular, 0755
        assert_eq!(&bytes[54..62], b"00000005"); // size
        assert_eq!(&bytes[94..102], b"00000005"); // "init" and its NUL
        assert_eq!(&bytes[110..115], b"init\0");
        assert_eq!(&bytes[116..121], b"hello"); // 115 rounded up
        assert_eq!(&bytes[124..130], b"070701");
        assert_eq!(&bytes[234..244], b"TRAILER!!!");
        assert_eq!(bytes.len() % 4, 0);
    }

    #[test]
    fn device_nodes_carry_their_numbers() {
        let mut archive = Archive::default();
        archive.character_device("dev/console", 0o600, Device { major: 5, minor: 1 });
        let bytes = archive.finish();
        assert_eq!(&bytes[14..22], b"00002180");
        assert_eq!(&bytes[78..94], b"0000000500000001");
    }

    #[test]
    fn same_contents_same_bytes() {
        let make = || {
            let mut archive = Archive::default();
            archive.directory("bin");
            archive.symlink("bin/sh", "busybox");
            archive.finish()
        };
        assert_eq!(make(), make());
    }
}
