//! A conversation with a guest on its console.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::boot::Echo;
use crate::shell;

/// A guest whose console is ours to read and to type on. It is killed when this is dropped.
pub struct Session {
    command: String,
    child: Child,
    keyboard: ChildStdin,
    console: Receiver<Vec<u8>>,
    seen: Vec<u8>,
    /// What lies before was expected and found.
    at: usize,
    started: Instant,
    limit: Duration,
    echo: Echo,
}

impl Session {
    /// Starts the machine; after `limit` in all, it fails.
    pub fn start(mut command: Command, limit: Duration, echo: Echo) -> Result<Self> {
        let line = shell::display(&command);
        let started = Instant::now();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .with_context(|| format!("cannot start `{line}`"))?;
        let keyboard = child.stdin.take().context("no pipe")?;
        let mut pipe = child.stdout.take().context("no pipe")?;
        let (sender, console) = mpsc::channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                // Nobody listens any more after an error.
                if sender.send(buffer[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Ok(Self { command: line, child, keyboard, console, seen: Vec::new(), at: 0, started, limit, echo })
    }

    /// Host seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Waits for `text`; gives what came before it since the last that was waited for.
    pub fn expect(&mut self, text: &str) -> Result<String> {
        let mut looked = self.at;
        loop {
            if let Some(found) = find(&self.seen[looked..], text.as_bytes()) {
                let before = String::from_utf8_lossy(&self.seen[self.at..looked + found]).into_owned();
                self.at = looked + found + text.len();
                return Ok(before);
            }
            looked = self.at.max((self.seen.len() + 1).saturating_sub(text.len()));
            match self.more() {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => {
                    bail!("no \"{text}\" on the console within {} s\n{}", self.limit.as_secs(), self.report());
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait()?;
                    bail!("the run ended ({status}) before \"{text}\" was on the console\n{}", self.report());
                }
            }
        }
    }

    /// Types a line.
    pub fn send(&mut self, line: &str) -> Result<()> {
        let text = format!("{line}\n");
        self.keyboard.write_all(text.as_bytes()).and_then(|()| self.keyboard.flush()).context("cannot type")
    }

    /// Waits for the end of the run.
    pub fn finish(&mut self) -> Result<ExitStatus> {
        loop {
            match self.more() {
                Ok(()) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    bail!("the run did not end within {} s\n{}", self.limit.as_secs(), self.report());
                }
            }
        }
        Ok(self.child.wait()?)
    }

    /// Kills the machine with SIGKILL; gives all that was on the console.
    pub fn kill(&mut self) -> Result<String> {
        self.child.kill().context("cannot kill the run")?;
        self.finish()?;
        Ok(String::from_utf8_lossy(&self.seen).into_owned())
    }

    /// An error unless `text` was somewhere on the console.
    pub fn expect_seen(&self, text: &str) -> Result<()> {
        ensure!(find(&self.seen, text.as_bytes()).is_some(), "no \"{text}\" on the console\n{}", self.report());
        Ok(())
    }

    fn more(&mut self) -> Result<(), RecvTimeoutError> {
        let bytes = self.console.recv_timeout(self.limit.saturating_sub(self.started.elapsed()))?;
        if self.echo == Echo::On {
            let mut out = std::io::stdout();
            // Whoever closed our stdout does not want to see it.
            let _ = out.write_all(&bytes).and_then(|()| out.flush());
        }
        self.seen.extend_from_slice(&bytes);
        Ok(())
    }

    fn report(&self) -> String {
        let text = String::from_utf8_lossy(&self.seen);
        let lines: Vec<&str> = text.lines().collect();
        let tail = &lines[lines.len().saturating_sub(15)..];
        format!("  command: {}\n  console: {}\n", self.command, tail.join("\n  console: "))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It may have ended long ago.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(script: &str) -> Session {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Session::start(command, Duration::from_secs(20), Echo::Off).unwrap()
    }

    #[test]
    fn a_conversation() {
        let mut session = session("printf 'login: '; read name; echo \"hello $name\"; sleep 0.1; printf 'a'; exit 3");
        assert_eq!(session.expect("gin: ").unwrap(), "lo");
        session.send("root").unwrap();
        assert_eq!(session.expect("root").unwrap(), "hello ");
        assert_eq!(session.finish().unwrap().code(), Some(3));
        session.expect_seen("hello root\na").unwrap();
        assert!(session.expect_seen("bye").is_err());
    }

    #[test]
    fn what_was_said_before_a_kill_is_read() {
        let mut session = session("echo begin; echo rest; while :; do sleep 1; done");
        session.expect("begin\n").unwrap();
        session.expect("rest\n").unwrap();
        assert_eq!(session.kill().unwrap(), "begin\nrest\n");
    }

    #[test]
    fn an_end_before_what_was_expected_is_an_error_that_shows_the_console() {
        let error = session("echo panic; exit 3").expect("login: ").unwrap_err().to_string();
        assert!(error.contains("console: panic") && error.contains("login: "), "{error}");
    }
}
