//! The initramfs of the guests: busybox, `/init`, batch scripts, the kernel's virtio modules.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::cpio::{Archive, Device};

const INIT: &str = include_str!("../../initramfs/init");

const ROOT_INIT: &str = include_str!("../../rootfs/init");

/// Scripts that `vambrace.batch=NAME` runs.
const BATCHES: [(&str, &str); 4] = [
    ("demo", include_str!("../../initramfs/batch/demo.sh")),
    ("reboot", include_str!("../../initramfs/batch/reboot.sh")),
    ("off", include_str!("../../initramfs/batch/off.sh")),
    ("disk", include_str!("../../initramfs/batch/disk.sh")),
];

/// What busybox is called as, below /bin.
const APPLETS: &str = "[ ash awk basename cat chmod chown cmp cp cttyhack cut date dd df diff \
    dirname dmesg du echo env expr false find free grep gunzip gzip head hexdump hostname id \
    insmod kill less ln ls lsmod md5sum mkdir mknod mktemp more mount mv nproc od poweroff \
    printf ps pwd readlink reboot rm rmdir rmmod sed seq setsid sh sha256sum sleep sort stat \
    strings stty sync sysctl tail tar taskset tee test time timeout top touch tr true tty umount \
    uname uniq uptime usleep vi watch wc which xargs xxd yes";

/// What [`kernel_archive`] has in /etc/motd.
const MOTD: &str = "An arm64 machine in software.\n";

/// A file to put into the archive.
#[derive(Debug, Clone)]
pub struct File {
    /// Path without a leading slash.
    pub path: String,
    /// Permission bits.
    pub permissions: u32,
    /// Contents.
    pub contents: Vec<u8>,
}

impl File {
    /// A program or script.
    pub fn executable(path: impl Into<String>, contents: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), permissions: 0o755, contents: contents.into() }
    }
}

/// Those that are always there.
const DIRECTORIES: [&str; 8] = ["batch", "bench", "bin", "dev", "modules", "proc", "sys", "tmp"];

/// The archive for our own kernel: device nodes, the files, and busybox under its names. Not compressed.
pub fn kernel_archive(busybox: Option<&[u8]>, files: &[File]) -> Vec<u8> {
    let mut archive = Archive::default();
    // Linux makes /root by itself.
    for directory in ["bin", "dev", "etc", "lib", "proc", "root", "tmp"] {
        archive.directory(directory);
    }
    for (name, major, minor) in [("console", 5, 1), ("null", 1, 3), ("zero", 1, 5), ("urandom", 1, 9)] {
        archive.character_device(&format!("dev/{name}"), 0o666, Device { major, minor });
    }
    archive.file("etc/motd", 0o644, MOTD.as_bytes());
    if let Some(busybox) = busybox {
        archive.file("bin/busybox", 0o755, busybox);
        for applet in APPLETS.split_whitespace() {
            archive.symlink(&format!("bin/{applet}"), "busybox");
        }
    }
    for file in files {
        archive.file(&file.path, file.permissions, &file.contents);
    }
    archive.finish()
}

/// The archive, not compressed. The same inputs give the same bytes.
pub fn archive(busybox: &[u8], extra: &[File]) -> Vec<u8> {
    let mut archive = Archive::default();
    for directory in DIRECTORIES {
        archive.directory(directory);
    }
    add_directories(&mut archive, &DIRECTORIES, extra);
    // The kernel opens /dev/console for PID 1 before anyone can mount devtmpfs.
    archive.character_device("dev/console", 0o600, Device { major: 5, minor: 1 });
    archive.character_device("dev/null", 0o666, Device { major: 1, minor: 3 });
    archive.file("init", 0o755, INIT.as_bytes());
    archive.file("bin/busybox", 0o755, busybox);
    for applet in APPLETS.split_whitespace() {
        archive.symlink(&format!("bin/{applet}"), "busybox");
    }
    for (name, script) in BATCHES {
        archive.file(&format!("batch/{name}.sh"), 0o755, script.as_bytes());
    }
    for file in extra {
        archive.file(&file.path, file.permissions, &file.contents);
    }
    archive.finish()
}

/// The archive in front of a system on a disk: busybox, the `/init` that leads there, and the files. Not compressed.
pub fn root_archive(busybox: &[u8], files: &[File]) -> Vec<u8> {
    let mut archive = Archive::default();
    let directories = ["bin", "dev", "modules", "proc", "run", "sys"];
    for directory in directories {
        archive.directory(directory);
    }
    add_directories(&mut archive, &directories, files);
    archive.character_device("dev/console", 0o600, Device { major: 5, minor: 1 });
    archive.file("init", 0o755, ROOT_INIT.as_bytes());
    archive.file("bin/busybox", 0o755, busybox);
    for applet in APPLETS.split_whitespace().chain(["chroot", "switch_root"]) {
        archive.symlink(&format!("bin/{applet}"), "busybox");
    }
    for file in files {
        archive.file(&file.path, file.permissions, &file.contents);
    }
    archive.finish()
}

/// Adds the directories of `files` that are not `there`.
fn add_directories(archive: &mut Archive, there: &[&str], files: &[File]) {
    let mut wanted = BTreeSet::new();
    for file in files {
        wanted.extend(file.path.match_indices('/').map(|(at, _)| &file.path[..at]));
    }
    for directory in wanted.iter().filter(|directory| !there.contains(directory)) {
        archive.directory(directory);
    }
}

/// In gzip, without name and time.
pub fn compress(archive: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(archive)?;
    Ok(encoder.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_its_directory() {
        let file = |path: &str| File { path: path.into(), permissions: 0o644, contents: vec![1] };
        let extra = [file("modules/x.ko"), file("lib/x"), file("lib/y")];
        let bytes = archive(b"busybox", &extra);
        let text = String::from_utf8_lossy(&bytes);
        for wanted in ["init\0", "bin/sh\0", "batch/demo.sh\0", "modules/x.ko\0", "dev/console\0"] {
            assert!(text.contains(wanted), "{wanted:?}");
        }
        assert_eq!(text.matches("lib\0").count(), 1);
        let bytes = root_archive(b"busybox", &[file("run/a/b/x"), file("modules/y"), file("run/a/z")]);
        let text = String::from_utf8_lossy(&bytes);
        for wanted in ["run\0", "run/a\0", "run/a/b\0", "run/a/b/x\0"] {
            assert_eq!(text.matches(wanted).count(), 1, "{wanted:?}");
        }
    }

    #[test]
    fn compressed_bytes_depend_on_contents_only() {
        let bytes = archive(b"busybox", &[]);
        assert_eq!(compress(&bytes).unwrap(), compress(&bytes).unwrap());
    }
}
