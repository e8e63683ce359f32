//! [`Script`]: what a model answers that plays along. It knows nothing but the request as it sees it, and does with values what models
//! do: repeats them, in capitals and in small letters, a person by the first name alone, in arguments of a tool; and makes one up.

use serde_json::json;

/// A value that nobody gave it.
const INVENTED: &str = "tomasz.kowalczyk@north-ferry-lines.com";

/// The most values that it repeats.
const REPEATED: usize = 6;

/// A value as it stands in the request that the model sees.
#[derive(Clone)]
pub(super) struct SeenValue {
    /// The rule that it stands for; empty where that is not known.
    pub(super) rule: String,
    /// As it is written.
    pub(super) text: String,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AnswerPiece {
    /// The model's own words.
    Words(String),
    /// A value that it saw, as it writes it.
    Value(String),
    /// One that it made up.
    Invented(String),
}

impl AnswerPiece {
    /// What is written.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Words(text) | Self::Value(text) | Self::Invented(text) => text,
        }
    }
}

/// What it answers.
pub(super) struct Script {
    /// Its message.
    pub(super) message: Vec<AnswerPiece>,
    /// The arguments of the tool that it calls: a JSON document.
    pub(super) arguments: Vec<AnswerPiece>,
}

/// What the tool is called.
pub(super) const TOOL: &str = "open_ticket";

impl Script {
    /// The answer of a model that sees these values.
    pub(super) fn of(seen: &[SeenValue]) -> Self {
        let mut message = Vec::new();
        let mut say = |words: &str| message.push(AnswerPiece::Words(words.to_owned()));
        let person = seen.iter().find(|value| value.rule == "PERSON");
        let mail = seen.iter().find(|value| value.rule == "EMAIL_ADDRESS");
        match person {
            Some(person) => {
                let first = person.text.split_whitespace().next().unwrap_or(&person.text);
                say("Dear ");
                message.push(AnswerPiece::Value(first.to_owned()));
                message.push(AnswerPiece::Words(",\n\n".to_owned()));
            }
            None => say("Hello,\n\n"),
        }
        match seen {
            [] => message
                .push(AnswerPiece::Words("there is nothing in your request that I could repeat.".to_owned())),
            seen => {
                message.push(AnswerPiece::Words("this is what I read in your request:\n".to_owned()));
                for value in seen.iter().take(REPEATED) {
                    message.push(AnswerPiece::Words("\n  - noted: ".to_owned()));
                    message.push(AnswerPiece::Value(value.text.clone()));
                }
            }
        }
        if let Some(person) = person {
            message.push(AnswerPiece::Words(
                "\n\nThe label of your parcel will be printed in capitals: ".to_owned(),
            ));
            message.push(AnswerPiece::Value(person.text.to_uppercase()));
        }
        if let Some(mail) = mail {
            message.push(AnswerPiece::Words("\n\nOur system writes addresses in small letters: ".to_owned()));
            message.push(AnswerPiece::Value(mail.text.to_lowercase()));
        }
        message.push(AnswerPiece::Words("\n\nIf nobody calls you, write to ".to_owned()));
        message.push(AnswerPiece::Invented(INVENTED.to_owned()));
        message.push(AnswerPiece::Words(" (which I made up).".to_owned()));
        Self { message, arguments: arguments(seen) }
    }

    /// A message of the pieces.
    pub(super) fn joined(pieces: &[AnswerPiece]) -> String {
        pieces.iter().map(AnswerPiece::text).collect()
    }

    /// The answer as a model's API gives it.
    pub(super) fn answer(&self) -> String {
        let call = json!({
            "id": "call_7f2Qz1",
            "type": "function",
            "function": {"name": TOOL, "arguments": Self::joined(&self.arguments)},
        });
        let message =
            json!({"role": "assistant", "content": Self::joined(&self.message), "tool_calls": [call]});
        let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
        json!({"id": "chatcmpl-playground", "object": "chat.completion", "model": "scripted", "choices": [choice]})
            .to_string()
    }
}

fn arguments(seen: &[SeenValue]) -> Vec<AnswerPiece> {
    let mut pieces = vec![AnswerPiece::Words("{\n  \"priority\": \"normal\"".to_owned())];
    for (value, number) in seen.iter().take(REPEATED).zip(1..) {
        pieces.push(AnswerPiece::Words(format!(",\n  \"value_{number}\": \"")));
        let spelled = serde_json::to_string(&value.text).unwrap_or_default();
        let inner = spelled.get(1..spelled.len().saturating_sub(1)).unwrap_or_default();
        pieces.push(AnswerPiece::Value(inner.to_owned()));
        pieces.push(AnswerPiece::Words("\"".to_owned()));
    }
    pieces.push(AnswerPiece::Words("\n}".to_owned()));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_one_whatever_the_model_sees() {
        let value = |rule: &str, text: &str| SeenValue { rule: rule.to_owned(), text: text.to_owned() };
        let cases = [
            Vec::new(),
            vec![value("", "a\"b\\c\n\u{1f642}")],
            vec![value("PERSON", "Maria Lopez"), value("EMAIL_ADDRESS", "X9@y.com")],
            vec![value("PHONE_NUMBER", "+44 20 7946 0958"); 40],
        ];
        for seen in cases {
            let script = Script::of(&seen);
            let answer: serde_json::Value = serde_json::from_str(&script.answer()).unwrap();
            let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
            let arguments: serde_json::Value =
                serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
            assert_eq!(arguments.as_object().unwrap().len(), 1 + seen.len().min(REPEATED));
        }
    }
}
