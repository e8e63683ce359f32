//! Lines of programs. A capital that stands alone in one is a type, a variant or a constant, and nobody's name, unless it
//! stands in quotes or in a comment.

use super::super::super::view::{LOOKBACK, View};
use super::letters::{AHEAD, text};
use crate::detect::naming;

/// What is enough to make a line one of a program's.
const ENOUGH: u32 = 3;

/// Signs that sentences do not have.
const SIGNS: &[(&str, u32)] = &[
    ("();", 2),
    (");", 2),
    ("());", 2),
    ("() {", 2),
    ("<'", 2),
    ("#[", 2),
    ("*const", 2),
    (" uint", 3),
    (" int32", 3),
    (" int64", 3),
    (" float64", 3),
    ("0x", 2),
    ("\\x", 2),
    ("\\u", 2),
    (" == ", 1),
    (" != ", 1),
    (" += ", 1),
    (" = ", 1),
    (" && ", 1),
    (" || ", 1),
    (" => ", 1),
    ("->", 1),
];

/// Words that lines of programs begin with, and sentences do not; and words that both do.
const STATEMENTS: &[&str] = &[
    "#define",
    "#include",
    "const",
    "constexpr",
    "def",
    "elif",
    "enum",
    "extern",
    "fn",
    "func",
    "impl",
    "namespace",
    "private",
    "protected",
    "pub",
    "public",
    "static",
    "struct",
    "template",
    "typedef",
    "typename",
    "unsigned",
    "var",
    "void",
];
const WORDS: &[&str] = &[
    "case",
    "class",
    "export",
    "extends",
    "for",
    "from",
    "function",
    "if",
    "import",
    "interface",
    "let",
    "match",
    "module",
    "new",
    "package",
    "return",
    "switch",
    "type",
    "use",
    "using",
    "while",
    "with",
];

/// Whether the lone word `start..end` stands in a line of a program, as far as that is near.
pub(super) fn in_program(view: &View<'_>, start: usize, end: usize) -> bool {
    let mut from = start.saturating_sub(LOOKBACK);
    while from < start && view.get(from).is_some_and(|byte| byte & 0xC0 == 0x80) {
        from += 1;
    }
    let front = text(view, from, start);
    let begins = front.rfind('\n').map(|at| at + 1);
    let front = front.get(begins.unwrap_or(0)..).unwrap_or_default();
    let behind = text(view, end, end + AHEAD);
    let behind = behind.split('\n').next().unwrap_or_default();
    if is_said(front, behind) {
        return false;
    }
    // What a line begins with is not known where the line is longer than what is kept.
    let first = if begins.is_some() || from == 0 { front.trim_start() } else { "" };
    let first = first.split([' ', '(', '<']).next().unwrap_or_default();
    let opening = if STATEMENTS.contains(&first) { 2 } else { u32::from(WORDS.contains(&first)) };
    opening + signs([front, behind]) + ended(behind) + u32::from(cased(front) || cased(behind)) >= ENOUGH
}

/// Whether a word stands in quotes, or in a comment.
fn is_said(front: &str, behind: &str) -> bool {
    let quoted = |quote: char| {
        let within = front.matches(quote).count() % 2 == 1;
        within || front.ends_with(quote) && behind.starts_with(quote)
    };
    let line = front.trim_start();
    let remark = ["//", "/*", "#", "*", "--", "<!--", ";", "%", "\"\"\"", ">"];
    let comment = remark.iter().any(|sign| line.starts_with(sign) && !line.starts_with("#define"));
    let later = ["// ", "/* ", " # ", " -- "].iter().any(|sign| front.contains(sign));
    quoted('"')
        || quoted('`')
        || front.ends_with('\'') && behind.starts_with('\'')
        || comment && !line.starts_with("#[")
        || later
}

/// What the signs of a line weigh, each once.
fn signs(sides: [&str; 2]) -> u32 {
    let has = |found: &dyn Fn(&str) -> bool| sides.into_iter().any(found);
    let signed = SIGNS.iter().filter(|(sign, _)| has(&|text| text.contains(sign)));
    let signed: u32 = signed.map(|(_, weight)| weight).sum();
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    // `path::Name`, `Struct{`, `snake_case`, `call(`.
    let scoped = |four: &[u8]| matches!(*four, [a, b':', b':', b] if word(a) && (word(b) || b == b'{'));
    let literal = |two: &[u8]| matches!(*two, [a, b'{'] if word(a));
    let snake = |three: &[u8]| matches!(*three, [a, b'_', b] if plain(a) && plain(b));
    let call = |two: &[u8]| matches!(*two, [a, b'('] if word(a));
    signed
        + 2 * u32::from(has(&|text| text.as_bytes().windows(4).any(scoped)))
        + 2 * u32::from(has(&|text| text.as_bytes().windows(2).any(literal)))
        + u32::from(has(&|text| text.as_bytes().windows(3).any(snake)))
        + u32::from(has(&|text| text.as_bytes().windows(2).any(call)))
}

/// What the end of a line weighs that a statement or a block has there.
fn ended(behind: &str) -> u32 {
    u32::from(behind.trim_end().ends_with([';', '{', '}']))
}

/// Whether a word has a capital behind a small letter.
fn cased(text: &str) -> bool {
    let pairs = text.chars().zip(text.chars().skip(1));
    pairs.into_iter().any(|(one, two)| one.is_lowercase() && naming::is_upper(two))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(line: &str, word: &str) -> bool {
        let start = line.find(word).unwrap_or_default();
        let view = View { text: line.as_bytes(), base: 0, complete: true };
        in_program(&view, start, start + word.len())
    }

    #[test]
    fn lines_of_programs_are_told_from_sentences() {
        for (line, word) in [
            ("    Max = 0x0f,\n", "Max"),
            ("type Isa = $isa;\n", "Isa"),
            ("use daggy::{Dag, Walker};", "Dag"),
            ("use daggy::{Dag, Walker};", "Walker"),
            ("bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 1},", "Val"),
            ("PointerType *Ty = dyn_cast<PointerType>(Op->getType());", "Ty"),
            ("impl Drop for Park<'_> {", "Park"),
            ("\tAlen   uint8\n", "Alen"),
            ("var Wil;\n", "Wil"),
            ("DenseMap(std::initializer_list<typename BaseT::value_type> Vals) {", "Vals"),
        ] {
            assert!(programs(line, word), "{line}");
        }
        for (line, word) in [
            ("let me ask Maria; she knows", "Maria"),
            ("Maria works with GitHub and OpenAI.", "Maria"),
            ("vec![(\"Jane\", 20), (\"John\", 18)];", "Jane"),
            ("bc.categoryNames = ['Maria', 'Ana'];", "Maria"),
            ("INSERT INTO staff_names (name) VALUES ('Maria', 3);", "Maria"),
            ("// Maria wrote foo::bar();", "Maria"),
            ("x = foo_bar(1); # ask Maria", "Maria"),
            ("user = Maria; role = admin;", "Maria"),
            ("Maria -> Peter: hello", "Maria"),
            ("Hi {firstName}, Maria here", "Maria"),
            ("Ask Maria (see report_final.pdf)", "Maria"),
            ("1;Maria;Lopez;Berlin;", "Maria"),
        ] {
            assert!(!programs(line, word), "{line}");
        }
    }
}
