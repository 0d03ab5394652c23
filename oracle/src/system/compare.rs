//! Line by line, with the list of differences that are explained.

#[cfg(test)]
use super::differences::Because;
use super::differences::{Absent, Difference};

/// What came of a comparison.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Lines that are equal.
    pub equal: usize,
    /// Lines that differ as listed.
    pub explained: usize,
    /// The others, as text to print.
    pub unexplained: Vec<String>,
    /// Indices of the list's entries that explained a line.
    pub used: Vec<usize>,
}

/// The name of a line: what stands before the colon.
fn name(line: &str) -> &str {
    line.split_once(": ").map_or(line, |(name, _)| name)
}

/// Compares what `program` printed on the model `cpu`.
#[must_use]
pub fn compare(program: &str, cpu: &str, list: &[Difference], ours: &[String], judge: &[String]) -> Comparison {
    let mut result = Comparison::default();
    let (mut our_lines, mut its_lines) = (ours.iter().peekable(), judge.iter().peekable());
    loop {
        let entry = match (our_lines.peek(), its_lines.peek()) {
            (None, None) => break,
            (Some(our), Some(its)) if our == its => {
                result.equal += 1;
                our_lines.next();
                its_lines.next();
                continue;
            }
            (Some(our), Some(its)) if name(our) == name(its) => {
                let entry = list.iter().position(|d| d.explains(program, cpu, name(our), our, its));
                if entry.is_none() {
                    result.unexplained.push(format!("{}\n  ours:  {our}\n  judge: {its}", name(our)));
                }
                our_lines.next();
                its_lines.next();
                entry
            }
            (our, its) => {
                let absent = |line: Option<&&String>, from| {
                    line.and_then(|l| list.iter().position(|d| d.explains_absence(program, cpu, name(l), from)))
                };
                if let Some(entry) = absent(our, Absent::Judge) {
                    our_lines.next();
                    Some(entry)
                } else if let Some(entry) = absent(its, Absent::Ours) {
                    its_lines.next();
                    Some(entry)
                } else {
                    // Whatever follows is out of step.
                    let text = |line: Option<&&String>| line.map_or("nothing more", |l| l.as_str()).to_owned();
                    result.unexplained.push(format!("out of step\n  ours:  {}\n  judge: {}", text(our), text(its)));
                    break;
                }
            }
        };
        if let Some(entry) = entry {
            result.explained += 1;
            if !result.used.contains(&entry) {
                result.used.push(entry);
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn a_difference_is_explained_only_as_listed() {
        let list = [Difference {
            program: "p",
            cpus: &["c"],
            names: &["a*"],
            ours: "x=1",
            judge: "x=2",
            because: Because::Choice(""),
        }];
        let found =
            compare("p", "c", &list, &of(&["ab: x=1", "b: x=1", "aa: x=3"]), &of(&["ab: x=2", "b: x=2", "aa: x=2"]));
        assert_eq!((found.equal, found.explained, found.unexplained.len()), (0, 1, 2));
        assert_eq!(compare("p", "d", &list, &of(&["ab: x=1"]), &of(&["ab: x=2"])).unexplained.len(), 1);
        let short = compare("p", "c", &list, &of(&["b: x=1"]), &of(&["b: x=1", "c: x=1"]));
        assert_eq!((short.equal, short.unexplained.len()), (1, 1));
        // Out of step: one report, not one for each line.
        assert_eq!(compare("p", "c", &list, &of(&["b: ", "c: "]), &of(&["c: ", "b: "])).unexplained.len(), 1);
    }
}
