//! Where `HYPERLINK()` leads (ECMA-376 part 1, 18.17.7), as far as a formula says: what its first argument may become. The second
//! is what is shown. A target that begins with a part of a text, or with characters that are named by numbers, may be any: such a
//! link is taken for one that acts.

use std::ops::Range;

use crate::sanitize::format::formula::call_kind::CallKind;
use crate::sanitize::format::formula::functions::in_name;
use crate::sanitize::format::formula::pieces::{FormulaDialect, FormulaPiece, pieces};
use crate::sanitize::format::link_target;

/// How many texts an argument may become that are told apart.
const TEXTS: usize = 64;

/// From how many bytes on nothing is added to a text: what it begins with is known, and no path is longer (`PATH_MAX`).
const LENGTH: usize = 4096;

/// How deep calls lie within each other at most; Excel takes half of that.
const DEPTH: usize = 128;

/// What settles whether a target has a scheme, and which: behind these none begins.
const SETTLING: &[char] = &[':', '/', '\\', '#', '?'];

/// What codes of numbers and dates consist of, but for texts in them (ECMA-376 part 1, 18.8.31).
const NUMBER_CODES: &str = "0123456789#?.,;%+-_*@()$:/yYmMdDhHsSeE";

/// A text that an argument may become. What is not known of it is left out, and so are blanks, which no target has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct MadeText {
    text: String,
    /// Whether it stands behind something that is not known.
    behind: bool,
    /// Whether it begins with what was cut from a text, or made of numbers: that may be anything.
    cut: bool,
}

impl MadeText {
    fn of(text: &str) -> Self {
        Self { text: text.chars().filter(|c| *c > ' ').take(LENGTH).collect(), ..Self::default() }
    }

    /// A cell, a name, what a function finds.
    fn unknown() -> Self {
        Self { behind: true, ..Self::default() }
    }

    fn cut() -> Self {
        Self { cut: true, ..Self::unknown() }
    }

    fn is_unknown(&self) -> bool {
        *self == Self::unknown()
    }

    /// Whether nothing that stands behind it changes where it leads: it has a scheme, or leads into the file.
    fn is_settled(&self) -> bool {
        let front = self.text.split(['/', '\\', '#', '?']).next().unwrap_or_default();
        self.cut || (!self.behind && (self.text.starts_with('#') || front.contains(':')))
    }

    /// Whether it leads where it led, whatever is cut off its end.
    fn is_fixed(&self) -> bool {
        !self.cut && (self.behind || self.text.is_empty() || self.is_settled())
    }

    /// Whether it is known, and nothing else than signs that part nothing in a target.
    fn is_sign(&self) -> bool {
        let part = |c: char| c.is_alphanumeric() || SETTLING.contains(&c);
        !self.behind && !self.cut && !self.text.contains(part)
    }

    /// Whether it is known, and no target acts for having it in it: `%20`.
    fn is_harmless(&self) -> bool {
        let part = |c: char| c.is_alphabetic() || c == '.' || SETTLING.contains(&c);
        !self.behind && !self.cut && !self.text.contains(part)
    }

    /// Whether a number or a date that is written as this says has no words in it but names of days and months.
    fn is_number_code(&self) -> bool {
        !self.cut && self.text.chars().all(|c| NUMBER_CODES.contains(c))
    }

    /// Whether what stands behind it is looked at.
    fn is_open(&self) -> bool {
        self.text.len() < LENGTH && !self.is_settled()
    }

    fn append(&mut self, other: &Self) {
        if self.is_open() {
            self.cut |= other.cut && !self.text.contains(SETTLING);
            self.behind |= self.text.is_empty() && other.behind;
            self.text.push_str(&other.text);
        }
    }

    fn acts(&self) -> bool {
        let read = if self.behind { link_target::acts_by_itself } else { link_target::acts };
        self.cut || read(&self.text)
    }
}

