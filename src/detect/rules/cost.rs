//! What a customer's regular expression costs, known before it is used: its automaton is built within bounds of memory,
//! which bound the time of building it too, and an automaton takes one step a byte of whatever text.

use regex_automata::dfa::{StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;

use super::error::RuleFault;
use super::rule::Rule;

/// Memory that the automaton of one pattern may take while it is built and then, in bytes; some milliseconds of work.
const BUILD: usize = 2 << 20;
const BUILT: usize = 1 << 20;
/// The same for the states it is built from, in bytes: `[a-z]{1000}` has room, `(x{0,500}){0,100}` has not.
const STATES: usize = 256 << 10;

fn nfa(syntax: syntax::Config, regex: &str) -> Option<thompson::NFA> {
    let config = thompson::Config::new().utf8(false).nfa_size_limit(Some(STATES));
    thompson::Compiler::new().syntax(syntax).configure(config).build(regex).ok()
}

/// Whether one pattern of a rule may be used at all. It is known to parse.
fn affordable(regex: &str) -> bool {
    let Some(nfa) = nfa(super::syntax::config(), regex) else { return false };
    let config = dense::Config::new()
        .start_kind(StartKind::Both)
        .dfa_size_limit(Some(BUILT))
        .determinize_size_limit(Some(BUILD));
    dense::Builder::new().configure(config).build_from_nfa(&nfa).is_ok()
}

/// The first pattern of a rule that is too costly, counted from 1.
pub(crate) fn costly(rule: &Rule) -> Option<RuleFault> {
    let costly = rule.patterns.iter().position(|pattern| !affordable(&pattern.regex))?;
    Some(RuleFault::Costly(costly + 1))
}

/// How many states a regular expression with Unicode classes has, for those who compile it again and again; `None`
/// where it is none, or has too many.
pub fn states(regex: &str) -> Option<usize> {
    nfa(syntax::Config::new(), regex).map(|nfa| nfa.states().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_long_to_build_is_refused_soon() {
        for regex in [r"\bACME-\d{6}\b", "[a-z]{1000}", r"(?:foo|bar|[0-9a-f]{8}-){1,20}", "(?i)straße|naïve"]
        {
            assert!(affordable(regex), "{regex}");
        }
        for regex in [
            "(x{0,500}){0,100}y",
            "(?:a|b)*a(?:a|b){20}",
            "[ab]*b[ab]{18}c",
            "((a{0,50}){0,50}){0,50}",
            "(?:[a-z]{0,200}[0-9]{0,200}){0,40}",
        ] {
            assert!(!affordable(regex), "{regex}");
        }
        assert!(states("abc").is_some_and(|few| few < 20));
        assert!(states(r"\p{L}{10}").is_none_or(|many| many > 1000) && states("(").is_none());
    }
}
