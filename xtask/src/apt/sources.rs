//! Which Debian mirror the system uses: read from its sources.list and .sources files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::shell;

/// Debian's suites by name, oldest first; a source that names another suite is not Debian's.
const CODENAMES: [&str; 12] = [
    "bullseye",
    "bookworm",
    "trixie",
    "forky",
    "sid",
    "oldoldstable",
    "oldstable",
    "stable",
    "testing",
    "unstable",
    "buster",
    "duke",
];

/// Names the mirror where the system's configuration has none (or another is wanted).
pub const MIRROR_VARIABLE: &str = "VAMBRACE_DEBIAN_MIRROR";

/// The Debian mirror of this system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror {
    /// URI of the main archive.
    pub main: String,
    /// URI of the security archive.
    pub security: String,
    /// The keyring that the system's own source names; `None`: apt's trusted parts.
    pub keyring: Option<PathBuf>,
    /// The suites of the main archive that the system itself uses.
    pub suites: Vec<String>,
}

impl Mirror {
    /// From `VAMBRACE_DEBIAN_MIRROR` if set, else from the system's apt configuration.
    pub fn of_system() -> Result<Self> {
        let sources = system_sources()?;
        if let Some(uri) = std::env::var(MIRROR_VARIABLE).ok().filter(|uri| !uri.is_empty()) {
            return Ok(named(&uri, &sources));
        }
        choose(&sources).with_context(|| {
            format!(
                "the system's apt sources name no Debian mirror; set {MIRROR_VARIABLE} to the URI \
                 of one and install the package debian-archive-keyring"
            )
        })
    }

