//! [`BitValue`]: an attribute's value or a style sheet while it is being asked about, and [`MarkupQuestion`], what is asked.

use crate::edit::spliced_text;
use crate::sanitize::format::markup::css::{self, CssPiece};
use crate::sanitize::format::markup::data::Data;
use crate::sanitize::format::markup::uri::{of_web, srcset};
use crate::sanitize::{Edit, NamedText, Rejection, Work, identifiers};

/// Texts and targets of a document, for one question.
#[derive(Debug, Default)]
pub(in crate::sanitize::format) struct MarkupQuestion {
    texts: Vec<NamedText>,
    /// What the next texts are called.
    name: String,
    targets: Vec<String>,
    /// What addresses hold themselves.
    held: Vec<Data>,
}

/// What becomes of them; `None` where nothing changes.
#[derive(Debug)]
pub(in crate::sanitize::format) struct Answers {
    texts: Vec<Option<String>>,
    targets: Vec<Option<String>>,
    held: Vec<Option<String>>,
}

impl MarkupQuestion {
    /// Asks, with blocks of running text before them: what is to change in each block, and the answers.
    pub(in crate::sanitize::format) fn ask(
        self,
        blocks: &[NamedText<&str>],
        work: &mut Work<'_>,
    ) -> Result<(Vec<Vec<Edit>>, Answers), Rejection> {
        let held = self.held.iter().map(|data| data.cleaned(work)).collect::<Result<_, _>>()?;
        let texts = self
            .texts
            .iter()
            .map(|NamedText { name, text }| NamedText { name: name.as_str(), text: text.as_str() });
        let all: Vec<NamedText<&str>> = blocks.iter().copied().chain(texts).collect();
        let mut edits = work.named(&all)?;
        let of_texts = edits.split_off(blocks.len().min(edits.len()));
        let mut texts = Vec::with_capacity(of_texts.len());
        for (text, edits) in self.texts.iter().zip(of_texts) {
            edits.iter().for_each(|edit| work.applied(edit));
            texts.push((!edits.is_empty()).then(|| spliced_text(&text.text, &edits)));
        }
        let targets: Vec<&str> = self.targets.iter().map(String::as_str).collect();
        Ok((edits, Answers { texts, targets: identifiers::targets(&targets, work)?, held }))
    }

    /// What the next texts are called where they stand.
    pub(in crate::sanitize::format) fn called(&mut self, name: String) {
        self.name = name;
    }

    fn text(&mut self, text: &str) -> Question {
        self.texts.push(NamedText { name: self.name.clone(), text: text.to_owned() });
        Question::Text(self.texts.len().saturating_sub(1))
    }

    /// An address; `None` for an empty one.
    fn address(&mut self, text: &str) -> Option<Question> {
        if text.is_empty() {
            return None;
        }
        let Some(data) = Data::of(text) else {
            self.targets.push(text.to_owned());
            return Some(Question::Target(self.targets.len().saturating_sub(1)));
        };
        self.held.push(data);
        Some(Question::Held(self.held.len().saturating_sub(1)))
    }
}

#[derive(Clone, Copy, Debug)]
enum Question {
    Text(usize),
    Target(usize),
    Held(usize),
}

/// How an answer is spelled.
#[derive(Clone, Copy, Debug)]
enum AnswerSpelling {
    Plain,
    /// A string of CSS.
    Quoted,
    /// `url("…")`.
    Url,
}

#[derive(Debug)]
struct Bit {
    /// What stands there if nothing changes.
    same: String,
    question: Option<(Question, AnswerSpelling)>,
}

/// A value in bits.
#[derive(Debug, Default)]
pub(in crate::sanitize::format) struct BitValue {
    bits: Vec<Bit>,
    /// It is not what stood there, whatever the answers.
    rebuilt: bool,
}

impl BitValue {
    /// Nobody is asked.
    pub(in crate::sanitize::format) fn fixed(text: &str) -> Self {
        Self { bits: vec![Bit { same: text.to_owned(), question: None }], rebuilt: false }
    }

    /// Text.
    pub(in crate::sanitize::format) fn text(text: &str, asking: &mut MarkupQuestion) -> Self {
        // Nothing so short is found by anybody.
        if text.len() < 4 {
            return Self::fixed(text);
        }
        let question = Some((asking.text(text), AnswerSpelling::Plain));
        Self { bits: vec![Bit { same: text.to_owned(), question }], rebuilt: false }
    }

