//! JSON in which no name comes twice in an object, however it is escaped: readers that take the first and readers that
//! take the last would see two different tokens (RFC 7515 section 4, RFC 7519 section 4).

use std::collections::HashSet;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::vault::jwt::JwtError;

/// Reads one JSON text; `depth` is how many arrays and objects may lie within each other.
pub(super) fn value(text: &[u8], depth: usize) -> Result<Value, JwtError> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = Strict(depth).deserialize(&mut reader).map_err(|_| JwtError::Payload)?;
    reader.end().map_err(|_| JwtError::Payload)?;
    Ok(value)
}

/// Reads one JSON object.
pub(super) fn object(text: &[u8], depth: usize) -> Result<Map<String, Value>, JwtError> {
    match value(text, depth)? {
        Value::Object(members) => Ok(members),
        _ => Err(JwtError::NotObject),
    }
}

/// How many levels are left.
#[derive(Clone, Copy)]
struct Strict(usize);

impl Strict {
    fn within<E: Error>(self) -> Result<Self, E> {
        self.0.checked_sub(1).map(Self).ok_or_else(|| E::custom("too deep"))
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON with each name once")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let within = self.within()?;
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(within)? {
            all.push(item);
        }
        Ok(all.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let within = self.within()?;
        let (mut all, mut seen) = (Map::new(), HashSet::new());
        while let Some(name) = members.next_key::<String>()? {
            if !seen.insert(name.clone()) {
                return Err(A::Error::custom("a name comes twice"));
            }
            all.insert(name, members.next_value_seed(within)?);
        }
        Ok(all.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_once_at_any_depth() {
        for wrong in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"b":[{"a":1,"a":2}]}"#,
            "{",
            "{}{}",
            "\u{feff}{}",
        ] {
            assert_eq!(object(wrong.as_bytes(), 8), Err(JwtError::Payload), "{wrong}");
        }
        assert_eq!(object(b"[]", 8), Err(JwtError::NotObject));
        assert_eq!(object(b"\xff", 8), Err(JwtError::Payload));
        assert_eq!(object(br#"{"a":[[1]]}"#, 2), Err(JwtError::Payload));
        let read = object(br#" {"a":[[-1,1.5,null,true,"x"]],"b":{}} "#, 3).unwrap();
        assert_eq!(Value::from(read), serde_json::json!({"a": [[-1, 1.5, null, true, "x"]], "b": {}}));
    }
}
