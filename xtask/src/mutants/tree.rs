//! The copy of the sources that mutations are made in. It stays, with what was built from it, so that the next run
//! compiles only what differs.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::list::Mutant;
use crate::shell;

/// The copy.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    target: PathBuf,
}

impl Tree {
    /// Brings the copy to what the sources are now.
    pub fn copy() -> Result<Self> {
        let source = shell::workspace_root();
        let place = source.join("target/mutants");
        let tree = Self { root: place.join("tree"), target: place.join("target") };
        let mut git = Command::new("git");
        git.args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]).current_dir(&source);
        let files: BTreeSet<PathBuf> = shell::capture(&mut git)?
            .split('\0')
            .filter(|name| !name.is_empty() && source.join(name).is_file())
            .map(PathBuf::from)
            .collect();
        for file in &files {
            write_if_different(&tree.root.join(file), &fs::read(source.join(file))?)?;
        }
        remove_others(&tree.root, &tree.root, &files)?;
        Ok(tree)
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where it is built.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Where a judge's words go.
    pub fn log(&self) -> Log {
        Log(self.root.with_file_name("log"))
    }

    /// Cargo in it.
    pub fn cargo(&self) -> Command {
        let mut cargo = shell::cargo();
        cargo.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        cargo
    }

    /// Makes a mutation, until what is returned is dropped.
    pub fn mutate(&self, mutant: &Mutant) -> Result<Mutation> {
        let path = self.root.join(mutant.file);
        let before = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let count = before.matches(mutant.text).count();
        ensure!(count == 1, "its text is {count} times in {}", mutant.file);
        fs::write(&path, before.replace(mutant.text, mutant.replacement))?;
        Ok(Mutation { path, before })
    }
}

/// A file for a judge's words.
#[derive(Debug)]
pub struct Log(PathBuf);

impl Log {
    /// Opens it, empty.
    pub fn read_write(&self) -> Result<File> {
        let mut options = File::options();
        options.read(true).append(true).create(true);
        let file = options.open(&self.0).with_context(|| self.0.display().to_string())?;
        file.set_len(0)?;
        Ok(file)
    }
}

/// A file that is not as it was.
#[derive(Debug)]
pub struct Mutation {
    path: PathBuf,
    before: String,
}

impl Drop for Mutation {
    fn drop(&mut self) {
        // The next run copies it again.
        let _ = fs::write(&self.path, &self.before);
    }
}

fn write_if_different(path: &Path, contents: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|there| there == contents) {
        return Ok(());
    }
    let parent = path.parent().context("a file is in a directory")?;
    fs::create_dir_all(parent)?;
    fs::write(path, contents).with_context(|| path.display().to_string())
}

fn remove_others(root: &Path, dir: &Path, files: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(root, &path, files)?;
            // Goes if it is empty.
            let _ = fs::remove_dir(&path);
        } else if path.strip_prefix(root).is_ok_and(|name| !files.contains(name)) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// All of a log.
pub fn text_of(mut log: File) -> Result<String> {
    log.rewind()?;
    let mut bytes = Vec::new();
    log.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
