//! [`CallKind`]: what a call becomes by its arguments.

use crate::sanitize::format::formula::functions::plain_names;

/// What a call becomes by its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    /// `HYPERLINK`.
    Link,
    /// One of them, from this one on: `IF`, `VLOOKUP`, and what stands in parentheses.
    One(usize),
    /// One of every second: `IFS`.
    OneOfPairs,
    /// All, one behind the other: `CONCATENATE`.
    All,
    /// All from the third on, with the first between them: `TEXTJOIN`.
    Between,
    /// Something that is made of the first and begins as it does: `LOWER`.
    First,
    /// What the first begins with, or nothing: `LEFT`.
    Front,
    /// Any part of the first, or the first with something else in it: `MID`, `REPLACE`.
    Cut,
    /// The first, with the third in place of the second: `SUBSTITUTE`.
    Substituted,
    /// The first, written as the second says: `TEXT`.
    Formatted,
    /// Characters by their numbers: `CHAR`.
    Numbered,
    /// Nothing of them: `MATCH`.
    Nothing,
    /// Anything else.
    Other,
}

impl CallKind {
    /// By the name of the function, in capitals; empty for parentheses.
    pub(super) fn of(name: &str) -> Self {
        let known = |name: &str| match name {
            "HYPERLINK" => Some(Self::Link),
            "" | "IFERROR" | "IFNA" | "INDEX" => Some(Self::One(0)),
            "IF" | "CHOOSE" | "SWITCH" | "LOOKUP" | "HLOOKUP" | "VLOOKUP" | "XLOOKUP" => Some(Self::One(1)),
            "IFS" => Some(Self::OneOfPairs),
            "CONCATENATE" | "CONCAT" => Some(Self::All),
            "TEXTJOIN" => Some(Self::Between),
            "T" | "TRIM" | "CLEAN" | "LOWER" | "UPPER" | "PROPER" => Some(Self::First),
            "LEFT" | "LEFTB" | "TEXTBEFORE" | "REPT" => Some(Self::Front),
            "MID" | "MIDB" | "RIGHT" | "RIGHTB" | "REPLACE" | "REPLACEB" | "TEXTAFTER" | "TEXTSPLIT"
            | "REGEX" | "REGEXEXTRACT" | "REGEXREPLACE" | "ASC" | "DBCS" | "JIS" | "ROT13" | "GETROT13" => {
                Some(Self::Cut)
            }
            "SUBSTITUTE" => Some(Self::Substituted),
            "TEXT" => Some(Self::Formatted),
            "CHAR" | "UNICHAR" | "BASE" => Some(Self::Numbered),
            "CELL" | "INFO" | "ADDRESS" | "MATCH" | "XMATCH" | "FIND" | "FINDB" | "SEARCH" | "SEARCHB"
            | "LEN" | "LENB" | "EXACT" | "VALUE" | "CODE" | "UNICODE" | "ROW" | "COLUMN" | "COUNTIF" => {
                Some(Self::Nothing)
            }
            _ => None,
        };
        plain_names(name).find_map(known).unwrap_or(Self::Other)
    }

    /// Whether it may become another text than those that it is given, which stands in none of them.
    pub(super) fn makes_other(self) -> bool {
        matches!(self, Self::Front | Self::Cut | Self::Substituted | Self::Numbered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_by_any_of_their_names() {
        for (name, kind) in [
            ("HYPERLINK", CallKind::Link),
            ("", CallKind::One(0)),
            ("_XLFN.TEXTAFTER", CallKind::Cut),
            ("COM.SUN.STAR.SHEET.ADDIN.DATEFUNCTIONS.GETROT13", CallKind::Cut),
            ("_XLFN.UNICHAR", CallKind::Numbered),
            ("RATES.MID", CallKind::Other),
        ] {
            assert_eq!(CallKind::of(name), kind, "{name}");
        }
    }
}
