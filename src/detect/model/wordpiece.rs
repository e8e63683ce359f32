//! Text to the pieces of an uncased BERT vocabulary, each with its bytes in the text as it came (Devlin et al. 2018,
//! `BasicTokenizer` and `WordpieceTokenizer`).

use std::collections::HashMap;

use regex::Regex;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::detect::Span;

/// Characters of the longest word that is parted; a longer one is one unknown piece.
const LONGEST: usize = 100;

/// The most pieces a vocabulary may have.
const PIECES: usize = 1 << 18;

/// A piece of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Subword {
    /// Its number in the vocabulary.
    pub(super) id: u32,
    /// Its bytes in the text.
    pub(super) span: Span,
    /// Which of the text's words it is of, counted from 0.
    pub(super) word: usize,
}

/// A character as the vocabulary spells it, and where it came from.
struct Letter {
    read: char,
    span: Span,
}

/// A vocabulary.
pub(super) struct WordPiece {
    /// Pieces that words begin with.
    first: HashMap<Box<str>, u32>,
    /// Pieces that words go on with.
    more: HashMap<Box<str>, u32>,
    unknown: u32,
    punctuation: Regex,
    format: Regex,
    /// Marks with a width of their own: they stay where the others are taken off.
    spacing: Regex,
}

impl WordPiece {
    /// From the lines of a `vocab.txt`: a piece a line, numbered from 0. `None`: it has no piece for what is unknown, or
    /// too many.
    pub(super) fn read(vocabulary: &str) -> Option<Self> {
        let (mut first, mut more) = (HashMap::new(), HashMap::new());
        if vocabulary.lines().count() > PIECES {
            return None;
        }
        for (id, piece) in (0..).zip(vocabulary.lines()) {
            match piece.strip_prefix("##") {
                Some(rest) if !rest.is_empty() => more.insert(rest.into(), id),
                _ => first.insert(piece.into(), id),
            };
        }
        let unknown = *first.get("[UNK]")?;
        Some(Self {
            first,
            more,
            unknown,
            punctuation: Regex::new(r"^\p{P}$").ok()?,
            format: Regex::new(r"^\p{Cf}$").ok()?,
            spacing: Regex::new(r"^\p{Mc}$").ok()?,
        })
    }

    /// The number of a piece that stands for something, such as `[CLS]`.
    pub(super) fn special(&self, piece: &str) -> Option<u32> {
        self.first.get(piece).copied()
    }

    /// The highest number there is.
    pub(super) fn last(&self) -> u32 {
        self.first.values().chain(self.more.values()).copied().max().unwrap_or_default()
    }

    /// The pieces of a text, in order.
    pub(super) fn pieces(&self, text: &str) -> Vec<Subword> {
        let mut parted = Parted { vocabulary: self, word: Vec::new(), words: 0, pieces: Vec::new() };
        for (at, c) in text.char_indices() {
            let span = Span::new(at, at + c.len_utf8());
            if c.is_whitespace() {
                parted.end_word();
            } else if c.is_ascii() {
                parted.ascii(c, span);
            } else if !is(&self.format, c) && c != '\u{fffd}' && !c.is_control() {
                parted.non_ascii(c, span);
            }
        }
        parted.end_word();
        parted.pieces
    }

    /// Adds a word's pieces: the longest first, each time; a word that cannot be made of pieces is one unknown.
    fn part(&self, word: &[Letter], number: usize, pieces: &mut Vec<Subword>) {
        let (Some(first), Some(last)) = (word.first(), word.last()) else { return };
        let whole =
            Subword { id: self.unknown, span: Span::new(first.span.start, last.span.end), word: number };
        if word.len() > LONGEST {
            pieces.push(whole);
            return;
        }
        let kept = pieces.len();
        let mut rest = word;
        while !rest.is_empty() {
            let Some((count, id)) = self.longest(rest, rest.len() == word.len()) else {
                pieces.truncate(kept);
                pieces.push(whole);
                return;
            };
            let (taken, behind) = rest.split_at(count);
            if let (Some(a), Some(b)) = (taken.first(), taken.last()) {
                pieces.push(Subword { id, span: Span::new(a.span.start, b.span.end), word: number });
            }
            rest = behind;
        }
    }

