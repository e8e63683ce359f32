//! [`PriceTable`]: which model costs what. A table belongs to whoever runs the gateway: prices are theirs with a provider.

use std::fmt;

use serde::{Deserialize, Deserializer};

use crate::base::from_text::FromText;
use crate::usage::cost::{Cost, Price, from_trillionths};
use crate::usage::tokens::TokenUsage;

/// Names of models: a name, in which `*` stands for any text. Letters count in either case, as they do for providers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelPattern(String);

/// Says that a text is not a pattern for models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a model is 1 to 256 characters without blanks, in which * stands for any text")]
pub struct ModelPatternError;

/// The longest name of a model that counts as one, in bytes.
pub(super) const LONGEST_MODEL: usize = 256;

impl ModelPattern {
    /// Reads one, such as `gpt-4o*`.
    ///
    /// # Errors
    /// [`ModelPatternError`].
    pub fn parse(text: &str) -> Result<Self, ModelPatternError> {
        let odd = |c: char| c.is_whitespace() || c.is_control();
        let fine = !text.is_empty() && text.len() <= LONGEST_MODEL && !text.contains(odd);
        if fine { Ok(Self(text.to_lowercase())) } else { Err(ModelPatternError) }
    }

    /// Whether a model of this name is meant.
    pub fn takes(&self, model: &str) -> bool {
        let model = model.to_lowercase();
        let mut parts = self.0.split('*');
        let Some(mut rest) = parts.next().and_then(|first| model.strip_prefix(first)) else { return false };
        let mut parts: Vec<&str> = parts.collect();
        let Some(last) = parts.pop() else { return rest.is_empty() };
        for part in parts {
            match rest.split_once(part) {
                Some((_, behind)) => rest = behind,
                None => return false,
            }
        }
        rest.ends_with(last)
    }

    /// As it is written, in small letters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ModelPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FromText { expected: "a model such as \"gpt-4o*\"", parse: Self::parse }.read(deserializer)
    }
}

/// `[[prices]]`: what the tokens of a model cost, in dollars for a million.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelPrice {
    /// Which models. The first that fits counts.
    pub model: ModelPattern,
    /// Tokens that are read.
    pub input: Price,
    /// Those of them that came from the provider's cache. Default: as `input`.
    #[serde(default)]
    pub cached_input: Option<Price>,
    /// Those that were written to it. Default: as `input`.
    #[serde(default)]
    pub cache_write: Option<Price>,
    /// Tokens that are written, reasoning included. Default 0, as for embeddings.
    #[serde(default)]
    pub output: Price,
}

/// What models cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceTable(Vec<ModelPrice>);

impl From<Vec<ModelPrice>> for PriceTable {
    fn from(prices: Vec<ModelPrice>) -> Self {
        Self(prices)
    }
}

impl PriceTable {
    /// What this many tokens of a model cost; `None` where the table does not have the model.
    pub fn cost(&self, model: &str, tokens: TokenUsage) -> Option<Cost> {
        let price = self.0.iter().find(|price| price.model.takes(model))?;
        let TokenUsage { input, cached_input, cache_write, output, .. } = tokens;
        let fresh = input.saturating_sub(cached_input).saturating_sub(cache_write);
        let all = price.input.of(fresh)
            + price.cached_input.unwrap_or(price.input).of(cached_input)
            + price.cache_write.unwrap_or(price.input).of(cache_write)
            + price.output.of(output);
        Some(from_trillionths(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, model, takes) in [
            ("gpt-4o", "gpt-4o", true),
            ("gpt-4o", "GPT-4o", true),
            ("gpt-4o", "gpt-4o-mini", false),
            ("gpt-4o*", "gpt-4o", true),
            ("gpt-4o*", "gpt-4o-mini", true),
            ("*", "", true),
            ("*claude*", "us.anthropic.claude-sonnet-4", true),
            ("*claude*sonnet*", "us.anthropic.claude-sonnet-4", true),
            ("*sonnet*claude*", "us.anthropic.claude-sonnet-4", false),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*a*a", "xa", false),
            ("a*b*c", "abcbc", true),
            ("", "x", false),
        ] {
            let taken = ModelPattern::parse(pattern).is_ok_and(|pattern| pattern.takes(model));
            assert_eq!(taken, takes, "{pattern} {model}");
        }
    }

    #[test]
    fn each_part_has_its_price() {
        let price = |text| Price::parse(text).unwrap();
        let table = PriceTable::from(vec![
            ModelPrice {
                model: ModelPattern::parse("claude*").unwrap(),
                input: price("3"),
                cached_input: Some(price("0.3")),
                cache_write: Some(price("3.75")),
                output: price("15"),
            },
            ModelPrice {
                model: ModelPattern::parse("*").unwrap(),
                input: price("1"),
                cached_input: None,
                cache_write: None,
                output: price("2"),
            },
        ]);
        let tokens =
            TokenUsage { input: 1000, cached_input: 600, cache_write: 100, output: 50, reasoning: 20 };
        let cost = |model| table.cost(model, tokens).unwrap().to_string();
        assert_eq!(cost("claude-x"), "0.002205");
        assert_eq!(cost("other"), "0.0011");
        assert_eq!(PriceTable::default().cost("other", tokens), None);
    }
}
