//! Secrets known by where they stand: given to a name that says so, behind a scheme of authentication, in an
//! address, on a command line. One packed search finds the words such places have; all else is looked at from
//! there, forwards and within bounds.
//!
//! | file | has |
//! |---|---|
//! | [`search`] | the words |
//! | [`text`] | reading forwards within bounds |
//! | [`form`], [`shape`], [`seed`], [`value`] | how a value is given, what it looks like, what it is |
//! | [`bare`] | values without quotes |
//! | [`unspaced`] | brackets and full stops of other scripts around values, and scripts without spaces |
//! | [`foreign`] | what is given to words of other languages |
//! | [`operator`] | what stands between a name and its value |
//! | [`fallback`] | values in place of settings that are missing, and quotes within quotes of a shell |
//! | [`beside`] | values beside names that are values themselves |
//! | [`marks`] | formatting and wrapping around names and values |
//! | [`said`] | values below their names, and in sentences |
//! | [`plain`] | values that are a plain word |
//! | [`layout`], [`lists`] | values that a layout parts from their names; the items of lists |
//! | [`inputs`], [`cookies`] | values of fields of forms, and of cookies |
//! | [`calls`], [`command`], [`key_numbers`], [`named`], [`settings`], [`places`] | the value of each kind of place |
//! | [`group`] | the scan |

mod bare;
mod beside;
mod calls;
mod command;
mod cookies;
mod fallback;
mod foreign;
mod form;
mod group;
mod inputs;
mod key_numbers;
mod layout;
mod lists;
mod marks;
mod named;
mod operator;
mod places;
mod plain;
mod said;
mod search;
mod seed;
mod settings;
mod shape;
#[cfg(test)]
mod tests;
mod text;
mod unspaced;
mod value;

pub(crate) use group::Assignments;
