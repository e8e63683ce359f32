//! Rules as data: what a rule says, how rule files are read and checked one by one, and the files that are compiled in.
//!
//! | file | has |
//! |---|---|
//! | [`rule`] | a rule's fields |
//! | [`parse`] | TOML to rules |
//! | `syntax` | the options of the regular expressions in all rules |
//! | `literal` | literal texts as patterns, with word boundaries where they apply |
//! | [`prepare`] | what is checked of one rule, and what follows from it |
//! | [`cost`] | what a pattern costs, known before it is used |
//! | [`builtin`] | the files of this folder |
//! | `error` | why a rule or a rule file does not load |
//!
//! Rules of states are in `identity`, by region; rules of vendors are in `secrets`, by topic. Secrets that begin with
//! a constant prefix are in the files of `secrets` itself; those that only the vendor's name beside them tells are in
//! `secrets/named`. A file counts only if `builtin` names it. `README.md` is made from the code by
//! `portcullis rules page`, not written by hand; a test compares it.

mod builtin;
mod cost;
mod error;
mod literal;
mod parse;
mod prepare;
mod rule;
pub(crate) mod syntax;

pub(crate) use builtin::{BUILTIN, NAMED};
pub(crate) use cost::costly;
pub use cost::states;
pub use error::{RuleError, RuleFault, UnknownRule};
pub use literal::starting_with;
pub use parse::RuleFile;
pub(crate) use parse::{ParseError, parse};
pub use prepare::is_name;
pub(crate) use prepare::prepare;
#[cfg(test)]
pub(crate) use rule::ContextWords;
pub(crate) use rule::RuleRef;
pub use rule::{Anchor, Category, Edge, Family, Format, NameTag, Pattern, Rule, SecretKind, Severity};
