//! Rule files: TOML to rules. A file may state defaults that lie under each of its rules.

use serde::Deserialize;

use super::error::RuleFault;
use super::rule::Rule;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Rule>,
}

/// A file whose rules have fields in common: `defaults` is laid under each of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WithDefaults {
    defaults: toml::Table,
    #[serde(default)]
    rule: Vec<toml::Table>,
}

/// A text of rules (`[[rule]]` tables of TOML).
#[derive(Clone, Copy, Debug)]
pub struct RuleFile<'t> {
    /// What errors call it: a path, or the name of an object.
    pub name: &'t str,
    /// The text.
    pub toml: &'t str,
}

/// Why a text is not a rule file.
pub(crate) struct ParseError {
    /// Which rule of it, counted from 1; 0 where the text is at fault.
    pub(crate) number: usize,
    pub(crate) fault: RuleFault,
}

/// The rules of a TOML text.
pub(crate) fn parse(toml: &str) -> Result<Vec<Rule>, ParseError> {
    let syntax = |error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        let before = toml.as_bytes().get(..at).unwrap_or_default();
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
        ParseError { number: 0, fault: RuleFault::Syntax { line, column } }
    };
    if !toml.contains("[defaults") {
        let file: File = toml::from_str(toml).map_err(syntax)?;
        return Ok(file.rule);
    }
    let file_with_defaults: WithDefaults = toml::from_str(toml).map_err(syntax)?;
    let rules = file_with_defaults.rule.into_iter().zip(1..);
    let rules = rules.map(|(mut rule, number)| {
        lay_under(&mut rule, &file_with_defaults.defaults);
        rule.try_into::<Rule>().map_err(|_| ParseError { number, fault: RuleFault::Fields })
    });
    rules.collect()
}

/// Fills in what `table` does not say; tables within are filled in, lists are not.
fn lay_under(table: &mut toml::Table, defaults: &toml::Table) {
    for (name, value) in defaults {
        match (table.get_mut(name), value) {
            (None, value) => {
                table.insert(name.clone(), value.clone());
            }
            (Some(toml::Value::Table(own)), toml::Value::Table(common)) => lay_under(own, common),
            (Some(_), _) => {}
        }
    }
}
