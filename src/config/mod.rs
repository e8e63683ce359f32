//! What the gateway is told: one TOML file, the environment and secret files, or the command line alone.
//!
//! | file | what |
//! |---|---|
//! | `settings/` | what the file may say, by topic |
//! | `load` | the way from a file, or from the command line, to a checked [`Config`] |
//! | `syntax` | TOML, going on after errors |
//! | `shape` | table to settings, with all that serde objects to |
//! | `message` | serde's messages in the file's words |
//! | `resolve` | the environment, secret files, paths |
//! | `check/` | what must fit together |
//! | `restart` | what a reload does not reach |
//! | `weakened` | what of the protection that there is another configuration takes away |
//! | `names` | the names model that the file points to |
//! | `rules` | the rules and the allow-list that `[detect]` describes, read from files of their own |
//! | `diagnostics` | what is wrong, by offset, without what is wrong in consequence |
//! | `problem` | what is wrong, by line and column |
//! | `spanned` | a value and where the file says it |
//! | `places` | where the file says something, by the path to it |
//! | `supplied` | values from the environment and from secret files |
//! | `expiry` | the certificates that listeners show, and how long they last |
//! | `credential` | values that go to an upstream, which may be in the vault |
//! | `similar` | what was probably meant |

mod check;
mod credential;
mod diagnostics;
mod expiry;
mod load;
mod message;
mod names;
mod places;
mod problem;
mod resolve;
mod restart;
mod rules;
pub mod settings;
mod shape;
mod similar;
mod spanned;
mod supplied;
mod syntax;
mod weakened;

pub use crate::base::units::{Period, Size};
pub use credential::Credential;
pub use expiry::{SOON, ShownCertificate, days, shown_certificates};
pub use load::{
    Config, LoadReport, Options, check_text, embedded, load, load_for, log_format, parse, reload,
};
pub use names::names_model;
pub use problem::{Problem, Problems};
pub use restart::restart_only;
pub use rules::CompiledRules;
pub use spanned::Spanned;
pub use supplied::{Env, ProcessEnv, Requirements, SecretSource, Supplied};
pub use weakened::{Weakening, listed_names, weakened};
