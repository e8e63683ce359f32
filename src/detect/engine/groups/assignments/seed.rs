//! What the words of a wallet's seed look like (BIP 39).

use std::ops::Range;

use super::text::is_quote;

/// How many words a seed has, the most first, and of how many letters they are.
const COUNTS: [usize; 5] = [24, 21, 18, 15, 12];
const LETTERS: std::ops::RangeInclusive<usize> = 3..=8;
/// Words of sentences, that are none of a seed's.
const OF_SENTENCES: [&[u8]; 22] = [
    b"the", b"and", b"for", b"are", b"your", b"was", b"but", b"not", b"has", b"our", b"its", b"should",
    b"with", b"from", b"who", b"them", b"these", b"those", b"than", b"words", b"anyone", b"her",
];

/// What parts words.
pub(super) fn parts(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || is_quote(byte)
        || matches!(byte, b':' | b'=' | b',' | b'*' | b'\\' | b'[' | b'{' | b'(')
}

/// Whether a text is of words such as a seed has, to its end: more of them may come.
pub(super) fn may_go_on(text: &[u8]) -> bool {
    text.iter().all(|&byte| {
        parts(byte) || byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b')')
    })
}

/// Where a seed stands at the beginning of a text, if there is one.
pub(super) fn seed(text: &[u8]) -> Option<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    let run = |from: usize, class: &dyn Fn(u8) -> bool| {
        let rest = text.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|&&byte| class(byte)).count()
    };
    // Whether a line or a quote ends between the first two, as it does where each has its own.
    let mut parted = None;
    while words.len() < 24 {
        let number = run(run(at, &parts), &|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b')'));
        let start = run(number, &parts);
        let stop = run(start, &|byte| byte.is_ascii_lowercase());
        let word = text.get(start..stop)?;
        let whole = !text.get(stop).is_some_and(u8::is_ascii_alphanumeric);
        if !LETTERS.contains(&word.len()) || OF_SENTENCES.contains(&word) || !whole {
            break;
        }
        if !words.is_empty() {
            let between = text.get(at..start).unwrap_or_default();
            let ended = between.iter().any(|&byte| byte == b'\n' || byte == b'"' || byte == b'\'');
            if *parted.get_or_insert(ended) != ended {
                break;
            }
        }
        words.push(start..stop);
        at = stop;
    }
    let count = COUNTS.into_iter().find(|&count| count <= words.len())?;
    Some(words.first()?.start..words.get(count - 1)?.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_or_more_words_are_a_seed_and_sentences_are_none() {
        let words = "witch collapse practice feed shame open despair creek road again ice least";
        let rows = [
            (words.to_owned(), Some(words.len())),
            (format!("{words}\n\nplease help me"), Some(words.len())),
            (format!("{words}\", path"), Some(words.len())),
            (format!("{words}. Thanks"), Some(words.len())),
            (words.replace(' ', "\n"), Some(words.len())),
            (words.replace(' ', ", "), Some(words.len() + 11)),
            (words.replacen(" least", "", 1), None),
            ("keep it where nobody else can ever find or read these words again today".to_owned(), None),
        ];
        for (text, end) in rows {
            assert_eq!(seed(text.as_bytes()).map(|found| found.end), end, "{text}");
        }
    }
}
