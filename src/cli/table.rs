//! Rows with names for their columns: for programs separated by tabs, for people as a table, or one below the other where
//! that is wider than the terminal.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;

use clap::builder::styling::Style;

use crate::cli::escape::escaped;
use crate::cli::failure::Failure;
use crate::cli::style::{STRONG, output_coloured, painted};

/// Between two columns.
const GAP: usize = 2;

/// The width of a terminal that does not say it, in characters.
const WIDTH: usize = 80;

/// Rows to be shown.
pub(super) struct Table {
    heads: Vec<String>,
    rows: Vec<(Vec<String>, Style)>,
}

impl Table {
    /// Without rows yet.
    pub(super) fn new(heads: &[&str]) -> Self {
        Self { heads: heads.iter().map(|head| (*head).to_owned()).collect(), rows: Vec::new() }
    }

    /// One more row, which has a cell for every head.
    pub(super) fn row(&mut self, cells: Vec<String>, style: Style) {
        self.rows.push((cells, style));
    }

    /// Writes all of it to standard output.
    pub(super) fn print(&self) -> Result<(), Failure> {
        let mut output = std::io::BufWriter::new(std::io::stdout().lock());
        let text = match std::io::stdout().is_terminal() {
            false => self.tabs(),
            true => self.shown(width(std::io::stdout()), output_coloured()),
        };
        output.write_all(text.as_bytes())?;
        output.flush()?;
        Ok(())
    }

    fn tabs(&self) -> String {
        let rows = self.rows.iter().map(|(cells, _)| cells);
        std::iter::once(&self.heads).chain(rows).map(|cells| cells.join("\t") + "\n").collect()
    }

    fn shown(&self, width: usize, coloured: bool) -> String {
        let rows: Vec<(Vec<String>, Style)> = self
            .rows
            .iter()
            .map(|(cells, style)| (cells.iter().map(|cell| escaped(cell)).collect(), *style))
            .collect();
        let mut widths: Vec<usize> = self.heads.iter().map(|head| head.chars().count()).collect();
        for (cells, _) in &rows {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let whole: usize = widths.iter().map(|width| width + GAP).sum();
        match whole.saturating_sub(GAP) <= width {
            true => {
                let line = |cells: &[String], style| {
                    let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
                    let padded = padded.collect::<Vec<_>>().join("  ");
                    painted(padded.trim_end(), style, coloured) + "\n"
                };
                let head = line(&self.heads, STRONG);
                head + &rows.iter().map(|(cells, style)| line(cells, *style)).collect::<String>()
            }
            false => self.one_below_the_other(&rows, coloured),
        }
    }

    fn one_below_the_other(&self, rows: &[(Vec<String>, Style)], coloured: bool) -> String {
        let widest = self.heads.iter().map(|head| head.chars().count()).max().unwrap_or_default();
        let mut out = String::new();
        for (number, (cells, style)) in rows.iter().enumerate() {
            if number > 0 {
                out.push('\n');
            }
            for (head, cell) in self.heads.iter().zip(cells) {
                let (head, cell) = (format!("{head:<widest$}"), painted(cell, *style, coloured));
                // Writing to a string cannot fail.
                let _ = writeln!(out, "{}  {cell}", painted(&head, STRONG, coloured));
            }
        }
        out
    }
}

/// How many characters a line of a stream's terminal has.
pub(super) fn width(stream: impl AsFd) -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let asked = || terminal_size::terminal_size_of(stream).map(|(width, _)| usize::from(width.0));
    said.or_else(asked).filter(|width| *width > 0).unwrap_or(WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::style::{FAINT, PLAIN};

    fn table() -> Table {
        let mut table = Table::new(&["ID", "NAME"]);
        table.row(vec!["a".to_owned(), "long name".to_owned()], PLAIN);
        table.row(vec!["bcd".to_owned(), "\x1b[2J".to_owned()], FAINT);
        table
    }

    #[test]
    fn rows_are_one_line_each_where_there_is_room() {
        assert_eq!(table().shown(20, false), "ID   NAME\na    long name\nbcd  \\u{1b}[2J\n");
        assert_eq!(table().tabs(), "ID\tNAME\na\tlong name\nbcd\t\x1b[2J\n");
    }

    #[test]
    fn and_one_below_the_other_where_there_is_none() {
        assert_eq!(table().shown(8, false), "ID    a\nNAME  long name\n\nID    bcd\nNAME  \\u{1b}[2J\n");
        assert!(table().shown(8, true).contains("\x1b[2mbcd\x1b[0m"));
    }
}