    /// The archive that holds `suite`.
    pub fn uri_for(&self, suite: &str) -> &str {
        if suite.ends_with("-security") { &self.security } else { &self.main }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Source {
    uri: String,
    suite: String,
    components: Vec<String>,
    signed_by: Option<PathBuf>,
}

impl Source {
    /// `Some(codename)` for Debian's own suites, with any `-updates` and the like cut off.
    fn codename(&self) -> Option<&str> {
        let base = self.suite.split(['-', '/']).next().unwrap_or_default();
        (CODENAMES.contains(&base) && self.components.iter().any(|c| c == "main")).then_some(base)
    }

    fn is_security(&self) -> bool {
        self.suite.ends_with("-security") || self.suite.ends_with("/updates")
    }
}

fn system_sources() -> Result<Vec<Source>> {
    let paths = shell::capture(Command::new("apt-config").args([
        "shell",
        "LIST",
        "Dir::Etc::sourcelist/f",
        "PARTS",
        "Dir::Etc::sourceparts/d",
    ]))
    .context("this needs Debian's package client (apt) on the host")?;
    let value =
        |name: &str| paths.lines().find_map(|line| Some(line.strip_prefix(name)?.trim_matches('\'').to_owned()));
    let mut files: Vec<PathBuf> = value("LIST=").map(PathBuf::from).into_iter().collect();
    if let Some(parts) = value("PARTS=") {
        let mut entries: Vec<PathBuf> = fs::read_dir(parts)
            .map(|dir| dir.filter_map(|entry| Some(entry.ok()?.path())).collect())
            .unwrap_or_default();
        entries.sort();
        files.append(&mut entries);
    }
    Ok(files.iter().flat_map(|file| read_sources(file)).collect())
}

/// Nothing for a file that is absent, unreadable to this user, or of another kind.
fn read_sources(path: &Path) -> Vec<Source> {
    let Ok(text) = fs::read_to_string(path) else { return Vec::new() };
    match path.extension().and_then(|ext| ext.to_str()) {
        Some("list") => text.lines().filter_map(parse_line).collect(),
        Some("sources") => text.split("\n\n").flat_map(parse_stanza).collect(),
        _ => Vec::new(),
    }
}

/// `deb [option=value ...] uri suite component ...`
fn parse_line(line: &str) -> Option<Source> {
    let mut rest = line.split('#').next()?.trim().strip_prefix("deb ")?.trim_start();
    let mut signed_by = None;
    if let Some(bracket) = rest.strip_prefix('[') {
        let (options, after) = bracket.split_once(']')?;
        signed_by =
            options.split_whitespace().find_map(|option| option.strip_prefix("signed-by=")).and_then(keyring_path);
        rest = after;
    }
    let mut words = rest.split_whitespace().map(str::to_owned);
    Some(Source { uri: words.next()?, suite: words.next()?, components: words.collect(), signed_by })
}

/// One deb822 stanza: every URI with every suite.
fn parse_stanza(stanza: &str) -> Vec<Source> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in stanza.lines().filter(|line| !line.starts_with('#')) {
        if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push('\n');
                value.push_str(line.trim());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    let field = |name: &str| fields.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_str());
    let is_on = !matches!(field("enabled"), "no" | "false" | "0");
    if !is_on || !field("types").split_whitespace().any(|kind| kind == "deb") {
        return Vec::new();
    }
    let components: Vec<String> = field("components").split_whitespace().map(str::to_owned).collect();
    let signed_by = keyring_path(field("signed-by"));
    let mut sources = Vec::new();
    for uri in field("uris").split_whitespace() {
        for suite in field("suites").split_whitespace() {
            sources.push(Source {
                uri: uri.to_owned(),
                suite: suite.to_owned(),
                components: components.clone(),
                signed_by: signed_by.clone(),
            });
        }
    }
    sources
}

/// A path; a key written out in the field itself or a fingerprint is `None`.
fn keyring_path(value: &str) -> Option<PathBuf> {
    let first = value.split([',', ' ', '\n']).next()?;
    first.starts_with('/').then(|| PathBuf::from(first))
}

fn choose(sources: &[Source]) -> Option<Mirror> {
    let candidates: Vec<&Source> = sources.iter().filter(|source| source.codename().is_some()).collect();
    let mains = || candidates.iter().filter(|source| !source.is_security());
    // Others serve suites named like Debian's too; the archive itself is a directory "debian".
    let main =
        mains().find(|source| source.uri.trim_end_matches('/').ends_with("debian")).or_else(|| mains().next())?;
    let security = candidates.iter().find(|source| source.is_security());
    let mut suites: Vec<String> =
        mains().filter(|source| source.uri == main.uri).map(|source| source.suite.clone()).collect();
    suites.dedup();
    Some(Mirror {
        main: main.uri.clone(),
        security: security.map_or_else(|| beside(&main.uri), |source| source.uri.clone()),
        keyring: main.signed_by.clone(),
        suites,
    })
}

/// A mirror that the user names.
fn named(uri: &str, sources: &[Source]) -> Mirror {
    const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
    let keyring = choose(sources)
        .and_then(|mirror| mirror.keyring)
        .or_else(|| Path::new(KEYRING).exists().then(|| PathBuf::from(KEYRING)));
    Mirror { main: uri.to_owned(), security: beside(uri), keyring, suites: vec!["bookworm".into(), "trixie".into()] }
}

/// Mirrors carry the security archive as `debian-security` beside `debian`.
fn beside(main: &str) -> String {
    format!("{}-security", main.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STANZAS: &str = "Types: deb deb-src\n# a comment\nURIs: http://mirror.example/debian\n\
        Suites: bookworm bookworm-updates\nComponents: main\nSigned-By: /k/debian.gpg\n\n\
        Types: deb\nURIs: http://mirror.example/debian-security\nSuites: bookworm-security\n\
        Components: main\nSigned-By: /k/debian.gpg\n\n\
        Types: deb\nEnabled: no\nURIs: http://off.example/debian\nSuites: sid\nComponents: main\n";

    #[test]
    fn deb822_gives_both_archives() {
        let sources: Vec<Source> = STANZAS.split("\n\n").flat_map(parse_stanza).collect();
        assert_eq!(sources.len(), 3);
        let mirror = choose(&sources).unwrap();
        assert_eq!(mirror.main, "http://mirror.example/debian");
        assert_eq!(mirror.security, "http://mirror.example/debian-security");
        assert_eq!(mirror.keyring.as_deref(), Some(Path::new("/k/debian.gpg")));
        assert_eq!(mirror.suites, ["bookworm", "bookworm-updates"]);
        assert_eq!(mirror.uri_for("bullseye-security"), mirror.security);
        assert_eq!(mirror.uri_for("bullseye"), mirror.main);
    }

    #[test]
    fn one_line_sources_with_options_and_strangers() {
        let text = "# deb http://no.example/debian sid main\n\
            deb http://cloud.example/apt cloud-sdk-bookworm main\n\
            deb https://engine.example/linux/debian bookworm stable\n\
            deb http://onion.example/onion bookworm main\n\
            deb [arch=amd64 signed-by=/k/d.gpg] http://mirror.example/debian/ trixie main contrib\n";
        let sources: Vec<Source> = text.lines().filter_map(parse_line).collect();
        assert_eq!(sources.len(), 4);
        let mirror = choose(&sources).unwrap();
        assert_eq!(mirror.main, "http://mirror.example/debian/");
        assert_eq!(mirror.security, "http://mirror.example/debian-security");
        assert_eq!(mirror.keyring.as_deref(), Some(Path::new("/k/d.gpg")));
    }

    #[test]
    fn a_key_inside_the_field_is_no_path() {
        let stanza = "Types: deb\nURIs: http://m.example/debian\nSuites: trixie\nComponents: main\n\
            Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n xsFNB\n";
        assert_eq!(parse_stanza(stanza)[0].signed_by, None);
    }

    #[test]
    fn a_system_without_debian_has_no_mirror() {
        let sources: Vec<Source> = "deb http://m.example/ubuntu noble main".lines().filter_map(parse_line).collect();
        assert_eq!(choose(&sources), None);
    }
}
