//! Scanners and intelligence, built from a configuration: at the start, and anew on a reload.

use std::sync::Arc;

use crate::app::error::AppError;
use crate::base::clock::SharedClock;
use crate::config::settings::{ProviderEngine, RemoteIntel, Sanitize, Scan, ScanAddress};
use crate::net::{Allow, Client};
use crate::sanitize::intel::{IndicatorType, Intel, Remote, RemoteSetup, Reputation, StoreMaking};
use crate::sanitize::scan::{self, ClamdAddress, ClamdSetup, Rules, Scanners};

/// Whom sanitizing asks, and the way out.
#[derive(Clone, Debug)]
pub struct ConfiguredProviders {
    /// Scanners.
    pub scan: Scanners,
    /// What is known of URLs and domains.
    pub intel: Intel,
    /// For a call's `source_url`.
    pub client: Client,
}

impl ConfiguredProviders {
    /// Reads rules and feeds, and connects to nobody yet. It reads files, so not in a task.
    ///
    /// # Errors
    /// Rules or feeds that cannot be read, by file and line.
    pub fn new(settings: &Sanitize, clock: &SharedClock) -> Result<Self, AppError> {
        let places = settings.fetch_allow.iter().map(|place| place.0.clone()).collect();
        let client = Client::new(Allow::new(places)).map_err(wrong)?;
        Ok(Self { scan: scanners(&settings.scan)?, intel: intel(settings, &client, clock)?, client })
    }
}

fn wrong(error: impl std::fmt::Display) -> AppError {
    AppError::Sanitize(error.to_string())
}

fn scanners(scan: &Scan) -> Result<Scanners, AppError> {
    let rules = match &scan.rules {
        Some(folder) => Rules::folder(folder),
        None => Rules::builtin(),
    };
    let (found, digests) = rules.as_ref().map(Rules::len).unwrap_or_default();
    tracing::info!(rules = found, digests, "scan rules");
    let clamd = scan.clamd.as_ref().map(|clamd| ClamdSetup {
        address: match &clamd.address {
            ScanAddress::Unix(path) => ClamdAddress::Unix(path.clone()),
            ScanAddress::Tcp(address) => ClamdAddress::Tcp(*address),
        },
        most: clamd.max.bytes(),
        time: clamd.time.get(),
        scans: clamd.scans.get(),
    });
    let engine = |engine: ProviderEngine| match engine {
        ProviderEngine::Embedded => scan::ScanEngine::Embedded,
        ProviderEngine::Clamd => scan::ScanEngine::Clamd,
    };
    let providers = scan.providers.iter().map(|(name, at)| (name.clone(), engine(**at))).collect();
    Scanners::new(&providers, Arc::new(rules.map_err(wrong)?), scan.time.get(), clamd).map_err(wrong)
}

fn intel(settings: &Sanitize, client: &Client, clock: &SharedClock) -> Result<Intel, AppError> {
    let settings = &settings.intel;
    let mut making = StoreMaking::new();
    for path in &settings.common {
        making.warnings(path).map_err(wrong)?;
    }
    for path in &settings.feeds {
        let loaded = making.load(path).map_err(wrong)?;
        let (taken, passed, skipped) = (loaded.taken, loaded.passed, loaded.skipped);
        tracing::info!(feed = %path.display(), taken, passed, skipped, "feed");
    }
    let store: Arc<dyn Reputation> = Arc::new(making.done());
    // One for each, whatever names it has: they share what is kept.
    let remotes = settings.remote.iter().map(|(name, remote)| {
        (name.as_str(), Arc::new(Remote::new(setup(remote), client.clone(), Arc::clone(clock))))
    });
    let remotes: std::collections::BTreeMap<_, _> = remotes.collect();
    let mut intel = Intel::default();
    let both = [
        (IndicatorType::Urls, &settings.url_providers),
        (IndicatorType::Domains, &settings.domain_providers),
    ];
    for (asked, providers) in both {
        for (provider, behind) in providers {
            let remote = remotes.get(behind.as_str()).map(|remote| Arc::clone(remote) as Arc<dyn Reputation>);
            // Checking has made sure that a name that is no remote's is `embedded`.
            intel.put(asked, provider, remote.unwrap_or_else(|| Arc::clone(&store)));
        }
    }
    Ok(intel)
}

fn setup(remote: &RemoteIntel) -> RemoteSetup {
    let headers = remote.headers.iter().map(|(name, value)| (name.clone(), value.value().clone()));
    RemoteSetup {
        url: remote.url.0.clone(),
        headers: headers.collect(),
        time: remote.time.get(),
        cached: remote.cached.get(),
        keep: remote.keep.get(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::ConfiguredProviders;
    use crate::base::clock::{SharedClock, SystemClock};
    use crate::config::Spanned;
    use crate::config::settings::Sanitize;
    use crate::sanitize::intel::{Canonical, IndicatorType};

    #[tokio::test]
    async fn providers_are_what_the_configuration_says() {
        let clock: SharedClock = Arc::new(SystemClock);
        let folder = tempfile::tempdir().unwrap();
        let feed = folder.path().join("a.txt");
        fs::write(&feed, "http://bad.test/x\n").unwrap();
        let mut settings = Sanitize::default();
        settings.intel.feeds = vec![Spanned::new(feed.clone())];
        let providers = ConfiguredProviders::new(&settings, &clock).unwrap();
        assert!(providers.scan.get("crowdstrike").is_ok() && providers.scan.get("acme").is_err());
        let domains = providers.intel.get(IndicatorType::Domains, "domaintools").unwrap();
        let scores = domains.lookup(&[Canonical::domain("bad.test").unwrap()]).await.unwrap();
        assert_eq!(scores.first().map(|score| score.get()), Some(80));
        assert!(providers.intel.get(IndicatorType::Urls, "domaintools").is_err());
        fs::write(&feed, "this is no feed\n").unwrap();
        let error = ConfiguredProviders::new(&settings, &clock).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("sanitize: {}:1: not a row of a feed, and so are most others", feed.display())
        );
        settings.intel.feeds.clear();
        settings.scan.rules = Some(Spanned::new(folder.path().join("gone")));
        assert!(ConfiguredProviders::new(&settings, &clock).is_err());
    }
}
