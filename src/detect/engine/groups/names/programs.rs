//! Places in programs where only a type, a variant, a constant or a member can stand, and nobody's name. They are told by what
//! stands right beside them: people write about programs, too, and programs about people.

use super::super::super::view::{LOOKBACK, View};
use super::letters::{AHEAD, text};

/// Words that declare what is called so behind them, at the beginning of a line, and those that may stand before them.
const DECLARING: &[&str] =
    &["class", "const", "enum", "impl", "interface", "struct", "trait", "type", "typedef", "var"];
const MODIFIERS: &[&str] = &["pub", "export", "public", "private", "static", "pub(crate)"];

/// Types of Go and C behind the names of members.
const TYPES: &[&str] = &[
    "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float32", "float64",
    "uint8_t", "uint32_t", "uint64_t", "size_t",
];

/// Whether the lone word `start..end` stands where a program has a name of its own.
pub(super) fn in_program(view: &View<'_>, start: usize, end: usize) -> bool {
    let mut from = start.saturating_sub(LOOKBACK);
    while from < start && view.get(from).is_some_and(|byte| byte & 0xC0 == 0x80) {
        from += 1;
    }
    let front = text(view, from, start);
    let begins = front.rfind('\n').map(|at| at + 1);
    let whole = begins.is_some() || from == 0;
    let front = front.get(begins.unwrap_or(0)..).unwrap_or_default();
    let behind = text(view, end, end + AHEAD);
    let behind = behind.split('\n').next().unwrap_or_default();
    whole && (is_declared(front, behind) || is_set(front, behind))
        || is_imported(front, behind)
        || is_member(front, behind)
        || is_typed(behind)
        || is_pointer(front, behind)
        // `Park<'_>`.
        || behind.starts_with("<'")
}

/// `type Isa = …`, `var Wil;`, `pub struct Park {`.
fn is_declared(front: &str, behind: &str) -> bool {
    let mut words = front.split_whitespace().filter(|word| !MODIFIERS.contains(word));
    let declared = words.next().is_some_and(|word| DECLARING.contains(&word)) && words.next().is_none();
    declared && [" =", ";", " {", "(", "<", ":"].iter().any(|sign| behind.starts_with(sign))
}

/// `Max = 0x0f,` at the beginning of a line.
fn is_set(front: &str, behind: &str) -> bool {
    let set = behind.strip_prefix(" = ");
    let literal = |value: &str| value.starts_with("0x") || value.starts_with('$') || value.starts_with("'\\");
    front.trim_start().is_empty() && set.is_some_and(literal)
}

/// `use daggy::{Dag, Walker};`.
fn is_imported(front: &str, behind: &str) -> bool {
    let list = front.rsplit_once("::{").map(|(_, list)| list);
    let names =
        |list: &str| list.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b',' | b' '));
    list.is_some_and(names) && behind.starts_with([',', '}'])
}

/// `Constant{Op: And, Val: 1}`.
fn is_member(front: &str, behind: &str) -> bool {
    let opened = front.rsplit_once('{').filter(|(owner, list)| {
        owner.ends_with(|c: char| c.is_ascii_alphanumeric()) && (list.is_empty() || list.ends_with(", "))
    });
    opened.is_some() && behind.starts_with(": ")
}

/// `Alen   uint8`.
fn is_typed(behind: &str) -> bool {
    let rest = behind.trim_start_matches([' ', '\t']);
    rest.len() < behind.len()
        && TYPES.contains(&rest.split([' ', ';', '\t', '\r']).next().unwrap_or_default())
}

/// `PointerType *Ty = …`.
fn is_pointer(front: &str, behind: &str) -> bool {
    let typed =
        front.strip_suffix(" *").is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_alphanumeric()));
    typed && behind.starts_with(" = ")
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
    fn names_of_programs_are_told_by_what_stands_beside_them() {
        for (line, word) in [
            ("    Max = 0x0f,\n", "Max"),
            ("type Isa = $isa;\n", "Isa"),
            ("use daggy::{Dag, Walker};", "Dag"),
            ("use daggy::{Dag, Walker};", "Walker"),
            ("bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 1},", "Val"),
            ("Pointer *Ty = cast<Pointer>(Op->get());", "Ty"),
            ("impl Drop for Park<'_> {", "Park"),
            ("\tAlen   uint8\n", "Alen"),
            ("pub struct Park {", "Park"),
            ("var Wil;\n", "Wil"),
        ] {
            assert!(programs(line, word), "{line}");
        }
        for (line, word) in [
            ("let me ask Maria; she knows", "Maria"),
            ("Maria works with GitHub and OpenAI.", "Maria"),
            ("vec![(\"Jane\", 20), (\"John\", 18)];", "Jane"),
            ("INSERT INTO notes (id, body) VALUES (7, 'Fatima rief an');", "Fatima"),
            ("throw new Error('User Anneliese not found');", "Anneliese"),
            ("[10:12] Kevin: rename user_id -> userId pls", "Kevin"),
            ("- Priya -> update API_docs; Kevin -> fix GitHub action;", "Kevin"),
            ("Peter has error 0x80070005 in OneDrive", "Peter"),
            ("12;Rahul;Malm\u{f6};m_l@gmx.de;iOS;", "Rahul"),
            ("Ticket{id=42, assignee=Chlo\u{e9}, location=T\u{fc}bingen}", "Chlo\u{e9}"),
            ("main.User{ID:1, Owner:Peter, Town:Porto}", "Peter"),
            ("<td onclick=\"edit(4);\">Maria</td><td>Osaka</td>", "Maria"),
            ("\\author{Kevin}", "Kevin"),
            ("return x; //TODO Nikolaos: fix get_user()", "Nikolaos"),
            ("public holiday in Bristol, ask at LinkedIn", "Bristol"),
            ("Marta -> Ahmed [label=works_with];", "Ahmed"),
            ("user = Maria; role = admin;", "Maria"),
        ] {
            assert!(!programs(line, word), "{line}");
        }
    }
}
