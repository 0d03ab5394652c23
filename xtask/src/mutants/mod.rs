//! `cargo xtask mutants`: the kernel with one barrier, invalidation, lock or flag less at a time (`list`). Each such mutant
//! must be found by its judge: a host test, a model, or a run on the machine. Those that today's machine cannot show are
//! listed with the reason.

mod list;
mod tree;

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::{kernel, shell};
use list::{Judge, LIST, Mutant};
use tree::{Log, Tree};

/// Arguments of `cargo xtask mutants`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only these; part of a name will do. May be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// None that are judged by runs on the machine.
    #[arg(long)]
    host: bool,
    /// Only print the list.
    #[arg(long)]
    list: bool,
}

/// After this, a judge that has not ended has found that something waits for ever.
const PATIENCE: Duration = Duration::from_secs(180);

/// How a mutant fared.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    Killed(String),
    Survived,
    Waits(&'static str),
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    let is_wanted = |mutant: &&Mutant| {
        let is_named = args.only.is_empty() || args.only.iter().any(|part| mutant.name.contains(part.as_str()));
        is_named && !(args.host && matches!(mutant.judge, Judge::Run(_)))
    };
    let wanted: Vec<&Mutant> = LIST.iter().filter(is_wanted).collect();
    ensure!(!wanted.is_empty(), "no mutant has such a name");
    if args.list {
        for mutant in wanted {
            println!("{} | {} | {}", mutant.name, mutant.file, mutant.judge);
        }
        return Ok(());
    }
    let tree = Tree::copy()?;
    let mut judges: Vec<&Judge> = Vec::new();
    for mutant in &wanted {
        if !judges.contains(&&mutant.judge) {
            judges.push(&mutant.judge);
        }
    }
    // A judge that fails without a mutation would kill everything.
    for judge in judges {
        if let Verdict::Bad(why) = judged(&tree, judge)? {
            bail!("without any mutation, {judge} fails: {why}");
        }
    }
    println!("mutant | killed by | seconds");
    let mut survivors = 0;
    for mutant in wanted {
        let started = Instant::now();
        let fate = fate(&tree, mutant).with_context(|| mutant.name)?;
        let seconds = started.elapsed().as_secs_f64();
        match fate {
            Fate::Killed(by) => println!("{} | {by} | {seconds:.1}", mutant.name),
            Fate::Waits(why) => println!("{} | waits for the adversarial TLB: {why} |", mutant.name),
            Fate::Survived => {
                survivors += 1;
                println!("{} | SURVIVED {} | {seconds:.1}", mutant.name, mutant.judge);
            }
        }
    }
    ensure!(survivors == 0, "{survivors} mutant(s) survived");
    Ok(())
}

fn fate(tree: &Tree, mutant: &Mutant) -> Result<Fate> {
    if let Judge::Waits(why) = mutant.judge {
        return Ok(Fate::Waits(why));
    }
    let _mutation = tree.mutate(mutant)?;
    Ok(match judged(tree, &mutant.judge)? {
        Verdict::Good => Fate::Survived,
        Verdict::Bad(why) => Fate::Killed(format!("{}: {why}", mutant.judge)),
    })
}

/// What a judge says.
#[derive(Debug)]
enum Verdict {
    Good,
    /// With the first reason that it gives.
    Bad(String),
}

fn judged(tree: &Tree, judge: &Judge) -> Result<Verdict> {
    match judge {
        Judge::Host(package, filter) => {
            let mut test = tree.cargo();
            test.args(["test", "--quiet", "-p", package, "--lib"]);
            tests(test, &[filter], &tree.log())
        }
        Judge::Model(name) => {
            let mut test = tree.cargo();
            test.args(["test", "--quiet", "-p", "vambrace-kernel-models", "--test", "models"]);
            tests(test, &[name], &tree.log())
        }
        Judge::Run(name) => {
            let image = kernel::build_in(tree.root(), tree.target())?;
            Ok(match kernel::judge(name, &image) {
                Ok(_) => Verdict::Good,
                Err(error) => Verdict::Bad(first_line(&format!("{error:#}"))),
            })
        }
        Judge::Waits(_) => Ok(Verdict::Good),
    }
}

/// Builds the tests, which must go well, and runs those that the filters name.
fn tests(mut command: Command, filters: &[&str], log: &Log) -> Result<Verdict> {
    let mut build = Command::new(command.get_program());
    build.args(command.get_args()).arg("--no-run").current_dir(command.get_current_dir().unwrap_or(Path::new(".")));
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            build.env(name, value);
        }
    }
    shell::capture(&mut build).context("a mutant has to compile")?;
    command.arg("--").args(filters).env("RUST_BACKTRACE", "0");
    let log = log.read_write()?;
    let started = Instant::now();
    // A group of its own, so that the test below cargo can be ended with it.
    command.process_group(0).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log.try_clone()?);
    let mut child = command.spawn().context("cargo test")?;
    loop {
        if let Some(status) = child.try_wait()? {
            if status.success() {
                return Ok(Verdict::Good);
            }
            return Ok(Verdict::Bad(reason(&tree::text_of(log)?)));
        }
        if started.elapsed() > PATIENCE {
            shell::capture(Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]))?;
            child.wait()?;
            return Ok(Verdict::Bad("it waits for ever".to_owned()));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The line that says why a test failed.
fn reason(log: &str) -> String {
    let mut lines = log.lines().skip_while(|line| !line.contains("panicked at")).skip(1);
    let said = lines.find(|line| !line.trim().is_empty() && !line.contains("exit status"));
    first_line(said.unwrap_or("it failed"))
}

fn first_line(text: &str) -> String {
    const LONGEST: usize = 100;
    text.lines().next().unwrap_or_default().trim().chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a mutation takes away is there, once: else the list has to follow the kernel.
    #[test]
    fn every_mutation_has_its_place() {
        for mutant in LIST {
            let path = shell::workspace_root().join(mutant.file);
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", mutant.file));
            let count = text.matches(mutant.text).count();
            assert_eq!(count, 1, "{}: its text is {count} times in {}", mutant.name, mutant.file);
            assert_ne!(mutant.text, mutant.replacement, "{}", mutant.name);
        }
    }

    #[test]
    fn names_are_different() {
        for (n, mutant) in LIST.iter().enumerate() {
            assert!(LIST[..n].iter().all(|other| other.name != mutant.name), "{}", mutant.name);
        }
    }
}
