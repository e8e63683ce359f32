//! The engine: from text to candidate findings. It works on a window of the text and never decides on text that
//! has not arrived, so a stream and a whole text are one code path. Eight groups of rules are scanned apart, each by what
//! its values must contain.
//!
//! | file | has |
//! |---|---|
//! | [`view`] | the window |
//! | [`mask`] | which bytes of the window are of a class: what steps over text that cannot hold a value |
//! | `pattern` | a rule's compiled pattern, and what matches from one start share |
//! | [`states`], [`table`], [`automaton`] | the patterns of a group, walked from a start |
//! | [`context`] | words near a value |
//! | [`budget`] | what starts that come to nothing may cost |
//! | [`track`] | how far a group has come |
//! | [`pass`](mod@pass) | one look at a window; from a match to a finding |
//! | [`overlong`] | values that are longer than their reach |
//! | [`group`], [`groups`] | what a group is, and each of them |
//! | `group_id` | the name of each group |
//! | [`build`], [`run`] | from rules to groups, and their run over a window |

mod automaton;
mod budget;
mod build;
mod context;
mod group;
mod group_id;
mod groups;
mod mask;
mod overlong;
mod pass;
mod pattern;
mod run;
mod states;
mod table;
mod track;
mod view;

#[cfg(feature = "redact")]
pub(crate) use groups::{STREET_ENDINGS, STREET_WORDS, is_common_word, is_name_by_label, surname};
#[cfg(feature = "names-model")]
pub(crate) use groups::{WordKnowledge, is_publication_word, room};
pub(crate) use mask::{BLOCK, Masks};
pub(crate) use run::{Engine, WindowScan};
pub(crate) use track::{TrackState, Tracks};
pub(crate) use view::{LOOKBACK, View};
