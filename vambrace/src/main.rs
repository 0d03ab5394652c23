//! `vambrace`: an arm64 machine in software, from the command line.

mod args;
mod console;
mod demo;
mod files;
mod gdb;
mod info;
mod input;
mod profile;
mod run;
mod snapshots;
mod status;
mod stop;
mod symbols;
mod terminal;
mod whereabouts;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command, LabCommand};
use status::Status;

fn main() -> ExitCode {
    terminal::restore_on_panic();
    let cli = Cli::parse();
    let status = catch_unwind(AssertUnwindSafe(|| match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Cpus => info::cpus(),
        Command::Features { preset } => info::features(preset.as_deref()),
        Command::Symbols { kernel, out } => symbols::write(&kernel, &out),
        Command::Lab { command: LabCommand::List | LabCommand::Run { .. } } => {
            eprintln!("vambrace: lab: not yet; this version runs machines only (vambrace run)");
            Status::Usage
        }
    }));
    // The panic's message has been printed: a fault of the tool.
    status.unwrap_or(Status::ToolError).into()
}
