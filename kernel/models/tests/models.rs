//! Runs the models. Each is a program: see `src/bin`.

use std::process::Command;

fn run(program: &str) {
    let output = Command::new(program).env("RUST_BACKTRACE", "0").output().expect("the model starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    print!("{}", text(&output.stdout));
    assert!(output.status.success(), "{}\n{}", output.status, text(&output.stderr));
}

#[test]
fn locks() {
    run(env!("CARGO_BIN_EXE_model-locks"));
}

#[test]
fn orders() {
    run(env!("CARGO_BIN_EXE_model-orders"));
}

#[test]
fn scheduler() {
    run(env!("CARGO_BIN_EXE_model-scheduler"));
}

#[test]
fn waiting() {
    run(env!("CARGO_BIN_EXE_model-waiting"));
}
