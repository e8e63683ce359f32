//! Secrets known by where they stand: given to a name that says so, behind a scheme of authentication, in an
//! address, on a command line. One packed search finds the words such places have; all else is looked at from
//! there, forwards and within bounds.
//!
//! | file | has |
//! |---|---|
//! | [`words`], [`command_words`], [`word_context`], [`search`] | the words, and what they begin |
//! | [`text`] | reading forwards within bounds |
//! | [`form`], [`shape`], [`seed`], [`value`] | how a value is given, what it looks like, what it is |
//! | [`bare`], [`bounded`] | values without quotes: of a word, and with blanks within what bounds them |
//! | [`linked`], [`joined`], [`literals`] | values behind what gives them: in quotes, of several strings, on lines of their own |
//! | [`tags`], [`arrows`], [`connection`] | tags before values, arrows between them, lists of settings around them |
//! | [`unspaced`] | brackets and full stops of other scripts around values, and scripts without spaces |
//! | [`foreign`] | what is given to words of other languages |
//! | [`operator`] | what stands between a name and its value |
//! | [`fallback`] | values in place of settings that are missing, and quotes within quotes of a shell |
//! | [`beside`] | values beside names that are values themselves |
//! | [`marks`] | formatting and wrapping around names and values |
//! | [`said`] | values below their names, and in sentences |
//! | [`plain`] | values that are a plain word |
//! | [`labels`] | what is written in such places and is no value |
//! | [`layout`] | values that a layout parts from their names |
//! | [`lists`], [`list_heads`], [`list_items`] | lists of secrets: going through them, where they begin, their items |
//! | [`inputs`] | values of fields of forms |
//! | [`cookies`], [`cookie_places`] | cookies of headers, and apart from them |
//! | [`command`], [`positions`], [`secret_commands`] | passwords on command lines, and secrets that commands are given |
//! | [`calls`], [`call_names`], [`key_numbers`], [`named`], [`settings`], [`places`] | the value of each kind of place |
//! | [`group`] | the scan |

mod arrows;
mod bare;
mod beside;
mod bounded;
mod call_names;
mod calls;
mod command;
mod command_words;
mod connection;
mod cookie_places;
mod cookies;
mod fallback;
mod foreign;
mod form;
mod group;
mod inputs;
mod joined;
mod key_numbers;
mod labels;
mod layout;
mod linked;
mod list_heads;
mod list_items;
#[cfg(test)]
mod list_tests;
mod lists;
mod literals;
mod marks;
mod named;
mod operator;
mod places;
mod plain;
mod positions;
mod said;
mod search;
mod secret_commands;
mod seed;
mod settings;
mod shape;
mod tags;
#[cfg(test)]
mod tests;
mod text;
mod unspaced;
mod value;
#[cfg(test)]
mod value_tests;
mod word_context;
mod words;
#[cfg(test)]
mod written_tests;

pub(crate) use group::Assignments;
