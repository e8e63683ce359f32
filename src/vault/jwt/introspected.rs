//! [`Introspected`]: what an authorization server says of a token that says nothing by itself (RFC 7662 section 2.2).

use serde_json::{Map, Value};

use crate::vault::jwt::policy::{Claims, ClaimsError, Policy};
use crate::vault::jwt::{JwtError, strict};

/// How many arrays and objects of an answer may lie within each other.
const DEPTH: usize = 16;

/// What a server says of a token that it calls active. Whether it is for us, and for what, is another question:
/// [`Introspected::check`].
#[derive(Clone, PartialEq)]
pub struct Introspected(Map<String, Value>);

impl Introspected {
    /// Reads an answer; `None`: the token is not active. Members that are `null` are none: many servers write them so.
    ///
    /// # Errors
    /// What is no JSON object with each name once, or does not say whether the token is active.
    pub fn parse(answer: &[u8]) -> Result<Option<Self>, JwtError> {
        let mut members = strict::object(answer, DEPTH)?;
        members.retain(|_, value| !value.is_null());
        match members.get("active") {
            Some(Value::Bool(true)) => Ok(Some(Self(members))),
            Some(Value::Bool(false)) => Ok(None),
            _ => Err(JwtError::Payload),
        }
    }

    /// When the token ends, in whole seconds since 1970 (UTC), if the server says so.
    pub fn expires(&self) -> Option<u64> {
        // A fraction of a second is left out, and what is before 1970 has ended.
        let seconds = self.0.get("exp")?.as_f64()?;
        Some(if seconds > 0.0 { seconds as u64 } else { 0 })
    }

    /// What it says, as claims, if that is what `policy` asks for at the time `now`, in seconds since 1970 (UTC).
    ///
    /// # Errors
    /// [`ClaimsError`] says what they lack.
    pub fn check(&self, policy: &Policy, now: u64) -> Result<Claims, ClaimsError> {
        policy.check(self.0.clone(), now)
    }
}

impl std::fmt::Debug for Introspected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Introspected(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vault::jwt::policy::Audience;

    #[test]
    fn only_a_server_that_says_so_makes_a_token_active() {
        // An answer, and whether the token is active; `None`: nobody knows.
        let rows: [(&str, Option<bool>); 14] = [
            (r#"{"active":true}"#, Some(true)),
            (r#"{"active":true,"sub":"jane","extra":{"a":[1]}}"#, Some(true)),
            (r#"{"active":false}"#, Some(false)),
            (r#"{"active":false,"sub":"jane"}"#, Some(false)),
            (r#"{"active":"true"}"#, None),
            (r#"{"active":1}"#, None),
            (r#"{"active":null}"#, None),
            (r#"{"Active":true}"#, None),
            (r#"{"active":false,"active":true}"#, None),
            ("{}", None),
            ("true", None),
            (r#"[{"active":true}]"#, None),
            ("", None),
            ("<html>active</html>", None),
        ];
        for (answer, active) in rows {
            let read = Introspected::parse(answer.as_bytes());
            assert_eq!(read.as_ref().ok().map(Option::is_some), active, "{answer}");
        }
    }

    #[test]
    fn what_it_says_is_judged_as_claims_are() {
        let policy = Policy {
            issuers: vec!["https://id.test".to_owned()],
            audience: Audience::OneOf(vec!["chat".to_owned()]),
            expires: false,
            leeway: 5,
            required: vec!["sub".to_owned()],
            scopes: vec!["chat:write".to_owned()],
        };
        let good =
            r#""iss":"https://id.test","aud":["chat","other"],"sub":"jane","scope":"chat:read chat:write""#;
        let rows = [
            (good.to_owned(), Ok(())),
            (format!(r#"{good},"exp":1000,"nbf":1000"#), Ok(())),
            (format!(r#"{good},"exp":null"#), Ok(())),
            (format!(r#"{good},"exp":995"#), Err(ClaimsError::Expired)),
            (format!(r#"{good},"exp":"soon""#), Err(ClaimsError::Time)),
            (format!(r#"{good},"nbf":1006"#), Err(ClaimsError::Early)),
            (good.replace("id.test", "id.test/"), Err(ClaimsError::Issuer)),
            (good.replace("chat\",\"other", "other"), Err(ClaimsError::Audience)),
            (good.replace("chat:write", "chat:writer"), Err(ClaimsError::Scope)),
            (good.replace("\"jane\"", "null"), Err(ClaimsError::Required)),
        ];
        for (members, want) in rows {
            let answer = format!(r#"{{"active":true,{members}}}"#);
            let said = Introspected::parse(answer.as_bytes()).unwrap().unwrap();
            assert_eq!(said.check(&policy, 1000).map(drop), want, "{answer}");
        }
    }

    #[test]
    fn the_end_of_a_token_is_read_as_a_number_of_seconds() {
        for (exp, want) in [("1000", Some(1000)), ("1000.9", Some(1000)), ("-5", Some(0)), ("\"1000\"", None)]
        {
            let answer = format!(r#"{{"active":true,"exp":{exp}}}"#);
            assert_eq!(Introspected::parse(answer.as_bytes()).unwrap().unwrap().expires(), want, "{exp}");
        }
    }
}
