//! [`plain_addresses`]: addresses without the comments, blanks and quotes that may stand within them (RFC 5322, 3.4.1 and 4.4), by
//! which nobody would know them: `jane.roe(work) @ example . com`. [`widen`]: what is found of an address is all of it.

use std::borrow::Cow;

use crate::sanitize::Edit;

/// What parts words (RFC 5322, 3.2.3).
const SPECIALS: &str = "()<>[]:;@\\,.\"";

/// What words of addresses consist of, besides letters and digits (RFC 5322, 3.2.3).
const WORD_SIGNS: &str = "!#$%&'*+-/=?^_`{|}~.";

/// What parts words of addresses in fields that hold other things: links.
const LINK_SIGNS: &str = "/?&";

/// How a sign is written in reports that may stand in no address there (RFC 3461, 4; RFC 6533, 3).
const WRITTEN_AT: &[&str] = &["+40", "\\x{40}"];

/// What a piece of a list of addresses is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AddressPiece {
    /// Blanks, or a comment.
    Blank,
    Word,
    /// A word in quotes.
    Quoted,
    Dot,
    At,
    Other,
}

/// A piece, and how it is written.
#[derive(Clone, Debug)]
struct WrittenPiece<'t> {
    piece: AddressPiece,
    text: Cow<'t, str>,
}

/// A list of addresses, each as plain as it may be written; `None` where it is so.
pub(super) fn plain_addresses(text: &str) -> Option<String> {
    let read = without_escapes(text);
    let mut pieces = pieces(&read);
    let is_at = |piece: &WrittenPiece<'_>| piece.piece == AddressPiece::At;
    let signs: Vec<usize> = (0..pieces.len()).filter(|at| pieces.get(*at).is_some_and(is_at)).collect();
    for at in signs {
        join(&mut pieces, (0..at).rev());
        join(&mut pieces, at.saturating_add(1)..usize::MAX);
    }
    let plain: String = pieces.iter().map(|piece| piece.text.as_ref()).collect();
    (plain != text).then_some(plain)
}

/// Joins words and dots in this order, as far as they are of one address.
fn join(pieces: &mut [WrittenPiece<'_>], order: impl Iterator<Item = usize>) {
    let (mut blanks, mut is_word_next) = (Vec::new(), true);
    for at in order {
        let Some(here) = pieces.get_mut(at) else { break };
        match here.piece {
            AddressPiece::Blank => {
                blanks.push(at);
                continue;
            }
            AddressPiece::Word if is_word_next => {}
            AddressPiece::Quoted if is_word_next => {
                if let Some(plain) = unquoted(&here.text) {
                    here.text = Cow::Owned(plain);
                }
            }
            AddressPiece::Dot if !is_word_next => {}
            _ => break,
        }
        is_word_next = !is_word_next;
        for blank in blanks.drain(..) {
            pieces.get_mut(blank).into_iter().for_each(|blank| blank.text = Cow::Borrowed(""));
        }
    }
}

/// A word without its quotes, and without what says in them that a character is meant as it is; `None` where it needs them.
fn unquoted(word: &str) -> Option<String> {
    let inner = word.strip_prefix('"')?.strip_suffix('"')?;
    let (mut plain, mut is_escaped) = (String::with_capacity(inner.len()), false);
    for c in inner.chars() {
        is_escaped = c == '\\' && !is_escaped;
        if !is_escaped {
            plain.push(c);
        }
    }
    let is_plain = |c: char| c == '.' || !(c.is_whitespace() || c.is_control() || SPECIALS.contains(c));
    (!plain.is_empty() && plain.chars().all(is_plain)).then_some(plain)
}

/// Addresses as they read whose signs are written by their numbers: `jane.roe+40example.com`.
fn without_escapes(text: &str) -> Cow<'_, str> {
    if !WRITTEN_AT.iter().any(|at| text.contains(*at)) {
        return Cow::Borrowed(text);
    }
    let parts = |c: char| c.is_whitespace() || "<>;,\"()".contains(c);
    text.split_inclusive(parts).map(without_escape).collect::<String>().into()
}

