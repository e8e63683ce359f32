//! Questions and answers: `What is your passport number?` in one message says of the next what a label would, and so does
//! `password:` at the end of a part whose value is the next part.

use crate::detect::Label;
use crate::redact::parts::is_few_digits;

/// The longest answer that is a value by itself, in bytes, and the most words of it.
const ANSWER: usize = 96;
const WORDS: usize = 6;

/// How much of a question is read, in bytes.
const QUESTION: usize = 160;

/// The shortest answer that is a secret, in bytes: `no` is none.
const SECRET: usize = 8;

/// Signs of code and paths, which stand behind `password =` and are no password.
const CODE: &[char] = &['(', ')', '[', ']', '{', '}', '=', ';', '/', '\\', '\'', '"', '<', '>'];

/// Words with which one is asked without a question mark.
const ASKING: [&str; 11] =
    ["please", "enter", "give", "provide", "type", "tell", "confirm", "send", "share", "what", "which"];

/// The texts of a conversation, one after the other.
#[derive(Debug, Default)]
pub(super) struct Dialogue {
    /// What the text before asked for, if this one may be the answer.
    asked: Option<String>,
    /// What this one asks for.
    asks: Option<String>,
}

impl Dialogue {
    /// Shows the next text.
    pub(super) fn follow(&mut self, text: &str) {
        self.asked = self.asks.take().filter(|question| answers(question, text));
        self.asks = question(text).map(str::to_owned);
    }

    /// What this text is the answer to.
    pub(super) fn asked(&self) -> Option<&str> {
        self.asked.as_deref()
    }
}

/// What a text asks for at its end, without the sign behind it.
fn question(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let line = text.rsplit('\n').next().unwrap_or_default();
    let cut = line.floor_char_boundary(line.len().saturating_sub(QUESTION));
    let line = line.get(cut..).unwrap_or_default().trim_matches(|c: char| matches!(c, '*' | '_' | '`' | ' '));
    let (said, sign) =
        line.split_at(line.trim_end_matches(['?', ':', '=', '.', '!', '\u{ff1f}', '\u{ff1a}']).len());
    // Of several sentences the last.
    let said = said.rsplit(['.', '!', '?']).next().unwrap_or_default().trim_start();
    let first = said.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let asking = || ASKING.iter().any(|word| first.eq_ignore_ascii_case(word));
    let open = sign.contains(['?', ':', '=', '\u{ff1f}', '\u{ff1a}']);
    (!said.is_empty() && (open || asking())).then_some(said)
}

/// Whether a text may be the answer to a question. Who is asked for a name says many a word that is none, and few digits are
/// any number. A secret is one word with capitals, small letters and digits.
fn answers(question: &str, text: &str) -> bool {
    let text = text.trim();
    let short = text.len() <= ANSWER && !text.contains('\n') && text.split_whitespace().count() <= WORDS;
    if !short || text.ends_with('?') || is_few_digits(text) || asks_for_name(question) {
        return false;
    }
    !Label::of([question]).is_some_and(|label| label.is_secret())
        || may_be_secret(text.trim_end_matches(['.', '!', ',']))
}

fn asks_for_name(question: &str) -> bool {
    question.rsplit(' ').next().is_some_and(|last| last.to_lowercase().ends_with("name"))
}

fn may_be_secret(word: &str) -> bool {
    let has = |kind: fn(char) -> bool| word.contains(kind);
    let drawn = has(char::is_uppercase) && has(char::is_lowercase) && has(|c| c.is_ascii_digit());
    word.len() >= SECRET && drawn && !word.contains(char::is_whitespace) && !word.contains(CODE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_answers_the_question_before_it() {
        for (question, answer, asked) in [
            (
                "What is your social security number?",
                "536228726",
                Some("What is your social security number"),
            ),
            ("Sure! And your passport number?", "C01X00T47.", Some("And your passport number")),
            ("DB host db1, user app, password:", "Gx7!kkpw", Some("DB host db1, user app, password")),
            ("Please give me your password.", "Tr0ub4dor&3xy", Some("Please give me your password")),
            ("One line.\n**SSN:**", "536 22 8726", Some("SSN")),
            // What is no answer.
            ("What is your password?", "I forgot it, sorry", None),
            ("What is your password?", "no", None),
            ("What is your password?", "Certainly", None),
            ("Let me grep for the password:", "src/auth.rs", None),
            ("password =", "getPassword1()", None),
            ("How do you store the password?", "bcrypt/argon2", None),
            ("Do you remember the password?", "No/maybe", None),
            ("Let me look up the password:", "exit-code:0", None),
            ("What is your name?", "Siri", None),
            ("What is your PIN?", "4711", None),
            ("What is your PIN?", "471182", Some("What is your PIN")),
            ("What is your SSN?", "Why do you ask?", None),
            ("What is your SSN?", "one\ntwo", None),
            ("I changed the password.", "Gx7!kkpw", None),
            ("", "536228726", None),
        ] {
            let mut dialogue = Dialogue::default();
            dialogue.follow(question);
            assert_eq!(dialogue.asked(), None);
            dialogue.follow(answer);
            assert_eq!(dialogue.asked(), asked, "{question} {answer}");
            dialogue.follow("Thanks, that is all that is needed for now, and you will hear from us");
            assert_eq!(dialogue.asked(), None);
        }
    }

    #[test]
    fn long_texts_are_no_answers_and_cost_little() {
        let mut dialogue = Dialogue::default();
        dialogue.follow(&format!("{}SSN?", "word ".repeat(10_000)));
        dialogue.follow(&"1".repeat(ANSWER + 1));
        assert_eq!(dialogue.asked(), None);
    }
}
