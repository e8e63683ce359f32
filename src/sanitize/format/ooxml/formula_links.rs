//! Where `HYPERLINK()` leads (ECMA-376 part 1, 18.17.7), as far as a formula says: what its first argument may become. The second
//! is what is shown.

use std::ops::Range;

use crate::sanitize::format::ooxml::formula_pieces::{FormulaDialect, FormulaPiece, pieces};
use crate::sanitize::format::ooxml::functions::{in_name, plain_names};
use crate::sanitize::format::ooxml::target;

/// How many texts an argument may become that are told apart.
const TEXTS: usize = 64;

/// From how many bytes on nothing is added to a text: what it begins with is known, and no path is longer (`PATH_MAX`).
const LENGTH: usize = 4096;

/// How deep calls lie within each other at most; Excel takes half of that.
const DEPTH: usize = 128;

/// A text that an argument may become. What is not known of it is left out, and so are blanks, which no target has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct MadeText {
    text: String,
    /// Whether it stands behind something that is not known.
    behind: bool,
}

impl MadeText {
    fn of(text: &str) -> Self {
        Self { text: text.chars().filter(|c| *c > ' ').take(LENGTH).collect(), behind: false }
    }

    /// A cell, a name, what a function finds.
    fn unknown() -> Self {
        Self { text: String::new(), behind: true }
    }

    fn append(&mut self, other: &Self) {
        self.behind |= self.text.is_empty() && other.behind;
        if self.text.len() < LENGTH {
            self.text.push_str(&other.text);
        }
    }

    fn acts(&self) -> bool {
        if self.behind { target::acts_by_itself(&self.text) } else { target::acts(&self.text) }
    }
}

/// Each of the first with each of the others behind it; `None` if they are too many.
fn joined(mut first: Vec<MadeText>, others: &[MadeText]) -> Option<Vec<MadeText>> {
    if let [other] = others {
        first.iter_mut().for_each(|text| text.append(other));
        return Some(first);
    }
    if first.len().saturating_mul(others.len()) > TEXTS {
        return None;
    }
    let mut all = Vec::with_capacity(first.len().saturating_mul(others.len()));
    for text in &first {
        for other in others {
            let mut text = text.clone();
            text.append(other);
            all.push(text);
        }
    }
    Some(all)
}

/// All of these, each once; `None` if they are too many.
fn united(mut first: Vec<MadeText>, others: Vec<MadeText>) -> Option<Vec<MadeText>> {
    for other in others {
        if !first.contains(&other) {
            first.push(other);
        }
    }
    (first.len() <= TEXTS).then_some(first)
}

/// What a call becomes by its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallKind {
    /// `HYPERLINK`.
    Link,
    /// One of them, from this one on: `IF`, and what stands in parentheses.
    One(usize),
    /// One of every second: `IFS`.
    OneOfPairs,
    /// All, one behind the other: `CONCATENATE`.
    All,
    /// All from the third on, with the first between them: `TEXTJOIN`.
    Between,
    /// Something that is made of the first: `LOWER`.
    First,
    /// Anything else.
    Other,
}

impl CallKind {
    /// By the name of the function, in capitals; empty for parentheses.
    fn of(name: &str) -> Self {
        let known = |name: &str| match name {
            "HYPERLINK" => Some(Self::Link),
            "" | "IFERROR" | "IFNA" => Some(Self::One(0)),
            "IF" | "CHOOSE" | "SWITCH" => Some(Self::One(1)),
            "IFS" => Some(Self::OneOfPairs),
            "CONCATENATE" | "CONCAT" => Some(Self::All),
            "TEXTJOIN" => Some(Self::Between),
            "T" | "TRIM" | "CLEAN" | "LOWER" | "UPPER" | "PROPER" | "LEFT" | "MID" | "RIGHT" | "REPT"
            | "REPLACE" | "SUBSTITUTE" => Some(Self::First),
            _ => None,
        };
        plain_names(name).find_map(known).unwrap_or(Self::Other)
    }
}

/// A call whose end was not seen yet.
struct OpenCall {
    kind: CallKind,
    /// Which argument is being read.
    argument: usize,
    /// Whether a link leads to what it becomes.
    wanted: bool,
    /// What the argument becomes, as far as it was read.
    text: Vec<MadeText>,
    /// What it becomes by the arguments before.
    made: Vec<MadeText>,
    /// What stands between texts.
    between: Vec<MadeText>,
}

impl OpenCall {
    fn new(kind: CallKind, wanted: bool) -> Self {
        let begun = matches!(kind, CallKind::All | CallKind::Between);
        let made = if begun { vec![MadeText::default()] } else { Vec::new() };
        Self { kind, argument: 0, wanted, text: vec![MadeText::default()], made, between: Vec::new() }
    }

