//! [`ClaimsTemplate`]: JSON with places that are filled in from claims, such as `"$claims.sub"`.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// What a text begins with that stands for a claim.
const CLAIMS: &str = "$claims";

/// A date of TOML comes as a table with this one key.
const TOML_DATE: &str = "$__toml_private_datetime";

/// How deep a template may be: more is a mistake, and what it makes must stay readable.
const DEPTH: usize = 16;

/// A JSON value in which texts of one form stand for claims:
///
/// | text | what it becomes |
/// |---|---|
/// | `$claims.sub` | the claim, of whatever type; there must be one |
/// | `$claims.org.id` | a member of a claim that is an object |
/// | `$claims["https://example.com/roles"]` | a name with other characters than letters, digits, `_` and `-` |
/// | `$claims.email?` | the claim, or nothing: the member or element is left out |
/// | `$$5` | `$5` |
///
/// A text is a claim as a whole or not at all; any other that begins with `$` is refused.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimsTemplate(TemplatePart);

#[derive(Clone, Debug, PartialEq)]
enum TemplatePart {
    Fixed(Value),
    Claim(ClaimName),
    List(Vec<TemplatePart>),
    Object(Vec<(String, TemplatePart)>),
}

#[derive(Clone, Debug, PartialEq)]
struct ClaimName {
    name: String,
    within: Vec<String>,
    optional: bool,
}

/// Why something is no template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// A text begins with `$` and is not of a form that means something.
    #[error(
        "a text that begins with `$` is a claim such as \"$claims.sub\", \"$claims.org.id\" or \
         \"$claims.email?\"; write `$$` for a `$`"
    )]
    Reference,
    /// A number that JSON cannot say.
    #[error("JSON has no such number")]
    Number,
    /// A date.
    #[error("JSON has no dates, write it as a text or a number")]
    Date,
    /// Too deep.
    #[error("deeper than 16 levels")]
    Deep,
}

/// There is no claim where one must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a claim is missing")]
pub struct MissingClaim;

impl ClaimsTemplate {
    /// Whether it has places for claims.
    pub fn asks(&self) -> bool {
        self.0.asks()
    }

    /// The value with its places filled in; `None` if it is an optional claim that is not there. A claim that is
    /// `null` is not there.
    ///
    /// # Errors
    /// A claim that must be there is not.
    pub fn fill<'a>(
        &self,
        claims: &dyn Fn(&str) -> Option<&'a Value>,
    ) -> Result<Option<Value>, MissingClaim> {
        self.0.fill(claims)
    }
}

impl TemplatePart {
    fn text(text: &str) -> Result<Self, TemplateError> {
        let Some(rest) = text.strip_prefix('$') else { return Ok(Self::Fixed(text.into())) };
        if rest.starts_with('$') {
            return Ok(Self::Fixed(rest.into()));
        }
        let steps = text.strip_prefix(CLAIMS).ok_or(TemplateError::Reference)?;
        let (mut steps, optional) = steps.strip_suffix('?').map_or((steps, false), |steps| (steps, true));
        let mut names = Vec::new();
        while !steps.is_empty() {
            let (name, rest) = step(steps).ok_or(TemplateError::Reference)?;
            names.push(name.to_owned());
            steps = rest;
        }
        let mut names = names.into_iter();
        let name = names.next().ok_or(TemplateError::Reference)?;
        Ok(Self::Claim(ClaimName { name, within: names.collect(), optional }))
    }

    fn asks(&self) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Claim(_) => true,
            Self::List(parts) => parts.iter().any(Self::asks),
            Self::Object(members) => members.iter().any(|(_, part)| part.asks()),
        }
    }

    fn depth(&self) -> usize {
        match self {
            Self::Fixed(_) | Self::Claim(_) => 0,
            Self::List(parts) => parts.iter().map(Self::depth).max().unwrap_or(0) + 1,
            Self::Object(members) => members.iter().map(|(_, part)| part.depth()).max().unwrap_or(0) + 1,
        }
    }

    fn fill<'a>(&self, claims: &dyn Fn(&str) -> Option<&'a Value>) -> Result<Option<Value>, MissingClaim> {
        Ok(Some(match self {
            Self::Fixed(value) => value.clone(),
            Self::Claim(claim) => {
                let mut found = claims(&claim.name);
                for name in &claim.within {
                    found = found.and_then(|value| value.as_object()?.get(name));
                }
                match found.filter(|value| !value.is_null()) {
                    Some(value) => value.clone(),
                    None if claim.optional => return Ok(None),
                    None => return Err(MissingClaim),
                }
            }
            Self::List(parts) => {
                let filled = parts.iter().filter_map(|part| part.fill(claims).transpose());
                Value::Array(filled.collect::<Result<_, _>>()?)
            }
            Self::Object(members) => {
                let mut object = Map::new();
                for (name, part) in members {
                    if let Some(value) = part.fill(claims)? {
                        object.insert(name.clone(), value);
                    }
                }
                Value::Object(object)
            }
        }))
    }
}