/// The same for a word, and what parts it from the next. What has a sign of an address is written as it is.
fn without_escape(word: &str) -> Cow<'_, str> {
    let plain = |sign: &str| {
        let mut rest = word;
        let mut out = String::with_capacity(word.len());
        while let Some((before, behind)) = rest.split_once(sign) {
            out.push_str(before);
            let (digits, after) = match sign {
                "+" => behind.split_at_checked(2)?,
                _ => behind.split_once('}')?,
            };
            let is_number = digits.bytes().all(|b| b.is_ascii_digit() || (b'A'..=b'F').contains(&b));
            out.push(u32::from_str_radix(digits, 16).ok().filter(|_| is_number).and_then(char::from_u32)?);
            rest = after;
        }
        out.push_str(rest);
        // A telephone number may begin so.
        let (local, domain) = out.split_once('@')?;
        let (_, end) = domain.rsplit_once('.')?;
        (!local.is_empty() && end.starts_with(char::is_alphabetic)).then_some(out)
    };
    if word.contains('@') {
        return Cow::Borrowed(word);
    }
    plain("\\x{").or_else(|| plain("+")).map_or(Cow::Borrowed(word), Cow::Owned)
}

/// Widens what was found of addresses in a field to all of each, since what stands before it may be another one (`bounces+jane.roe=`).
/// In fields that hold other things than addresses, and in links, a [parameter](PARAMETERS) before it stays, unless all is in
/// brackets or quotes.
pub(super) fn widen(text: &str, edits: &mut [Edit], holds_addresses: bool) {
    let mut from = 0_usize;
    for edit in edits {
        let found = text.get(edit.range.clone()).unwrap_or_default();
        let before = text.get(from..edit.range.start).unwrap_or_default();
        if found.contains('@') {
            edit.range.start = edit.range.start.saturating_sub(word_before(before, holds_addresses).len());
        }
        from = edit.range.end;
    }
}

/// What stands before the sign of an address in fields that tell where a mail came from, and in links: their parameters.
const PARAMETERS: &[&str] = &[
    "addr",
    "address",
    "b",
    "d",
    "e",
    "email",
    "envelope-from",
    "from",
    "header.d",
    "header.from",
    "header.i",
    "i",
    "id",
    "m",
    "mail",
    "mailfrom",
    "r",
    "rcpt",
    "recipient",
    "s",
    "smtp.auth",
    "smtp.helo",
    "smtp.mailfrom",
    "smtp.rcpttodomain",
    "smtp.rcptto",
    "to",
    "u",
    "user",
];

/// The part of an address with which a text ends.
fn word_before(text: &str, holds_addresses: bool) -> &str {
    let is_word = |c: char| {
        let sign = WORD_SIGNS.contains(c) && (holds_addresses || !LINK_SIGNS.contains(c));
        sign || c.is_ascii_alphanumeric()
    };
    let front = text.trim_end_matches(is_word);
    let word = text.get(front.len()..).unwrap_or_default();
    if holds_addresses || front.ends_with(['<', '"']) {
        return word;
    }
    let is_name = |name: &str| PARAMETERS.iter().any(|known| name.eq_ignore_ascii_case(known));
    // `pts=5.2|rule|jane@…`
    let word = word.rsplit('|').next().unwrap_or(word);
    word.split_once('=').filter(|(name, _)| is_name(name)).map_or(word, |(_, behind)| behind)
}

fn pieces(text: &str) -> Vec<WrittenPiece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (piece, length) = match first {
            '(' => comment(rest).map_or((AddressPiece::Other, rest.len()), |end| (AddressPiece::Blank, end)),
            '"' => quoted(rest).map_or((AddressPiece::Other, rest.len()), |end| (AddressPiece::Quoted, end)),
            '.' => (AddressPiece::Dot, 1),
            '@' => (AddressPiece::At, 1),
            c if SPECIALS.contains(c) => (AddressPiece::Other, 1),
            c if c.is_whitespace() => (AddressPiece::Blank, c.len_utf8()),
            _ => {
                let ends = |c: char| c.is_whitespace() || SPECIALS.contains(c);
                (AddressPiece::Word, rest.find(ends).unwrap_or(rest.len()))
            }
        };
        let (text, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
        pieces.push(WrittenPiece { piece, text: Cow::Borrowed(text) });
        rest = behind;
    }
    pieces
}

