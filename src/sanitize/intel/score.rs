//! [`Score`], from 0 to 100, and its [`Standing`].

use serde::{Deserialize, Serialize};

/// How bad something is known to be: 0, nothing is known, to 100, it is listed by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Score(u8);

/// What a score says, in the words of the summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
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
    pub const fn standing(self) -> Standing {
        match self.0 {
            70.. => Standing::Malicious,
            30.. => Standing::Suspicious,
            _ => Standing::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Score, Standing};

    #[test]
    fn scores_say_three_things() {
        let cases = [
            (0, Standing::Unknown),
            (29, Standing::Unknown),
            (30, Standing::Suspicious),
            (69, Standing::Suspicious),
            (70, Standing::Malicious),
            (255, Standing::Malicious),
        ];
        for (score, want) in cases {
            assert_eq!(Score::new(score).standing(), want, "{score}");
        }
        assert_eq!(
            (Score::LISTED.wider().get(), Score::new(255).get(), Score::new(9).wider().get()),
            (80, 100, 7)
        );
    }
}
