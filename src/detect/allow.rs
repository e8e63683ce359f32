//! Values that may pass though a rule finds them: a company's own telephone number, addresses of test accounts.
//!
//! An entry allows whole values, never parts, and takes candidates away before overlaps are resolved. So what
//! another rule sees in or around an allowed value is reported as if the allowing rule had not been there: an
//! allow-list can make redaction do too much, not too little.

use std::collections::HashSet;

use regex_automata::{Anchored, Input, meta};

use super::finding::RuleId;
use super::normal::as_read;
use super::selection::RuleSelection;
use super::special_use::{is_example, is_special};

/// The longest value that can be allowed, in bytes.
const LONGEST: usize = Allow::LONGEST;

/// The longest pattern, in bytes.
const PATTERN: usize = 4 << 10;

/// The most entries.
const ENTRIES: usize = 1024;

/// The most values of one entry.
const VALUES: usize = 100_000;

/// Bytes that one compiled pattern may take.
const COMPILED: usize = 1 << 20;

/// A list of allowed values.
#[derive(Clone, Default)]
pub struct Allow(Vec<AllowedText>);

#[derive(Clone)]
struct AllowedText {
    /// For whose findings; `None` for all.
    rules: Option<RuleSelection>,
    what: Test,
}

#[derive(Clone)]
enum Test {
    Values(HashSet<String>),
    /// In lower case.
    Folded(HashSet<String>),
    Pattern(meta::Regex),
    /// What is nobody's.
    SpecialUse,
    ExampleMail,
}

// Allowed values are not to be shown either.
impl std::fmt::Debug for Allow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Allow({} entries)", self.0.len())
    }
}

/// Why an entry cannot be used. Says nothing of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AllowError {
    /// Too many entries or values.
    #[error("at most {ENTRIES} entries, of at most {VALUES} values each, can be allowed")]
    Many,
    /// A value is empty or too long.
    #[error("value {0} is empty or longer than {LONGEST} bytes")]
    Value(usize),
    /// Not a regular expression, or too large.
    #[error("not a regular expression of at most {PATTERN} bytes that can be used here")]
    Pattern,
}

impl Allow {
    /// Allows what `more` allows as well.
    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// The same for findings of `rules` alone.
    #[must_use]
    pub fn only_for(mut self, rules: &RuleSelection) -> Self {
        for entry in &mut self.0 {
            let both = |own: &RuleSelection| own.iter().filter(|rule| rules.has(*rule)).collect();
            entry.rules = Some(entry.rules.as_ref().map_or_else(|| rules.clone(), both));
        }
        self
    }

    /// Whether nothing is allowed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The longest value that can be listed, in bytes.
    pub const LONGEST: usize = 256;
    /// The built-in rules that may find what is nobody's: see [`Allow::special_use`].
    pub const SPECIAL_USE: [&'static str; 3] = ["IP_ADDRESS", "EMAIL_ADDRESS", "URL"];

    /// Allows these values where one of `rules` (`None`: any) finds them.
    pub fn values<'v>(
        &mut self,
        rules: Option<RuleSelection>,
        values: impl IntoIterator<Item = &'v str>,
        ignore_case: bool,
    ) -> Result<(), AllowError> {
        let mut known = HashSet::new();
        for (value, n) in values.into_iter().zip(1..) {
            if value.is_empty() || value.len() > LONGEST {
                return Err(AllowError::Value(n));
            }
            // What is found is compared as it reads.
            let value = as_read(value);
            known.insert(if ignore_case { value.to_lowercase() } else { value.into_owned() });
            if known.len() > VALUES {
                return Err(AllowError::Many);
            }
        }
        self.push(rules, if ignore_case { Test::Folded(known) } else { Test::Values(known) })
    }

    /// Allows values that `regex` matches from end to end where one of `rules` (`None`: any) finds them.
    pub fn pattern(&mut self, rules: Option<RuleSelection>, regex: &str) -> Result<(), AllowError> {
        if regex.len() > PATTERN {
            return Err(AllowError::Pattern);
        }
        // By itself first: `a)|(b` is none, though it would be one in parentheses.
        let config = meta::Config::new().nfa_size_limit(Some(COMPILED)).onepass_size_limit(Some(COMPILED));
        let build = |regex: &str| meta::Builder::new().configure(config.clone()).build(regex).ok();
        let built = build(regex).and_then(|_| build(&format!(r"\A(?:{regex})\z")));
        self.push(rules, Test::Pattern(built.ok_or(AllowError::Pattern)?))
    }

    /// Allows addresses and host names that are nobody's where one of `rules` finds them: loopback, private and
    /// documentation addresses, `localhost` and the like, pages there, the `git@` of remote repositories, and mailboxes that
    /// nobody reads (`noreply@…`). Of the built-in rules those of [`Allow::SPECIAL_USE`] may.
    pub fn special_use(&mut self, rules: RuleSelection) -> Result<(), AllowError> {
        self.push(Some(rules), Test::SpecialUse)
    }

    /// Allows mail addresses at names of documentation where one of `rules` finds them: in what a program writes they are placeholders.
    pub fn example_mail(&mut self, rules: RuleSelection) -> Result<(), AllowError> {
        self.push(Some(rules), Test::ExampleMail)
    }

