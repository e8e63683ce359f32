//! Text in, findings out. No I/O, no clock, no log, and nothing here ever prints what it read.
//!
//! Rules are data ([`Rule`]) in a [`Catalogue`]; a [`Detector`] is a catalogue's engine with a [`RuleSelection`] of its
//! rules. It looks at a whole text with [`Detector::find`] or at a stream with a [`Scanner`]; both are one code
//! path, so any split of a text gives the same findings. Both read a text as people do ([`as_read`]), and know what
//! a value is called where it stands ([`Label`]).
//!
//! ```
//! use portcullis::detect::{Catalogue, RuleSelection, Detector};
//!
//! let rules = Catalogue::builtin()?;
//! let detector = Detector::new(&rules, &RuleSelection::defaults(&rules))?;
//! let text = "Write to jane.doe@harbour-post.com.";
//! let found = detector.find(text);
//! let [one] = found.as_slice() else { panic!("{} findings", found.len()) };
//! assert_eq!(detector.rule(one.rule).name(), "EMAIL_ADDRESS");
//! assert_eq!(text.get(one.span.start..one.span.end), Some("jane.doe@harbour-post.com"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | what |
//! |---|---|
//! | `rules` | rules as data: fields, parsing, and the built-in files |
//! | `validate` | the checks that rules name, such as check digits |
//! | `catalogue` | a set of rules, each checked for itself |
//! | `examples` | tests every rule on its own examples |
//! | `sets` | names for groups of rules, by category or region |
//! | `selection` | which rules of a catalogue are on, as a bit set |
//! | `allow` | allow-list of values that are not reported |
//! | `special_use` | loopback, private and documentation addresses and host names |
//! | `normal` | normalised view of a text, and the map back to its bytes |
//! | `naming` | what the name beside a value, such as `db_password`, says of it |
//! | `engine` | from text to candidate findings |
//! | `resolve` | decides between overlapping candidates |
//! | `detector` | compiled rules and a selection; scans whole texts and makes scanners |
//! | `scanner` | scans text that arrives in pieces |
//! | `speculative` | scans of pieces on other threads, used where they are what the scanner would find |
//! | `model` | persons and places by a neural model (feature `names-model`) |
//! | `finding` | a finding: span, rule, score, context word |
//! | `rejected` | candidates that were not reported, and why |
//! | [`offset`] | byte offsets to code points |

mod allow;
mod catalogue;
mod detector;
mod engine;
mod examples;
mod finding;
#[cfg(feature = "names-model")]
mod model;
mod naming;
mod normal;
pub mod offset;
mod rejected;
mod resolve;
mod rules;
mod scanner;
mod selection;
mod sets;
mod special_use;
mod speculative;
mod validate;

#[cfg(test)]
mod tests;

pub use allow::{Allow, AllowError};
pub use catalogue::Catalogue;
pub use detector::{Cache, Detector};
#[cfg(feature = "redact")]
pub(crate) use engine::{STREET_ENDINGS, STREET_WORDS, is_common_word, is_name_by_label, surname};
pub use finding::{ContextWord, Finding, RuleId, Score, Span};
#[cfg(feature = "names-model")]
pub use model::{
    FILES as MODEL_FILES, ModelError, ModelFiles, NamesModel, NamesOptions, NamesStats, OverLength,
};
pub use naming::Label;
pub use normal::{WIDEST, as_read, char_as_read};
pub use rejected::{Rejected, Rejection};
pub use rules::{
    Anchor, Category, Edge, Family, Format, NameTag, Pattern, Rule, RuleError, RuleFault, RuleFile,
    SecretKind, Severity, UnknownRule, is_name, starting_with, states,
};
pub use scanner::Scanner;
pub use selection::RuleSelection;
pub use sets::{RuleSet, UnknownSet};
pub use speculative::{NextScan, SpeculativeScan};