    /// The longest piece that `letters` begin with, and how many of them it takes.
    fn longest(&self, letters: &[Letter], begins: bool) -> Option<(usize, u32)> {
        let known = if begins { &self.first } else { &self.more };
        let mut text: String = letters.iter().map(|letter| letter.read).collect();
        for count in (1..=letters.len()).rev() {
            if let Some(&id) = known.get(text.as_str()) {
                return Some((count, id));
            }
            text.pop();
        }
        None
    }
}

/// A text on the way into pieces.
struct Parted<'v> {
    vocabulary: &'v WordPiece,
    word: Vec<Letter>,
    /// Words that have ended.
    words: usize,
    pieces: Vec<Subword>,
}

impl Parted<'_> {
    fn end_word(&mut self) {
        if !self.word.is_empty() {
            self.vocabulary.part(&self.word, self.words, &mut self.pieces);
            self.words += 1;
            self.word.clear();
        }
    }

    fn ascii(&mut self, c: char, span: Span) {
        if c.is_ascii_punctuation() {
            self.alone(&[c], span);
        } else if !c.is_ascii_control() {
            self.word.push(Letter { read: c.to_ascii_lowercase(), span });
        }
    }

    fn non_ascii(&mut self, c: char, span: Span) {
        let bare = |&d: &char| !is_combining_mark(d) || is(&self.vocabulary.spacing, d);
        let read: Vec<char> = std::iter::once(c).nfd().filter(bare).flat_map(char::to_lowercase).collect();
        if ideograph(c) || is(&self.vocabulary.punctuation, c) {
            self.alone(&read, span);
        } else {
            self.word.extend(read.into_iter().map(|read| Letter { read, span }));
        }
    }

    /// A character that is a word by itself.
    fn alone(&mut self, read: &[char], span: Span) {
        self.end_word();
        self.word.extend(read.iter().map(|&read| Letter { read, span }));
        self.end_word();
    }
}

fn is(class: &Regex, c: char) -> bool {
    class.is_match(c.encode_utf8(&mut [0; 4]))
}

fn ideograph(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2ceaf}' | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const VOCABULARY: &str =
        "[PAD]\n[UNK]\n[CLS]\n[SEP]\nmaria\nlo\n##pez\n##p\n.\n'\ns\nmu\n##ller\n東\n京\n-\nstrasse\n";

    /// Each piece as the bytes of the text that it covers, `?` behind what is unknown, `|` between words.
    fn shown(text: &str) -> String {
        let vocabulary = WordPiece::read(VOCABULARY).unwrap();
        let mut out = String::new();
        let mut word = 0;
        for piece in vocabulary.pieces(text) {
            if !out.is_empty() {
                out.push(if piece.word == word { '+' } else { '|' });
            }
            word = piece.word;
            out.push_str(text.get(piece.span.start..piece.span.end).unwrap());
            if piece.id == vocabulary.unknown {
                out.push('?');
            }
        }
        out
    }

    #[test]
    fn words_are_parted_as_the_reference_does() {
        let cases = [
            ("", ""),
            (" \n\t", ""),
            ("Maria", "Maria"),
            ("MARIA LOPEZ.", "MARIA|LO+PEZ|."),
            ("Lop", "Lo+p"),
            ("Lopezz", "Lopezz?"),
            ("María's", "María|'|s"),
            ("Mari\u{301}a", "Mari\u{301}a"),
            ("Müller", "Mü+ller"),
            ("東京", "東|京"),
            ("Maria\u{200b}", "Maria"),
            ("Ma\u{ad}ria", "Ma\u{ad}ria"),
            ("Maria\u{0}", "Maria"),
            ("lo–pez", "lo|–?|pez?"),
        ];
        for (text, wanted) in cases {
            assert_eq!(shown(text), wanted, "{text:?}");
        }
        let long = "a".repeat(LONGEST + 1);
        assert_eq!(shown(&long), format!("{long}?"));
    }

    #[test]
    fn a_vocabulary_has_a_piece_for_the_unknown() {
        assert!(WordPiece::read("maria\n").is_none());
        assert!(WordPiece::read(&"a\n".repeat(PIECES + 1)).is_none());
    }
}
