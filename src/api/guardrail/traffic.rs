//! [`Traffic`]: requests to models and what models answer, of gateways that ask about both. What is issued in a request is
//! restored in its answer, whichever node is asked about that, and what the model says by itself may be redacted.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::api::call::ApiCall;
use crate::api::cpu::Caller;
use crate::api::error::ApiError;
use crate::api::guardrail::engine::Guardrail;
use crate::api::guardrail::issued_memory::{IssuedMemory, RememberedCall};
use crate::api::token::Principal;
use crate::base::checkpoint::{Checkpoint, Stopped};
use crate::edit::{Edit, spliced_text};
use crate::redact::{
    AnswerEditor, AnswerTreatment, FileClass, FindingLimits, Keys, Recall, RedactError, RedactionCounts,
    Redactor, RequestWords, SurrogateMap, UrlPolicy,
};
use crate::stream::json::PathSet;
use crate::stream::{Editor, StreamError};

/// What happens in answers.
#[derive(Clone)]
pub enum AnswerMode {
    /// Nothing.
    Off,
    /// What was issued in the request becomes the caller's own again; and what else is found is redacted, if somebody does.
    Restore(Option<Redactor>),
    /// What is found is redacted, one way.
    Redact(Redactor),
}

/// A guardrail of both ways. Cheap to clone.
#[derive(Clone)]
pub struct Traffic(Arc<TrafficParts>);

/// What a [`Traffic`] is made from.
pub struct TrafficParts {
    /// Redacts requests.
    pub guardrail: Guardrail,
    /// What happens in answers.
    pub answers: AnswerMode,
    /// In which URLs of them values are restored.
    pub urls: UrlPolicy,
    /// Where findings in them are counted.
    pub answer_counts: Arc<RedactionCounts>,
    /// Files that no request may hold, since nobody reads them.
    pub refused: Vec<FileClass>,
    /// What is remembered from a request to its answer, if anything.
    pub memory: Option<Arc<dyn IssuedMemory>>,
}

/// What becomes of a text.
pub(super) enum TextOutcome<T> {
    /// It passes like this.
    Passes(T),
    /// It does not pass; why, without a value of it.
    Blocked(String),
}

/// The texts of a request.
pub(super) struct RequestTexts {
    /// JSON that holds them.
    pub(super) document: Vec<u8>,
    /// Which of its strings are texts.
    pub(super) which: Arc<PathSet>,
    /// What the call is named by whose answer is asked about later.
    pub(super) name: Option<String>,
}

/// A text of an answer as it passes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AnsweredText {
    pub(super) text: String,
    /// Whether it is another one than it was.
    pub(super) changed: bool,
    /// So many characters at its end may become others if the text goes on.
    pub(super) undecided: usize,
}

/// Why there is no text.
enum Failed {
    Blocked(String),
    File(FileClass),
    Redact(RedactError),
    Stream(StreamError),
}

impl Traffic {
    /// Made from these.
    pub fn new(parts: TrafficParts) -> Self {
        Self(Arc::new(parts))
    }

    pub(super) fn guardrail(&self) -> &Guardrail {
        &self.0.guardrail
    }

    /// Whether images may not pass, which nobody reads.
    pub(super) fn refuses_media(&self) -> bool {
        self.0.refused.contains(&FileClass::Media)
    }

    /// Redacts the texts of a request: the document as it may be sent.
    pub(super) async fn request(
        &self,
        call: &mut ApiCall<'_>,
        texts: RequestTexts,
    ) -> Result<TextOutcome<Vec<u8>>, ApiError> {
        let RequestTexts { document, which, name } = texts;
        let mut remembered = self.open(&call.caller, name.as_deref()).await;
        let recall = remembered.as_ref().map(|remembered| remembered.recall());
        let keys = self.keys(&call.caller, call.who, recall).await?;
        let (mut redactor, refused) = (self.guardrail().redactor.clone(), self.0.refused.clone());
        if let (Some(remembered), AnswerMode::Restore(Some(_))) = (&remembered, &self.0.answers) {
            redactor = redactor.with_request_words(remembered.words());
        }
        let bytes = document.len();
        let work = move |checkpoint: &Checkpoint| {
            let redactor = redactor.with_checkpoint(checkpoint.clone());
            let done = redactor.document(&document, &which, &keys, FindingLimits::default())?;
            match done.0.report().files().iter().find(|file| refused.contains(&file.class)) {
                Some(file) => Err(Failed::File(file.class)),
                None => Ok(done),
            }
        };
        let (redacted, issued) = match self.guardrail().attempt(call, bytes, work).await? {
            Ok(done) => done,
            Err(failed) => return failed.verdict(),
        };
        self.guardrail().counts.report(redacted.report());
        if let Some(remembered) = &mut remembered {
            remembered.keep(Arc::new(issued)).await;
        }
        Ok(TextOutcome::Passes(redacted.into_value()))
    }

