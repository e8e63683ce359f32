//! Text on a terminal, what is found in it coloured and named.

use std::collections::BTreeMap;
use std::io::Write;

use crate::cli::style::output_coloured;

/// Colours in turn, by the order in which rules are first seen (ECMA-48 SGR).
const COLOURS: &[&str] = &["1;31", "1;32", "1;33", "1;34", "1;35", "1;36"];

/// What was shown so far.
pub(super) struct SurrogateTally {
    /// By name: which came first, and how often.
    seen: BTreeMap<String, (usize, u64)>,
    colours: bool,
}

impl SurrogateTally {
    pub(super) fn new() -> Self {
        Self { seen: BTreeMap::new(), colours: output_coloured() }
    }

    fn painted(&self, text: &str, colour: &str) -> String {
        if self.colours { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn colour(order: usize) -> &'static str {
        COLOURS.get(order % COLOURS.len()).copied().unwrap_or("1")
    }

    /// Writes a piece of text; `name` if it is a finding.
    pub(super) fn write(
        &mut self,
        output: &mut dyn Write,
        text: &str,
        name: Option<&str>,
    ) -> std::io::Result<()> {
        let text = harmless(text);
        let Some(name) = name else {
            return output.write_all(text.as_bytes());
        };
        let next = self.seen.len();
        let (order, count) = self.seen.entry(name.to_owned()).or_insert((next, 0));
        *count += 1;
        let order = *order;
        let value = self.painted(&text, Self::colour(order));
        write!(output, "{value}{}", self.painted(&format!("[{name}]"), "2"))
    }

    /// What the colours meant and how much there was of each.
    pub(super) fn legend(&self, output: &mut dyn Write) -> std::io::Result<()> {
        let mut names: Vec<_> = self.seen.iter().collect();
        names.sort_by_key(|(_, (order, _))| *order);
        if names.is_empty() {
            return writeln!(output, "\nnothing found");
        }
        writeln!(output)?;
        for (name, (order, count)) in names {
            writeln!(output, "{count:>8}  {}", self.painted(name, Self::colour(*order)))?;
        }
        Ok(())
    }
}

/// Without what could steer the terminal.
fn harmless(text: &str) -> String {
    let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
    text.chars().map(|c| if steers(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn escapes_do_not_reach_the_terminal() {
        assert_eq!(harmless("a\x1b[2Jb\té\n"), "a\u{fffd}[2Jb\té\n");
    }
}
