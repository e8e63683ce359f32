//! Where `HYPERLINK()` leads (ECMA-376 part 1, 18.17.7), as far as a formula says: what its first argument may become. The second
//! is what is shown. A target that begins with a part of a text, with characters that are named by numbers, or with what a function
//! is given by whoever calls it, may be any: such a link is taken for one that acts.

use crate::sanitize::format::formula::call_kind::CallKind;
use crate::sanitize::format::formula::functions::{given_name, in_name};
use crate::sanitize::format::formula::made_text::{MadeText, joined, united};
use crate::sanitize::format::formula::pieces::{FormulaDialect, FormulaPiece, pieces};

/// How deep calls lie within each other at most; Excel takes half of that.
const DEPTH: usize = 128;

/// How many names a formula gives that are known at once (`LET`); Excel takes half of that.
const NAMES: usize = 256;

/// How much of what names stand for is read at most, in bytes.
const NAMED: usize = 1 << 20;

/// A call whose end was not seen yet.
struct OpenCall {
    kind: CallKind,
    /// Which argument is being read.
    argument: usize,
    /// Whether a link leads to what it becomes.
    wanted: bool,
    /// What the argument becomes, as far as it was read.
    text: Vec<MadeText>,
    /// The name that stands in it, where names are given, and how many things stand in it.
    name: Option<String>,
    things: usize,
    /// The name that is given to the next value.
    given: Option<String>,
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
        Self {
            kind,
            argument: 0,
            wanted,
            text: vec![MadeText::default()],
            name: None,
            things: 0,
            given: None,
            made,
            between: Vec::new(),
            known: false,
            cuts: false,
        }
    }

    /// Whether a link leads to what the argument becomes.
    fn reads(&self) -> bool {
        match self.kind {
            CallKind::Link => self.wanted || self.argument == 0,
            CallKind::One(first) => self.wanted && self.argument >= first,
            CallKind::OneOfPairs => self.wanted && self.argument % 2 == 1,
            CallKind::Let => self.wanted || self.argument % 2 == 1,
            CallKind::Nothing => false,
            _ => self.wanted,
        }
    }

    /// Whether names are given in its arguments.
    fn gives_names(&self) -> bool {
        matches!(self.kind, CallKind::Let | CallKind::Lambda)
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
                text.iter_mut().for_each(MadeText::put_behind);
                united(made, text)?
            }
            CallKind::Link | CallKind::One(_) | CallKind::OneOfPairs | CallKind::Let | CallKind::Lambda => {
                united(made, text)?
            }
        };
        Some(())
    }

    /// What it becomes.
    fn value(mut self) -> Vec<MadeText> {
        let closed = matches!(
            self.kind,
            CallKind::Link
                | CallKind::One(_)
                | CallKind::OneOfPairs
                | CallKind::All
                | CallKind::Between
                | CallKind::Let
                | CallKind::Lambda
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

/// A name that a formula gives, and what it stands for.
struct GivenName {
    name: String,
    texts: Vec<MadeText>,
    /// How deep the call is that gives it.
    depth: usize,
}

/// The way through a formula.
struct LinkWalk {
    /// The calls around the place, the formula itself first.
    calls: Vec<OpenCall>,
    /// What names stand for at the place.
    names: Vec<GivenName>,
    /// How much of that was read.
    named: usize,
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
                        self.operand(code.get(name).unwrap_or_default());
                        name = at..at;
                    }
                    name.end = at.saturating_add(1);
                    continue;
                }
                c if c.is_whitespace() => continue,
                '(' => self.call(code.get(name).unwrap_or_default()),
                _ => {
                    self.operand(code.get(name).unwrap_or_default());
                    self.sign(c);
                }
            }
            name = 0..0;
        }
        self.operand(code.get(name).unwrap_or_default());
    }

    /// A call of a function of this name, which the formula may have given.
    fn call(&mut self, name: &str) {
        let name = name.to_ascii_uppercase();
        let is_given = !name.is_empty() && self.given(&name).is_some();
        self.open(if is_given { CallKind::Cut } else { CallKind::of(&name) });
    }

    /// A name that no call follows, a number.
    fn operand(&mut self, name: &str) {
        if name.is_empty() || self.lost {
            return;
        }
        if self.names.is_empty() && !self.calls.last().is_some_and(OpenCall::gives_names) {
            return self.push(&[MadeText::unknown()]);
        }
        let name = name.to_ascii_uppercase();
        let texts = self.given(&name).map_or_else(|| vec![MadeText::unknown()], |given| given.texts.clone());
        self.named = texts.iter().map(MadeText::size).fold(self.named, usize::saturating_add);
        self.lost |= self.named > NAMED;
        self.push(&texts);
        if let Some(call) = self.calls.last_mut().filter(|call| call.gives_names()) {
            call.name = Some(given_name(&name).to_owned());
        }
    }

    /// The name that is known here by this one, in capitals.
    fn given(&self, name: &str) -> Option<&GivenName> {
        let name = given_name(name);
        self.names.iter().rev().find(|given| given.name == name)
    }

    /// Gives a name to what it stands for from here on, until the call ends.
    fn give(&mut self, name: Option<String>, texts: Vec<MadeText>) {
        let known = self.names.len() < NAMES;
        match name.filter(|_| known) {
            Some(name) => self.names.push(GivenName { name, texts, depth: self.calls.len() }),
            None => self.lost = true,
        }
    }

    /// A sign that is of no name. Operators but `&` make numbers and truths of texts, which nobody follows: they are read as if
    /// they were that.
    fn sign(&mut self, sign: char) {
        match sign {
            '{' => self.open(CallKind::One(0)),
            ')' | '}' => self.close(),
            ',' | ';' | '|' => self.end_argument(false),
            '[' => {
                self.push(&[MadeText::unknown()]);
                self.brackets = 1;
            }
            _ if sign.is_alphanumeric() => self.push(&[MadeText::unknown()]),
            _ => {}
        }
    }

    fn push(&mut self, texts: &[MadeText]) {
        let Some(call) = self.calls.last_mut().filter(|_| self.brackets == 0) else { return };
        call.things = call.things.saturating_add(1);
        if !call.reads() {
            return;
        }
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

    /// Ends an argument; the last one of its call ends with that.
    fn end_argument(&mut self, is_last: bool) {
        let Some(call) = self.calls.last_mut() else { return };
        let (reads, argument, kind) = (call.reads(), call.argument, call.kind);
        let text = std::mem::replace(&mut call.text, vec![MadeText::default()]);
        let things = std::mem::take(&mut call.things);
        let name = call.name.take().filter(|_| things == 1);
        call.argument = argument.saturating_add(1);
        self.acts |= kind == CallKind::Link && argument == 0 && text.iter().any(MadeText::acts);
        match kind {
            CallKind::Let if argument % 2 == 1 => {
                let given = call.given.take();
                self.give(given, text);
            }
            CallKind::Let if !is_last => call.given = name,
            // Whoever calls it may give it anything.
            CallKind::Lambda if !is_last => self.give(name, vec![MadeText::cut()]),
            _ if reads && call.wanted => self.lost |= call.take(argument, text).is_none(),
            _ => {}
        }
    }

    fn close(&mut self) {
        self.end_argument(true);
        // Nothing closes the formula itself.
        if self.calls.len() > 1
            && let Some(call) = self.calls.pop()
        {
            while self.names.last().is_some_and(|given| given.depth > self.calls.len()) {
                self.names.pop();
            }
            self.push(&call.value());
        }
    }
}

