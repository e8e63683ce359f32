//! Members' names: texts that are redacted, and paths that stay what they are.

use std::collections::{HashMap, HashSet};

use crate::sanitize::format::package::is_inside;
use crate::sanitize::{Rejection, Work};

/// What stands in place of what a path cannot hold.
const GAP: &str = "_";

/// The names that members have already, in lower case.
#[derive(Default)]
pub(super) struct TakenNames {
    names: HashSet<String>,
    /// The last number that stood behind a name, so that many of the same are not counted from the beginning each time.
    numbers: HashMap<String, u32>,
}

impl TakenNames {
    /// The name, with a number before its ending when another member has it. Two people whose names are replaced by the
    /// same word do not overwrite each other.
    pub(super) fn add(&mut self, name: &str) -> String {
        let folder = name.rfind('/').map_or(0, |at| at.saturating_add(1));
        let dot = name.rfind('.').filter(|dot| *dot > folder).unwrap_or(name.len());
        let (stem, ending) = name.split_at_checked(dot).unwrap_or((name, ""));
        let mut written = name.to_owned();
        let number = self.numbers.entry(name.to_lowercase()).or_insert(1);
        while !self.names.insert(written.to_lowercase()) {
            *number = number.saturating_add(1);
            written = format!("{stem}-{number}{ending}");
        }
        written
    }
}

/// What each of these names, which are apart from each other, is called in the clean file. They stay so.
///
/// # Errors
/// The host's.
pub(super) fn written(names: &[&str], work: &mut Work<'_>) -> Result<(Vec<String>, TakenNames), Rejection> {
    let redacted = work.names(names)?;
    let kept = names.iter().zip(&redacted).filter(|(_, redacted)| redacted.is_none());
    let mut taken = TakenNames::default();
    taken.names.extend(kept.map(|(name, _)| name.to_lowercase()));
    let apart = |(name, redacted): (&&str, Option<String>)| match redacted {
        None => (*name).to_owned(),
        Some(redacted) => taken.add(&path(&redacted)),
    };
    let written = names.iter().zip(redacted).map(apart).collect();
    Ok((written, taken))
}

/// A path of a name in which a replacement may have put anything.
fn path(name: &str) -> String {
    if is_inside(name) && !name.ends_with('/') {
        return name.to_owned();
    }
    let plain = |c: char| c != '\\' && c != ':' && !c.is_control();
    let part = |part: &str| match part {
        "" | "." | ".." => GAP.to_owned(),
        part => part.chars().map(|c| if plain(c) { c } else { '_' }).collect(),
    };
    name.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_apart_and_inside() {
        let mut taken = TakenNames::default();
        let named = ["a/<N>.txt", "a/<n>.txt", "a/<N>.txt", "<N>", "<N>", "a.b/c", "a.b/c"];
        let written = named.map(|name| taken.add(name));
        let want = ["a/<N>.txt", "a/<n>-2.txt", "a/<N>-3.txt", "<N>", "<N>-2", "a.b/c", "a.b/c-2"];
        assert_eq!(written, want);
        assert_eq!(path("/a//..\\b/c:/"), "_/a/_/..__b/c_/_".replace("..__b", ".._b"));
    }
}
