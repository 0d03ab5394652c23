//! `vambrace run`

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Instant;

use machine::config::host_memory;
use machine::setup::Sleep;
use machine::{
    ConfigError, Description, Input, Limit, Machine, MachineConfig, Options, Outcome, Semihosting, SetupError,
};
use profile::{Counters, Exit, Report, RunFacts, Trace, TraceFormat};
use thiserror::Error;

use crate::args::{RunArgs, SemihostingChoice, TraceEvents};
use crate::console::Console;
use crate::files::{self, FileError, Named};
use crate::gdb::{self, ListenError, Server, Start};
use crate::input::{self, Keys, Source};
use crate::profile::Profiling;
use crate::snapshots::{Restored, Save, SnapshotFailure};
use crate::status::Status;
use crate::stop::{Reason, Stopper, die_by};
use crate::terminal::Raw;
use crate::whereabouts::{SymbolSource, VmlinuxError, whereabouts};

/// A run did not begin, or its results could not be written.
#[derive(Debug, Error)]
enum Failure {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Gdb(#[from] ListenError),
    #[error(transparent)]
    Snapshot(#[from] SnapshotFailure),
    #[error("standard input: {0}")]
    Input(std::io::Error),
    #[error("cannot handle signals: {0}")]
    Signals(std::io::Error),
    #[error("cannot put the terminal into raw mode: {0}")]
    Terminal(std::io::Error),
    #[error(transparent)]
    Symbols(#[from] VmlinuxError),
    #[error("--stats {file}: {reason}")]
    Stats { file: String, reason: std::io::Error },
    #[error("--trace {file}: {reason}")]
    Trace { file: String, reason: std::io::Error },
    #[error("--profile {file}: {reason}")]
    Profile { file: String, reason: std::io::Error },
}

impl Failure {
    fn status(&self) -> Status {
        match self {
            Self::Config(_) | Self::File(_) | Self::Symbols(_) | Self::Input(_) | Self::Gdb(_) => Status::Usage,
            Self::Setup(error) => status_of_setup(error),
            Self::Snapshot(error) => error.status(),
            Self::Signals(_) | Self::Terminal(_) | Self::Stats { .. } | Self::Trace { .. } | Self::Profile { .. } => {
                Status::ToolError
            }
        }
    }
}

/// What the user gave is the user's to change; the rest is not.
fn status_of_setup(error: &SetupError) -> Status {
    use machine::BoardError;
    match error {
        SetupError::Board(BoardError::Ram(_) | BoardError::Gic(_) | BoardError::Map(_)) => Status::ToolError,
        _ => Status::Usage,
    }
}

/// Runs a machine.
pub fn run(args: &RunArgs) -> Status {
    try_run(args).unwrap_or_else(|failure| {
        eprintln!("vambrace: {failure}");
        failure.status()
    })
}

/// Where statistics go.
enum Stats {
    No,
    Summary,
    Json(File),
}

fn try_run(args: &RunArgs) -> Result<Status, Failure> {
    let mut restored = args.restore.as_deref().map(Restored::open).transpose()?;
    let (config, semihosting) = if let Some(restored) = &restored {
        (args.restored(restored.config().clone())?, restored.semihosting())
    } else {
        let config = args.config()?;
        let semihosting = semihosting(args.semihosting, &config);
        (config, semihosting)
    };
    config.validate(host_memory())?;
    let mut named = Named::of(&config, args.vmlinux.as_deref())?;
    if let Some(path) = &args.restore {
        named.add("--restore", path);
    }
    let save = args.save.as_deref().map(|path| Save::open(path, &mut named)).transpose()?;
    let symbols = SymbolSource::open(args.vmlinux.as_deref(), config.kernel.as_deref())?;
    let stats = match &args.stats {
        None => Stats::No,
        Some(path) if path == Path::new("-") => Stats::Summary,
        Some(path) => Stats::Json(named.create("--stats", path)?),
    };
    let trace_file = args.trace.as_deref().map(|path| named.create("--trace", path)).transpose()?;
    let profile_file = args.profile.as_deref().map(|path| named.create("--profile", path)).transpose()?;
    let ports = Ports::of(args)?;
    let console_file = ports.uart_file.map(|path| named.create("--console", path)).transpose()?;
    let virtio_file = ports.virtio_file.map(|path| named.create("--virtio-console", path)).transpose()?;
    let source = if ports.has_input { Source::find().map_err(Failure::Input)? } else { Source::Complete(Vec::new()) };

    let stopper = Stopper::default();
    stopper.on_signals().map_err(Failure::Signals)?;
    let target = |port, file: &Option<File>| -> Result<Box<dyn Write + Send>, Failure> {
        Ok(match file {
            None => Box::new(std::io::stdout()),
            Some(file) => Box::new(file.try_clone().map_err(|source| at_console(args, port, source))?),
        })
    };
    let (console, output) = Console::start(target(Port::Uart, &console_file)?, stopper.clone());
    let virtio = match &args.virtio_console {
        None => None,
        Some(_) => Some(Console::start(target(Port::Virtio, &virtio_file)?, stopper.clone())),
    };
    let (virtio_console, virtio_output) = virtio.unzip();
    let sleep = match source {
        // Whoever types must find a guest that waits.
        Source::Terminal | Source::Open(_) => Sleep::Paced,
        Source::Complete(_) => Sleep::Skipped,
    };
    let options = Options {
        console: Box::new(output),
        virtio_console: virtio_output.map(|output| Box::new(output) as Box<dyn Write + Send>),
        input: ports.input,
        sleep,
        semihosting,
    };
    let mut machine = match &mut restored {
        Some(restored) => restored.machine(&config, options)?,
        None => Machine::from_config(&config, options)?,
    };
    let gdb = args.gdb.as_deref().map(Server::listen).transpose()?;
    // From here on there is a run, whose results replace older ones.
    for (port, file) in [(Port::Uart, &console_file), (Port::Virtio, &virtio_file)] {
        if let Some(file) = file {
            files::empty(file).map_err(|source| at_console(args, port, source))?;
        }
    }
    // Whoever goes on from a snapshot may want the statistics of the whole run.
    let counts = !matches!(stats, Stats::No) || save.is_some() || restored.is_some();
    let counters: Vec<Counters> = (0..if counts { config.cpus } else { 0 }).map(|_| Counters::new()).collect();
    if let Some(restored) = restored {
        restored.finish(&counters)?;
    }
    let trace_failure =
        |reason| Failure::Trace { file: args.trace.as_deref().unwrap_or(Path::new("")).display().to_string(), reason };
    let trace = trace_file.map(|file| start_trace(file, args)).transpose().map_err(trace_failure)?;
    listen(&mut machine, config.cpus, &counters, trace.as_ref());
    let profiling = profile_file.map(|file| Profiling::start(&mut machine, args.profile_every, &symbols.read(), file));
    stopper.arm(&mut machine);
    let raw = feed(source, &machine, &stopper)?;

    let started = Instant::now();
    let outcome = match &gdb {
        Some(server) => {
            let start = if args.gdb_wait { Start::WithClient } else { Start::AtOnce };
            gdb::run(&mut machine, server.messages(), start)
        }
        None => machine.run(),
    };
    let seconds = started.elapsed().as_secs_f64();
    console.finish();
    if let Some(console) = virtio_console {
        console.finish();
    }
    drop(raw);

    let reason = stopper.take_reason();
    let (status, text) = match save {
        Some(save) if outcome == Outcome::Paused => {
            save.write(&mut machine, &Description { config: config.clone(), semihosting }, &counters)?;
            (Status::Success, "saved".into())
        }
        Some(_) => match ending(&outcome, reason.as_ref(), &config) {
            (Status::Success, text) => (Status::ToolError, format!("{text} before the snapshot was taken")),
            end => end,
        },
        None => ending(&outcome, reason.as_ref(), &config),
    };
    if status != Status::Success {
        eprintln!("vambrace: {text}");
    }
    eprint!("{}", whereabouts(&machine, &outcome, &symbols));
    let report = || {
        let facts = machine.summary().into_iter().map(|cpu| RunFacts {
            insns: cpu.insns,
            insns_by_el: cpu.insns_by_el,
            ticks: cpu.ticks,
            idle_ticks: cpu.idle_ticks,
        });
        let cpus: Vec<_> = facts.zip(counters.iter().map(Counters::counts)).collect();
        Report::new(&cpus, Exit { reason: text.clone(), status: status.code() }, machine.state_hash(), seconds)
    };
    match stats {
        Stats::No => {}
        Stats::Summary => eprint!("{}", report().summary()),
        Stats::Json(mut file) => {
            let written = report()
                .to_json()
                .map_err(std::io::Error::from)
                .and_then(|text| files::empty(&file).and_then(|()| file.write_all(text.as_bytes())));
            let name = || args.stats.as_deref().unwrap_or(Path::new("")).display().to_string();
            written.map_err(|reason| Failure::Stats { file: name(), reason })?;
        }
    }
    trace.as_ref().map_or(Ok(()), Trace::finish).map_err(trace_failure)?;
    if let (Some(profiling), Some(path)) = (profiling, &args.profile) {
        let failure = |reason| Failure::Profile { file: path.display().to_string(), reason };
        profiling.finish(&mut machine, path).map_err(failure)?;
    }
    if let Some(Reason::Signal(signal)) = reason {
        // What is to be removed at the end is theirs.
        drop((machine, gdb));
        die_by(signal);
    }
    Ok(status)
}

/// A device that prints.
#[derive(Clone, Copy)]
enum Port {
    Uart,
    Virtio,
}

fn at_console(args: &RunArgs, port: Port, source: std::io::Error) -> FileError {
    let (flag, path) = match port {
        Port::Uart => ("--console", args.console.clone()),
        Port::Virtio => ("--virtio-console", args.virtio_console.clone().unwrap_or_default()),
    };
    FileError::Create { flag, path, source }
}

/// Where what the guest prints goes, and what is typed.
struct Ports<'a> {
    uart_file: Option<&'a Path>,
    virtio_file: Option<&'a Path>,
    input: Input,
    has_input: bool,
}

impl<'a> Ports<'a> {
    fn of(args: &'a RunArgs) -> Result<Self, ConfigError> {
        let file = |path: &'a Path| Some(path).filter(|path| *path != Path::new("stdio"));
        let uart_file = file(&args.console);
        let virtio = args.virtio_console.as_deref();
        let virtio_file = virtio.and_then(file);
        let virtio_is_stdio = virtio.is_some() && virtio_file.is_none();
        match (uart_file, virtio_is_stdio) {
            (None, true) => Err(ConfigError::TwoConsoles),
            (Some(_), true) => Ok(Self { uart_file, virtio_file, input: Input::VirtioConsole, has_input: true }),
            (_, false) => Ok(Self { uart_file, virtio_file, input: Input::Uart, has_input: uart_file.is_none() }),
        }
    }
}

/// A program for the bare machine has no other way to say how it ended; under Linux any process could end the run.
fn semihosting(choice: SemihostingChoice, config: &MachineConfig) -> Semihosting {
    let is_on = match choice {
        SemihostingChoice::On => true,
        SemihostingChoice::Off => false,
        SemihostingChoice::Auto => config.kernel.as_deref().map_or(config.demo.is_some(), is_elf),
    };
    if is_on { Semihosting::On } else { Semihosting::Off }
}

/// A file that cannot be read is none; the loader says what is wrong with it.
fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    path.is_file() && File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == *b"\x7fELF"
}

/// The trace that the flags ask for, into `file`.
fn start_trace(file: File, args: &RunArgs) -> std::io::Result<Trace> {
    let file = files::anew(file, args.trace.as_deref().unwrap_or(Path::new("")))?;
    let format = match args.trace_events {
        TraceEvents::Timeline => TraceFormat::Timeline,
        TraceEvents::Exceptions => TraceFormat::Exceptions,
        TraceEvents::Accesses => TraceFormat::Accesses,
    };
    Ok(Trace::new(format, file))
}

/// Counts and traces what each CPU does, as far as somebody wants it.
fn listen(machine: &mut Machine, cpus: usize, counters: &[Counters], trace: Option<&Trace>) {
    for cpu in 0..cpus {
        let counts = counters.get(cpu).map(Counters::sink);
        let sinks: Vec<_> = counts.into_iter().chain(trace.map(|trace| trace.sink(cpu))).collect();
        if let Some(sink) = profile::together(sinks) {
            machine.set_sink(cpu, sink);
        }
    }
}

/// Lets the guest read from `source`. The terminal is in raw mode until the result is dropped.
fn feed(source: Source, machine: &Machine, stopper: &Stopper) -> Result<Option<Raw>, Failure> {
    let input = machine.board().input.clone();
    match source {
        Source::Complete(bytes) => {
            input.push(&bytes);
            Ok(None)
        }
        Source::Open(bytes) => {
            input.push(&bytes);
            input::pump(input, stopper.clone(), Keys::Plain);
            Ok(None)
        }
        Source::Terminal => {
            let raw = Raw::enter().map_err(|error| Failure::Terminal(error.into()))?;
            input::pump(input, stopper.clone(), Keys::Escaped);
            Ok(Some(raw))
        }
    }
}

/// The status, and how the run ended in a few words.
fn ending(outcome: &Outcome, reason: Option<&Reason>, config: &MachineConfig) -> (Status, String) {
    match (outcome, reason) {
        (_, Some(Reason::Console(error))) => (Status::ToolError, format!("the console cannot be written: {error}")),
        (Outcome::PoweredOff, _) => (Status::Success, "powered off".into()),
        (Outcome::Paused, _) => (Status::Success, "paused".into()),
        (Outcome::Reset, _) => (Status::GuestStopped, "the guest asked for a reset".into()),
        (Outcome::Exit(code), _) => match Status::of_guest(*code) {
            Status::Guest(0) => (Status::Success, "the guest ended with code 0".into()),
            status => (status, format!("the guest ended with code {code}")),
        },
        (Outcome::Limit(Limit::Instructions(limit)), _) => {
            (Status::Limit, format!("the limit of --max-insns {limit} instructions was reached"))
        }
        (Outcome::Limit(Limit::Seconds(_)), _) => {
            let seconds = config.timeout.unwrap_or_default().as_secs_f64();
            (Status::Limit, format!("the limit of --timeout {seconds} seconds was reached"))
        }
        (Outcome::Stuck(stuck), _) => (Status::GuestStopped, stuck.to_string()),
        (Outcome::Quit, Some(Reason::Signal(signal))) => (Status::GuestStopped, format!("ended by signal {signal}")),
        (Outcome::Quit, _) => (Status::Success, "ended by the user".into()),
        (Outcome::NoThread { cpu, reason }, _) => (
            Status::ToolError,
            format!("the host gives no thread for CPU {cpu}: {reason}; ask for fewer CPUs, or --threads serial"),
        ),
        (Outcome::Tool { cpu, error }, _) => (Status::ToolError, format!("CPU {cpu}: {error}")),
    }
}
