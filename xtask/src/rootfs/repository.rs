//! A repository of Debian packages for the guest's `apt`, with one package of our own, served on the host's loopback.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, ensure};

use crate::shell;

const CONTROL: &str = "Package: vambrace-greeting
Version: 1.0
Architecture: all
Maintainer: nobody <nobody@localhost>
Depends: coreutils
Description: says that it was installed
";

const PROGRAM: &str = "#!/bin/sh\necho 'greetings from a package'\n";

/// The last of the numbers in the package's large file.
const NUMBERS: u32 = 400_000;

/// The server. It serves until the process ends.
pub struct Repository {
    /// The port on the host's 127.0.0.1.
    pub port: u16,
    served: Arc<Mutex<Vec<String>>>,
}

impl Repository {
    /// Makes the package below `dir`, which is made anew, and serves it.
    pub fn start(dir: &Path) -> Result<Self> {
        let files = make(dir)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let served: Arc<Mutex<Vec<String>>> = Arc::default();
        let repository = Self { port: listener.local_addr()?.port(), served: Arc::clone(&served) };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // What goes wrong shows in what the guest gets.
                let _ = serve(stream, &files, &served);
            }
        });
        Ok(repository)
    }

    /// An error unless the guest got the index and the package from here.
    pub fn expect_served(&self) -> Result<()> {
        let served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        for wanted in ["Packages", ".deb"] {
            ensure!(served.iter().any(|name| name.ends_with(wanted)), "the guest got no {wanted}, but {served:?}");
        }
        Ok(())
    }
}

type Files = Vec<(String, Vec<u8>)>;

/// The files of the repository by their names.
fn make(dir: &Path) -> Result<Files> {
    let tree = dir.join("tree");
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    for part in ["DEBIAN", "usr/bin", "usr/share/vambrace-greeting"] {
        fs::create_dir_all(tree.join(part))?;
    }
    fs::write(tree.join("DEBIAN/control"), CONTROL)?;
    let numbers: String = (1..=NUMBERS).fold(String::new(), |text, n| text + &n.to_string() + "\n");
    fs::write(tree.join("usr/share/vambrace-greeting/numbers"), numbers)?;
    let program = tree.join("usr/bin/vambrace-greeting");
    fs::write(&program, PROGRAM)?;
    shell::capture(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(&tree))?;
    shell::capture(Command::new("chmod").arg("755").arg(&program))?;

    let deb = "vambrace-greeting_1.0_all.deb";
    let mut build = Command::new("dpkg-deb");
    // Not compressed: more to carry.
    build.args(["--root-owner-group", "-Znone", "--build"]).arg(&tree).arg(dir.join(deb));
    shell::capture(&mut build)?;
    let package = fs::read(dir.join(deb))?;
    let sum = sha256(&dir.join(deb))?;
    let index = format!("{CONTROL}Filename: ./{deb}\nSize: {}\nSHA256: {sum}\n", package.len());
    let path = dir.join("Packages");
    fs::write(&path, &index)?;
    // In the past, whatever the guest's clock shows.
    let release = format!(
        "Suite: vambrace\nDate: Wed, 01 Jan 2020 00:00:00 UTC\nArchitectures: all arm64\nSHA256:\n {} {} Packages\n",
        sha256(&path)?,
        index.len()
    );
    let file = |name: &str, contents: Vec<u8>| (name.to_owned(), contents);
    Ok(vec![file("Packages", index.into_bytes()), file("Release", release.into_bytes()), file(deb, package)])
}

fn sha256(path: &PathBuf) -> Result<String> {
    let text = shell::capture(Command::new("sha256sum").arg(path))?;
    Ok(text.split(' ').next().context("no checksum")?.to_owned())
}

/// Requests of HTTP/1.1 on one connection, which stays open between them.
fn serve(mut stream: TcpStream, files: &Files, served: &Mutex<Vec<String>>) -> Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut request = String::new();
        if reader.read_line(&mut request)? == 0 {
            return Ok(());
        }
        let mut line = String::from("x");
        while !line.trim().is_empty() {
            line.clear();
            reader.read_line(&mut line)?;
        }
        let name = request.split(' ').nth(1).unwrap_or_default().trim_start_matches(['/', '.']).to_owned();
        let (status, body) = match files.iter().find(|(file, _)| *file == name) {
            Some((_, contents)) => ("200 OK", contents.as_slice()),
            None => ("404 Not Found", b"no such file".as_slice()),
        };
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(&[head.as_bytes(), body].concat())?;
        if status.starts_with("200") {
            served.lock().unwrap_or_else(PoisonError::into_inner).push(name);
        }
    }
}
