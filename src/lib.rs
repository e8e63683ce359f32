//! Portcullis keeps secrets in: a gateway, built on Pingora, that redacts what goes to an LLM API or any other HTTP
//! service, restores the answers, and answers a documented redaction API itself, all under one filter chain.
//!
//! # The idea in six sentences
//!
//! 1. **One chain of filters for every request**: it ends at a *terminal*, which is an upstream or one of our own
//!    endpoints, and its answer passes the same filters.
//! 2. **Decide first, rewrite as it passes**: filters may await when they see a head or a collected document; what
//!    they leave for bytes in motion is a pure, synchronous [`stream::Rewriter`].
//! 3. **Pure below, I/O above**: `edit stream crypto detect redact` never await, log, read clocks or touch files.
//! 4. **Config says *which*, code says *when***: filters sort themselves by [`gateway::filter::Stage`].
//! 5. **What matters for safety is a type**: [`api::token::Principal`], [`redact::Redacted`],
//!    [`base::secret::Secret`] have one constructor each.
//! 6. **Bytes nobody changed leave exactly as they came.**
//!
//! # In another server
//!
//! [`gateway::embed::Chain`] puts the chain around the callbacks of somebody else's Pingora server: its own
//! `ProxyHttp` goes in, one comes out that redacts requests before they reach its peer and restores the answers.
//!
//! ```no_run
//! use pingora::prelude::*;
//! use portcullis::gateway::embed::{Chain, ChainedProxy};
//!
//! /// `host` is what the server was before.
//! fn guarded<P: ProxyHttp + Send + Sync>(host: P) -> std::result::Result<ChainedProxy<P>, Box<dyn std::error::Error>>
//! where
//!     P::CTX: Send + Sync,
//! {
//!     Ok(Chain::from_config("embed.toml")?.guard(host))
//! }
//! ```
//!
//! # The map
//!
//! | part | holds | may import |
//! |---|---|---|
//! | [`base`] | types that every part uses | – |
//! | [`net`] | going out: one HTTP client that checks addresses | base |
//! | [`telemetry`] | events, metrics, the log | base |
//! | [`edit`] | changes to texts, and the way to the bytes that spell them | – |
//! | [`stream`] | bytes in motion | base edit |
//! | [`crypto`] | algorithms without lifecycles | base |
//! | [`detect`] | text in, findings out | base edit |
//! | [`redact`] | findings in, clean text and the way back out | base crypto detect edit stream |
//! | [`store`] | rows and files; the only place for SQL and S3 | base crypto telemetry |
//! | [`vault`] | keys, sealed at rest | base crypto net store telemetry |
//! | [`sanitize`] | one file in, one clean file out | base edit net stream detect redact store telemetry |
//! | [`audit`] | who did what, in lines that hold each other's hashes | base crypto |
//! | [`valkey`] | the one door to a Valkey or Redis, which nodes share | base crypto telemetry |
//! | [`usage`] | what requests to models take, and budgets | base store valkey |
//! | [`rates`] | how often, over all nodes | base valkey |
//! | [`api`] | our endpoints, without Pingora | audit base crypto detect edit net redact sanitize store stream telemetry usage vault |
//! | [`gateway`] | one chain of filters for every request; the only place for Pingora | api audit base crypto edit net rates redact store stream telemetry usage vault |
//! | [`config`] | one TOML file, checked | base detect gateway net redact store telemetry usage valkey |
//! | [`console`] | what the gateway does, as pages for people | api base config crypto detect gateway redact store stream telemetry usage vault |
//! | [`app`] | composition: a checked configuration becomes a server | api audit base config console crypto detect gateway net rates redact sanitize store stream telemetry usage valkey vault |
//! | [`cli`] | the command line | api app audit base config detect redact sanitize store usage vault |

#[cfg(feature = "server")]
pub mod api;
#[cfg(feature = "server")]
pub mod app;
#[cfg(feature = "server")]
pub mod audit;
pub mod base;
#[cfg(feature = "server")]
pub mod cli;
#[cfg(feature = "server")]
pub mod config;
#[cfg(feature = "console")]
pub mod console;
#[cfg(feature = "redact")]
pub mod crypto;
#[cfg(feature = "detect")]
pub mod detect;
pub mod edit;
#[cfg(feature = "server")]
pub mod gateway;
#[cfg(feature = "server")]
pub mod net;
#[cfg(feature = "server")]
pub mod rates;
#[cfg(feature = "redact")]
pub mod redact;
#[cfg(feature = "server")]
pub mod sanitize;
#[cfg(feature = "server")]
pub mod store;
#[cfg(feature = "redact")]
pub mod stream;
#[cfg(feature = "server")]
pub mod telemetry;
#[cfg(feature = "server")]
pub mod usage;
#[cfg(feature = "server")]
pub mod valkey;
#[cfg(feature = "server")]
pub mod vault;
