//! What is wrong with a configuration, on standard error.

use crate::app::logged;
use crate::cli::escape::escaped;
use crate::cli::streams::said;
use crate::cli::style::{GOOD, STRONG, errors_coloured, painted};
use crate::config::{Problem, Problems};

/// One line each, and what can be done next.
pub(super) fn show(problems: &Problems, tip: Option<&str>) {
    let coloured = errors_coloured();
    for problem in problems.iter() {
        let (line, place) = (problem.to_string(), place(problem));
        if !logged(&line, true) {
            let rest = escaped(line.strip_prefix(&place).unwrap_or_default());
            said(&format!("{}{rest}", painted(&escaped(&place), STRONG, coloured)));
        }
    }
    if let Some(tip) = tip.filter(|tip| !logged(tip, true)) {
        said(&format!("  {} {}", painted("tip:", GOOD, coloured), escaped(tip)));
    }
}

/// The file, the line and the column.
fn place(problem: &Problem) -> String {
    let Problem { file, line, column, .. } = problem;
    if *line > 0 { format!("{file}:{line}:{column}:") } else { format!("{file}:") }
}