    /// What becomes of the texts of the answer to the call of this name.
    pub(super) async fn answer(
        &self,
        call: &mut ApiCall<'_>,
        texts: Vec<String>,
        name: Option<&str>,
    ) -> Result<TextOutcome<Vec<AnsweredText>>, ApiError> {
        let remembered = self.open(&call.caller, name).await;
        let remembered = remembered.as_ref();
        let issued = remembered.map(|remembered| remembered.issued());
        let recall = remembered.map(|remembered| remembered.recall());
        let editing = AnswerEditing {
            mode: self.0.answers.clone(),
            issued: issued.unwrap_or_else(|| Arc::new(SurrogateMap::nothing())),
            words: remembered.map(|remembered| remembered.words()).unwrap_or_default(),
            keys: self.keys(&call.caller, call.who, recall).await?,
            counts: Arc::clone(&self.0.answer_counts),
            urls: self.0.urls.clone(),
        };
        let bytes = texts.iter().map(String::len).sum();
        let work = move |checkpoint: &Checkpoint| {
            let each = texts.into_iter().map(|text| {
                checkpoint.pass()?;
                match editing.editor(checkpoint) {
                    Some(editor) => edited(text, editor),
                    None => Ok(AnsweredText { text, changed: false, undecided: 0 }),
                }
            });
            each.collect::<Result<Vec<_>, Failed>>()
        };
        match self.guardrail().attempt(call, bytes, work).await? {
            Ok(texts) => Ok(TextOutcome::Passes(texts)),
            Err(failed) => failed.verdict(),
        }
    }

    async fn open(&self, caller: &Caller, name: Option<&str>) -> Option<Box<dyn RememberedCall>> {
        Some(self.0.memory.as_ref()?.open(caller, name).await)
    }

    async fn keys(
        &self,
        caller: &Caller,
        who: Option<&Principal>,
        recall: Option<Recall>,
    ) -> Result<Keys, ApiError> {
        let recall = recall.unwrap_or_default();
        Ok(Keys { recall, ..self.guardrail().keys(caller, who).await? })
    }
}

/// What texts of answers are edited by.
struct AnswerEditing {
    mode: AnswerMode,
    issued: Arc<SurrogateMap>,
    /// What the request said, which it may repeat.
    words: RequestWords,
    keys: Keys,
    counts: Arc<RedactionCounts>,
    urls: UrlPolicy,
}

impl AnswerEditing {
    /// Edits one text; `None`: it passes as it is.
    fn editor(&self, checkpoint: &Checkpoint) -> Option<AnswerEditor> {
        let (issued, keys, counts) = (Arc::clone(&self.issued), self.keys.clone(), Arc::clone(&self.counts));
        let editor = match &self.mode {
            AnswerMode::Off => return None,
            AnswerMode::Restore(None) => AnswerEditor::restore(issued),
            AnswerMode::Restore(Some(redactor)) => {
                let restored = Arc::new(AtomicU64::new(0));
                let both = AnswerTreatment::Both { undo: issued, keys, counts, restored };
                let redactor = redactor.clone().letting_repeat(self.words.clone());
                redactor.with_checkpoint(checkpoint.clone()).answer(both)
            }
            AnswerMode::Redact(redactor) => {
                let redactor = redactor.clone().with_checkpoint(checkpoint.clone());
                return Some(redactor.answer(AnswerTreatment::Mask { keys, counts }));
            }
        };
        Some(editor.with_urls(self.urls.clone()))
    }
}

/// The text as it is if it ends here, and how much of that is not decided if it does not: what stands before that is the same
/// however it goes on.
fn edited(text: String, mut editor: impl Editor) -> Result<AnsweredText, Failed> {
    let mut edits: Vec<Edit> = Vec::new();
    let decided = editor.feed(&text, &mut edits)?;
    let settled = spliced_text(text.get(..decided).unwrap_or_default(), &edits).len();
    editor.end(&mut edits)?;
    if edits.is_empty() {
        let undecided = text.get(decided..).unwrap_or_default().chars().count();
        return Ok(AnsweredText { text, changed: false, undecided });
    }
    let edited = spliced_text(&text, &edits);
    let undecided = edited.get(settled..).unwrap_or_default().chars().count();
    Ok(AnsweredText { changed: edited != text, text: edited, undecided })
}

impl Failed {
    /// What may not pass is no error.
    fn verdict<T>(self) -> Result<TextOutcome<T>, ApiError> {
        let blocked =
            |what: &str| Ok(TextOutcome::Blocked(format!("it holds what may not pass here: {what}")));
        match self {
            Self::Blocked(rules) => blocked(&rules),
            Self::Redact(RedactError::Blocked(rules)) => blocked(&rules.to_string()),
            Self::File(FileClass::Media) => blocked("an image, sound or a film, which nobody reads"),
            Self::File(_) => blocked("a file that nobody reads"),
            Self::Redact(RedactError::TooDeep { .. }) => Err(ApiError::BadRequest(
                "JSON within strings, or text in base64, is nested too deep to be scanned",
            )),
            Self::Redact(error) => Err(ApiError::redact(&error)),
            Self::Stream(StreamError::Spent(spent)) => Err(ApiError::TooManyValues(spent.after)),
            Self::Stream(StreamError::Exhausted(why)) => Err(why.into()),
            Self::Stream(_) => Err(ApiError::Internal("guardrail: answer")),
        }
    }
}

