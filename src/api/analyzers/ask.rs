//! [`Analyzers`]: those that a route or an endpoint uses, asked about all texts of one request.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;

use crate::api::analyzers::analyzer::{Analyzer, OnFailure};
use crate::detect::{Finding, RuleId};
use crate::redact::AnalyzerFindings;

/// An analyzer that must answer does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an analyzer does not answer")]
pub struct NotAnalyzed;

/// What [`Analyzers`] are made from.
#[derive(Clone, Debug, Default)]
pub struct AnalyzersParts {
    /// Who is asked.
    pub analyzers: Vec<Arc<Analyzer>>,
    /// From which score on findings of some rules count, 0 to 1.
    pub floors: BTreeMap<RuleId, f32>,
}

/// Those that somebody uses. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Analyzers(Arc<AnalyzersParts>);

impl Analyzers {
    /// `None` where nobody is asked.
    pub fn new(parts: AnalyzersParts) -> Option<Self> {
        (!parts.analyzers.is_empty()).then(|| Self(Arc::new(parts)))
    }

    /// Whether one of them must answer.
    pub fn must_answer(&self) -> bool {
        self.0.analyzers.iter().any(|analyzer| analyzer.parts.on_failure == OnFailure::Refuse)
    }

    /// What all of them say of these texts. Whoever stops waiting ends all questions.
    ///
    /// # Errors
    /// One that must answer does not.
    pub async fn ask(&self, texts: Vec<Arc<str>>) -> Result<AnalyzerFindings, NotAnalyzed> {
        let mut reported = AnalyzerFindings::default();
        for analyzer in &self.0.analyzers {
            self.ask_one(analyzer, texts.clone(), &mut reported).await?;
        }
        Ok(reported)
    }

    async fn ask_one(
        &self,
        analyzer: &Arc<Analyzer>,
        texts: Vec<Arc<str>>,
        reported: &mut AnalyzerFindings,
    ) -> Result<(), NotAnalyzed> {
        let deadline = analyzer.parts.clock.instant() + analyzer.parts.timeout;
        let answers = stream::iter(texts)
            .map(|text: Arc<str>| {
                let analyzer = Arc::clone(analyzer);
                async move {
                    let findings = analyzer.findings(&text, deadline).await;
                    (text, findings)
                }
            })
            .buffer_unordered(analyzer.parts.concurrency);
        let mut answers = std::pin::pin!(answers);
        while let Some((text, outcome)) = answers.next().await {
            match outcome {
                Ok(findings) => reported.add(&text, findings.iter().filter(|one| self.counts(one)).copied()),
                Err(_) if analyzer.parts.on_failure == OnFailure::Refuse => return Err(NotAnalyzed),
                Err(why) if why.is_of_server() => break,
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn counts(&self, one: &Finding) -> bool {
        self.0.floors.get(&one.rule).is_none_or(|&floor| one.score.value() >= floor)
    }
}
