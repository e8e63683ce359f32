//! What edits text in motion: an [`Editor`] sees the decoded text of one channel (a text body, one JSON string,
//! the deltas of one choice) and says which ranges of it to replace. Whoever carries the text (a text body, a
//! JSON string with escapes, a run of events) applies the [`Edit`]s to its own encoding, so bytes that nobody
//! changed leave as they came.

use crate::edit::Edit;
use crate::stream::StreamError;
use crate::stream::path::{Path, Segment, Treatment, Type};

/// What a text is for whoever gets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextUse {
    /// Shown to a person.
    #[default]
    Text,
    /// Given to a tool, or what one answered.
    Argument,
    /// A URL by itself.
    Url,
    /// What its writer calls something by, such as a call of a tool. It is nobody's value, though it may look like one.
    Id,
    /// A number by which programs tell records apart, and no card's.
    Record,
}

impl TextUse {
    /// That of a text that is treated so, at its place in a document.
    pub fn of(treatment: Treatment, path: Option<&Path<'_>>) -> Self {
        let last = path.and_then(|path| path.last());
        match (treatment, last) {
            (Treatment::Embedded | Treatment::Argument, _) => Self::Argument,
            (Treatment::Typed(Type::Id), _) => Self::Id,
            (_, Some(Segment::Key(name))) if names_url(name) => Self::Url,
            _ => Self::Text,
        }
    }
}

/// Whether members of such a name hold URLs: `uri`, `file_uri`, `imageUrl`.
fn names_url(name: &str) -> bool {
    let end = name.len().checked_sub(3).and_then(|at| name.get(at..));
    end.is_some_and(|end| end.eq_ignore_ascii_case("uri") || end.eq_ignore_ascii_case("url"))
}

/// Edits one channel of text as it passes.
///
/// Any split of the text gives the same edits. Edits are pushed in order, never overlap, and lie wholly below the
/// offset returned with them.
///
/// The offsets of edits are bytes of the decoded text, counted from the channel's beginning.
pub trait Editor: Send {
    /// The text to come is the value at `path` of a document, and the names on the way there say what it is; or no
    /// value. Told before any of it, if at all, and for that text only.
    fn under(&mut self, path: Option<&Path<'_>>) {
        let _ = path;
    }

    /// What the texts to come are for whoever gets them, until this says otherwise.
    fn used_as(&mut self, text: TextUse) {
        let _ = text;
    }

    /// A string passes that nobody reads.
    fn unread(&mut self) {}

    /// Whether a value, as JSON, that leaves as `given` is `signed` again once it has come back: who sends it again has it
    /// read as what they write themselves.
    fn comes_back_as(&self, given: &str, signed: &str) -> bool {
        let _ = (given, signed);
        true
    }

    /// A signature that stands for `signature` of a block of which `text` was edited so: it brings the text back. `None`
    /// where there can be none.
    fn seal(&self, text: &str, signature: &str) -> Option<String> {
        let _ = (text, signature);
        None
    }

    /// An editor for a text of its own that puts back what this one would, and changes nothing else; it holds back only
    /// what may become that. `None` where nothing is put back.
    fn restorer(&self) -> Option<Box<dyn Editor>> {
        None
    }

    /// Sees the next piece, pushes the edits it has settled, and returns the offset (in bytes, from the channel's
    /// beginning) up to which the text is decided and may leave.
    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError>;

    /// The text has ended: settles the rest and begins a new channel at offset 0.
    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError>;

    /// Sees the last piece, with which the text ends. The edits are those of [`Editor::feed`] and [`Editor::end`]; who waits
    /// for text to come looks once where those look twice.
    fn last(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.feed(piece, edits)?;
        self.end(edits)
    }
}

/// What a pointer to an editor does: the same.
macro_rules! forward_to_editor {
    () => {
        fn under(&mut self, path: Option<&Path<'_>>) {
            (**self).under(path);
        }

        fn used_as(&mut self, text: TextUse) {
            (**self).used_as(text);
        }

        fn unread(&mut self) {
            (**self).unread();
        }

        fn comes_back_as(&self, given: &str, signed: &str) -> bool {
            (**self).comes_back_as(given, signed)
        }

        fn seal(&self, text: &str, signature: &str) -> Option<String> {
            (**self).seal(text, signature)
        }

        fn restorer(&self) -> Option<Box<dyn Editor>> {
            (**self).restorer()
        }

        fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
            (**self).feed(piece, edits)
        }

        fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
            (**self).end(edits)
        }

        fn last(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
            (**self).last(piece, edits)
        }
    };
}

impl<E: Editor + ?Sized> Editor for &mut E {
    forward_to_editor!();
}

impl<E: Editor + ?Sized> Editor for Box<E> {
    forward_to_editor!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::json::walk;

    #[test]
    fn what_a_text_is_for_shows_in_its_place() {
        let data = br#"{"text":"a","uri":"b","fileUri":["c"],"image_url":{"url":"d"},"URL":"e","curls":"f","uri\u0000":"g"}"#;
        let mut seen = Vec::new();
        let mut see = |treatment| {
            walk(data, &mut |path, leaf| {
                if leaf.token.is_value() {
                    seen.push(TextUse::of(treatment, Some(path)));
                }
            })
        };
        see(Treatment::Text).unwrap();
        see(Treatment::Embedded).unwrap();
        let (text, url) = (TextUse::Text, TextUse::Url);
        assert_eq!(seen.get(..7).unwrap(), [text, url, text, url, url, text, text]);
        assert!(seen.iter().skip(7).all(|used_as| *used_as == TextUse::Argument));
        assert_eq!(TextUse::of(Treatment::Argument, None), TextUse::Argument);
        assert_eq!(TextUse::of(Treatment::Text, None), text);
    }
}