    /// Whether a link leads to what the argument becomes.
    fn reads(&self) -> bool {
        match self.kind {
            CallKind::Link => self.wanted || self.argument == 0,
            CallKind::One(first) => self.wanted && self.argument >= first,
            CallKind::OneOfPairs => self.wanted && self.argument % 2 == 1,
            _ => self.wanted,
        }
    }

    /// Takes what an argument became. `None` if there is too much to tell apart.
    fn take(&mut self, argument: usize, mut text: Vec<MadeText>) -> Option<()> {
        let made = std::mem::take(&mut self.made);
        self.made = match self.kind {
            CallKind::All => joined(made, &text)?,
            CallKind::Between if argument == 0 => {
                self.between = text;
                made
            }
            CallKind::Between if argument == 1 => made,
            CallKind::Between if argument == 2 => joined(made, &text)?,
            CallKind::Between => joined(joined(made, &self.between)?, &text)?,
            CallKind::First if argument == 0 => united(made, text)?,
            // What becomes of them is not known.
            CallKind::First | CallKind::Other => {
                text.iter_mut().for_each(|text| text.behind = true);
                united(made, text)?
            }
            CallKind::Link | CallKind::One(_) | CallKind::OneOfPairs => united(made, text)?,
        };
        Some(())
    }

    /// What it becomes.
    fn value(mut self) -> Vec<MadeText> {
        let open = self.made.is_empty() || matches!(self.kind, CallKind::First | CallKind::Other);
        if open && !self.made.contains(&MadeText::unknown()) {
            self.made.push(MadeText::unknown());
        }
        self.made
    }
}

/// The way through a formula.
struct LinkWalk {
    /// The calls around the place, the formula itself first.
    calls: Vec<OpenCall>,
    /// How deep in brackets that is.
    brackets: usize,
    /// Whether a link was found that acts.
    acts: bool,
    /// Whether there was too much to tell apart.
    lost: bool,
}

impl LinkWalk {
    fn code(&mut self, code: &str) {
        let (mut name, mut meant) = (0..0, false);
        for (at, c) in code.char_indices() {
            if self.brackets > 0 {
                match c {
                    _ if meant => meant = false,
                    // Only workbooks have these in brackets.
                    '\'' => meant = true,
                    '[' => self.brackets = self.brackets.saturating_add(1),
                    ']' => self.brackets = self.brackets.saturating_sub(1),
                    _ => {}
                }
                continue;
            }
            match c {
                c if in_name(c) => {
                    if name.end != at {
                        self.operand(&name);
                        name = at..at;
                    }
                    name.end = at.saturating_add(1);
                    continue;
                }
                c if c.is_whitespace() => continue,
                '(' => self.open(CallKind::of(&code.get(name).unwrap_or_default().to_ascii_uppercase())),
                _ => {
                    self.operand(&name);
                    self.sign(c);
                }
            }
            name = 0..0;
        }
        self.operand(&name);
    }

    /// A name that no call follows, a number.
    fn operand(&mut self, name: &Range<usize>) {
        if !name.is_empty() {
            self.push(&[MadeText::unknown()]);
        }
    }

    /// A sign that is of no name. Operators but `&` make numbers and truths of texts, which nobody follows: they are read as if
    /// they were that.
    fn sign(&mut self, sign: char) {
        match sign {
            '{' => self.open(CallKind::One(0)),
            ')' | '}' => self.close(),
            ',' | ';' | '|' => self.end_argument(),
            '[' => {
                self.push(&[MadeText::unknown()]);
                self.brackets = 1;
            }
            _ if sign.is_alphanumeric() => self.push(&[MadeText::unknown()]),
            _ => {}
        }
    }

    fn push(&mut self, texts: &[MadeText]) {
        let Some(call) = self.calls.last_mut().filter(|call| self.brackets == 0 && call.reads()) else {
            return;
        };
        match joined(std::mem::take(&mut call.text), texts) {
            Some(text) => call.text = text,
            None => self.lost = true,
        }
    }

    fn open(&mut self, kind: CallKind) {
        self.lost |= self.calls.len() >= DEPTH;
        if !self.lost {
            let wanted = self.calls.last().is_some_and(OpenCall::reads);
            self.calls.push(OpenCall::new(kind, wanted));
        }
    }

    fn end_argument(&mut self) {
        let Some(call) = self.calls.last_mut() else { return };
        let (reads, argument) = (call.reads(), call.argument);
        let text = std::mem::replace(&mut call.text, vec![MadeText::default()]);
        call.argument = argument.saturating_add(1);
        self.acts |= call.kind == CallKind::Link && argument == 0 && text.iter().any(MadeText::acts);
        if reads && call.wanted {
            self.lost |= call.take(argument, text).is_none();
        }
    }

    fn close(&mut self) {
        self.end_argument();
        // Nothing closes the formula itself.
        if self.calls.len() > 1
            && let Some(call) = self.calls.pop()
        {
            self.push(&call.value());
        }
    }
}

