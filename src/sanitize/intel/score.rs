//! [`Score`], from 0 to 100, and its [`ThreatLevel`].

use serde::{Deserialize, Serialize};

/// How bad something is known to be: 0, nothing is known, to 100, it is listed by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Score(u8);

/// What a score says, in the words of the summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreatLevel {
    /// 70 and more.
    Malicious,
    /// 30 to 69.
    Suspicious,
    /// Less.
    Unknown,
}

impl Score {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self(0);
    /// It is listed by itself.
    pub const LISTED: Self = Self(100);

    /// A score; more than 100 is 100.
    pub const fn new(score: u8) -> Self {
        Self(if score > 100 { 100 } else { score })
    }

    /// From 0 to 100.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// What is listed says of what lies around it: four fifths.
    pub const fn wider(self) -> Self {
        Self(self.0 / 5 * 4 + self.0 % 5 * 4 / 5)
    }

    /// What it says.
    pub const fn level(self) -> ThreatLevel {
        match self.0 {
            70.. => ThreatLevel::Malicious,
            30.. => ThreatLevel::Suspicious,
            _ => ThreatLevel::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Score, ThreatLevel};

    #[test]
    fn scores_say_three_things() {
        let cases = [
            (0, ThreatLevel::Unknown),
            (29, ThreatLevel::Unknown),
            (30, ThreatLevel::Suspicious),
            (69, ThreatLevel::Suspicious),
            (70, ThreatLevel::Malicious),
            (255, ThreatLevel::Malicious),
        ];
        for (score, want) in cases {
            assert_eq!(Score::new(score).level(), want, "{score}");
        }
        assert_eq!(
            (Score::LISTED.wider().get(), Score::new(255).get(), Score::new(9).wider().get()),
            (80, 100, 7)
        );
    }
}
