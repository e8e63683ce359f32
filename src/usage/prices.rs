//! [`PriceTable`]: which model costs what. A table belongs to whoever runs the gateway: prices are theirs with a provider.

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroU32;

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
        self.takes_lower(&model.to_lowercase())
    }

    /// The same of a name in small letters.
    fn takes_lower(&self, model: &str) -> bool {
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

    /// Whether every model that `other` takes is meant: where one of them stands before the other, that is never reached.
    pub fn covers(&self, other: &Self) -> bool {
        // Nothing but a star takes this.
        self.takes_lower(&other.0.replace('*', "\0"))
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
    /// The most tokens that the model writes in one answer, reasoning included: whoever asks for more reserves no more of a
    /// budget. Default 262144.
    #[serde(default)]
    pub max_output: Option<NonZeroU32>,
}

impl ModelPrice {
    /// What this many tokens cost.
    fn cost(&self, tokens: TokenUsage) -> Cost {
        let TokenUsage { input, cached_input, cache_write, output, .. } = tokens;
        let fresh = input.saturating_sub(cached_input).saturating_sub(cache_write);
        let all = self.input.of(fresh)
            + self.cached_input.unwrap_or(self.input).of(cached_input)
            + self.cache_write.unwrap_or(self.input).of(cache_write)
            + self.output.of(output);
        from_trillionths(all)
    }

    /// What this many tokens cost at the most, whatever becomes of those that are read: they may be written to the cache.
    fn most(&self, input: u64, output: u64) -> Cost {
        let dearest =
            [self.cached_input, self.cache_write].into_iter().flatten().fold(self.input, Price::max);
        from_trillionths(dearest.of(input) + self.output.of(output))
    }
}

/// What models cost.
#[derive(Clone, Debug, Default)]
pub struct PriceTable {
    prices: Vec<ModelPrice>,
    /// Where the first price of a name without a star stands.
    exact: HashMap<String, usize>,
    /// Where those with a star stand, in order, by the byte that the names begin with; `None`: with any.
    patterns: HashMap<Option<u8>, Vec<usize>>,
}

impl From<Vec<ModelPrice>> for PriceTable {
    fn from(prices: Vec<ModelPrice>) -> Self {
        let mut exact = HashMap::new();
        let mut patterns: HashMap<Option<u8>, Vec<usize>> = HashMap::new();
        for (at, ModelPrice { model, .. }) in prices.iter().enumerate() {
            if model.0.contains('*') {
                let first = model.0.bytes().next().filter(|byte| *byte != b'*');
                patterns.entry(first).or_default().push(at);
            } else {
                exact.entry(model.0.clone()).or_insert(at);
            }
        }
        Self { prices, exact, patterns }
    }
}

impl PriceTable {
    /// What this many tokens of a model cost; `None` where the table does not have the model.
    pub fn cost(&self, model: &str, tokens: TokenUsage) -> Option<Cost> {
        Some(self.price(model)?.cost(tokens))
    }

    /// What so many tokens that are read and written cost at the most, of whichever of `models` is dearest; where none is named, of
    /// whichever the table has. `None` where it has none of them.
    pub fn most<'m>(
        &self,
        models: impl IntoIterator<Item = &'m str>,
        input: u64,
        output: u64,
    ) -> Option<Cost> {
        let mut models = models.into_iter().peekable();
        if models.peek().is_none() {
            return self.prices.iter().map(|price| price.most(input, output)).max();
        }
        models.filter_map(|model| self.price(model)).map(|price| price.most(input, output)).max()
    }

    /// What so many tokens cost of the dearest model there is.
    pub fn dearest(&self, tokens: TokenUsage) -> Option<Cost> {
        self.prices.iter().map(|price| price.cost(tokens)).max()
    }

    /// The most tokens that one answer of a model has; `None` where the table does not say.
    pub fn longest_answer(&self, model: &str) -> Option<u64> {
        self.price(model)?.max_output.map(|most| u64::from(most.get()))
    }

    /// The first price that fits.
    fn price(&self, model: &str) -> Option<&ModelPrice> {
        let model = model.to_lowercase();
        let lists = [None, Some(model.bytes().next()?)].map(|first| self.patterns.get(&first));
        let fits = |at: &&usize| self.prices.get(**at).is_some_and(|price| price.model.takes_lower(&model));
        let patterns = lists.into_iter().flatten().filter_map(|list| list.iter().find(fits));
        let first = patterns.chain(self.exact.get(&model)).min()?;
        self.prices.get(*first)
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
                max_output: NonZeroU32::new(8192),
            },
            ModelPrice {
                model: ModelPattern::parse("*").unwrap(),
                input: price("1"),
                cached_input: None,
                cache_write: None,
                output: price("2"),
                max_output: None,
            },
        ]);
        let tokens =
            TokenUsage { input: 1000, cached_input: 600, cache_write: 100, output: 50, reasoning: 20 };
        let cost = |model| table.cost(model, tokens).unwrap().to_string();
        assert_eq!(cost("claude-x"), "0.002205");
        assert_eq!(cost("other"), "0.0011");
        assert_eq!(PriceTable::default().cost("other", tokens), None);
        let most =
            |models: &[&str]| table.most(models.iter().copied(), 1000, 50).map(|cost| cost.to_string());
        assert_eq!(most(&["other"]).as_deref(), Some("0.0011"));
        for dearest in [&["other", "Claude-X"][..], &[]] {
            assert_eq!(most(dearest).as_deref(), Some("0.0045"));
        }
        assert_eq!((table.longest_answer("claude-x"), table.longest_answer("other")), (Some(8192), None));
    }

    /// In whichever list it is found.
    #[test]
    fn the_first_price_that_fits_counts() {
        let row = |(at, model): (usize, &&str)| ModelPrice {
            model: ModelPattern::parse(model).unwrap(),
            input: Price::parse(&at.to_string()).unwrap(),
            cached_input: None,
            cache_write: None,
            output: Price::default(),
            max_output: None,
        };
        let rows = ["gpt-4o", "*mini", "gpt*", "gpt-4o", "gpt-4o-mini", "o3", "*", "claude"];
        let table = PriceTable::from(rows.iter().enumerate().map(row).collect::<Vec<_>>());
        let million = TokenUsage { input: 1_000_000, ..TokenUsage::default() };
        for (model, first) in
            [("GPT-4o", 0), ("gpt-4o-mini", 1), ("gpt-5", 2), ("o3", 5), ("claude", 6), ("é", 6)]
        {
            let want = Cost::parse(&first.to_string()).unwrap();
            assert_eq!(table.cost(model, million), Some(want), "{model}");
        }
    }

    #[test]
    fn patterns_cover_what_they_take_all_of() {
        for (one, other, covers) in [
            ("gpt-4o*", "gpt-4o-mini*", true),
            ("gpt-4o*", "gpt-4o", true),
            ("*", "x*y", true),
            ("gpt-4o", "gpt-4o*", false),
            ("gpt-4o-mini*", "gpt-4o*", false),
            ("*mini", "gpt-4o*", false),
        ] {
            let pattern = |text| ModelPattern::parse(text).unwrap();
            assert_eq!(pattern(one).covers(&pattern(other)), covers, "{one} {other}");
        }
    }
}
