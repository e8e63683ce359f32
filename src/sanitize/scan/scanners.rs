//! [`Scanners`]: provider names and the engines behind them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::sanitize::scan::{Clamd, ClamdSetup, Embedded, Rules, Scanner};

/// An engine, by its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanEngine {
    /// Rules in this process.
    Embedded,
    /// A clamd.
    Clamd,
}

/// Provider names and the engines behind them; made anew on a reload.
#[derive(Clone)]
pub struct Scanners(BTreeMap<String, Arc<dyn Scanner>>);

/// Why there is no engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScannersError {
    /// A provider's engine is clamd, and there is none.
    #[error("a provider is mapped to clamd, and no clamd is configured")]
    NoClamd,
    /// No engine answers to this name (`ProviderDisabled`).
    #[error("no engine is behind this provider's name")]
    Disabled,
}

impl Scanners {
    /// These providers; `time` is the embedded engine's for one part.
    ///
    /// # Errors
    /// [`ScannersError::NoClamd`].
    pub fn new(
        providers: &BTreeMap<String, ScanEngine>,
        rules: Arc<Rules>,
        time: Duration,
        clamd: Option<ClamdSetup>,
    ) -> Result<Self, ScannersError> {
        let embedded: Arc<dyn Scanner> = Arc::new(Embedded::new(rules, time));
        let clamd = clamd.map(|setup| Arc::new(Clamd::new(setup)) as Arc<dyn Scanner>);
        let named = providers.iter().map(|(name, engine)| {
            let scanner = match engine {
                ScanEngine::Embedded => Arc::clone(&embedded),
                ScanEngine::Clamd => clamd.clone().ok_or(ScannersError::NoClamd)?,
            };
            Ok((name.clone(), scanner))
        });
        Ok(Self(named.collect::<Result<_, ScannersError>>()?))
    }

    /// The engine that answers to a provider's name.
    ///
    /// # Errors
    /// [`ScannersError::Disabled`].
    pub fn get(&self, provider: &str) -> Result<Arc<dyn Scanner>, ScannersError> {
        self.0.get(provider).cloned().ok_or(ScannersError::Disabled)
    }

    /// The names that engines answer to.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl std::fmt::Debug for Scanners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(name, engine)| (name, engine.name()))).finish()
    }
}
