//! References that `INDIRECT()` makes of texts (ECMA-376 part 1, 18.17.7): whether one may name another book, as far as a formula
//! says. What is in the cells that it refers to is not looked up.

use std::collections::BTreeSet;

use crate::sanitize::format::formula::call_kind::CallKind;
use crate::sanitize::format::formula::functions::{
    given_name, in_name, is_called, last_name, without_brackets,
};
use crate::sanitize::format::formula::pieces::{FormulaDialect, FormulaPiece, pieces};

/// Numbers near those of the first letters, by which formulas count columns: `CHAR(64+A1)`.
const LETTERS: &[&str] = &["64", "65", "96", "97"];

/// How what stands for a file ends.
const BOOK: &str = ".xl";

/// Whether this is the file of a book or an add-in.
pub(super) fn is_book(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| ending.starts_with("xl") && matches!(ending.len(), 3 | 4))
}

/// Whether texts that become a reference name another book.
pub(super) fn refers_to_book(texts: &[&str]) -> bool {
    // The bracket before may be a character by its number.
    let closes = |text: &str| {
        text.split_once(']').is_some_and(|(before, behind)| !before.contains('[') && behind.contains('!'))
    };
    // Names of tables and columns are made up, too: `INDIRECT(A1&"[Sum]")`.
    let sheet = texts.iter().any(|text| text.contains('!'));
    texts.iter().any(|text| {
        let outside = text.contains('|') || text.contains("\\\\") || text.contains("//");
        outside || (sheet && opens(text)) || closes(text) || is_book(text)
    })
}

/// Whether a bracket opens that is of no column.
fn opens(text: &str) -> bool {
    let mut before = ' ';
    text.chars().any(|c| {
        let column = before.is_alphanumeric() || matches!(before, '_' | '.' | '[' | ']' | ',' | ':');
        before = c;
        c == '[' && !column
    })
}

/// Whether a text of which only a part stands in a reference, or another one with something in its place, may name another book;
/// `whole` is all that stands there.
fn may_name_book(part: &str, whole: &str) -> bool {
    let sheet = whole.contains('!');
    let named = part.contains(['[', ']']) || part.to_ascii_lowercase().contains(BOOK);
    opens(part) || part.contains('\\') || (sheet && named)
}

/// A call whose end was not seen yet.
struct ReferenceFrame {
    kind: CallKind,
    argument: usize,
    /// Whether it is the one that makes a reference.
    refers: bool,
    /// Whether what it becomes stands in a reference.
    wanted: bool,
    /// Whether parts of it do.
    parts: bool,
    /// Where the texts begin that it has.
    whole_from: usize,
    parts_from: usize,
}

impl ReferenceFrame {
    /// Whether what the argument becomes stands in a reference.
    fn reads(&self) -> bool {
        if self.refers {
            return self.argument == 0;
        }
        self.wanted
            && match self.kind {
                CallKind::One(first) => self.argument >= first,
                CallKind::OneOfPairs => self.argument % 2 == 1,
                CallKind::Nothing => false,
                // What is looked for.
                CallKind::Front | CallKind::Cut | CallKind::Substituted => self.argument != 1,
                _ => true,
            }
    }
}

/// The argument of a call that makes characters of numbers.
struct NumberedCode {
    /// How deep the call is.
    depth: usize,
    code: String,
    texts: Vec<String>,
}

/// What characters by numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberedChar {
    /// This one.
    Known(char),
    /// A letter, or what cells say.
    Unknown,
    /// What the formula reckons: any.
    Any,
}

impl NumberedCode {
    fn value(&self) -> NumberedChar {
        let code = self.code.trim();
        if let Ok(number) = code.parse() {
            return char::from_u32(number).map_or(NumberedChar::Unknown, NumberedChar::Known);
        }
        let counts = code.split(|c: char| !in_name(c)).any(|word| LETTERS.contains(&word));
        let is_letter = |text: &String| text.len() == 1 && text.contains(char::is_alphabetic);
        let reckoned = self.texts.is_empty() && !code.contains(char::is_alphabetic);
        if counts && !reckoned {
            NumberedChar::Known('A')
        } else if !reckoned && self.texts.iter().all(is_letter) {
            NumberedChar::Unknown
        } else {
            NumberedChar::Any
        }
    }
}

