//! What is done in answers: what was issued turns into the caller's own values again, and what the upstream says by itself may
//! be redacted. Bodies and messages are edited alike; of a session more is issued while its editors are at work.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arc_swap::ArcSwap;

use crate::gateway::exchange::Exchange;
use crate::gateway::filters::redact_parts::{AnswerMode, Invented, RedactParts};
use crate::gateway::filters::remember;
use crate::gateway::filters::restoring::restoring;
use crate::gateway::layer::{Factory, TextLayer, UnscannedPolicy};
use crate::gateway::llm::CompiledProtocol;
use crate::redact::{
    AnswerTreatment, FileClass, Keys, NextRequest, RedactionCounts, Redactor, SurrogateMap, UrlPolicy,
};
use crate::stream::Editor;
use crate::stream::json::PathSet;

/// What was issued so far. An editor restores what was there when it was made.
pub(super) type IssuedBefore = Arc<ArcSwap<SurrogateMap>>;

/// Nothing was issued.
pub(super) fn nothing_issued() -> IssuedBefore {
    Arc::new(ArcSwap::from_pointee(SurrogateMap::nothing()))
}

/// What is done with the texts of answers.
pub(super) struct PlannedAnswers {
    /// Edits them.
    pub(super) layer: TextLayer,
    /// What happens to what cannot be scanned.
    pub(super) policy: UnscannedPolicy,
}

/// What editors of answers are made from.
pub(super) struct AnswerEditing<'a> {
    /// What the filter was made from.
    pub(super) parts: &'a RedactParts,
    /// Those of the request.
    pub(super) keys: Keys,
    /// Follows texts.
    pub(super) protocol: Option<Arc<CompiledProtocol>>,
    /// Which strings are text where no protocol is known; `None`: all.
    pub(super) fields: Option<Arc<PathSet>>,
    /// What was issued, if anything was or may yet be.
    pub(super) issued: Option<IssuedBefore>,
}

impl AnswerEditing<'_> {
    /// What is done; `None`: nothing.
    pub(super) fn plan(self, x: &mut Exchange) -> Option<PlannedAnswers> {
        let Self { parts, keys, protocol, fields, issued } = self;
        let signs = protocol.as_ref().is_some_and(|protocol| protocol.signs());
        let requests = parts.requests.as_ref().filter(|_| signs);
        let next = requests.map(|redactor| NextRequest::new(redactor.clone(), &keys));
        match &parts.answers {
            AnswerMode::Off => None,
            AnswerMode::Restore(invented) => {
                let invented = invented.as_ref().filter(|invented| invented.everywhere || protocol.is_some());
                if issued.is_none() && invented.is_none() && next.is_none() {
                    return None;
                }
                let issued = issued.unwrap_or_else(nothing_issued);
                let urls = parts.urls.policy(protocol.as_deref(), &x.facts.kept_in_urls);
                let editor = match invented {
                    None => restoring(x, Arc::clone(&issued), urls, next),
                    Some(invented) => {
                        let issued = Arc::clone(&issued);
                        RestoreAndMask { issued, invented, keys, urls, next }.editor(x, parts)
                    }
                };
                let editor = remember::following(x, issued, editor);
                let layer = TextLayer { editor, protocol, fields, restores: true };
                // Nothing of the caller's is in what cannot be read: the upstream never had it.
                Some(PlannedAnswers { layer, policy: UnscannedPolicy::Pass })
            }
            AnswerMode::Redact(redactor) => {
                let one_way = OneWay {
                    redactor: redactor.clone(),
                    keys,
                    protocol,
                    fields,
                    counts: Arc::clone(&parts.answer_counts),
                    unscanned: Arc::clone(&x.facts.answer_unscanned),
                    refused: Vec::new(),
                };
                let layer = one_way.layer(x, parts.rules.len(), next);
                Some(PlannedAnswers { layer, policy: parts.unknown })
            }
        }
    }
}

/// Puts back what was issued, and redacts what else is found.
struct RestoreAndMask<'a> {
    issued: IssuedBefore,
    invented: &'a Invented,
    keys: Keys,
    urls: UrlPolicy,
    next: Option<NextRequest>,
}

impl RestoreAndMask<'_> {
    fn editor(self, x: &mut Exchange, parts: &RedactParts) -> Factory<dyn Editor> {
        let Self { issued, invented, keys, urls, next } = self;
        let counts = Arc::new(RedactionCounts::new(parts.rules.len()));
        x.facts.counted.push((Arc::clone(&counts), Arc::clone(&parts.answer_counts)));
        let restored = Arc::clone(&x.facts.restored);
        let unscanned = Arc::clone(&x.facts.answer_unscanned);
        let mut redactor = invented.redactor.clone();
        if let Some(words) = &x.facts.said {
            redactor = redactor.letting_repeat(words.clone());
        }
        Arc::new(move || {
            let (undo, keys) = (issued.load_full(), keys.clone());
            let (counts, restored) = (Arc::clone(&counts), Arc::clone(&restored));
            let answering = AnswerTreatment::Both { undo, keys, counts, restored };
            let editor = redactor.answer(answering).with_next_request(next.clone());
            Box::new(editor.with_urls(urls.clone()).counting(Arc::clone(&unscanned)))
        })
    }
}

/// Redacts a body as it passes, so that nothing of it is restored.
pub(super) struct OneWay {
    pub(super) redactor: Redactor,
    pub(super) keys: Keys,
    pub(super) protocol: Option<Arc<CompiledProtocol>>,
    /// Which strings are text where no protocol is known; `None`: all.
    pub(super) fields: Option<Arc<PathSet>>,
    /// Where findings are added up.
    pub(super) counts: Arc<RedactionCounts>,
    /// Counts the strings that are not read.
    pub(super) unscanned: Arc<AtomicU64>,
    /// Files that may not be in strings.
    pub(super) refused: Vec<FileClass>,
}

impl OneWay {
    /// The layer that does it; findings are of so many rules, and what comes back of an answer is read by `next`.
    pub(super) fn layer(self, x: &mut Exchange, rules: usize, next: Option<NextRequest>) -> TextLayer {
        let Self { redactor, keys, protocol, fields, counts, unscanned, refused } = self;
        // Counted apart first, since the access log has what one request had.
        let own = Arc::new(RedactionCounts::new(rules));
        x.facts.counted.push((Arc::clone(&own), counts));
        let editor = Arc::new(move || -> Box<dyn Editor> {
            let answering = AnswerTreatment::Mask { keys: keys.clone(), counts: Arc::clone(&own) };
            let editor =
                redactor.answer(answering).with_next_request(next.clone()).counting(Arc::clone(&unscanned));
            Box::new(editor.refusing(refused.clone()))
        });
        TextLayer { editor, protocol, fields, restores: false }
    }
}