    fn push(&mut self, rules: Option<RuleSelection>, what: Test) -> Result<(), AllowError> {
        if self.0.len() >= ENTRIES {
            return Err(AllowError::Many);
        }
        self.0.push(AllowedText { rules, what });
        Ok(())
    }

    /// Whether `rule` may let `value` pass.
    pub(crate) fn has(&self, rule: RuleId, value: &[u8]) -> bool {
        let Ok(value) = std::str::from_utf8(value) else { return false };
        if value.len() > LONGEST {
            return false;
        }
        let allows = |entry: &AllowedText| {
            entry.rules.as_ref().is_none_or(|rules| rules.has(rule))
                && match &entry.what {
                    Test::Values(values) => values.contains(value),
                    Test::Folded(values) => values.contains(&value.to_lowercase()),
                    Test::Pattern(regex) => regex.is_match(Input::new(value).anchored(Anchored::Yes)),
                    Test::SpecialUse => is_special(value),
                    Test::ExampleMail => is_example(value),
                }
        };
        self.0.iter().any(allows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Catalogue, Detector};

    fn found(allow: Allow, text: &str) -> Vec<String> {
        let catalogue = Catalogue::builtin().unwrap();
        let selection = RuleSelection::only(&catalogue, ["EMAIL_ADDRESS", "IP_ADDRESS"]).unwrap();
        let detector = Detector::new(&catalogue, &selection).unwrap().allowing(allow);
        let whole = detector.find(text);
        for size in [1, 2, 7] {
            let (mut scanner, mut split) = (detector.scanner(), Vec::new());
            for piece in text.as_bytes().chunks(size) {
                scanner.feed(std::str::from_utf8(piece).unwrap(), &mut |one| split.push(one));
            }
            scanner.end(&mut |one| split.push(one));
            assert_eq!(split, whole, "pieces of {size}");
        }
        whole.iter().map(|one| text.get(one.span.start..one.span.end).unwrap().to_owned()).collect()
    }

    const TEXT: &str = "to Help@Example.com, not.help@example.com, ann@example.com from 203.0.113.9 today";

    #[test]
    fn whole_values_are_allowed_in_any_split() {
        let mut allow = Allow::default();
        allow.values(None, ["help@example.com", "203.0.113.9"], true).unwrap();
        assert_eq!(found(allow, TEXT), ["not.help@example.com", "ann@example.com"]);
        let mut allow = Allow::default();
        allow.values(None, ["help@example.com"], false).unwrap();
        assert_eq!(found(allow, TEXT).len(), 4);
    }

    #[test]
    fn patterns_match_from_end_to_end() {
        let mut allow = Allow::default();
        allow.pattern(None, "a|ann@.*|203").unwrap();
        assert_eq!(found(allow, TEXT), ["Help@Example.com", "not.help@example.com", "203.0.113.9"]);
        for bad in ["(", "a)|(b", "[a-z]{1000}{1000}"] {
            assert_eq!(Allow::default().pattern(None, bad), Err(AllowError::Pattern));
        }
    }

    #[test]
    fn what_is_nobodys_is_allowed_where_one_of_the_rules_finds_it() {
        let catalogue = Catalogue::builtin().unwrap();
        let rules = RuleSelection::only(&catalogue, ["IP_ADDRESS", "EMAIL_ADDRESS"]).unwrap();
        let mut allow = Allow::default();
        allow.special_use(rules).unwrap();
        let text =
            "clone git@github.com:a/b.git from 10.1.2.3, mail ann@example.com at 8.8.4.9 or [::1]:443 today";
        assert_eq!(found(allow.clone(), text), ["ann@example.com", "8.8.4.9"]);
        let email = RuleSelection::only(&catalogue, ["EMAIL_ADDRESS"]).unwrap();
        assert_eq!(found(allow.only_for(&email), text), ["10.1.2.3", "ann@example.com", "8.8.4.9", "::1"]);
    }

    #[test]
    fn a_rules_entry_is_for_its_findings() {
        let catalogue = Catalogue::builtin().unwrap();
        let ip = RuleSelection::only(&catalogue, ["IP_ADDRESS"]).unwrap();
        let mut allow = Allow::default();
        allow.pattern(Some(ip), ".*").unwrap();
        assert_eq!(found(allow, TEXT).len(), 3);
    }

    #[test]
    fn a_list_is_narrowed_to_some_rules() {
        let catalogue = Catalogue::builtin().unwrap();
        let [ip, email] =
            ["IP_ADDRESS", "EMAIL_ADDRESS"].map(|rule| RuleSelection::only(&catalogue, [rule]).unwrap());
        let mut allow = Allow::default();
        allow.pattern(None, ".*").unwrap();
        assert_eq!(found(allow.clone().only_for(&ip), TEXT).len(), 3);
        assert_eq!(found(allow.clone().only_for(&ip).only_for(&email), TEXT).len(), 4);
    }

    #[test]
    fn what_cannot_be_a_value_is_refused() {
        let mut allow = Allow::default();
        assert_eq!(allow.values(None, ["a", ""], false), Err(AllowError::Value(2)));
        assert_eq!(allow.values(None, [&*"x".repeat(257)], false), Err(AllowError::Value(1)));
        assert!(allow.is_empty());
    }
}
