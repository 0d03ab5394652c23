//! `--save` and `--restore`.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use machine::{Description, Machine, MachineConfig, Options, Semihosting, SetupError, snapshots};
use profile::Counters;
use snapshot::{Reader, SnapshotError, Writer};
use thiserror::Error;

use crate::files::{FileError, Named};
use crate::status::Status;

/// A snapshot cannot be written or used.
#[derive(Debug, Error)]
pub enum SnapshotFailure {
    /// Writing.
    #[error("--save {}: {source}", .path.display())]
    Save {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: SnapshotError,
    },
    /// Reading.
    #[error("--restore {}: {source}", .path.display())]
    Restore {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: SnapshotError,
    },
    /// The machine of the snapshot cannot be set up.
    #[error("--restore {}: {source}", .path.display())]
    Setup {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: Box<SetupError>,
    },
}

impl SnapshotFailure {
    /// A file that cannot be used is the user's to change.
    pub fn status(&self) -> Status {
        match self {
            Self::Save { .. } => Status::ToolError,
            Self::Restore { .. } | Self::Setup { .. } => Status::Usage,
        }
    }
}

/// Where a snapshot goes.
pub struct Save {
    path: PathBuf,
}

impl Save {
    /// Sees that the file can be written, and that it is none that the run needs.
    pub fn open(path: &Path, named: &mut Named) -> Result<Self, FileError> {
        named.create("--save", path)?;
        Ok(Self { path: path.to_owned() })
    }

    /// Writes the snapshot: beside the file, which it replaces when it is whole.
    pub fn write(
        &self,
        machine: &mut Machine,
        description: &Description,
        counters: &[Counters],
    ) -> Result<(), SnapshotFailure> {
        let mut partial = self.path.clone().into_os_string();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let mut write = || {
            let file = BufWriter::new(File::create(&partial)?);
            let mut writer = Writer::new(file, snapshots::maker())?;
            description.save(&mut writer)?;
            machine.save(&mut writer)?;
            for counters in counters {
                writer.section("counts", |codec| counters.persist(codec))?;
            }
            let file = writer.finish()?.into_inner().map_err(std::io::IntoInnerError::into_error)?;
            file.sync_all()?;
            Ok(fs::rename(&partial, &self.path)?)
        };
        let result: Result<(), SnapshotError> = write();
        result.map_err(|source| {
            // What is left of it is of no use; the first error is the one to tell.
            let _ = fs::remove_file(&partial);
            SnapshotFailure::Save { path: self.path.clone(), source }
        })
    }
}

/// A snapshot that a run goes on from.
pub struct Restored {
    path: PathBuf,
    reader: Reader<BufReader<File>>,
    description: Description,
}

impl Restored {
    /// Opens it and reads what machine it is of.
    pub fn open(path: &Path) -> Result<Self, SnapshotFailure> {
        let open = || {
            // Looked at before it is opened: to open a FIFO waits for its other end.
            if !fs::metadata(path)?.is_file() {
                return Err(SnapshotError::Foreign);
            }
            let mut reader = Reader::new(BufReader::new(File::open(path)?), snapshots::maker())?;
            let description = Description::load(&mut reader)?;
            Ok((reader, description))
        };
        let (reader, description) =
            open().map_err(|source| SnapshotFailure::Restore { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), reader, description })
    }

    /// What the machine is.
    pub fn config(&self) -> &MachineConfig {
        &self.description.config
    }
    /// Are semihosting calls served?
    pub fn semihosting(&self) -> Semihosting {
        self.description.semihosting
    }

    /// The machine, as it was.
    pub fn machine(&mut self, config: &MachineConfig, options: Options) -> Result<Machine, SnapshotFailure> {
        let path = &self.path;
        Machine::from_snapshot(config, options, &mut self.reader).map_err(|error| match error {
            SetupError::Snapshot(source) => SnapshotFailure::Restore { path: path.clone(), source },
            error => SnapshotFailure::Setup { path: path.clone(), source: Box::new(error) },
        })
    }

    /// Reads the rest: the counters.
    pub fn finish(mut self, counters: &[Counters]) -> Result<(), SnapshotFailure> {
        let counts = |counters: &Counters| self.reader.section("counts", |codec| counters.persist(codec));
        let read = counters.iter().try_for_each(counts).and_then(|()| self.reader.finish());
        read.map_err(|source| SnapshotFailure::Restore { path: self.path, source })
    }
}
