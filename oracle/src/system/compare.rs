//! Line by line, with the list of differences that are explained.

#[cfg(test)]
use super::differences::Because;
use super::differences::Difference;

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
    for n in 0..ours.len().max(judge.len()) {
        let (Some(our), Some(its)) = (ours.get(n), judge.get(n)) else {
            let which = if ours.len() > judge.len() { "our machine" } else { "the judge" };
            result.unexplained.push(format!("{} lines and {}: only {which} goes on", ours.len(), judge.len()));
            break;
        };
        if our == its {
            result.equal += 1;
            continue;
        }
        if name(our) != name(its) {
            // Whatever follows is out of step.
            result.unexplained.push(format!("line {n}\n  ours:  {our}\n  judge: {its}"));
            break;
        }
        match list.iter().position(|d| d.explains(program, cpu, name(our), our, its)) {
            Some(entry) => {
                result.explained += 1;
                if !result.used.contains(&entry) {
                    result.used.push(entry);
                }
            }
            None => result.unexplained.push(format!("{}\n  ours:  {our}\n  judge: {its}", name(our))),
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
