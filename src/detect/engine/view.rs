//! The text as the engine sees it: a window, and whether its end is the text's end. Every question about what
//! stands beside a value is asked here, so that nothing is decided on text that has not arrived.

use crate::detect::rules::Edge;

/// Text kept before what is undecided, in bytes: context words, a boundary, an escape.
pub(crate) const LOOKBACK: usize = 64;

/// Browsers and what is built on them, whose versions have four numbers.
const PRODUCTS: [&str; 16] = [
    "Brave",
    "Chrome",
    "Chromium",
    "CriOS",
    "Edg",
    "EdgA",
    "EdgiOS",
    "Edge",
    "Electron",
    "HeadlessChrome",
    "OPR",
    "Opera",
    "SamsungBrowser",
    "Vivaldi",
    "Whale",
    "YaBrowser",
];
/// The longest of them, and one byte before it.
const PRODUCT: usize = 16;

/// Words before four numbers that are a version, a section of a text or an object identifier, and no address: with a blank
/// between, and with a sign that gives a value.
const NUMBERED: [&str; 8] = ["chapter", "clause", "java", "jdk", "jre", "oid", "openjdk", "paragraph"];
const TAGGED: [&str; 2] = ["oid", "tag"];
/// Words before the name of a container's image, whose tag follows a colon.
const IMAGES: [&str; 2] = ["image", "pull"];
/// How much stands between such a word and what it says, in bytes.
const GAP: usize = 4;
/// What versions end in behind a dash.
const RELEASES: [&str; 8] = ["alpha", "beta", "final", "ga", "lts", "rc", "release", "snapshot"];
/// The longest of them.
const RELEASE: usize = 8;

/// Characters of a UUID.
pub(crate) const UUID: usize = 36;

/// A window of a text.
#[derive(Clone, Copy)]
pub(crate) struct View<'t> {
    /// The window.
    pub(crate) text: &'t [u8],
    /// Where the window begins in the text.
    pub(crate) base: usize,
    /// Whether the text ends where the window does.
    pub(crate) complete: bool,
}

/// An answer that may need text that has not arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ternary {
    Yes,
    No,
    Unknown,
}

impl From<bool> for Ternary {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// The letter of an escape of two characters: those of JSON (RFC 8259 section 7), and of C (ISO 9899 section 6.4.4.4) `\a` and `\v`.
const fn is_escape(byte: u8) -> bool {
    matches!(byte, b'n' | b'r' | b't' | b'b' | b'f' | b'a' | b'v')
}

/// What stands before the blanks and signs at the end of `head`, and those; no more than [`GAP`] of them count.
fn parted(head: &[u8]) -> (&[u8], &[u8]) {
    let apart = |byte: &u8| matches!(byte, b' ' | b':' | b'=' | b'"' | b'\'' | b'\n');
    let gap = head.iter().rev().take(GAP).take_while(|byte| apart(byte)).count();
    head.split_at(head.len() - gap)
}

/// Whether `front` ends with a word, in any case: `tag` ends `image_tag` and `imageTag`, not `stag`.
fn ends_with_word(front: &[u8], word: &str) -> bool {
    let Some(at) = front.len().checked_sub(word.len()) else { return false };
    let (before, last) = front.split_at(at);
    let begins = match (before.last(), last.first()) {
        (Some(before), Some(first)) if before.is_ascii_alphanumeric() => {
            before.is_ascii_lowercase() && first.is_ascii_uppercase()
        }
        _ => true,
    };
    begins && last.eq_ignore_ascii_case(word.as_bytes())
}

/// Whether digits of bytes end with two groups of four, of which one has letters among its digits, and a blank.
fn is_of_fours(run: &[u8]) -> bool {
    let near = run.get(run.len().saturating_sub(2 * "0000 ".len())..).unwrap_or_default();
    let mut groups = near.chunks(5);
    let four = |group: &[u8]| group.len() == 5 && group.iter().position(|byte| *byte == b' ') == Some(4);
    let mixed = near.iter().any(u8::is_ascii_digit) && near.iter().any(u8::is_ascii_alphabetic);
    let apart = run.len() > near.len() && run.get(run.len() - near.len() - 1) != Some(&b' ');
    near.len() == 10 && !apart && mixed && groups.all(four)
}

impl View<'_> {
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    pub(crate) fn before(&self, at: usize, back: usize) -> Option<u8> {
        at.checked_sub(back).and_then(|at| self.get(at))
    }

