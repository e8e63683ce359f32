//! [`Heads`]: what the columns of a workbook's sheets are called, by the first row that holds words.

use std::collections::HashMap;

use crate::sanitize::format::passage::{Passage, PiecePlace};
use crate::sanitize::format::xml_tree::{Tree, plain};

/// The longest text that is taken for a head, in bytes.
const LONGEST: usize = 60;

/// Columns of a workbook.
#[derive(Debug, Default)]
pub(super) struct Heads {
    /// Whether anybody asks.
    wanted: bool,
    /// Shared texts, as far as they may be heads.
    texts: Vec<String>,
    /// The head of the column in which a shared text stands first.
    shared: HashMap<usize, String>,
}

/// The heads of one sheet, by the letters of the column.
#[derive(Debug, Default)]
pub(super) struct SheetHeads(HashMap<String, String>);

impl Heads {
    /// Begins with a workbook's shared texts (ECMA-376 part 1, 18.4.9), if it has any.
    pub(super) fn new(strings: Option<&Tree>) -> Self {
        let items = |tree: &Tree| {
            let items = (0..tree.len()).filter(|at| tree.name(*at) == "si");
            items.map(|item| words(tree, item)).collect()
        };
        Self { wanted: true, texts: strings.map(items).unwrap_or_default(), shared: HashMap::new() }
    }

    /// Reads the heads of a sheet, and which shared texts stand below them. Nothing for another part.
    pub(super) fn sheet(&mut self, tree: &Tree) -> SheetHeads {
        let mut columns = SheetHeads::default();
        if tree.name(0) != "worksheet" || !self.wanted {
            return columns;
        }
        for row in (0..tree.len()).filter(|at| tree.name(*at) == "row") {
            let cells = tree.children(row).filter(|at| tree.name(*at) == "c");
            if columns.0.is_empty() {
                let heads = cells.filter_map(|cell| Some((column(tree, cell)?, self.text(tree, cell)?)));
                let heads: HashMap<String, String> = heads.collect();
                // A title above a table is no row of heads.
                if heads.len() > 1 {
                    columns.0 = heads;
                }
                continue;
            }
            for cell in cells {
                let head = column(tree, cell).and_then(|column| columns.0.get(&column));
                if let Some((shared, head)) = shared(tree, cell).zip(head) {
                    self.shared.entry(shared).or_insert_with(|| head.clone());
                }
            }
        }
        columns
    }

    /// What a cell says, if that may be a head.
    fn text(&self, tree: &Tree, cell: usize) -> Option<String> {
        let text = match shared(tree, cell) {
            Some(shared) => self.texts.get(shared)?.clone(),
            None => tree.children(cell).find(|at| tree.name(*at) == "is").map(|at| words(tree, at))?,
        };
        (!text.is_empty()).then_some(text)
    }

    /// Gives texts the heads of their columns: those in the cells of a sheet, and shared ones, for which all sheets
    /// have to be read before. Nothing for another part.
    pub(super) fn name(&self, tree: &Tree, columns: &SheetHeads, passages: &mut [Passage<'_>]) {
        for passage in passages.iter_mut().filter(|_| !columns.0.is_empty()) {
            let Some(PiecePlace::Own(at, _)) = passage.pieces.first().map(|piece| piece.place) else {
                continue;
            };
            if let Some(inline) = tree.ancestors(at).find(|around| tree.name(*around) == "is") {
                passage.head = columns.of(tree, inline);
            }
        }
        if tree.name(0) != "sst" || self.shared.is_empty() {
            return;
        }
        let items = (0..tree.len()).filter(|at| tree.name(*at) == "si");
        let numbers: HashMap<usize, usize> = items.enumerate().map(|(number, at)| (at, number)).collect();
        for passage in passages {
            let Some(PiecePlace::Own(at, _)) = passage.pieces.first().map(|piece| piece.place) else {
                continue;
            };
            let number = tree.ancestors(at).find_map(|around| numbers.get(&around));
            if let Some(head) = number.and_then(|number| self.shared.get(number)) {
                passage.head.clone_from(head);
            }
        }
    }
}

impl SheetHeads {
    /// The head of the column in which what is right within a cell stands.
    pub(super) fn of(&self, tree: &Tree, value: usize) -> String {
        let column = tree.parent(value).and_then(|cell| column(tree, cell));
        column.and_then(|column| self.0.get(&column)).cloned().unwrap_or_default()
    }
}

/// The letters of a cell's column.
fn column(tree: &Tree, cell: usize) -> Option<String> {
    let place = tree.attribute(cell, "r")?;
    Some(place.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned())
}

/// The number of the shared text in a cell.
fn shared(tree: &Tree, cell: usize) -> Option<usize> {
    let kind = tree.attribute(cell, "t").filter(|kind| kind == "s");
    let value = kind.and_then(|_| tree.children(cell).find(|at| tree.name(*at) == "v"))?;
    tree.text(value).trim().parse().ok()
}

/// The text of an item; empty for one too long to be a head.
fn words(tree: &Tree, item: usize) -> String {
    let mut out = String::new();
    for at in tree.within(item).filter(|at| tree.name(*at) == "t") {
        if tree.ancestors(at).take(2).any(|around| tree.name(around) == "rPh") {
            continue;
        }
        out.push_str(&tree.inner(at).map(|span| plain(tree.slice(span))).unwrap_or_default());
        if out.len() > LONGEST {
            return String::new();
        }
    }
    out
}
