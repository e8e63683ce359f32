//! What can be checked of one rule alone, and what follows from its fields: the pattern of its literals and PEM label,
//! and its reach.

use regex_automata::util::syntax::parse_with;

use super::super::normal::as_read;
use super::super::validate;
use super::error::RuleFault;
use super::literal::whole;
use super::rule::{Anchor, Pattern, Rule};
use super::syntax;

/// The most that a value known by its digits can take, in bytes.
const LONGEST: usize = 64;

/// Whether a rule or a rule set can have this name: 2 to 64 ASCII letters, digits, `_`, `-` and `/`, a letter first.
/// (Those built in are upper snake case.)
pub fn is_name(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/');
    (2..=64).contains(&text.len())
        && text.bytes().all(legal)
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Checks what can be checked of one rule alone, and fills in what follows from it.
pub(crate) fn prepare(rule: &mut Rule) -> Result<(), RuleFault> {
    if !is_name(&rule.name) {
        return Err(RuleFault::Name);
    }
    let numbers = [rule.score, rule.threshold, rule.augment, rule.against];
    let numbers = numbers.into_iter().chain(rule.patterns.iter().filter_map(|pattern| pattern.score));
    if !numbers.into_iter().all(|number| (0.0..=1.0).contains(&number)) {
        return Err(RuleFault::Number);
    }
    if let Some(label) = &rule.pem {
        rule.patterns.push(Pattern { regex: pem(label), score: None, check: None, edge: None });
    }
    literals(rule)?;
    let patterned = matches!(rule.anchor, Anchor::At | Anchor::Assign | Anchor::Name | Anchor::Reported)
        || !rule.patterns.is_empty();
    let placed = rule.gives.is_some() == (rule.anchor == Anchor::Assign)
        && rule.tag.is_some() == (rule.anchor == Anchor::Name);
    let prefixed = rule.prefixes.iter().all(|prefix| prefix.len() >= 3 && prefix.is_ascii());
    if !patterned || !placed || !prefixed || rule.prefixes.is_empty() == (rule.anchor == Anchor::Prefix) {
        return Err(RuleFault::Anchor);
    }
    let checks = rule.patterns.iter().filter_map(|pattern| pattern.check.as_ref()).chain(&rule.check);
    if !checks.into_iter().all(|name| validate::named(name).is_some()) {
        return Err(RuleFault::Check);
    }
    let bound = longest(rule)?;
    rule.reach = rule.reach.or(bound);
    Ok(())
}

/// What is given literally becomes a pattern.
fn literals(rule: &mut Rule) -> Result<(), RuleFault> {
    if rule.literals.iter().any(|literal| literal.is_empty() || literal.trim() != literal) {
        return Err(RuleFault::Literal);
    }
    if rule.literals.is_empty() {
        return Ok(());
    }
    let any: Vec<String> = rule.literals.iter().map(|text| whole(&as_read(text))).collect();
    let flags = if rule.any_case { "(?i)" } else { "" };
    let regex = format!("{flags}(?:{})", any.join("|"));
    rule.patterns.push(Pattern { regex, score: None, check: None, edge: None });
    Ok(())
}

/// The longest match of a rule's patterns; `None` if one has no bound.
fn longest(rule: &Rule) -> Result<Option<u16>, RuleFault> {
    let by_digits = matches!(rule.anchor, Anchor::Digit | Anchor::Token | Anchor::Address);
    let mut longest = match rule.anchor {
        Anchor::At => Some(EMAIL),
        Anchor::Assign => Some(ASSIGNMENT),
        Anchor::Name => Some(NAME),
        _ => Some(0),
    };
    for (pattern, n) in rule.patterns.iter().zip(1..) {
        let parsed = parse_with(&pattern.regex, &syntax::config());
        let parsed = parsed.map_err(|_| RuleFault::Pattern(n))?;
        if parsed.properties().minimum_len().unwrap_or(0) == 0 {
            return Err(RuleFault::Empty(n));
        }
        let most = parsed.properties().maximum_len().and_then(|most| u16::try_from(most).ok());
        if by_digits && most.is_none_or(|most| usize::from(most) > LONGEST) {
            return Err(RuleFault::Unbounded(n));
        }
        // One pattern without a bound leaves the rule without one.
        longest = longest.zip(most).map(|(longest, most)| longest.max(most));
    }
    Ok(longest)
}

/// The longest e-mail address that is looked for, in bytes: local part, `@`, domain.
const EMAIL: u16 = 256 + 1 + 253;

/// The most that can lie between where an assignment is known and where its value ends, in bytes.
const ASSIGNMENT: u16 = 800;

/// The longest sequence of words that is looked at for a name, in bytes, and what must follow it to know that it ends.
const NAME: u16 = 160;

/// A PEM block (RFC 7468 section 3) with this label, or a beginning of one that has key material. Line ends may be
/// escaped, once or more, or be spaces; headers (RFC 1421, RFC 9580 armor) may stand before the material. Each line may have
/// before it what listings, diffs, quotations, comments and programs have: signs, quotes, its number.
fn pem(label: &str) -> String {
    let gap = r#"(?:[ \t\r\n"',]|\\+[nrt])"#;
    // A slash or a plus sign alone may be the key's, and where both were tried at each there would be no end of states.
    let sign = r#"(?:[ \t\r\n"'`,>|#*;:&.~-]|→|│|\\+[nrt]?|\+[ \t\r\n"']|//[ \t])"#;
    let between = format!("{sign}(?:[0-9]*{sign})*");
    let header = format!(r"(?:{gap}+[A-Za-z\-]+: [ !#-&(-\[\]-~]+)*");
    let line = "[A-Za-z0-9+/=]{16,}";
    let material = format!("(?:{between})?{line}(?:{between}{line})*");
    let rest = format!("(?:(?:{between})?[A-Za-z0-9+/=]+)?(?:{between}[A-Za-z0-9+/=]+)?(?:{between})?");
    format!("-----BEGIN {label}-----{header}(?:{material}|(?:{material})?{rest}-----END {label}-----)")
}