/// What of a formula may stand in a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReferenceScope {
    /// What stands in the call that makes it.
    Call,
    /// Anything: names are given to parts, or functions called that are given.
    Formula,
    /// Anything, and what is given by those who call it.
    Function,
}

/// A call that makes a reference, whose end was not seen yet.
struct OpenReference {
    /// Whether letters or digits stand in it.
    is_begun: bool,
}

/// The way through a formula.
struct ReferenceWalk {
    /// The calls around the place, and those of them that make references.
    calls: Vec<ReferenceFrame>,
    references: Vec<OpenReference>,
    scope: ReferenceScope,
    /// What the function is given, and what names stand for, in capitals.
    names: BTreeSet<String>,
    /// The texts that stand in a reference, one behind the other, and those of which parts do.
    whole: String,
    parts: String,
    numbered: Option<NumberedCode>,
    acts: bool,
}

impl ReferenceWalk {
    fn reads(&self) -> bool {
        self.calls.last().map_or(self.scope != ReferenceScope::Call, ReferenceFrame::reads)
    }

    fn text(&mut self, text: &str) {
        if let Some(numbered) = &mut self.numbered {
            numbered.texts.push(text.to_owned());
        } else if self.reads() {
            self.whole.push_str(text);
            if let Some(reference) = self.references.last_mut() {
                reference.is_begun |= text.contains(char::is_alphanumeric);
            }
            if self.calls.last().is_some_and(|call| call.parts) {
                self.parts.push_str(text);
            }
        }
    }

    fn code(&mut self, code: &str) {
        let mut from = 0_usize;
        for (at, sign) in code.match_indices(['(', ')', '{', '}', ',', ';', '&']) {
            let before = code.get(from..at).unwrap_or_default();
            from = at.saturating_add(sign.len());
            self.note(before);
            match sign {
                "(" => {
                    self.note(sign);
                    self.open(last_name(before));
                }
                "{" => {
                    self.note(sign);
                    self.open("");
                }
                ")" | "}" => {
                    self.operand(before);
                    self.close();
                    self.note(sign);
                }
                "," | ";" => {
                    self.note(sign);
                    self.end_argument(before);
                }
                _ => self.operand(before),
            }
        }
        let rest = code.get(from..).unwrap_or_default();
        self.note(rest);
        self.operand(rest);
    }

    /// Keeps the code of which a number consists.
    fn note(&mut self, code: &str) {
        if let Some(numbered) = &mut self.numbered {
            numbered.code.push_str(code);
        }
    }

    /// What a caller gives may name a book, where nothing but signs stands before it.
    fn operand(&mut self, code: &str) {
        let Some(reference) = self.references.last() else { return };
        let name = code.trim().to_ascii_uppercase();
        if !reference.is_begun && self.names.contains(given_name(&name)) && self.reads() {
            self.acts = true;
        }
    }

    fn open(&mut self, name: &str) {
        let name = name.to_ascii_uppercase();
        let refers = is_called(&name, "INDIRECT");
        // Digits and letters.
        let kind = if is_called(&name, "BASE") { CallKind::Nothing } else { CallKind::of(&name) };
        let wanted = self.reads();
        let parts = kind.makes_other() || self.calls.last().is_some_and(|call| call.parts);
        if kind == CallKind::Numbered && wanted && self.numbered.is_none() {
            let depth = self.calls.len();
            self.numbered = Some(NumberedCode { depth, code: String::new(), texts: Vec::new() });
        }
        if refers {
            self.references.push(OpenReference { is_begun: false });
        }
        self.calls.push(ReferenceFrame {
            kind,
            argument: 0,
            refers,
            wanted,
            parts: parts && !refers,
            whole_from: self.whole.len(),
            parts_from: self.parts.len(),
        });
    }

