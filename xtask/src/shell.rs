//! Running other programs: every failure names the command, its status and what it said.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The command as a user would type it.
pub fn display(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    for arg in command.get_args() {
        let arg = arg.to_string_lossy();
        text.push(' ');
        if arg.is_empty() || arg.contains([' ', '"', '$', '*', '(']) {
            text.push('\'');
            text.push_str(&arg);
            text.push('\'');
        } else {
            text.push_str(&arg);
        }
    }
    text
}

/// Runs with the caller's stdout and stderr; an error when the status is not 0.
pub fn run(command: &mut Command) -> Result<()> {
    let status =
        command.stdin(Stdio::null()).status().with_context(|| format!("cannot start `{}`", display(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", display(command));
    }
    Ok(())
}

/// Runs and returns stdout; an error, with what it wrote to stderr, when the status is not 0.
pub fn capture_bytes(command: &mut Command) -> Result<Vec<u8>> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{}`", display(command)))?;
    if !output.status.success() {
        bail!(
            "`{}` failed ({})\n{}",
            display(command),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    Ok(output.stdout)
}

/// [`capture_bytes`] as text; bytes that are not UTF-8 become U+FFFD.
pub fn capture(command: &mut Command) -> Result<String> {
    Ok(String::from_utf8_lossy(&capture_bytes(command)?).into_owned())
}

/// Where `program` stands in PATH, if anywhere.
pub fn which(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|candidate| candidate.is_file())
}

/// The workspace this xtask was built from.
pub fn workspace_root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// Cargo as the user started it.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace_root());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_quotes_what_a_shell_would_split() {
        let mut command = Command::new("vambrace");
        command.args(["--append", "console=ttyAMA0 panic=-1"]);
        assert_eq!(display(&command), "vambrace --append 'console=ttyAMA0 panic=-1'");
    }

    #[test]
    fn a_failing_command_is_named_with_its_words() {
        let error = capture(Command::new("sh").args(["-c", "echo gone >&2; exit 7"])).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("gone") && text.contains('7'), "{text}");
    }
}
