//! [`Intel`]: provider names and what is behind them.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::sanitize::Rejection;
use crate::sanitize::intel::{Canonical, Score, Store};

/// Scores that are still to come.
pub type PendingScores<'a> = BoxFuture<'a, Result<Vec<Score>, Rejection>>;

/// Who knows of URLs or domains.
pub trait Reputation: Send + Sync {
    /// What logs call it.
    fn name(&self) -> &'static str;

    /// Whether it knows nothing, so that its scores say nothing.
    fn is_empty(&self) -> bool {
        false
    }

    /// What is known of each of these: as many scores as links.
    ///
    /// # Errors
    /// [`Rejection::Provider`].
    fn lookup<'a>(&'a self, links: &'a [Canonical]) -> PendingScores<'a>;
}

impl Reputation for Store {
    fn name(&self) -> &'static str {
        "embedded"
    }

    fn is_empty(&self) -> bool {
        Self::is_empty(self)
    }

    fn lookup<'a>(&'a self, links: &'a [Canonical]) -> PendingScores<'a> {
        Box::pin(std::future::ready(Ok(Self::lookup(self, links))))
    }
}

/// What is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IndicatorType {
    /// `url_intel`.
    Urls,
    /// `domain_intel`.
    Domains,
}

/// Says that nobody is behind a provider's name (`ProviderDisabled`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nobody is behind this provider's name")]
pub struct Disabled;

/// Provider names and what is behind them; made anew on a reload.
#[derive(Clone, Default)]
pub struct Intel(BTreeMap<(IndicatorType, String), Arc<dyn Reputation>>);

impl Intel {
    /// Puts someone behind a name, in place of who was there.
    pub fn put(&mut self, asked: IndicatorType, provider: &str, reputation: Arc<dyn Reputation>) {
        self.0.insert((asked, provider.to_owned()), reputation);
    }

    /// Who is behind a provider's name.
    ///
    /// # Errors
    /// [`Disabled`].
    pub fn get(&self, asked: IndicatorType, provider: &str) -> Result<Arc<dyn Reputation>, Disabled> {
        self.0.get(&(asked, provider.to_owned())).cloned().ok_or(Disabled)
    }
}

impl std::fmt::Debug for Intel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(name, who)| (name, who.name()))).finish()
    }
}