    fn end_argument(&mut self, before: &str) {
        self.operand(before);
        let Some(call) = self.calls.last_mut() else { return };
        let argument = call.argument;
        call.argument = argument.saturating_add(1);
        // What most arguments become does not follow each other.
        if call.parts {
            self.parts.push(' ');
        }
        if call.wanted && !matches!(call.kind, CallKind::All | CallKind::Between) {
            self.whole.push(' ');
        }
        let gives = call.kind == CallKind::Lambda || call.kind == CallKind::Let && argument.is_multiple_of(2);
        let name = before.trim();
        if gives && !name.is_empty() && self.scope == ReferenceScope::Function {
            self.names.insert(given_name(&name.to_ascii_uppercase()).to_owned());
        }
        if call.refers && argument == 0 {
            let (whole_from, parts_from) = (call.whole_from, call.parts_from);
            self.judge(whole_from, parts_from);
        }
    }

    fn close(&mut self) {
        let Some(call) = self.calls.pop() else { return };
        if call.refers {
            if call.argument == 0 {
                self.judge(call.whole_from, call.parts_from);
            }
            self.references.pop();
        }
        if self.numbered.as_ref().is_some_and(|numbered| numbered.depth == self.calls.len())
            && let Some(numbered) = self.numbered.take()
        {
            match numbered.value() {
                NumberedChar::Known(c) => self.text(c.encode_utf8(&mut [0; 4])),
                NumberedChar::Unknown => {}
                NumberedChar::Any => self.acts = true,
            }
        }
    }

    /// Judges a reference by its texts, which stand in no other one.
    fn judge(&mut self, whole_from: usize, parts_from: usize) {
        let is_call = self.scope == ReferenceScope::Call;
        // Those within another one are looked at with that, where all stay to be looked at once more.
        if !is_call && self.references.len() > 1 {
            return;
        }
        let whole = self.whole.get(whole_from..).unwrap_or_default();
        let parts = self.parts.get(parts_from..).unwrap_or_default();
        let in_book = whole.split('!').rev().skip(1).any(|sheet| is_book(sheet.trim_matches(['\'', ' '])));
        self.acts |= in_book || refers_to_book(&[whole]) || may_name_book(parts, whole);
        if is_call {
            self.whole.truncate(whole_from);
            self.parts.truncate(parts_from);
        }
    }
}

