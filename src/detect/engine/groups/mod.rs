//! The groups of rules.
//!
//! | file | finds |
//! |---|---|
//! | [`digits`] | what has a digit near its beginning |
//! | [`tokens`], [`shapes`] | long runs of letters and digits |
//! | [`prefixes`] | secrets by their prefix |
//! | [`assignments`] | secrets by the name they are given to, and by other places that say what they are |
//! | [`email_ip`] | e-mail addresses from `@`, IPv6 from `:` |
//! | [`names`] | persons, places, organisations |
//! | [`custom`], [`first_words`] | patterns that may begin anywhere: operators' own |

mod assignments;
mod custom;
mod digits;
mod email_ip;
mod first_words;
mod names;
mod prefixes;
mod shapes;
mod tokens;

pub(crate) use assignments::Assignments;
pub(crate) use custom::Custom;
pub(crate) use digits::Digits;
pub(crate) use email_ip::{Emails, Ipv6};
pub(crate) use names::{Introductions, NameRules, NamesGroup};
#[cfg(feature = "redact")]
pub(crate) use names::{STREET_ENDINGS, STREET_WORDS, is_common_word, is_name_by_label, surname};
#[cfg(feature = "names-model")]
pub(crate) use names::{WordKnowledge, is_publication_word, room};
pub(crate) use prefixes::Prefixes;
pub(crate) use shapes::Shapes;
pub(crate) use tokens::TokenGroup;
