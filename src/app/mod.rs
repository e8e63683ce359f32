//! The composition root: a checked configuration → built parts → a server. The only part that knows all others.
//!
//! | file | what |
//! |---|---|
//! | `open_store` | [`OpenStore`]: the store and what lies in it |
//! | `services` | what outlives a reload: store, vault, tokens, rules, metrics |
//! | `files` | grants for the file store, the share service |
//! | `links` | links to shared files, and who takes mails with them |
//! | `master` | the master key, as the configuration says where it is |
//! | `new_master` | another master key in its place |
//! | `memory` | what is remembered of callers, forgotten |
//! | `endpoints` | our own endpoints, built from the parts |
//! | `table` | a configuration's routes, built from the parts |
//! | `client_certificates` | what routes ask of callers' certificates |
//! | `credentials` | what upstreams are shown that callers do not have |
//! | `pools` | upstreams, their peers and breakers |
//! | `guardrails` | routes that look through texts for whoever asks |
//! | `metering` | how usage is counted, and written down |
//! | `route_filters` | filters that are made of a route's settings alone |
//! | `policy` | a redactor for each direction, from `[routes.redact]` |
//! | `callers_tokens` | filters that check tokens issued elsewhere: JWTs and introspected ones |
//! | `sign` | tokens for upstreams, and public keys |
//! | `configured_providers` | [`ConfiguredProviders`]: whom sanitizing asks, built from a configuration |
//! | `analyzers` | who is asked what texts hold, and which rules their findings are of |
//! | `admin` | metrics and health on their own listener |
//! | `console` | the console there; `no_console`, in its place in a program without one |
//! | `console_state` | what it is told of configurations |
//! | `serve/` | the running process: signals, reload, drain |
//! | `embed` | the chain for another Pingora server |
//! | `audited` | the audit log |
//! | `audit_copies/` | its lines in the store and at a collector |
//! | `collector` | who takes what OTLP carries |
//! | `check` | files of a configuration that only their users can judge |
//! | `cleaning` | one file, cleaned on the command line |
//! | `blocks` | input in blocks, which threads work on ahead |
//! | `text_scans` | such blocks of a text, looked through for its scanner |
//! | `lines` | lines of a live text |
//! | `pipe` | text from standard input to standard output |
//! | `tls_files` | the files of a listener's TLS |
//! | `traces` | spans on their way to a collector |
//! | `trial` | a gateway to try |
//! | `error` | [`AppError`]: why the process cannot do what it is told to |
//! | `upkeep` | what it does every second |
//! | `process` | what the process asks of the operating system for itself |

mod admin;
mod analyzers;
mod audit_copies;
mod audited;
mod blocks;
mod callers_tokens;
mod check;
mod cleaning;
mod client_certificates;
mod collector;
mod configured_providers;
#[cfg_attr(not(feature = "console"), path = "no_console.rs")]
mod console;
mod console_state;
mod credentials;
mod embed;
mod endpoints;
mod error;
mod files;
mod guardrails;
mod lines;
mod links;
mod master;
mod memory;
mod metering;
mod new_master;
mod open_store;
mod pipe;
mod policy;
mod pools;
mod process;
mod route_filters;
mod serve;
mod services;
mod sign;
mod table;
mod text_scans;
mod tls_files;
mod traces;
#[cfg(feature = "console")]
mod trial;
mod upkeep;

/// For whoever asks a running gateway how it is.
pub use crate::net::with_any_certificate;
pub use crate::telemetry::{colour_log, flush_log, log_line};
pub use audit_copies::copy_audit_file;
pub use blocks::{Arrival, Block, BlockWork, Blocks, InputPart, InputParts};
pub use check::{check_files, file_doubts};
pub use cleaning::{Cleaner, CleaningOutcome, CleaningRefusal, CleaningRequest, Released, release_policy};
pub use configured_providers::ConfiguredProviders;
pub use error::AppError;
pub use memory::{RememberedScope, erase};
pub use new_master::{NewMaster, OldKeyFate, RotationObserver, replace_master};
pub use open_store::OpenStore;
pub use pipe::{PipeEnds, redact, unredact};
pub use process::{ending_by_signal, log_warnings, logged, without_core_dumps};
pub use serve::{Announce, ConfigSource, serve};
pub use services::{Services, aws_secrets, builtin};
pub use text_scans::TextScans;
#[cfg(feature = "console")]
pub use trial::{Trial, TrialLinks, try_out};