/// Whether a reference that a formula makes may name another book: `INDIRECT(CHAR(91)&"a.xlsx"&CHAR(93)&"S!A1")`.
pub(super) fn references_act(formula: &str, dialect: FormulaDialect, scope: ReferenceScope) -> bool {
    let mut walk = ReferenceWalk {
        calls: Vec::new(),
        references: Vec::new(),
        scope,
        names: BTreeSet::new(),
        whole: String::new(),
        parts: String::new(),
        numbered: None,
        acts: false,
    };
    for piece in pieces(formula, dialect) {
        match piece {
            FormulaPiece::Code(code) => walk.code(&without_brackets(code)),
            FormulaPiece::Text(text) => walk.text(text),
            FormulaPiece::Name(_) => {}
        }
        if walk.acts {
            return true;
        }
    }
    while !walk.calls.is_empty() {
        walk.close();
    }
    if scope != ReferenceScope::Call {
        walk.judge(0, 0);
    }
    walk.acts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn act(formula: &str, scope: ReferenceScope) -> bool {
        references_act(formula, FormulaDialect::Excel, scope)
    }

    #[test]
    fn references_to_books_are_known_however_they_are_made() {
        for formula in [
            "INDIRECT(MID(\"x[a.xlsx]S!A1\",2,20))",
            "INDIRECT(CHAR(39)&CHAR(92)&CHAR(92)&\"h\"&CHAR(92)&CHAR(91)&\"a\"&CHAR(93)&\"S\"&CHAR(39)&CHAR(33)&\"A1\")",
            "INDIRECT(SUBSTITUTE(\"(a.xlsm)S~A1\",\"(\",\"[\"))",
            "INDIRECT(\"cmd\"&_xlfn.UNICHAR(124)&\"x\")",
            "INDIRECT(CHAR(90+1)&\"a\"&A1)",
            "INDIRECT(CHAR(LEN(\"aaa\")))",
            "INDIRECT(CHAR({91,93}))",
            "indirect(\"[\"&\"a\"&CHAR(93)&\"S!A1\")",
            "INDIRECT(MID(\"x[\",2,1)&\"a\"&RIGHT(\"x]\",1)&\"S!A1\")",
            "INDIRECT(REPT(\"\\\",2)&\"h\\[a]S!A1\")",
            "INDIRECT(\"'C:\\x\\a.xlsx'!Sum\")",
            "INDIRECT(_xlfn.CONCAT({\"[\",\"a]\"},\"S!A1\"))",
            "IF(A1,1,1+INDIRECT (IF(B1,\"A1\",\"[a]\"&\"S!A1\")",
        ] {
            assert!(act(formula, ReferenceScope::Call), "{formula}");
        }
        for formula in [
            "INDIRECT(CHAR(64+A1)&\"5\")",
            "INDIRECT(CHAR(CODE(\"A\")+ROW()-1)&ROW())",
            "INDIRECT(CHAR(ROW(A65))&\"1\")",
            "INDIRECT(CHAR(39)&A1&CHAR(39)&\"!A1\")",
            "INDIRECT(BASE(9+A1,36)&\"1\")",
            "INDIRECT(SUBSTITUTE(A1,\" \",\"_\"))",
            "INDIRECT(SUBSTITUTE(A1,\"-\",\" \")&\"[Sum]\")",
            "INDIRECT(SUBSTITUTE(ADDRESS(1,A1,4),\"1\",\"\")&\"5\")",
            "INDIRECT(\"'\"&MID(CELL(\"filename\",A1),FIND(\"]\",CELL(\"filename\",A1))+1,31)&\"'!B2\")",
            "INDIRECT(\"'\"&_xlfn.TEXTAFTER(CELL(\"filename\",A1),\"]\")&\"'!B2\")",
            "INDIRECT(\"'\"&TEXT(A1,\"mmm yyyy\")&\"'!B2\")",
            "INDIRECT(\"'\"&A1&\"'!R[-1]C[2]\",FALSE)",
            "INDIRECT(\"T[\"&A1&\"]\")&MID(\"x[a]S!A1\",2,9)",
            "INDIRECT(IF(A1=\"[a]S!\",\"B1\",\"C1\"))",
            "MAP(A1:A3,LAMBDA(x,INDIRECT(x)))",
        ] {
            assert!(!act(formula, ReferenceScope::Call), "{formula}");
        }
    }

    #[test]
    fn references_are_made_of_what_names_stand_for() {
        let parted = "LET(m,MID(\"x[a]S!A1\",2,9),INDIRECT(m))";
        assert!(!act(parted, ReferenceScope::Call) && act(parted, ReferenceScope::Formula));
        for formula in ["LAMBDA(a,INDIRECT(a))", "LAMBDA(a,b,LET(c,b,INDIRECT(\"'\"&c&\"'!A1\")))"] {
            assert!(act(formula, ReferenceScope::Function) && !act(formula, ReferenceScope::Formula));
        }
        assert!(!act("LAMBDA(a,INDIRECT(\"Sheet\"&a&\"!A1\"))", ReferenceScope::Function));
    }

    #[test]
    fn a_formula_takes_time_by_its_length() {
        for piece in ["INDIRECT(", "INDIRECT(\"a\"&", "CHAR(", "MID(\"a\",", "LAMBDA(a,", "a&", ")", "{"] {
            for scope in [ReferenceScope::Call, ReferenceScope::Formula, ReferenceScope::Function] {
                act(&piece.repeat(100_000), scope);
            }
        }
    }
}
