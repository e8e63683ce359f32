//! [`Bench`]: what formats are tried on: a host that takes every link for bad and redacts one word.

use crate::sanitize::format::FORMATS;
use crate::sanitize::{
    Edit, FileKind, Host, HostRequest, NewText, Options, RedactionMode, Rejection, Response, Stats,
    UnfoldBounds, Work,
};

/// Options, and a host that does what they say.
pub(crate) struct Bench {
    pub(crate) options: Options,
    word: &'static str,
    /// What opens encrypted files.
    pub(crate) password: Option<String>,
    /// Links that were asked for.
    pub(crate) links: usize,
    /// Parts that were shown.
    pub(crate) parts: Vec<Vec<u8>>,
}

impl Bench {
    /// Everything is ordered; `word` is replaced by `<N>`.
    pub(crate) fn redacting(word: &'static str) -> Self {
        let options = Options { redaction: RedactionMode::Apply, ..Options::default() };
        Self { options, word, password: None, links: 0, parts: Vec::new() }
    }

    /// Active content and links only.
    pub(crate) fn disarming() -> Self {
        Self { options: Options::default(), word: "", password: None, links: 0, parts: Vec::new() }
    }

    /// Begins on a file.
    pub(crate) fn work(&mut self) -> Work<'_> {
        Work::new(&FORMATS, self.options, UnfoldBounds::default(), self)
    }

    /// Cleans a file of this kind.
    pub(crate) fn clean(&mut self, kind: FileKind, file: &[u8]) -> Result<(Vec<u8>, Stats), Rejection> {
        let mut work = self.work();
        let clean = work.clean(kind, file)?;
        Ok((clean, work.into_stats()))
    }

    /// Cleans a text file, and what comes out once more: nothing more may change then.
    pub(crate) fn text(&mut self, kind: FileKind, file: &str) -> String {
        let (clean, _) = self.clean(kind, file.as_bytes()).expect("a clean file");
        let (again, stats) = self.clean(kind, &clean).expect("a clean file");
        let (clean, again) =
            (String::from_utf8(clean).expect("text"), String::from_utf8(again).expect("text"));
        assert_eq!(clean, again, "a clean file is a fixed point");
        assert!(stats.untouched(), "nothing is left to count: {stats:?} in {clean}");
        clean
    }
}

impl Host for Bench {
    fn ask(&mut self, request: HostRequest<'_>) -> Result<Response, Rejection> {
        Ok(match request {
            HostRequest::Part { bytes, .. } => {
                self.parts.push(bytes.into_owned());
                Response::Part
            }
            HostRequest::Links(links) => {
                self.links += links.len();
                Response::Links(vec![true; links.len()])
            }
            HostRequest::Password => Response::Password(self.password.clone()),
            HostRequest::Texts(texts) => Response::Texts(
                texts.iter().map(|named| edits(self.word, &named.name, &named.text)).collect(),
            ),
        })
    }
}

/// `word` wherever it ends in `text`: what a text is called is read before it.
fn edits(word: &str, name: &str, text: &str) -> Vec<Edit> {
    if word.is_empty() {
        return Vec::new();
    }
    let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
    let edit = |at: usize| Edit {
        range: at.saturating_sub(name.len())..(at + word.len()).saturating_sub(name.len()),
        with: NewText { text: "<N>".to_owned(), rule: Some("N".to_owned()), ..NewText::default() },
    };
    let whole = format!("{name}{text}");
    let found = whole.match_indices(word).map(|(at, _)| at).filter(|at| at + word.len() > name.len());
    found.map(edit).collect()
}