/// Whether a formula shows a link that acts. `None` if there is too much in it to tell apart. What functions are given in it
/// may be anything.
pub(super) fn links_act(formula: &str, dialect: FormulaDialect) -> Option<bool> {
    let whole = OpenCall::new(CallKind::Other, false);
    let mut walk =
        LinkWalk { calls: vec![whole], names: Vec::new(), named: 0, brackets: 0, acts: false, lost: false };
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
            "_xlfn.LET(_xlpm.u,\"https://x.example/\"&MID(A1,1,3),HYPERLINK(_xlpm.u,\"x\"))",
            "LET(a,\"https://x.example/\",b,a&MID(\"q/etc\",1,2),HYPERLINK(b,\"/ see: \"&b))",
            "LET(a,\"/etc\",HYPERLINK(\"#\"&a))&HYPERLINK(a)",
            "LAMBDA(a,b,HYPERLINK(\"https://x.example/\"&a,b))",
            "LAMBDA(a,HYPERLINK(\"docs/\"&a&\".pdf\"))",
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
            "HYPERLINK(\"[\"&\"\\\\h\\s.xlsx]S!A1\")",
            "LET(b,\"le://h\",a,\"fi\",HYPERLINK(a&b))",
            "LET(_xlpm.u,MID(\"x/etc\",2,4),HYPERLINK(_xlpm.U))",
            "LET(f,MID,HYPERLINK(f(\"x/etc\",2,4)))",
            "LET(u,\"/etc\",LET(u,\"https://a\",HYPERLINK(u))&HYPERLINK(u))",
            "LAMBDA(a,b,HYPERLINK(a&b))",
            "LAMBDA(_xlop.a,HYPERLINK(\"fi\"&_xlop.a))",
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
        assert_eq!(act("LET(ü,\"/etc\",HYPERLINK(ü))"), None);
        let names: String = (0..300).map(|n| format!("a{n},1,")).collect();
        assert_eq!(act(&format!("LET({names}HYPERLINK(a1))")), None);
        let many = format!("LET(a,\"{}\",HYPERLINK(a{}))", "x".repeat(4000), "&a".repeat(100_000));
        assert_eq!(act(&many), None);
        for piece in ["HYPERLINK(", "\"a\"&", "IF(A1,\"a\",\"b\"),", "(\"a\"&", "[", "{", ")", ";"] {
            for front in ["", "HYPERLINK("] {
                act(&format!("{front}{}", piece.repeat(100_000)));
            }
        }
    }
}
