//! `vambrace symbols`: a kernel's symbols as an ELF.

use std::io::Write;
use std::path::{Path, PathBuf};

use symbols::Symbols;
use thiserror::Error;

use crate::files::{self, FileError, Named};
use crate::status::Status;
use crate::whereabouts::{VmlinuxError, read_symbols};

/// There is no ELF.
#[derive(Debug, Error)]
enum Failure {
    #[error(transparent)]
    Symbols(#[from] VmlinuxError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{}: {source}", .path.display())]
    Write { path: PathBuf, source: std::io::Error },
}

/// Writes the symbols of `kernel` to `out`.
pub fn write(kernel: &Path, out: &Path) -> Status {
    match try_write(kernel, out) {
        Ok(symbols) => {
            println!("{} symbols", symbols.len());
            Status::Success
        }
        Err(failure) => {
            eprintln!("vambrace: {failure}");
            Status::Usage
        }
    }
}

fn try_write(kernel: &Path, out: &Path) -> Result<Symbols, Failure> {
    let symbols = read_symbols("KERNEL", kernel)?;
    let mut named = Named::default();
    named.add("KERNEL", kernel);
    let mut file = named.create("OUT", out)?;
    let written = files::empty(&file).and_then(|()| file.write_all(&symbols.to_elf()));
    written.map_err(|source| Failure::Write { path: out.to_owned(), source })?;
    Ok(symbols)
}
