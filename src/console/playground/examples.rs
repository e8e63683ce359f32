//! What the page begins with. Values in it are made up, or published for tests.

/// A letter. The order's number is found by no rule: no word near it says that it is anybody's.
pub(super) const TEXT: &str = "\
Hello, this is Elena Ruiz. I have moved to 27 Maple Street, and my card does not work in your shop any more.

Please call me on +44 20 7946 0958 or write to elena.ruiz@harbour-post.com.
Card: 4111 1111 1111 1111. If that fails, take my account GB82 WEST 1234 5698 7654 32.

My order number is 483920175.
PS: Your developer left AKIAQ3EGPTX7RW5MZK2H in the e-mail. Is that bad?
";

/// A document. What a member is called counts like words before its value.
pub(super) const JSON: &str = r#"{
  "ticket": 41877,
  "customer": {
    "name": "Elena Ruiz",
    "email": "elena.ruiz@harbour-post.com",
    "passport": "483920175"
  },
  "notes": [
    "Elena called from +44 20 7946 0958.",
    "Her card 4111 1111 1111 1111 was refused."
  ],
  "smtp": { "user": "shop", "password": "tR9-vexing-Heron" }
}
"#;

/// A request to an LLM.
pub(super) const CHAT: &str = r#"{
  "model": "gpt-4o-mini",
  "messages": [
    {
      "role": "system",
      "content": "You answer letters of customers. Be brief."
    },
    {
      "role": "user",
      "content": "Hello, this is Elena Ruiz. Please write to elena.ruiz@harbour-post.com or call +44 20 7946 0958: my card 4111 1111 1111 1111 was refused for order 483920175."
    }
  ]
}
"#;

/// A rule of one's own.
pub(super) const RULES: &str = r#"[[rule]]
name = "ORDER_NUMBER"
patterns = [{ regex = '[0-9]{9}', score = 0.2 }]
context = { en = { before = ["order", "order number"] } }
matches = ["my order number is «483920175»"]
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Catalogue, Detector, RuleSelection};

    fn found(text: &str) -> Vec<String> {
        let catalogue = Catalogue::builtin().unwrap();
        let detector = Detector::new(&catalogue, &RuleSelection::defaults(&catalogue)).unwrap();
        let found = detector.find(text);
        found.iter().map(|one| detector.rule(one.rule).name().to_owned()).collect()
    }

    #[test]
    fn the_letter_has_one_of_each() {
        let expected = [
            "PERSON",
            "LOCATION",
            "PHONE_NUMBER",
            "EMAIL_ADDRESS",
            "CREDIT_CARD",
            "IBAN_CODE",
            "AMAZON_AWS_ACCESS_KEY_ID",
        ];
        assert_eq!(found(TEXT), expected);
    }

    #[test]
    fn examples_are_what_they_are_said_to_be() {
        assert!(serde_json::from_str::<serde_json::Value>(JSON).is_ok());
        assert!(serde_json::from_str::<serde_json::Value>(CHAT).is_ok());
        let mut catalogue = Catalogue::builtin().unwrap();
        catalogue.extend(RULES, "example").unwrap();
    }
}