/// Whether a formula shows a link that acts. `None` if there is too much in it to tell apart.
pub(super) fn links_act(formula: &str, dialect: FormulaDialect) -> Option<bool> {
    let whole = OpenCall::new(CallKind::Other, false);
    let mut walk = LinkWalk { calls: vec![whole], brackets: 0, acts: false, lost: false };
    for piece in pieces(formula, dialect) {
        match piece {
            FormulaPiece::Code(code) => walk.code(code),
            FormulaPiece::Text(text) => walk.push(&[MadeText::of(text)]),
            FormulaPiece::Name(_) => walk.push(&[MadeText::unknown()]),
        }
        if walk.acts || walk.lost {
            break;
        }
    }
    while walk.calls.len() > 1 && !walk.acts && !walk.lost {
        walk.close();
    }
    if walk.acts {
        return Some(true);
    }
    (!walk.lost && walk.brackets == 0).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn act(formula: &str) -> Option<bool> {
        links_act(formula, FormulaDialect::Excel)
    }

    #[test]
    fn what_is_shown_is_no_target() {
        for formula in [
            "HYPERLINK(\"https://x.example\",\"Jane: see\")",
            "HYPERLINK(\"#\"&CELL(\"address\",A5),\"go to: top\")",
            "HYPERLINK(IF(A1=\"\",\"\",\"https://x.example/\"&A1),\"Image: \"&A1)",
            "HYPERLINK(CONCATENATE(\"https://x.example/\",A1,\"/p\"),\"x: y\")",
            "HYPERLINK(\"https://x.example/\"&SUBSTITUTE(A1,\" \",\"/\"),\"/ \"&A1)",
            "HYPERLINK(A1&\"/\"&B1&\"?at=10:30\",\"\\\\x\")",
            "HYPERLINK(IF(A1=\"file: x\",\"http\",\"https\")&\"://x.example/\",\"\")",
            "HYPERLINK(TEXTJOIN(\"/\",TRUE,\"https://x.example\",A1),\"a:b\")",
            "HYPERLINK(T[[#This Row],[a,b]],\"a:b\")",
            "HYPERLINK(VLOOKUP(A1,'x:y'!B:C,2,FALSE),\"a:b\")&\"file:///x\"",
            "IF(HYPERLINK(\"http://a\"),\"file:///x\",\"b:c\")",
            "\"file:///x\"",
            "HYPERLINK(",
            "",
        ] {
            assert_eq!(act(formula), Some(false), "{formula}");
        }
        let foreign = "of:=HYPERLINK(\"https://ok.example\";\"a: b\")";
        assert_eq!(links_act(foreign, FormulaDialect::OpenFormula), Some(false));
    }

    #[test]
    fn whatever_may_stand_first_is_a_target() {
        for formula in [
            "hyperlink(\"\\\\h\\s\",\"x\")",
            "HYPERLINK(\"/etc\",\"x\")",
            "1+COM.X.HYPERLINK (\"file:///x\"",
            "HYPERLINK(\"fi\"&\"le://h\")",
            "HYPERLINK(\"fi\"&A1&\"le://h\")",
            "HYPERLINK(A1&\"file://h\",\"x\")",
            "HYPERLINK(\"\"&T(B1)&\"\\\\h\\s\",\"x\")",
            "HYPERLINK(IF(A1,\"file\",\"https\")&\"://h\",\"x\")",
            "HYPERLINK(IFS(A1,\"https://a\",B1,\"java\tscript:x\"))",
            "HYPERLINK(CHOOSE(2,\"\",(\"setup.exe\")))",
            "HYPERLINK(CONCATENATE(\"f\",\"ile:\",A1))",
            "HYPERLINK(TEXTJOIN(\":\",TRUE,\"file\",\"///h\"))",
            "HYPERLINK(LOWER(\"FILE:///H\"))",
            "HYPERLINK(REPT(\"fi\",1)&\"le://h\")",
            "HYPERLINK(INDEX({\"https://a\",\"file://h\"},2))",
            "IF(A1,\"a\",HYPERLINK(\"ms-word:ofe|u|x\"))",
            "HYPERLINK(HYPERLINK(\"https://a\",\"file:///x\"),\"b\")",
            "HYPERLINK(+\"/etc\")",
        ] {
            assert_eq!(act(formula), Some(true), "{formula}");
        }
    }

    #[test]
    fn what_is_too_much_is_not_told() {
        let either = "IF(A1,\"a\",\"b\")&".repeat(7);
        assert_eq!(act(&format!("HYPERLINK({either}\"c\")")), None);
        assert_eq!(act(&format!("HYPERLINK({}A1", "(".repeat(200))), None);
        assert_eq!(act("HYPERLINK(T[a"), None);
        for piece in ["HYPERLINK(", "\"a\"&", "IF(A1,\"a\",\"b\"),", "(\"a\"&", "[", "{", ")", ";"] {
            for front in ["", "HYPERLINK("] {
                act(&format!("{front}{}", piece.repeat(100_000)));
            }
        }
    }
}
