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

/// What is left to be spent, wherever a text begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BudgetState {
    /// All that can be saved up.
    Full,
    /// So much, as of so many bytes before the window's end.
    Spent { left: usize, back: usize },
}

impl Default for ScanBudget {
    fn default() -> Self {
        Self { left: MOST, at: 0 }
    }
}

impl ScanBudget {
    /// The window has lost its first `by` bytes. What they have earned stays.
    pub(crate) fn shift(&mut self, by: usize) {
        self.left = self.at_start(by);
        self.at = self.at.saturating_sub(by);
    }

    /// What a start at `start` may spend.
    fn at_start(&self, start: usize) -> usize {
        let earned = start.saturating_sub(self.at).saturating_mul(RATE);
        self.left.saturating_add(earned).min(MOST)
    }

    /// What matters of it for starts from `from` on, in a window that ends at `end`.
    pub(crate) fn state(&self, from: usize, end: usize) -> BudgetState {
        if self.at <= from && self.at_start(from) == MOST {
            return BudgetState::Full;
        }
        BudgetState::Spent { left: self.left, back: end.saturating_sub(self.at) }
    }

    /// Spends what a start at `start` has cost; false where there was not as much.
    pub(crate) fn spend(&mut self, start: usize, steps: usize) -> bool {
        let left = self.at_start(start);
        self.at = self.at.max(start);
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

    #[test]
    fn a_window_that_moves_on_takes_nothing_of_what_was_earned() {
        let (mut still, mut moved) = (ScanBudget::default(), ScanBudget::default());
        assert!(still.spend(10, MOST) && moved.spend(10, MOST));
        moved.shift(64);
        moved.shift(640);
        assert_eq!(still.at_start(1000), moved.at_start(1000 - 704));
        assert!(still.spend(1000, 900 * RATE) && moved.spend(1000 - 704, 900 * RATE));
        assert_eq!(still.left, moved.left);
    }

    #[test]
    fn what_is_left_is_the_same_wherever_the_text_begins() {
        let (mut long, mut short) = (ScanBudget::default(), ScanBudget::default());
        assert!(long.spend(100, MOST));
        assert_ne!(long.state(900, 1000), short.state(100, 200));
        assert!(long.spend(5000, 77) && short.spend(4200, 77));
        assert_eq!(long.state(4990, 5050), BudgetState::Spent { left: MOST - 77, back: 50 });
        assert_eq!(short.state(4190, 4250), long.state(4990, 5050));
        assert_eq!(long.state(5100, 5150), BudgetState::Full);
    }
}
