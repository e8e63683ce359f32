//! [`plain_addresses`]: addresses without the comments, blanks and quotes that may stand within them (RFC 5322, 3.4.1 and 4.4), by
//! which nobody would know them: `jane.roe(work) @ example . com`.

/// What parts words (RFC 5322, 3.2.3).
const SPECIALS: &str = "()<>[]:;@\\,.\"";

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
#[derive(Clone, Copy, Debug)]
struct WrittenPiece<'t> {
    piece: AddressPiece,
    text: &'t str,
}

/// A list of addresses, each as plain as it may be written; `None` where it is so.
pub(super) fn plain_addresses(text: &str) -> Option<String> {
    let mut pieces = pieces(text);
    let is_at = |piece: &WrittenPiece<'_>| piece.piece == AddressPiece::At;
    let signs: Vec<usize> = (0..pieces.len()).filter(|at| pieces.get(*at).is_some_and(is_at)).collect();
    for at in signs {
        join(&mut pieces, (0..at).rev());
        join(&mut pieces, at.saturating_add(1)..usize::MAX);
    }
    let plain: String = pieces.iter().map(|piece| piece.text).collect();
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
            AddressPiece::Quoted if is_word_next => here.text = unquoted(here.text),
            AddressPiece::Dot if !is_word_next => {}
            _ => break,
        }
        is_word_next = !is_word_next;
        for blank in blanks.drain(..) {
            pieces.get_mut(blank).into_iter().for_each(|blank| blank.text = "");
        }
    }
}

/// A word without its quotes, where it needs none.
fn unquoted(word: &str) -> &str {
    let inner = word.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
    let plain = |c: char| c == '.' || !(c.is_whitespace() || c.is_control() || SPECIALS.contains(c));
    if !inner.is_empty() && inner.chars().all(plain) { inner } else { word }
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
        pieces.push(WrittenPiece { piece, text });
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

    #[test]
    fn addresses_become_plain() {
        for (text, want) in [
            ("jane.roe(work)@a.example", "jane.roe@a.example"),
            ("jane . roe @\t a . example, x", "jane.roe@a.example, x"),
            ("\"jane.roe\"@a.example", "jane.roe@a.example"),
            ("Jane <jane@(a (b\\)) c)a.example>, (c) x@y (d)", "Jane <jane@a.example>, (c) x@y (d)"),
            ("\"a\".\"b c\" @a", "a.\"b c\"@a"),
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
            "",
        ] {
            assert_eq!(plain_addresses(text), None, "{text}");
        }
    }

    #[test]
    fn a_list_takes_time_by_its_length() {
        for piece in ["(", "\"", "\"a\"", "@", " ", "a ", "@ ", "a.", "a @ ", "\\"] {
            plain_addresses(&piece.repeat(100_000));
        }
    }
}
