//! What the checks of a file say yes and no to.

use super::{CheckResult, ChecksByName};

/// A check's name, values that it takes, and values that it refuses.
pub(super) type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

/// A check, a value that it takes, and one that it refuses: of them one digit is another.
pub(super) type Digits = (fn(&[u8]) -> bool, &'static str, &'static str);

/// Fails unless each case holds.
pub(super) fn digits_hold(cases: &[Digits]) {
    for (check, right, wrong) in cases {
        assert!(check(right.as_bytes()), "{right}");
        assert!(!check(wrong.as_bytes()), "{wrong}");
    }
}

/// Fails unless each check has a case, and each case holds.
pub(super) fn all_hold(checks: ChecksByName, cases: &[Case]) {
    for (name, valid, invalid) in cases {
        let check = checks.iter().find(|(known, _)| known == name).unwrap().1;
        for value in *valid {
            assert_ne!(check(value.as_bytes()), CheckResult::No, "{name} {value}");
        }
        for value in *invalid {
            assert_eq!(check(value.as_bytes()), CheckResult::No, "{name} {value}");
        }
    }
    assert_eq!(cases.len(), checks.len(), "a check has no case");
}