/// Where the comment ends that a text begins with; comments may lie in it.
fn comment(text: &str) -> Option<usize> {
    let (mut depth, mut is_escaped) = (0_usize, false);
    text.char_indices().find_map(|(at, c)| {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then(|| at.saturating_add(1))
    })
}

/// Where the quotes end that a text begins with.
fn quoted(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().skip(1).find_map(|(at, c)| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends.then(|| at.saturating_add(1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::spliced_text;
    use crate::sanitize::NewText;

    #[test]
    fn addresses_become_plain() {
        for (text, want) in [
            ("jane.roe(work)@a.example", "jane.roe@a.example"),
            ("jane . roe @\t a . example, x", "jane.roe@a.example, x"),
            ("\"jane.roe\"@a.example", "jane.roe@a.example"),
            ("Jane <jane@(a (b\\)) c)a.example>, (c) x@y (d)", "Jane <jane@a.example>, (c) x@y (d)"),
            ("\"a\".\"b c\" @a", "a.\"b c\"@a"),
            ("\"jane\\.roe\"@a.example", "jane.roe@a.example"),
            ("rfc822;jane.roe+40a.example", "rfc822;jane.roe@a.example"),
            ("utf-8; jane\\x{2E}roe\\x{40}a.example", "utf-8; jane.roe@a.example"),
            ("rfc822; jane+2Eroe+40a.example (x)", "rfc822; jane.roe@a.example (x)"),
            ("mx; smtp.mailfrom=jane.roe(x)@a.example", "mx; smtp.mailfrom=jane.roe@a.example"),
        ] {
            assert_eq!(plain_addresses(text).as_deref(), Some(want), "{text}");
        }
        for text in [
            "jane.roe@a.example (Jane), x@y",
            "\"Roe, Jane (x) @ y\" <jane@a.example>",
            "\"jane roe\"@a.example",
            "a. b",
            "jane (x @ y",
            "\"jane @ y",
            "call +40 721 123.4",
            "x+40721.1234",
            "+40721.1234",
            "jane+40@a.example",
            "1+401.example+4",
            "",
        ] {
            assert_eq!(plain_addresses(text), None, "{text}");
        }
    }

    #[test]
    fn all_of_an_address_is_found() {
        for (text, found, holds_addresses, want) in [
            ("<bounces+jane.roe=b.example@a.example>", "b.example@a.example", false, "<>"),
            ("<bounce-1-jane.roe=b.example@a.example>", "b.example@a.example", false, "<>"),
            ("bounce-1-jane.roe=b.example@a.example", "b.example@a.example", true, ""),
            ("a; mailfrom=c+jane=b.example@a.example", "b.example@a.example", false, "a; mailfrom="),
            ("addr=jane@a.example; x", "jane@a.example", false, "addr=; x"),
            ("from=\"c-jane=b.example@a.example\"", "b.example@a.example", false, "from=\"\""),
            ("<https://a.example/?m=jane@a.example>", "jane@a.example", false, "<https://a.example/?m=>"),
            ("<mailto:jane@a.example>", "jane@a.example", true, "<mailto:>"),
            ("To jane.roe", "roe", true, "To jane."),
        ] {
            let at = text.find(found).expect("what is found");
            let mut edits = vec![Edit { range: at..at + found.len(), with: NewText::default() }];
            widen(text, &mut edits, holds_addresses);
            assert_eq!(spliced_text(text, &edits), want, "{text}");
        }
        let with = NewText::default;
        let mut edits = vec![Edit { range: 0..3, with: with() }, Edit { range: 4..7, with: with() }];
        widen("a@b=c@d", &mut edits, true);
        assert_eq!(edits.iter().map(|edit| edit.range.clone()).collect::<Vec<_>>(), [0..3, 3..7]);
    }

    #[test]
    fn a_list_takes_time_by_its_length() {
        for piece in ["(", "\"", "\"a\"", "@", " ", "a ", "@ ", "a.", "a @ ", "\\", "+40", "a+40 "] {
            plain_addresses(&piece.repeat(100_000));
        }
    }
}
