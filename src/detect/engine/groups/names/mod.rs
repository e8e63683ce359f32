//! Persons, places and organisations: sequences of words that begin with a capital, by what is known of the words,
//! by titles and endings, and by the word before. Only capitals cost anything, and
//! words that introduce somebody.
//!
//! | file | has |
//! |---|---|
//! | [`lexicon`], [`roles`], [`words`], [`places`], [`peoples`], [`companies`], [`forms`], [`things`] | what is known of words |
//! | [`letters`], [`spelling`], [`word`] | a word as it stands and is spelt |
//! | [`surroundings`], [`programs`] | what a word touches: code, dates, quantities, the words before it; places in programs |
//! | [`labels`] | names behind labels that say that one follows |
//! | [`records`] | names in capitals as reservations, hospitals and cards have them |
//! | [`unlisted`], [`correspondence`] | full names that no list has, where somebody's stands; words of letters and mail |
//! | [`eponyms`], [`models`], [`homonyms`], [`english`] | names that are of things, of language models, and words of English |
//! | [`streets`] | addresses of streets |
//! | [`addresses`] | addresses in scripts without capitals, behind their labels |
//! | [`gather`] | from text to words |
//! | [`tagger`] | from words to names |
//! | [`group`] | the scan |
//! | [`common`] | whether a word is a common one |
//! | `knowledge` | what the names model asks of a word |
//! | [`surname`] | the surname of a full name |
//! | [`introductions`] | names in small letters, behind words that introduce them |

mod addresses;
#[cfg(feature = "redact")]
mod common;
mod companies;
mod correspondence;
mod english;
mod eponyms;
mod forms;
mod gather;
mod group;
mod homonyms;
mod introductions;
#[cfg(feature = "names-model")]
mod knowledge;
mod labels;
mod letters;
mod lexicon;
mod models;
mod peoples;
mod places;
mod programs;
mod records;
mod roles;
mod spelling;
mod streets;
#[cfg(feature = "redact")]
mod surname;
mod surroundings;
mod tagger;
mod things;
mod unlisted;
mod word;
mod words;

#[cfg(feature = "redact")]
pub(crate) use common::{is_common_word, is_name_by_label};
pub(crate) use group::{NameRules, NamesGroup};
pub(crate) use introductions::Introductions;
#[cfg(feature = "names-model")]
pub(crate) use knowledge::{WordKnowledge, is_publication_word, room};
#[cfg(feature = "redact")]
pub(crate) use places::{STREET_ENDINGS, STREETS as STREET_WORDS};
#[cfg(feature = "redact")]
pub(crate) use surname::surname;