    pub(crate) fn slice(&self, start: usize, end: usize) -> &[u8] {
        self.text.get(start..end.min(self.len())).unwrap_or_default()
    }

    /// Where a run of characters that begins at `start` really begins: behind the letters of an escape of
    /// JSON-in-text, if one stands there (the `n` of a backslash-n is not part of a value).
    pub(crate) fn after_escape(&self, start: usize) -> Option<usize> {
        if self.before(start, 1) != Some(b'\\') {
            return Some(start);
        }
        match self.get(start) {
            Some(b'u') => {
                let digits = self.slice(start + 1, start + 5);
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Some(start);
                }
                (digits.len() == 4 || self.complete).then_some(start + 1 + digits.len())
            }
            Some(byte) if is_escape(byte) => Some(start + 1),
            _ => Some(start),
        }
    }

    /// Whether an escape of JSON-in-text ends right before `at`.
    fn escape_before(&self, at: usize) -> bool {
        let short = self.before(at, 2) == Some(b'\\') && self.before(at, 1).is_some_and(is_escape);
        short
            || self.before(at, 6) == Some(b'\\')
                && self.before(at, 5) == Some(b'u')
                && self.slice(at - 4, at).iter().all(u8::is_ascii_hexdigit)
    }

    /// Whether a word may begin at `start`.
    pub(crate) fn word_starts(&self, start: usize) -> bool {
        !self.before(start, 1).is_some_and(|byte| byte.is_ascii_alphanumeric()) || self.escape_before(start)
    }

    /// Whether the name of a product ends at `end` whose versions look like addresses (RFC 9110 section 10.1.5):
    /// `Chrome/120.0.0.0`. Behind other words a slash may stand before an address, as Java prints one.
    fn product_before(&self, end: usize) -> bool {
        let head = self.slice(end.saturating_sub(PRODUCT), end);
        PRODUCTS.iter().any(|product| {
            let before = head.strip_suffix(product.as_bytes());
            before.is_some_and(|before| !before.last().is_some_and(u8::is_ascii_alphanumeric))
        })
    }

    /// Whether what stands before `start` says that four numbers there are no address: the end of a library's name, the name of
    /// an image and a colon (`image: nginx:`), a word.
    fn version_before(&self, start: usize) -> bool {
        let head = self.slice(start.saturating_sub(LOOKBACK), start);
        if head.ends_with(b".so.") {
            return true;
        }
        let (front, gap) = parted(head);
        let given = gap.iter().any(|byte| matches!(byte, b':' | b'='));
        let ends = |words: &[&str]| words.iter().any(|word| ends_with_word(front, word));
        if gap == b" " && ends(&NUMBERED) || given && ends(&TAGGED) {
            return true;
        }
        let Some(reference) = head.strip_suffix(b":") else { return false };
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/');
        let length = reference.iter().rev().take_while(|byte| part(byte)).count();
        let (lead, name) = reference.split_at(reference.len() - length);
        let (front, gap) = parted(lead);
        let told = front.ends_with(b"FROM") || IMAGES.iter().any(|word| ends_with_word(front, word));
        !name.is_empty() && !gap.is_empty() && told
    }

    /// Whether four numbers that end before the dash at `end` may be an address: no release follows, as in `17.0.1.12-LTS`.
    fn no_release(&self, end: usize) -> Ternary {
        let tail = self.slice(end + 1, end + RELEASE + 2);
        for known in RELEASES {
            let length = known.len().min(tail.len());
            let (head, rest) = tail.split_at(length);
            if !known.as_bytes().get(..length).is_some_and(|part| part.eq_ignore_ascii_case(head)) {
                continue;
            }
            match rest.first() {
                Some(byte) if byte.is_ascii_alphabetic() => {}
                Some(_) => return Ternary::No,
                None if !self.complete => return Ternary::Unknown,
                None if length == known.len() => return Ternary::No,
                None => {}
            }
        }
        Ternary::Yes
    }

    /// Whether a value may begin at `start` under `edge`.
    pub(crate) fn starts(&self, start: usize, edge: Edge) -> bool {
        let first = self.get(start).unwrap_or(b' ');
        if edge == Edge::Open || first == b'(' {
            return true;
        }
        if !first.is_ascii_alphanumeric() && first != b'+' {
            return true;
        }
        if edge == Edge::Address && self.version_before(start) {
            return false;
        }
        let digit_before = self.before(start, 2).is_some_and(|byte| byte.is_ascii_digit());
        match self.before(start, 1) {
            // What follows a hash mark is a fragment of an address, or a hash.
            Some(b'_' | b'#') => edge != Edge::Token,
            Some(b'/') if edge == Edge::Address => !self.product_before(start - 1),
            Some(b'+' | b'/') => edge != Edge::Blob,
            Some(b'-') if edge == Edge::Number => !(digit_before && first.is_ascii_digit()),
            Some(b'-') => edge != Edge::Token,
            Some(b'.') if matches!(edge, Edge::Decimal | Edge::Address | Edge::Number) => {
                !(digit_before && first.is_ascii_digit())
            }
            _ => self.word_starts(start),
        }
    }

    /// Whether a value may end before `end` under `edge`.
    pub(crate) fn ends(&self, end: usize, edge: Edge) -> Ternary {
        if edge == Edge::Open {
            return Ternary::Yes;
        }
        let Some(next) = self.get(end) else { return self.past_end(Ternary::Yes) };
        if edge == Edge::Address && next == b'-' {
            return self.no_release(end);
        }
        let joins = match edge {
            Edge::Number => matches!(next, b'.' | b'-'),
            Edge::Decimal | Edge::Address => next == b'.',
            _ => false,
        };
        let joined = match edge {
            Edge::Blob => matches!(next, b'+' | b'/'),
            Edge::Token => next == b'_',
            _ => false,
        };
        if joined {
            return Ternary::No;
        }
        if !joins || !self.before(end, 1).is_some_and(|byte| byte.is_ascii_digit()) {
            return (!next.is_ascii_alphanumeric()).into();
        }
        match self.get(end + 1) {
            // A number that a program took for a fraction: `4111111111111111.0`.
            Some(b'0') if next == b'.' => match self.get(end + 2) {
                Some(b'.') => match self.get(end + 3) {
                    Some(byte) => (!byte.is_ascii_alphanumeric()).into(),
                    None => self.past_end(Ternary::Yes),
                },
                // As a spreadsheet writes it, with two.
                Some(b'0') => match self.get(end + 3) {
                    Some(byte) => (!(byte.is_ascii_alphanumeric() || byte == b'.')).into(),
                    None => self.past_end(Ternary::Yes),
                },
                Some(byte) => (!byte.is_ascii_alphanumeric()).into(),
                None => self.past_end(Ternary::Yes),
            },
            Some(byte) => (!byte.is_ascii_digit()).into(),
            None => self.past_end(Ternary::Yes),
        }
    }

    /// Whether the characters around the span make it a part of a UUID (RFC 9562 section 4).
    pub(crate) fn in_uuid(&self, start: usize, end: usize) -> Ternary {
        let part = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
        // Most values stand by themselves.
        let beside = |byte: Option<u8>| byte.is_some_and(|byte| part(&byte));
        if !beside(self.before(start, 1)) && end < self.len() && !beside(self.get(end)) && end - start < UUID
        {
            return Ternary::No;
        }
        let (head, tail) = (self.slice(start.saturating_sub(UUID), start), self.slice(end, end + UUID));
        let left = head.iter().rev().take_while(|byte| part(byte)).count();
        let right = tail.iter().take_while(|byte| part(byte)).count();
        let whole = self.slice(start - left, end + right);
        if whole.len() <= UUID && end + right == self.len() && !self.complete {
            return Ternary::Unknown;
        }
        let dashed = [8, 13, 18, 23].iter().all(|&at| whole.get(at) == Some(&b'-'));
        (whole.len() == UUID && dashed).into()
    }

    /// Whether the word at `start` is the first of a UUID that has arrived and stands by itself.
    pub(crate) fn uuid_at(&self, start: usize) -> bool {
        if self.get(start + 8) != Some(b'-') {
            return false;
        }
        let Some(uuid) = self.text.get(start..start + UUID) else { return false };
        let dashed = [13, 18, 23].iter().all(|&at| uuid.get(at) == Some(&b'-'));
        let part = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
        let ends = self.get(start + UUID).map_or(self.complete, |byte| !part(&byte));
        // All are looked at: a loop that may end at each is slower.
        let parts = uuid.iter().fold(true, |all, byte| all & part(byte));
        dashed && ends && parts && !self.before(start, 1).is_some_and(|byte| part(&byte))
    }

    /// Whether `start` is in the digits of a dump of bytes, not in its text: behind digits that say where in it, `000000f0: 314c 6477`,
    /// `000000f0  31 4c 64` or `0x00f0:  314c 6477`, or behind groups of four that have letters too.
    pub(crate) fn in_dump(&self, start: usize) -> bool {
        if self.before(start, 1) != Some(b' ') {
            return false;
        }
        let hex = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
        let head = self.slice(start.saturating_sub(LOOKBACK), start);
        let run = head.iter().rev().take_while(|byte| hex(byte) || **byte == b' ').count();
        let (front, run) = head.split_at(head.len() - run);
        if let Some(front) = front.strip_suffix(b":") {
            let digits = front.iter().rev().take_while(|byte| hex(byte)).count();
            let short =
                digits == 4 && front.get(..front.len() - digits).is_some_and(|lead| lead.ends_with(b"0x"));
            let run = if short { run.trim_ascii_start() } else { run };
            return (digits == 8 || short) && !run.windows(2).any(|pair| pair == b"  ");
        }
        let whole = head.len() < LOOKBACK || !front.is_empty();
        if is_of_fours(run) {
            return true;
        }
        let mut groups = run.split(|byte| *byte == b' ').filter(|group| !group.is_empty());
        let place =
            whole && run.get(8..10) == Some(b"  ") && groups.next().is_some_and(|group| group.len() == 8);
        place && groups.all(|group| group.len() == 2)
    }

    /// The last character boundary at or before `at`.
    pub(crate) fn boundary(&self, at: usize) -> usize {
        let inside = |at: usize| self.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
        (0..4).filter_map(|back| at.checked_sub(back)).find(|&at| !inside(at)).unwrap_or(at)
    }

    fn past_end(&self, answer: Ternary) -> Ternary {
        if self.complete { answer } else { Ternary::Unknown }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> View<'_> {
        View { text: text.as_bytes(), base: 0, complete: true }
    }

    #[test]
    fn escapes_are_boundaries() {
        assert_eq!(whole(r"\nbob").after_escape(1), Some(2));
        assert_eq!(whole(r"\u00e9bob").after_escape(1), Some(6));
        assert_eq!(whole("nbob").after_escape(0), Some(0));
        assert!(whole(r"\n41").word_starts(2));
        assert!(whole(r"\u00e941").word_starts(6));
        assert!(!whole("xn41").word_starts(2));
    }

    #[test]
    fn an_end_that_is_not_the_texts_end_is_not_known() {
        let mut view = whole("12");
        assert_eq!(view.ends(2, Edge::Word), Ternary::Yes);
        view.complete = false;
        assert_eq!(view.ends(2, Edge::Word), Ternary::Unknown);
        assert_eq!(whole("12.5").ends(2, Edge::Decimal), Ternary::No);
        assert_eq!(whole("12.0").ends(2, Edge::Decimal), Ternary::Yes);
        assert_eq!(whole("12.0.1").ends(2, Edge::Decimal), Ternary::No);
        assert_eq!(whole("12.05").ends(2, Edge::Number), Ternary::No);
        assert_eq!(whole("12. Then").ends(2, Edge::Decimal), Ternary::Yes);
        assert_eq!(whole("12-5").ends(2, Edge::Decimal), Ternary::Yes);
        assert_eq!(whole("12-5").ends(2, Edge::Number), Ternary::No);
    }

    #[test]
    fn versions_of_four_numbers_are_no_addresses() {
        let rows = [
            ("libfoo.so.1.2.3.4", false),
            ("Java 1.2.3.4", false),
            ("OID: 1.2.3.4", false),
            ("tag: \"1.2.3.4\"", false),
            ("imageTag=1.2.3.4", false),
            ("image:\nghcr.io/c/s:1.2.3.4", false),
            ("FROM web:1.2.3.4", false),
            ("docker pull web:1.2.3.4", false),
            ("docker tag 1.2.3.4", true),
            ("stag: 1.2.3.4", true),
            ("image: 1.2.3.4", true),
            ("from web:1.2.3.4", true),
            ("server:1.2.3.4", true),
            ("java: 1.2.3.4", true),
            ("1.2.3.4", true),
        ];
        for (text, address) in rows {
            let at = text.find("1.2.3.4").unwrap();
            assert_eq!(whole(text).starts(at, Edge::Address), address, "{text}");
        }
        for (text, ends) in [
            ("1.2.3.4-LTS", Ternary::No),
            ("1.2.3.4-rc1", Ternary::No),
            ("1.2.3.4-rcx", Ternary::Yes),
            ("1.2.3.4-1.2.3.9", Ternary::Yes),
            ("1.2.3.4-", Ternary::Yes),
            ("1.2.3.4-l", Ternary::Yes),
        ] {
            assert_eq!(whole(text).ends(7, Edge::Address), ends, "{text}");
        }
        let cut = View { text: b"1.2.3.4-l", base: 0, complete: false };
        assert_eq!(cut.ends(7, Edge::Address), Ternary::Unknown);
    }

    #[test]
    fn digits_of_a_dump_are_known() {
        let rows = [
            ("000000f0: 314c 6477 3652 7872 7242  1Ldw6RxrrB", "3652", true),
            ("     1\t000000f0: 3652 7872 7242", "3652", true),
            ("000000f0: 314c  3652787272421111", "3652787272421111", false),
            ("00000010  31 4c 64 36  52 78 72 72", "52", true),
            ("00000010  31 4c  |3652 7872|", "3652", false),
            ("order 10000010: 3652", "3652", true),
            ("\t0x00f0:  314c 6477 3652 7872 7242", "3652", true),
            ("\t0x00f0:  4111 1111 1111 1111", "4111", true),
            ("9c2f 00d4 3652 7872", "3652", true),
            ("9c2f00d4 3652 7872", "3652", false),
            ("9012 1111 3652 7872", "3652", false),
            ("order 1000: 314c 3652", "3652", false),
            ("00000010 3652", "3652", false),
            ("3652 7872", "7872", false),
        ];
        for (text, digits, dumped) in rows {
            assert_eq!(whole(text).in_dump(text.find(digits).unwrap()), dumped, "{text}");
        }
    }

    #[test]
    fn parts_of_a_uuid_are_known() {
        let view = whole("x 41111111-1111-4111-8111-111111111111.");
        assert_eq!(view.in_uuid(2, 10), Ternary::Yes);
        assert_eq!(view.in_uuid(11, 25), Ternary::Yes);
        assert_eq!(whole("4111-1111-1111-1111").in_uuid(0, 19), Ternary::No);
        let cut = View { text: b"41111111-1111-", base: 0, complete: false };
        assert_eq!(cut.in_uuid(0, 8), Ternary::Unknown);
        let open = View { text: b"41111111-1111-4111-8111-111111111111", base: 0, complete: false };
        assert_eq!(open.in_uuid(0, 8), Ternary::Unknown);
    }
}
