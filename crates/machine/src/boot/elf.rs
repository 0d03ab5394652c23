//! ELF kernels.

use object::elf::{ET_DYN, ET_EXEC, FileHeader64, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, elf};

use super::image;
use super::kernel::{Kernel, KernelError, Kind, Segment};
use crate::map::RAM_BASE;

/// Addresses from here on are a kernel's virtual ones: no physical address has 52 bits or more.
const VIRTUAL: u64 = 1 << 52;

/// Does `file` claim to be an ELF?
pub fn is_elf(file: &[u8]) -> bool {
    file.starts_with(&elf::ELFMAG)
}

/// One PT_LOAD.
struct Load<'a> {
    vaddr: u64,
    paddr: u64,
    bytes: &'a [u8],
    len: u64,
}

/// Lays an ELF out in RAM.
pub fn parse(file: &[u8], ram: u64) -> Result<Kernel<'_>, KernelError> {
    check_machine(file)?;
    let malformed = |error: object::Error| KernelError::ElfMalformed(error.to_string());
    let header = FileHeader64::<Endianness>::parse(file).map_err(malformed)?;
    let endian = header.endian().map_err(malformed)?;
    match header.e_type(endian) {
        ET_EXEC | ET_DYN => {}
        elf::ET_REL => return Err(KernelError::ElfType("relocatable object".into())),
        elf::ET_CORE => return Err(KernelError::ElfType("core dump".into())),
        other => return Err(KernelError::ElfType(format!("{other:#x}"))),
    }
    let table = u64::from(header.e_phnum(endian)) * u64::from(header.e_phentsize(endian));
    let (needs, actual) = (header.e_phoff(endian).saturating_add(table), file.len() as u64);
    if needs > actual {
        return Err(KernelError::ElfTruncated { needs, actual });
    }
    let mut loads = Vec::new();
    for program in header.program_headers(endian, file).map_err(malformed)? {
        if program.p_type(endian) != PT_LOAD || program.p_memsz(endian) == 0 {
            continue;
        }
        let (offset, bytes) = program.file_range(endian);
        let needs = offset.saturating_add(bytes);
        if needs > actual {
            return Err(KernelError::ElfTruncated { needs, actual });
        }
        let len = program.p_memsz(endian);
        if bytes > len {
            return Err(KernelError::ElfMalformed(format!("a segment of {len} bytes has {bytes} in the file")));
        }
        loads.push(Load {
            vaddr: program.p_vaddr(endian),
            paddr: program.p_paddr(endian),
            bytes: &file[offset as usize..needs as usize],
            len,
        });
    }
    loads.sort_by_key(|load| load.paddr);
    let lowest = loads.first().ok_or(KernelError::ElfEmpty)?;
    let entry = header.e_entry(endian);
    if lowest.paddr < VIRTUAL {
        return lay_out(Kind::Elf, &loads, entry, 0, ram);
    }
    // Linux's own ELF has its virtual addresses as physical ones; its first bytes are the Image's header.
    let image = image::Header::find(lowest.bytes).ok_or(KernelError::NotLinux(lowest.paddr))?;
    let start = RAM_BASE.checked_add(image.text_offset).ok_or(KernelError::NotLinux(lowest.paddr))?;
    lay_out(Kind::Vmlinux, &loads, entry, start.wrapping_sub(lowest.paddr), ram)
}

/// Places `loads` at their physical addresses plus `shift`.
fn lay_out<'a>(kind: Kind, loads: &[Load<'a>], entry: u64, shift: u64, ram: u64) -> Result<Kernel<'a>, KernelError> {
    let ram_end = RAM_BASE + ram;
    let mut segments = Vec::new();
    let mut start = None;
    for load in loads {
        let pa = load.paddr.wrapping_add(shift);
        let fits = pa >= RAM_BASE && pa.checked_add(load.len).is_some_and(|end| end <= ram_end);
        if !fits {
            return Err(KernelError::SegmentOutsideRam { pa, bytes: load.len, ram_end });
        }
        // The entry point is a virtual address.
        let within = entry.wrapping_sub(load.vaddr);
        if within < load.bytes.len() as u64 {
            start = Some(pa + within);
        }
        segments.push(Segment { pa, bytes: load.bytes, len: load.len });
    }
    let entry = start.ok_or(KernelError::EntryOutside(entry))?;
    Ok(Kernel { kind, entry, segments })
}

/// Is it for AArch64? Looked at before the rest, so that a foreign ELF is named and not called malformed.
fn check_machine(file: &[u8]) -> Result<(), KernelError> {
    let (Some(class), Some(data), Some(machine)) = (file.get(4), file.get(5), file.get(18..20)) else {
        return Err(KernelError::ElfTruncated {
            needs: size_of::<FileHeader64<Endianness>>() as u64,
            actual: file.len() as u64,
        });
    };
    let big = *data == elf::ELFDATA2MSB.0;
    let machine = [machine[0], machine[1]];
    let machine = if big { u16::from_be_bytes(machine) } else { u16::from_le_bytes(machine) };
    if machine == elf::EM_AARCH64.0 && !big && *class == elf::ELFCLASS64.0 {
        return Ok(());
    }
    let name = match elf::Machine(machine) {
        elf::EM_AARCH64 => "AArch64".to_owned(),
        elf::EM_ARM => "32-bit Arm".to_owned(),
        elf::EM_X86_64 => "x86-64".to_owned(),
        elf::EM_386 => "32-bit x86".to_owned(),
        elf::EM_RISCV => "RISC-V".to_owned(),
        elf::EM_PPC64 => "64-bit PowerPC".to_owned(),
        elf::EM_S390 => "s390".to_owned(),
        elf::EM_LOONGARCH => "LoongArch".to_owned(),
        elf::EM_MIPS => "MIPS".to_owned(),
        other => format!("machine {:#x}", other.0),
    };
    let class = match *class {
        1 => ", 32-bit",
        2 => "",
        _ => ", of unknown class",
    };
    let order = if big { ", big-endian" } else { "" };
    Err(KernelError::ElfMachine(format!("{name}{class}{order}")))
}
