//! `cargo xtask licences`: every dependency's licence is permissive.
//!
//! Does for us what cargo-deny's licence check does, without building cargo-deny in every CI run.
//! The allow list is that of `deny.toml`, so both read the same one.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, bail};

use crate::metadata::Metadata;
use crate::shell;

/// Runs the task.
pub fn run() -> Result<()> {
    let path = shell::workspace_root().join("deny.toml");
    let text = fs::read_to_string(&path).context("cannot read deny.toml")?;
    let allowed = allow_list(&text)?;
    let metadata = Metadata::load()?;
    let mut wrong = Vec::new();
    for package in &metadata.packages {
        let verdict = match &package.license {
            None => Some("names no licence".to_owned()),
            Some(expression) => match is_allowed(expression, &allowed) {
                Ok(true) => None,
                Ok(false) => Some(format!("is under {expression}, which deny.toml does not allow")),
                Err(error) => Some(format!("has a licence that cannot be read: {error:#}")),
            },
        };
        if let Some(verdict) = verdict {
            wrong.push(format!("{} {} {verdict}", package.name, package.version));
        }
    }
    for line in &wrong {
        eprintln!("licences: {line}");
    }
    if !wrong.is_empty() {
        bail!("{} package(s) without an allowed licence", wrong.len());
    }
    println!("licences: {} packages, all allowed", metadata.packages.len());
    Ok(())
}

/// The strings of `allow = [ ... ]` in the section `[licenses]`.
fn allow_list(deny_toml: &str) -> Result<BTreeSet<String>> {
    let without_comments: String = deny_toml.lines().map(|line| line.split('#').next().unwrap_or_default()).collect();
    let list = without_comments
        .split_once("[licenses]")
        .and_then(|(_, section)| section.split_once("allow = ["))
        .and_then(|(_, list)| list.split_once(']'))
        .map(|(list, _)| list)
        .context("deny.toml has no list `allow` in [licenses]")?;
    let allowed: BTreeSet<String> =
        list.split(',').map(|item| item.trim().trim_matches('"').to_owned()).filter(|item| !item.is_empty()).collect();
    if allowed.is_empty() {
        bail!("the list `allow` of deny.toml is empty");
    }
    Ok(allowed)
}

/// Evaluates an SPDX expression. Old manifests write `/` for OR.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> Result<bool> {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut parser = Parser { tokens: spaced.split_whitespace().peekable(), allowed };
    let value = parser.any()?;
    match parser.tokens.next() {
        None => Ok(value),
        Some(token) => bail!("`{token}` is out of place in `{expression}`"),
    }
}

struct Parser<'a, I: Iterator<Item = &'a str>> {
    tokens: std::iter::Peekable<I>,
    allowed: &'a BTreeSet<String>,
}

impl<'a, I: Iterator<Item = &'a str>> Parser<'a, I> {
    fn any(&mut self) -> Result<bool> {
        let mut value = self.all()?;
        while self.tokens.next_if_eq(&"OR").is_some() {
            value |= self.all()?;
        }
        Ok(value)
    }

    fn all(&mut self) -> Result<bool> {
        let mut value = self.one()?;
        while self.tokens.next_if_eq(&"AND").is_some() {
            value &= self.one()?;
        }
        Ok(value)
    }

    fn one(&mut self) -> Result<bool> {
        match self.tokens.next() {
            Some("(") => {
                let value = self.any()?;
                match self.tokens.next() {
                    Some(")") => Ok(value),
                    other => bail!("`)` is missing before {other:?}"),
                }
            }
            Some(word @ (")" | "OR" | "AND" | "WITH")) => bail!("`{word}` is out of place"),
            Some(licence) => {
                // An exception only adds permissions to the licence before it.
                if self.tokens.next_if_eq(&"WITH").is_some() {
                    self.tokens.next().context("`WITH` names no exception")?;
                }
                Ok(self.allowed.contains(licence))
            }
            None => bail!("the expression ends early"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(expression: &str) -> Result<bool> {
        let allowed = ["MIT", "Apache-2.0", "Unicode-3.0"].map(str::to_owned).into();
        is_allowed(expression, &allowed)
    }

    #[test]
    fn expressions() {
        for good in [
            "MIT",
            "MIT OR GPL-3.0-only",
            "GPL-3.0-only/MIT",
            "(MIT OR GPL-2.0-only) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
        ] {
            assert!(verdict(good).unwrap(), "{good}");
        }
        for bad in [
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "GPL-2.0-only OR (MIT AND LGPL-2.1-only)",
            // AND binds tighter than OR.
            "GPL-2.0-only AND MIT OR GPL-3.0-only",
        ] {
            assert!(!verdict(bad).unwrap(), "{bad}");
        }
        for broken in ["", "MIT OR", "(MIT", "MIT MIT", "OR MIT", "MIT)"] {
            assert!(verdict(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn our_own_list_is_read_from_deny_toml() {
        let allowed = allow_list(include_str!("../../deny.toml")).unwrap();
        assert!(allowed.contains("MIT") && allowed.contains("Apache-2.0"));
        assert!(allowed.iter().all(|licence| !licence.contains("GPL")));
        assert!(allow_list("[licenses]\n# allow = [\"MIT\"]\n").is_err());
    }
}
