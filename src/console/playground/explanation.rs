//! Why something is found, and why something is not, in sentences for people.

use crate::detect::{Finding, NameTag, Rejection, Rule};

/// Checks that look at how random a value is, and not whether its digits are right.
const SHAPES: &[&str] = &["random", "mixed", "entropy", "any"];

/// Two scores are the same.
const SAME: f32 = 0.0005;

/// A finding, and what is around it.
pub(super) struct JudgedFinding<'a> {
    /// What is found, or would be.
    pub(super) finding: &'a Finding,
    /// By which rule.
    pub(super) rule: &'a Rule,
    /// The word near it.
    pub(super) word: &'a str,
    /// From which score on it counts.
    pub(super) least: f32,
    /// What its value is called where it stands; empty where nothing is known of that.
    pub(super) name: &'a str,
}

/// A score as people write it.
pub(super) fn score(score: f32) -> String {
    format!("{score:.2}")
}

impl JudgedFinding<'_> {
    /// The forms that it may have by its score.
    fn forms(&self) -> Vec<(f32, Option<&str>)> {
        let (score, added) = (self.finding.score.value(), self.finding.near.map_or(0.0, |near| near.augment));
        let mut forms = self.rule.forms();
        forms.retain(|(base, _)| ((base + added).clamp(0.0, 1.0) - score).abs() < SAME);
        forms
    }

    /// What the form scores by itself; `None` where several may have been it that score differently.
    fn base(&self) -> Option<f32> {
        let forms = self.forms();
        let (first, _) = forms.first()?;
        forms.iter().all(|(base, _)| (base - first).abs() < SAME).then_some(*first)
    }

    /// What is said of its form.
    fn said_form(&self) -> Option<String> {
        if let Some(tag) = self.rule.tag() {
            return Some(named(tag).to_owned());
        }
        let (forms, score_is) = (self.forms(), self.finding.score.value());
        let checked = self.rule.forms().iter().any(|(_, check)| check.is_some());
        let Some((_, check)) = forms.first() else {
            let proved = checked && score_is > 1.0 - SAME;
            return proved.then(|| "It passes a check that proves it, which counts 1.00.".to_owned());
        };
        let same = forms.iter().all(|(_, other)| other == check);
        let check = check.filter(|check| same && !SHAPES.contains(check));
        let counts = self.base().map(|base| format!(", which counts {}", score(base))).unwrap_or_default();
        Some(match check {
            Some(check) => format!("It has the form{counts}, and passes the check “{check}”."),
            None => format!("It has the form{counts}."),
        })
    }

    /// Why it is found.
    pub(super) fn found(&self) -> Vec<String> {
        let mut why = Vec::new();
        let base = self.base();
        why.extend(self.said_form());
        why.extend(self.said_near());
        let unexplained = self.finding.near.is_none() && base.is_none() && self.rule.tag().is_none();
        if unexplained && !self.name.is_empty() {
            why.push(format!("It stands under “{}”, which counts like a word before it.", self.name));
        }
        why.push(format!(
            "{} reaches the threshold, {}.",
            score(self.finding.score.value()),
            score(self.least)
        ));
        why
    }

    /// Why it is not.
    pub(super) fn rejected(&self, rejection: Rejection) -> Vec<String> {
        let mut why = Vec::new();
        match rejection {
            Rejection::NegativeContext => {
                why.extend(self.said_near());
                why.push("Without that word it would count.".to_owned());
            }
            Rejection::Threshold => {
                if let Some(base) = self.base() {
                    why.push(format!("The form alone counts {}.", score(base)));
                }
                why.extend(self.said_near());
                if self.finding.near.is_none() {
                    why.push("No word near it says what it is.".to_owned());
                }
            }
        }
        why.push(format!(
            "{} does not reach the threshold, {}.",
            score(self.finding.score.value()),
            score(self.least)
        ));
        why
    }

    fn said_near(&self) -> Option<String> {
        let near = self.finding.near?;
        let (word, by) = (self.word, score(near.augment.abs()));
        Some(match near.augment < 0.0 {
            true => format!("“{word}” near it speaks against it and takes off {by}."),
            false => format!("“{word}” near it speaks for it and adds {by}."),
        })
    }
}

/// Why names are found.
fn named(tag: NameTag) -> &'static str {
    match tag {
        NameTag::Person => "Its words read as the name of a person.",
        NameTag::Location => "Its words read as the name of a place, or as an address.",
        NameTag::Organization => "Its words read as the name of an organisation.",
        NameTag::Group => "Its words read as the name of a people, a faith or a party.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Catalogue, Detector, RuleSelection};

    /// Why the first finding of this rule is one, or is none.
    fn why(rule: &str, text: &str) -> (bool, String) {
        let catalogue = Catalogue::builtin().unwrap();
        let selection = RuleSelection::only(&catalogue, [rule]).unwrap();
        let detector = Detector::new(&catalogue, &selection).unwrap();
        let mut cache = detector.cache();
        let found = detector.find_with(&mut cache, text);
        let rejected = detector.rejected(&mut cache, text, &found);
        let finding = found.first().copied().or(rejected.first().map(|one| one.finding)).unwrap();
        let near = finding.near.map(|near| near.span.start..near.span.end);
        let judged = JudgedFinding {
            finding: &finding,
            rule: detector.rule(finding.rule),
            word: near.and_then(|near| text.get(near)).unwrap_or_default(),
            least: detector.rule(finding.rule).threshold(),
            name: "",
        };
        match found.is_empty() {
            false => (true, judged.found().join(" ")),
            true => (false, judged.rejected(rejected.first().unwrap().why).join(" ")),
        }
    }

    #[test]
    fn reasons_are_sentences() {
        let (found, said) = why("CREDIT_CARD", "4111 1111 1111 1111");
        assert!(
            found
                && said.contains("passes the check “card”")
                && said.ends_with("1.00 reaches the threshold, 0.50."),
            "{said}"
        );
        let (found, said) = why("PERSON", "Hello, this is Elena Ruiz.");
        assert!(found && said.starts_with("Its words read as the name of a person."), "{said}");
        let (found, said) = why("US_PASSPORT", "passport 483920175");
        assert!(found && said.contains("“passport” near it speaks for it"), "{said}");
        let (found, said) = why("US_PASSPORT", "order 483920175");
        assert!(
            !found && said.contains("No word near it says what it is.") && said.contains("does not reach"),
            "{said}"
        );
    }
}