/// Each of the first with each of the others behind it; `None` if they are too many.
fn joined(mut first: Vec<MadeText>, others: &[MadeText]) -> Option<Vec<MadeText>> {
    if let [other] = others {
        first.iter_mut().for_each(|text| text.append(other));
        return Some(first);
    }
    let mut all = Vec::new();
    for text in &first {
        // Else all would be the same.
        let others = if text.is_open() { others } else { others.get(..1).unwrap_or_default() };
        for other in others {
            if all.len() >= TEXTS {
                return None;
            }
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
    /// Whether the text that it is made of is known, at least in part.
    known: bool,
    /// Whether it may be any other text where that is so.
    cuts: bool,
}

impl OpenCall {
    fn new(kind: CallKind, wanted: bool) -> Self {
        let begun = matches!(kind, CallKind::All | CallKind::Between);
        let made = if begun { vec![MadeText::default()] } else { Vec::new() };
        let (text, between) = (vec![MadeText::default()], Vec::new());
        Self { kind, argument: 0, wanted, text, made, between, known: false, cuts: false }
    }

    /// Whether a link leads to what the argument becomes.
    fn reads(&self) -> bool {
        match self.kind {
            CallKind::Link => self.wanted || self.argument == 0,
            CallKind::One(first) => self.wanted && self.argument >= first,
            CallKind::OneOfPairs => self.wanted && self.argument % 2 == 1,
            CallKind::Nothing => false,
            _ => self.wanted,
        }
    }

    /// Notes whether the call may become another text by what an argument became.
    fn note(&mut self, argument: usize, text: &[MadeText]) {
        let all = |is: fn(&MadeText) -> bool| text.iter().all(is);
        self.known |= argument == 0 && !all(MadeText::is_unknown);
        self.cuts |= match (self.kind, argument) {
            (CallKind::Cut, 0) => true,
            (CallKind::Front | CallKind::Substituted, 0) => !all(MadeText::is_fixed),
            (CallKind::Substituted, 1) => !all(MadeText::is_sign),
            (CallKind::Substituted, 2) => !all(MadeText::is_harmless),
            (CallKind::Formatted, 1) => {
                self.known = true;
                !all(MadeText::is_number_code)
            }
            (CallKind::Numbered, _) => {
                self.known = true;
                true
            }
            _ => false,
        };
    }

    /// Takes what an argument became. `None` if there is too much to tell apart.
    fn take(&mut self, argument: usize, mut text: Vec<MadeText>) -> Option<()> {
        self.note(argument, &text);
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
            CallKind::First | CallKind::Front | CallKind::Substituted if argument == 0 => united(made, text)?,
            // What becomes of them is not known.
            CallKind::First
            | CallKind::Front
            | CallKind::Cut
            | CallKind::Substituted
            | CallKind::Formatted
            | CallKind::Numbered
            | CallKind::Nothing
            | CallKind::Other => {
                text.iter_mut().for_each(|text| text.behind = true);
                united(made, text)?
            }
            CallKind::Link | CallKind::One(_) | CallKind::OneOfPairs => united(made, text)?,
        };
        Some(())
    }

    /// What it becomes.
    fn value(mut self) -> Vec<MadeText> {
        let closed = matches!(
            self.kind,
            CallKind::Link | CallKind::One(_) | CallKind::OneOfPairs | CallKind::All | CallKind::Between
        );
        let open = self.made.is_empty() || !closed;
        if open && !self.made.contains(&MadeText::unknown()) {
            self.made.push(MadeText::unknown());
        }
        if self.known && self.cuts {
            self.made.push(MadeText::cut());
        }
        if self.known && self.kind == CallKind::Front {
            self.made.push(MadeText::default());
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
            "HYPERLINK(SUBSTITUTE(\"https://x.example/\"&A1,\" \",\"%20\"),\"x\")",
            "HYPERLINK(SUBSTITUTE(A1,\"\\\",\"/\"))",
            "HYPERLINK(LEFT(\"https://x.example/\"&A1,30))",
            "HYPERLINK(LEFT(CELL(\"filename\",A1),FIND(\"[\",CELL(\"filename\",A1))-1)&\"a.pdf\")",
            "HYPERLINK(\"#\"&CHAR(39)&MID(\"a b\",1,2)&\"!A1\")",
            "HYPERLINK(\"https://x.example/\"&RIGHT(\"000\"&A1,3))",
            "HYPERLINK(INDEX(B:B,MATCH(RIGHT(\"0\"&A1,2),C:C,0)))",
            "HYPERLINK(VLOOKUP(RIGHT(\"0\"&A1,2),B:C,2,FALSE))",
            "HYPERLINK(A1&TEXT(B1,\"yyyy-mm-dd\"))",
            "HYPERLINK(MID(A1,2,99))",
            "HYPERLINK(A1,MID(\"abc\",1,2)&CHAR(10))",
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
            "HYPERLINK(RIGHT(\"https://a.example/file:///h\",9))",
            "HYPERLINK(MID(\"https://a.example//h/s\",18,9),\"x\")",
            "HYPERLINK(REPLACE(\"https://a.example\",1,8,\"/\"))",
            "HYPERLINK(REPLACE(\"\",1,0,\"/etc\"))",
            "HYPERLINK(SUBSTITUTE(\"httpsx//h/s\",\"httpsx\",\"\"))",
            "HYPERLINK(SUBSTITUTE(\"#file:///h\",\"#\",\"\"))",
            "HYPERLINK(SUBSTITUTE(\"https://h/s\",A1,B1))",
            "HYPERLINK(LEFT(\"setup.exe.html\",9))",
            "HYPERLINK(LEFT(\"#\",0)&\"/etc\")",
            "HYPERLINK(REPT(\"#\",0)&\"/etc\")",
            "HYPERLINK(_xlfn.TEXTAFTER(\"https://a|//h/s\",\"|\"))",
            "HYPERLINK(INDEX(_xlfn.TEXTSPLIT(\"a|//h/s\",\"|\"),2))",
            "HYPERLINK(\"f\"&MID(\"xile:///h\",2,9))",
            "HYPERLINK(TRIM(LOWER(MID(\"ab/etc\",3,9))))",
            "HYPERLINK(RIGHT(A1&\"https://a//h/s\",5))",
            "HYPERLINK(CHAR(92)&CHAR(92)&\"h\\s\")",
            "HYPERLINK(A1&_xlfn.UNICHAR(47)&\"etc\")",
            "HYPERLINK(TEXT(1,\"\\f\\i\\l\\e\\:\"))",
            "HYPERLINK(TEXT(1,\"0\"\"file:\"\"\"))",
            "HYPERLINK(COM.X.ROT13(\"svyr:///u\"))",
        ] {
            assert_eq!(act(formula), Some(true), "{formula}");
        }
    }

    #[test]
    fn what_is_too_much_is_not_told() {
        let lines = "CHAR(10)&SUBSTITUTE(A1,\" \",\"%20\")&".repeat(20);
        assert_eq!(act(&format!("HYPERLINK(\"mailto:\"&A1&\"?body=\"&{lines}\"c\")")), Some(false));
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
