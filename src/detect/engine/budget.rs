//! What starts that come to nothing may cost. A text can be made of nothing but beginnings of secrets, each of which is
//! walked and checked to its reach; such a text earns by its length what is spent on it. Where the budget is used up, the
//! next start that matches a pattern counts without its check: what is left out is then less than what is kept in.

/// Steps that a byte of text earns. A step is one byte walked or checked, some nanoseconds at the most.
const RATE: usize = 16;
/// Steps that can be saved up: natural text, with one such start in some hundred bytes, never comes near.
const MOST: usize = 32 << 10;

/// What is left to be spent, as a scan goes through a text.
#[derive(Clone, Copy)]
pub(crate) struct ScanBudget {
    left: usize,
    /// Up to where the text has earned; an offset of the window.
    at: usize,
}

impl Default for ScanBudget {
    fn default() -> Self {
        Self { left: MOST, at: 0 }
    }
}

impl ScanBudget {
    /// The window has lost its first `by` bytes.
    pub(crate) fn shift(&mut self, by: usize) {
        self.at = self.at.saturating_sub(by);
    }

    /// Spends what a start at `start` has cost; false where there was not as much.
    pub(crate) fn spend(&mut self, start: usize, steps: usize) -> bool {
        let earned = start.saturating_sub(self.at).saturating_mul(RATE);
        self.at = self.at.max(start);
        let left = self.left.saturating_add(earned).min(MOST);
        self.left = left.saturating_sub(steps);
        left >= steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_comes_back_with_text() {
        let mut budget = ScanBudget::default();
        assert!(budget.spend(0, MOST));
        assert!(!budget.spend(10, 10 * RATE + 1));
        assert!(budget.spend(110, 100 * RATE));
        budget.shift(100);
        assert!(!budget.spend(20, 10 * RATE + 1));
        assert!(budget.spend(1 << 20, MOST) && !budget.spend(1 << 20, 1));
    }
}
