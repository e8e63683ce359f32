//! [`DetectOptions`]: how `detect` looks for findings and what it calls them.

use crate::cli::args::NameArg;
use crate::detect::{Cache, Detector, Finding};

/// How findings are looked for and called.
pub(super) struct DetectOptions {
    pub(super) detector: Detector,
    pub(super) names: NameArg,
    pub(super) candidates: bool,
    pub(super) values: bool,
}

impl DetectOptions {
    pub(super) fn find_with(&self, cache: &mut Cache, text: &str) -> Vec<Finding> {
        match self.candidates {
            true => self.detector.candidates_with(cache, text),
            false => self.detector.find_with(cache, text),
        }
    }

    pub(super) fn name(&self, finding: &Finding) -> &str {
        let rule = self.detector.rule(finding.rule);
        match self.names {
            NameArg::Rule => rule.name(),
            NameArg::Family => rule.family().name(),
        }
    }
}

/// Three decimals: a score says no more than that.
pub(super) fn score(finding: &Finding) -> f64 {
    (f64::from(finding.score.value()) * 1000.0).round() / 1000.0
}
