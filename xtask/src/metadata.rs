//! The parts of `cargo metadata` that the checks read.

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::shell;

/// All packages, ours and the registry's, for every target.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    /// In no particular order.
    pub packages: Vec<Package>,
    /// Ids of our own packages.
    pub workspace_members: Vec<String>,
}

/// One package.
#[derive(Debug, Deserialize)]
pub struct Package {
    /// Unique.
    pub id: String,
    /// As in its Cargo.toml.
    pub name: String,
    /// As in its Cargo.toml.
    pub version: String,
    /// SPDX expression.
    pub license: Option<String>,
    /// As declared.
    pub dependencies: Vec<Dependency>,
}

/// A declared dependency.
#[derive(Debug, Deserialize)]
pub struct Dependency {
    /// Name of the package (not of a rename).
    pub name: String,
    /// `None`: normal; else `dev` or `build`.
    pub kind: Option<String>,
}

impl Metadata {
    /// Asks cargo.
    pub fn load() -> Result<Self> {
        let text = shell::capture(shell::cargo().args(["metadata", "--format-version", "1"]))?;
        serde_json::from_str(&text).context("cargo metadata printed something unexpected")
    }

    /// Our own packages.
    pub fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }
}
