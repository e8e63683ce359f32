//! The vocabulary every part speaks. It depends on nothing else in the crate.
//!
//! | file | noun |
//! |---|---|
//! | [`address`] | blocks of IP addresses, and what they are for |
//! | [`secret`] | a value that cannot be printed |
//! | [`id`] | request, token and item ids: newtypes that print and parse their prefix |
//! | [`calendar`] | minutes, hours, days and months |
//! | [`clock`] | the only reader of time |
//! | [`generations`] | what is known of things, in a bounded room |
//! | [`listing`] | where the times of a list lie, and in which order it goes |
//! | [`budget`] | bytes that a request may still hold, and what it holds |
//! | [`checkpoint`] | where long work asks whether to go on |
//! | `ordered_pool` | threads that do jobs side by side, with results in the order of the jobs |
//! | [`quota`] | where work asks whether it may use one value more |
//! | [`rate`] | how often something may be done |
//! | [`reader`] | binary forms of our own, read within bounds |
//! | [`regular_file`] | files that others put there, opened only where they are files |
//! | [`steering`] | characters that change how a text is shown and are not seen
//! | [`path`] | a request's path, in the one form in which it is matched and sent on |
//! | [`mod@pointer`] | JSON Pointer (RFC 6901), as errors print it |
//! | `throttle` | what happens often and is said every few seconds |
//! | [`template`] | JSON with places for claims |
//! | `units` | sizes and times as people write them |
//! | `from_text` | values that a file writes as text |

pub mod address;
pub mod budget;
#[cfg(feature = "server")]
pub mod calendar;
pub mod checkpoint;
pub mod clock;
#[cfg(feature = "server")]
pub(crate) mod from_text;
pub mod generations;
pub mod id;
pub mod listing;
#[cfg(feature = "server")]
pub mod ordered_pool;
pub mod path;
pub mod pointer;
pub mod quota;
#[cfg(feature = "server")]
pub mod rate;
pub mod reader;
#[cfg(feature = "server")]
pub mod regular_file;
pub mod secret;
#[cfg(feature = "server")]
pub mod steering;
pub mod template;
#[cfg(feature = "server")]
pub mod throttle;
#[cfg(feature = "server")]
pub mod units;
