//! The disassemblers that judge.

use std::path::Path;
use std::process::Command;

/// Who made a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// GNU binutils.
    Gnu,
    /// LLVM.
    Llvm,
}

/// A disassembler.
pub struct Tool {
    /// Its maker.
    pub maker: Maker,
    /// The program.
    pub name: &'static str,
    arguments: &'static [&'static str],
}

/// LLVM's, the newest first. 19 is the oldest that knows nearly all of our list.
const LLVM: [&str; 4] = ["llvm-objdump-22", "llvm-objdump-21", "llvm-objdump-20", "llvm-objdump-19"];

/// Both makers' tools, or what is missing.
pub fn tools() -> Result<Vec<Tool>, &'static str> {
    let gnu = Tool { maker: Maker::Gnu, name: "aarch64-linux-gnu-objdump", arguments: &[] };
    let llvm = LLVM.into_iter().map(|name| Tool { maker: Maker::Llvm, name, arguments: &["--mattr=+all"] });
    let llvm = llvm.into_iter().find(Tool::is_installed);
    match llvm {
        _ if !gnu.is_installed() => Err("aarch64-linux-gnu-objdump (Debian: binutils-aarch64-linux-gnu)"),
        None => Err("llvm-objdump-19 or later (Debian: llvm-19)"),
        Some(llvm) => Ok(vec![gnu, llvm]),
    }
}

impl Tool {
    fn is_installed(&self) -> bool {
        Command::new(self.name).arg("--version").output().is_ok_and(|output| output.status.success())
    }

    /// The text of each word at its place, the first at 0; `None` where the tool does not know it.
    pub fn disassemble(&self, words: &[u32]) -> Vec<Option<String>> {
        let dir = tempfile::tempdir().unwrap();
        let (raw, object) = (dir.path().join("words"), dir.path().join("words.o"));
        std::fs::write(&raw, words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
        make_object(&raw, &object);
        let output = Command::new(self.name)
            .args(["-d", "-z", "-j", ".text"])
            .args(self.arguments)
            .arg(&object)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}: {}", self.name, String::from_utf8_lossy(&output.stderr));
        let mut texts = vec![None; words.len()];
        let mut seen = 0;
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let Some((address, rest)) = line.split_once(':') else { continue };
            let Ok(address) = usize::from_str_radix(address.trim(), 16) else { continue };
            let Some((_, text)) = rest.trim_start().split_once(|c: char| c.is_whitespace()) else { continue };
            let text = text.trim();
            seen += 1;
            if !text.starts_with(".inst") && !text.starts_with("<unknown>") && !text.starts_with(".word") {
                texts[address / 4] = Some(text.into());
            }
        }
        assert_eq!(seen, words.len(), "{}", self.name);
        texts
    }
}

/// An object file whose code is the bytes of `raw`.
fn make_object(raw: &Path, object: &Path) {
    let status = Command::new("aarch64-linux-gnu-objcopy")
        .args([
            "-I",
            "binary",
            "-O",
            "elf64-littleaarch64",
            "-w",
            "-N",
            "_binary_*",
            "--rename-section",
            ".data=.text,contents,alloc,load,readonly,code",
        ])
        .args([raw, object])
        .status()
        .unwrap();
    assert!(status.success());
}
