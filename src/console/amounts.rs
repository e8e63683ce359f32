//! Amounts as pages show them.

use crate::usage::Remaining;

/// A number with its digits in threes.
pub(super) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// So many of what `one` is.
pub(super) fn counted(n: u64, one: &str) -> String {
    format!("{} {one}{}", number(n), if n == 1 { "" } else { "s" })
}

/// What is left of a budget, in all that it bounds.
pub(super) fn left_of(one: &Remaining) -> String {
    let left = &one.left;
    let parts = [
        left.cost.map(|cost| format!("${cost}")),
        left.tokens.map(|tokens| counted(tokens, "token")),
        left.requests.map(|requests| counted(requests, "request")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_as_people_write_them() {
        let rows = [(0, "0"), (7, "7"), (999, "999"), (1000, "1,000"), (12_345_678, "12,345,678")];
        for (n, shown) in rows {
            assert_eq!(number(n), shown);
        }
        assert_eq!(
            (counted(1, "token").as_str(), counted(1200, "token").as_str()),
            ("1 token", "1,200 tokens")
        );
    }
}