/// The first name of a path, `.name` or `["name"]`, and what follows it.
fn step(steps: &str) -> Option<(&str, &str)> {
    if let Some(quoted) = steps.strip_prefix("[\"") {
        return quoted.split_once("\"]").filter(|(name, _)| !name.is_empty() && !name.contains('"'));
    }
    let plain = steps.strip_prefix('.')?;
    let end = plain.find(['.', '[']).unwrap_or(plain.len());
    let (name, rest) = plain.split_at_checked(end)?;
    let fine = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    (fine && !name.is_empty()).then_some((name, rest))
}

impl<'de> Deserialize<'de> for ClaimsTemplate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let part = TemplatePart::deserialize(deserializer)?;
        if part.depth() > DEPTH { Err(D::Error::custom(TemplateError::Deep)) } else { Ok(Self(part)) }
    }
}

impl<'de> Deserialize<'de> for TemplatePart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TemplateReader)
    }
}

struct TemplateReader;

impl<'de> Visitor<'de> for TemplateReader {
    type Value = TemplatePart;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a text, a number, true, false, an array or a table")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TemplatePart, E> {
        TemplatePart::text(text).map_err(E::custom)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<TemplatePart, E> {
        Ok(TemplatePart::Fixed(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<TemplatePart, E> {
        Ok(TemplatePart::Fixed(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<TemplatePart, E> {
        Ok(TemplatePart::Fixed(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<TemplatePart, E> {
        let number = serde_json::Number::from_f64(value).ok_or(TemplateError::Number);
        number.map(|number| TemplatePart::Fixed(Value::Number(number))).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<TemplatePart, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = elements.next_element()? {
            parts.push(part);
        }
        Ok(TemplatePart::List(parts))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<TemplatePart, A::Error> {
        let mut members = Vec::new();
        while let Some(name) = entries.next_key::<String>()? {
            if name == TOML_DATE {
                return Err(A::Error::custom(TemplateError::Date));
            }
            members.push((name, entries.next_value()?));
        }
        Ok(TemplatePart::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn template(value: Value) -> Result<ClaimsTemplate, serde_json::Error> {
        serde_json::from_value(value)
    }

    #[test]
    fn places_are_filled_and_the_rest_stays() {
        let claims = json!({
            "sub": "jane", "org": { "id": 7, "roles": ["a", "b"] }, "https://x.test/r.1": true, "nil": null,
        });
        let rows = [
            (json!("$claims.sub"), Ok(Some(json!("jane")))),
            (json!("$claims.org.id"), Ok(Some(json!(7)))),
            (json!("$claims[\"org\"].roles"), Ok(Some(json!(["a", "b"])))),
            (json!("$claims[\"https://x.test/r.1\"]"), Ok(Some(json!(true)))),
            (json!("$claims.none"), Err(MissingClaim)),
            (json!("$claims.nil"), Err(MissingClaim)),
            (json!("$claims.sub.id"), Err(MissingClaim)),
            (json!("$claims.org.roles.0"), Err(MissingClaim)),
            (json!("$claims.nil?"), Ok(None)),
            (json!("$$claims.sub"), Ok(Some(json!("$claims.sub")))),
            (json!("cost: $5"), Ok(Some(json!("cost: $5")))),
            (
                json!([1, -2.5, false, "$claims.no?", ["$claims.sub"]]),
                Ok(Some(json!([1, -2.5, false, ["jane"]]))),
            ),
            (json!({ "a": { "b": "$claims.org", "c": "$claims.no?" } }), {
                Ok(Some(json!({ "a": { "b": claims["org"] } })))
            }),
            (json!({ "a": ["$claims.no"] }), Err(MissingClaim)),
        ];
        for (written, want) in rows {
            let read = template(written.clone()).unwrap();
            assert_eq!(read.fill(&|name| claims.get(name)), want, "{written}");
            assert_eq!(read.asks(), written.to_string().replace("$$", "").contains("$claims"), "{written}");
        }
    }

    #[test]
    fn a_dollar_that_means_nothing_is_refused() {
        for text in [
            "$",
            "$5",
            "$claims",
            "$claims?",
            "$claim.sub",
            "$claims.",
            "$claims..a",
            "$claims.a.",
            "$claims.a b",
            "$claims[\"\"]",
            "$claims[\"a]",
            "$claims[a]",
            "$claims.a??",
            "$claims.a?b",
            "$claimsa",
            "$ claims.a",
        ] {
            assert!(template(json!(text)).is_err(), "{text}");
        }
        let deep = (0..17).fold(json!(1), |inner, _| json!([inner]));
        assert!(template(deep).is_err() && template(json!(null)).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,40}|\\$claims[.a\\[\"\\]?]{0,8}") {
            let read = template(json!(text));
            prop_assert!(read.is_ok() || text.starts_with('$'));
        }
    }
}
