//! [`Bench`]: what formats are tried on: a judge who takes every link for bad and redacts one word.

use crate::sanitize::{
    Bounds, Edit, Judge, Kind, Link, Named, NewText, Options, Part, Redaction, Rejection, Stats, Work, format,
};

/// Options, and a judge who does what they say.
pub(crate) struct Bench {
    pub(crate) options: Options,
    word: &'static str,
    /// Links that were asked for.
    pub(crate) links: usize,
    /// Parts that were shown.
    pub(crate) parts: Vec<Vec<u8>>,
}

impl Bench {
    /// Everything is ordered; `word` is replaced by `<N>`.
    pub(crate) fn redacting(word: &'static str) -> Self {
        let options = Options { redaction: Redaction::Apply, ..Options::default() };
        Self { options, word, links: 0, parts: Vec::new() }
    }

    /// Active content and links only.
    pub(crate) fn disarming() -> Self {
        Self { options: Options::default(), word: "", links: 0, parts: Vec::new() }
    }

    /// Begins on a file.
    pub(crate) fn work(&mut self) -> Work<'_> {
        Work::new(self.options, Bounds::default(), self)
    }

    /// Cleans a file of this kind.
    pub(crate) fn clean(&mut self, kind: Kind, file: &[u8]) -> Result<(Vec<u8>, Stats), Rejection> {
        let mut work = self.work();
        let clean = format::clean(kind, file, &mut work)?;
        Ok((clean, work.into_stats()))
    }

    /// Cleans a text file, and what comes out once more: nothing more may change then.
    pub(crate) fn text(&mut self, kind: Kind, file: &str) -> String {
        let (clean, _) = self.clean(kind, file.as_bytes()).expect("a clean file");
        let (again, stats) = self.clean(kind, &clean).expect("a clean file");
        let (clean, again) =
            (String::from_utf8(clean).expect("text"), String::from_utf8(again).expect("text"));
        assert_eq!(clean, again, "a clean file is a fixed point");
        assert!(stats.untouched(), "nothing is left to count: {stats:?} in {clean}");
        clean
    }
}

impl Judge for Bench {
    fn part(&mut self, part: Part<'_>) -> Result<(), Rejection> {
        self.parts.push(part.bytes.to_vec());
        Ok(())
    }

    fn links(&mut self, links: &[Link]) -> Result<Vec<bool>, Rejection> {
        self.links += links.len();
        Ok(vec![true; links.len()])
    }

    fn texts(&mut self, texts: &[Named<&str>]) -> Result<Vec<Vec<Edit>>, Rejection> {
        let edit = |(at, word): (usize, &str), before: usize| Edit {
            range: at.saturating_sub(before)..(at + word.len()).saturating_sub(before),
            with: NewText { text: "<N>".to_owned(), rule: Some("N".to_owned()) },
        };
        // What a text is called is read before it.
        let edits = |named: &Named<&str>| {
            let name = if named.name.is_empty() { String::new() } else { format!("{}: ", named.name) };
            let found = |&(at, word): &(usize, &str)| at + word.len() > name.len();
            match self.word {
                "" => Vec::new(),
                word => {
                    let text = format!("{name}{}", named.text);
                    text.match_indices(word).filter(found).map(|hit| edit(hit, name.len())).collect()
                }
            }
        };
        Ok(texts.iter().map(edits).collect())
    }
}
