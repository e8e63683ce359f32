//! What is known of URLs and domains: feeds in memory, and providers elsewhere.
//!
//! A link is brought into its one spelling, looked up exactly and then ever wider, and gets a score; what follows from
//! a score is the caller's to decide.
//!
//! | file | noun |
//! |---|---|
//! | `canonical` | [`Canonical`]: one spelling for all spellings of a URL or domain |
//! | `score` | [`Score`], from 0 to 100, and its [`ThreatLevel`] |
//! | `store` | [`Store`]: what feeds have listed, as hashes in memory |
//! | `feed` | the shapes of feeds: URLhaus, ThreatFox, MISP, plain lists |
//! | `csv` | a line of comma-separated values |
//! | `remote` | [`Remote`]: a provider that is asked over HTTP |
//! | `cache` | what it answered lately, and whether it answers at all |
//! | `reputation` | [`Intel`]: provider names and what is behind them |

mod cache;
mod canonical;
mod csv;
mod feed;
mod remote;
mod reputation;
mod score;
mod store;

pub use canonical::Canonical;
pub use feed::{FeedError, Loaded};
pub use remote::{Remote, RemoteSetup};
pub use reputation::{Disabled, IndicatorType, Intel, PendingScores, Reputation};
pub use score::{Score, ThreatLevel};
pub use store::{Store, StoreMaking};
