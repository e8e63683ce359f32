//! The regular expression syntax of all rules.

use regex_automata::util::syntax;

/// Bytes, and ASCII classes.
pub(crate) fn config() -> syntax::Config {
    syntax::Config::new().unicode(false).utf8(false)
}
