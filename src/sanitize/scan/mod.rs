//! Scanners: is this file, or this part of one, known to be malicious?
//!
//! An engine looks at bytes and says so; which engine answers to which provider's name is the configuration's to say.
//! A scanner is never asked what to remove, and that something acts is no reason to call it malicious.
//!
//! | file | noun |
//! |---|---|
//! | `scanner` | [`Scanner`], a [`ScanItem`] that it looks at, its [`Verdict`] |
//! | `rules` | [`Rules`]: YARA rules and SHA-256 lists, built in or from a folder |
//! | `embedded` | [`Embedded`]: the engine that applies them in this process |
//! | `clamd` | [`Clamd`]: an engine in another process, over its socket |
//! | `counted` | [`CountedScanner`]: a scanner whose verdicts are counted |
//! | `scanners` | [`Scanners`]: provider names and the engines behind them |

mod clamd;
mod counted;
mod embedded;
mod rules;
mod scanner;
mod scanners;

pub use clamd::{Clamd, ClamdAddress, ClamdSetup};
pub use counted::CountedScanner;
pub use embedded::Embedded;
pub use rules::{Rules, RulesError};
pub use scanner::{ScanFailure, ScanItem, Scanner, Verdict};
pub use scanners::{ScanEngine, Scanners, ScannersError};