    /// Where a link leads.
    pub(in crate::sanitize::format) fn address(text: &str, asking: &mut MarkupQuestion) -> Self {
        let question = asking.address(text).map(|question| (question, AnswerSpelling::Plain));
        Self { bits: vec![Bit { same: text.to_owned(), question }], rebuilt: false }
    }

    /// A `srcset`. With `strict`, hosts without a scheme are those of the web.
    pub(in crate::sanitize::format) fn addresses(
        text: &str,
        strict: bool,
        asking: &mut MarkupQuestion,
    ) -> Self {
        let bit = |(part, address): (&str, bool)| {
            let web = of_web(part).filter(|_| strict && address);
            let same = web.unwrap_or_else(|| part.to_owned());
            let question = if address { asking.address(&same) } else { None };
            Bit { same, question: question.map(|question| (question, AnswerSpelling::Plain)) }
        };
        Self::of(srcset(text).into_iter().map(bit).collect(), text)
    }

    /// These bits, of what stood there.
    fn of(bits: Vec<Bit>, text: &str) -> Self {
        let same = bits.iter().map(|bit| bit.same.as_str()).eq_text(text);
        Self { bits, rebuilt: !same }
    }

    /// CSS, without what acts; and how much of that there was.
    pub(in crate::sanitize::format) fn css(text: &str, asking: &mut MarkupQuestion) -> (Self, u64) {
        let sheet = css::read(text);
        let bit = |piece: &CssPiece| {
            let raw = |range: &std::ops::Range<usize>| text.get(range.clone()).unwrap_or_default();
            match piece {
                CssPiece::Raw(range) => Bit { same: raw(range).to_owned(), question: None },
                CssPiece::Fixed(text) => Bit { same: (*text).to_owned(), question: None },
                CssPiece::Text(range, read) => {
                    let plain = css::is_plain(raw(range));
                    let same = if plain { raw(range).to_owned() } else { css::quoted(read) };
                    let question = (read.len() > 3).then(|| (asking.text(read), AnswerSpelling::Quoted));
                    Bit { same, question }
                }
                CssPiece::Address(range, read) => {
                    let url = !raw(range).starts_with(['"', '\'']);
                    let spelling = if url { AnswerSpelling::Url } else { AnswerSpelling::Quoted };
                    let web = of_web(read);
                    let plain = css::is_plain(raw(range)) && web.is_none();
                    let read = web.as_deref().unwrap_or(read);
                    let same = if plain { raw(range).to_owned() } else { spelled(read, spelling) };
                    let question = if read.starts_with('#') { None } else { asking.address(read) };
                    Bit { same, question: question.map(|question| (question, spelling)) }
                }
            }
        };
        (Self::of(sheet.pieces.iter().map(bit).collect(), text), sheet.removed)
    }

    /// The same, if what stands there is not what was read.
    pub(in crate::sanitize::format) fn anew(self, anew: bool) -> Self {
        Self { rebuilt: self.rebuilt || anew, ..self }
    }

    /// What it becomes; `None` if that is what stood there.
    pub(in crate::sanitize::format) fn write(&self, answers: &Answers) -> Option<String> {
        let answer = |bit: &Bit| {
            let (question, spelling) = bit.question?;
            let text = match question {
                Question::Text(at) => answers.texts.get(at),
                Question::Target(at) => answers.targets.get(at),
                Question::Held(at) => answers.held.get(at),
            };
            text?.as_ref().map(|text| spelled(text, spelling))
        };
        let bits: Vec<Option<String>> = self.bits.iter().map(answer).collect();
        if !self.rebuilt && bits.iter().all(Option::is_none) {
            return None;
        }
        let bits = self.bits.iter().zip(bits).map(|(bit, answer)| answer.unwrap_or_else(|| bit.same.clone()));
        Some(bits.collect())
    }
}

fn spelled(text: &str, spelling: AnswerSpelling) -> String {
    match spelling {
        AnswerSpelling::Plain => text.to_owned(),
        AnswerSpelling::Quoted => css::quoted(text),
        AnswerSpelling::Url => format!("url({})", css::quoted(text)),
    }
}

/// Whether pieces make up a text.
trait EqText {
    fn eq_text(self, text: &str) -> bool;
}

impl<'p, I: Iterator<Item = &'p str>> EqText for I {
    fn eq_text(mut self, text: &str) -> bool {
        self.try_fold(text, |rest, piece| rest.strip_prefix(piece)).is_some_and(str::is_empty)
    }
}