impl From<RedactError> for Failed {
    fn from(error: RedactError) -> Self {
        Self::Redact(error)
    }
}

impl From<Stopped> for Failed {
    fn from(stopped: Stopped) -> Self {
        Self::Redact(stopped.into())
    }
}

impl From<StreamError> for Failed {
    fn from(error: StreamError) -> Self {
        match error {
            StreamError::Blocked(rules) => Self::Blocked(rules),
            error => Self::Stream(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::secret::Secret;
    use crate::crypto::fpe::FpeKey;
    use crate::detect::{Catalogue, Detector, RuleSelection};
    use crate::redact::{Method, MethodPlan};

    fn redactor(method: Method) -> Redactor {
        let rules = Catalogue::builtin().unwrap();
        let detector = Detector::new(&rules, &RuleSelection::defaults(&rules)).unwrap();
        Redactor::new(detector, MethodPlan::all(method))
    }

    fn keys() -> Keys {
        let key = FpeKey::new(Secret::new(vec![7; 32])).unwrap();
        Keys { fpe: Some(Arc::new(key)), tenant: "t".into(), ..Keys::default() }
    }

    /// A request as it is sent, and what edits its answer.
    fn sent(request: &str) -> (String, AnswerEditing) {
        let (redacted, issued) =
            redactor(Method::Encrypt).plain(request.as_bytes(), &keys(), FindingLimits::default()).unwrap();
        let editing = AnswerEditing {
            mode: AnswerMode::Restore(Some(redactor(Method::Mask))),
            issued: Arc::new(issued),
            words: RequestWords::default(),
            keys: keys(),
            counts: Arc::new(RedactionCounts::new(Catalogue::builtin().unwrap().names().count())),
            urls: UrlPolicy::default(),
        };
        (String::from_utf8(redacted.into_value()).unwrap(), editing)
    }

    fn of(editing: &AnswerEditing, text: &str) -> AnsweredText {
        let done = edited(text.to_owned(), editing.editor(&Checkpoint::default()).unwrap());
        done.unwrap_or_else(|_| panic!("{text}"))
    }

    const REQUEST: &str = "🦀 Mail jane.doe@harbour-post.com, card 4111 1111 1111 1111, for Zoë Castellanos.";

    #[test]
    fn what_was_issued_comes_back_and_what_the_model_says_by_itself_does_not_pass() {
        let (sent, editing) = sent(REQUEST);
        assert!(!sent.contains("jane.doe") && !sent.contains("4111"), "{sent}");
        let answer = format!("You said: {sent} And mine is 5555 5555 5555 4444.");
        let done = of(&editing, &answer);
        assert_eq!(done.text, format!("You said: {REQUEST} And mine is {}.", "*".repeat(19)));
        assert!(done.changed);
        let plain = of(&editing, "Nothing of the kind.");
        assert!(!plain.changed && plain.text == "Nothing of the kind.");
    }

    /// As a stream is asked about: each time all of its text so far.
    #[test]
    fn what_is_decided_of_a_text_stays_however_it_goes_on() {
        let (sent, editing) = sent(REQUEST);
        let answer = format!("You said: {sent} And mine is 5555 5555 5555 4444, 日本 🦀, ok.");
        let whole = of(&editing, &answer).text;
        let (mut before, mut decided_early) = (String::new(), 0);
        for end in answer.char_indices().map(|(at, _)| at).chain([answer.len()]) {
            let done = of(&editing, answer.get(..end).unwrap());
            let characters: Vec<char> = done.text.chars().collect();
            let decided: String = characters.iter().take(characters.len() - done.undecided).collect();
            assert!(decided.starts_with(&before), "{before:?} became {decided:?}");
            assert!(whole.starts_with(&decided), "{decided:?} is not of {whole:?}");
            decided_early += usize::from(decided.len() > before.len());
            before = decided;
        }
        // Else nothing would stream.
        assert!(decided_early > 8, "{decided_early} of {}", answer.len());
    }

    #[test]
    fn what_is_blocked_is_told_by_its_rules() {
        let (_, editing) = sent(REQUEST);
        let editing = AnswerEditing { mode: AnswerMode::Redact(redactor(Method::Block)), ..editing };
        let failed =
            edited("Card 5555 5555 5555 4444.".to_owned(), editing.editor(&Checkpoint::default()).unwrap());
        let Err(failed) = failed else { panic!("it passed") };
        let Ok(TextOutcome::<()>::Blocked(why)) = failed.verdict() else { panic!("no verdict") };
        assert!(why.contains("CREDIT_CARD") && !why.contains("5555"), "{why}");
    }
}
