//! What runs, what a change to it would do, and what of it ends when.
//!
//! | file | noun |
//! |---|---|
//! | `difference` | what changes from one configuration to another |
//! | `expiry` | keys, and how long they last |
//! | `shown` | a configuration's text without secrets |
//! | `section` | [`ConfigurationPages`] |

mod difference;
mod expiry;
mod section;
mod shown;

pub(super) use section::ConfigurationPages;
