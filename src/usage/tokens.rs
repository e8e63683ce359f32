//! [`TokenUsage`]: the tokens of one answer, counted the same way whoever reports them.

use serde::{Deserialize, Serialize};

/// How many tokens one answer took. Providers split them differently; here parts are always within their whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenUsage {
    /// Of all that was read: the cached and the newly cached included.
    pub input: u64,
    /// Of `input`, what came from the provider's cache.
    pub cached_input: u64,
    /// Of `input`, what was written to that cache.
    pub cache_write: u64,
    /// Of all that was written: reasoning included.
    pub output: u64,
    /// Of `output`, what was reasoning.
    pub reasoning: u64,
}

impl TokenUsage {
    /// What was read and written together.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// What is left of it without `less`.
    #[must_use]
    pub(super) fn without(self, less: Self) -> Self {
        Self {
            input: self.input.saturating_sub(less.input),
            cached_input: self.cached_input.saturating_sub(less.cached_input),
            cache_write: self.cache_write.saturating_sub(less.cache_write),
            output: self.output.saturating_sub(less.output),
            reasoning: self.reasoning.saturating_sub(less.reasoning),
        }
    }

    /// Whether none was used.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

impl std::ops::AddAssign for TokenUsage {
    fn add_assign(&mut self, more: Self) {
        self.input = self.input.saturating_add(more.input);
        self.cached_input = self.cached_input.saturating_add(more.cached_input);
        self.cache_write = self.cache_write.saturating_add(more.cache_write);
        self.output = self.output.saturating_add(more.output);
        self.reasoning = self.reasoning.saturating_add(more.reasoning);
    }
}
