//! What rewriters and readers make of JSON, against `serde_json`.

use portcullis::base::budget::MemoryBudget;
use portcullis::stream::json::{
    Decoded, EditorSlots, Embedded, JsonSlots, JsonToken, Path, PathSet, Treatment, Type, encode, walk,
};
use portcullis::stream::{Channel, Edit, Editor, Rewriter};
use proptest::prelude::*;
use serde_json::Value;

use crate::censor::{Censor, censored};
use crate::rewriters::{REWRITERS, cut, pass};

/// Values with the censor's words in strings, keys and numbers.
fn value() -> impl Strategy<Value = Value> {
    let text = prop::collection::vec(
        prop_oneof![
            Just("secret"),
            Just("secre"),
            Just("jane@x.org"),
            Just("\u{1F600}\u{e9}"),
            Just("\""),
            Just("\\"),
            Just("\n"),
            Just("\u{1}"),
            Just("plain "),
            Just("\u{e9}"),
            Just("/"),
            Just("4111111111111111"),
        ],
        0..5,
    )
    .prop_map(|parts| parts.concat());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        Just(Value::from(4_111_111_111_111_111_i64)),
        Just(Value::from(-7_654_321)),
        Just(Value::from(0.25)),
        text.clone().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..4)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Writes a value with white space, and with more escapes than it needs, as the dice fall.
fn spell(value: &Value, dice: &mut impl Iterator<Item = u8>, out: &mut String) {
    let space = |die: u8| ["", "", " ", "\n\t"][usize::from(die % 4)];
    let mut roll = || dice.next().unwrap_or(0);
    match value {
        Value::String(text) => spell_text(text, &mut roll, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                out.push_str(space(dice.next().unwrap_or(0)));
                spell(item, dice, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (at, (key, item)) in members.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                spell_text(key, &mut || dice.next().unwrap_or(0), out);
                out.push_str(space(dice.next().unwrap_or(0)));
                out.push(':');
                spell(item, dice, out);
                out.push_str(space(dice.next().unwrap_or(0)));
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

fn spell_text(text: &str, roll: &mut impl FnMut() -> u8, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        if roll().is_multiple_of(4) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            let mut bytes = Vec::new();
            encode(c.encode_utf8(&mut [0; 4]), &mut bytes);
            out.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }
    out.push('"');
}

/// What the censor should make of a value. Equal keys may arise: members are kept as a list.
#[derive(Debug, PartialEq)]
enum Expected {
    Leaf(Value),
    Array(Vec<Expected>),
    Object(Vec<(String, Expected)>),
}

fn expected(value: &Value) -> Expected {
    match value {
        Value::String(text) => Expected::Leaf(censored(text).into()),
        Value::Number(number) if number.to_string().trim_start_matches('-').len() >= 7 => {
            let text = number.to_string();
            let edited = censored(&text);
            Expected::Leaf(serde_json::from_str(&edited).unwrap_or(Value::from(edited)))
        }
        Value::Array(items) => Expected::Array(items.iter().map(expected).collect()),
        Value::Object(members) => {
            Expected::Object(members.iter().map(|(key, item)| (censored(key), expected(item))).collect())
        }
        other => Expected::Leaf(other.clone()),
    }
}

/// Reads it back with equal keys kept, by serde's own visitor.
impl<'de> serde::Deserialize<'de> for Expected {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Expected;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("JSON")
            }

            fn visit_unit<E>(self) -> Result<Expected, E> {
                Ok(Expected::Leaf(Value::Null))
            }

            fn visit_bool<E>(self, leaf: bool) -> Result<Expected, E> {
                Ok(Expected::Leaf(leaf.into()))
            }

            fn visit_i64<E>(self, leaf: i64) -> Result<Expected, E> {
                Ok(Expected::Leaf(leaf.into()))
            }

            fn visit_u64<E>(self, leaf: u64) -> Result<Expected, E> {
                Ok(Expected::Leaf(leaf.into()))
            }

            fn visit_f64<E>(self, leaf: f64) -> Result<Expected, E> {
                Ok(Expected::Leaf(leaf.into()))
            }

            fn visit_str<E>(self, leaf: &str) -> Result<Expected, E> {
                Ok(Expected::Leaf(leaf.into()))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Expected, A::Error> {
                let mut all = Vec::new();
                while let Some(item) = items.next_element()? {
                    all.push(item);
                }
                Ok(Expected::Array(all))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut members: A) -> Result<Expected, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = members.next_entry()? {
                    all.push(member);
                }
                Ok(Expected::Object(all))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn all_strings_keys_and_long_numbers_are_edited_and_nothing_else(
        value in value(),
        dice in prop::collection::vec(any::<u8>(), 64),
        at in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let mut text = String::new();
        spell(&value, &mut dice.into_iter().cycle().take(100_000), &mut text);
        let out = pass(REWRITERS[3].1, Box::<Censor>::default(), &cut(text.as_bytes(), &at));
        let read: Expected = serde_json::from_slice(&out).expect(&text);
        prop_assert_eq!(read, expected(&value), "{}", text);
    }

    #[test]
    fn json_within_a_string_stays_json(
        value in value().prop_filter("containers", |value| value.is_array() || value.is_object()),
        dice in prop::collection::vec(any::<u8>(), 64),
        at in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let (mut inner, mut outer) = (String::new(), String::from("{\"arguments\":"));
        let mut dice = dice.into_iter().cycle().take(100_000);
        spell(&value, &mut dice, &mut inner);
        spell(&Value::from(inner.as_str()), &mut dice, &mut outer);
        outer.push('}');
        let out = pass(REWRITERS[4].1, Box::<Censor>::default(), &cut(outer.as_bytes(), &at));
        let read: Value = serde_json::from_slice(&out).expect(&outer);
        let read: Expected = serde_json::from_str(read["arguments"].as_str().unwrap()).expect(&outer);
        prop_assert_eq!(read, expected(&value), "{}", outer);
    }

    #[test]
    fn a_walk_takes_what_serde_takes(
        value in value(),
        dice in prop::collection::vec(any::<u8>(), 64),
        spoil in prop::option::of((any::<prop::sample::Index>(), "[ \\]{}:,\"\\\\u0n.eE+t-]?")),
    ) {
        let mut text = String::new();
        spell(&value, &mut dice.into_iter().cycle().take(100_000), &mut text);
        if let Some((at, with)) = spoil {
            let at = text.floor_char_boundary(at.index(text.len()));
            text.replace_range(at..text.ceil_char_boundary(at + 1), &with);
        }
        let ours = walk(text.as_bytes(), &mut |_, _| {});
        let theirs = serde_json::from_str::<serde::de::IgnoredAny>(&text);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{}: {:?}, {:?}", text, ours, theirs);
    }

    #[test]
    fn a_walk_finds_what_serde_finds_at_the_same_pointers(
        value in value(),
        dice in prop::collection::vec(any::<u8>(), 64),
    ) {
        let mut text = String::new();
        spell(&value, &mut dice.into_iter().cycle().take(100_000), &mut text);
        let doc: Value = serde_json::from_str(&text).unwrap();
        walk(text.as_bytes(), &mut |path: &Path<'_>, leaf| {
            let decoded = Decoded::of(&text.as_bytes()[leaf.span.clone()]);
            let there = doc.pointer(path.pointer().as_str()).unwrap();
            match leaf.token {
                JsonToken::Text => assert_eq!(there, decoded.text()),
                JsonToken::Key => assert!(there.get(decoded.text()).is_some()),
                JsonToken::Number => assert_eq!(there.to_string(), decoded.text()),
                JsonToken::Rest => unreachable!("a document has no rest"),
            }
            let whole = decoded.encoded(0..decoded.text().len());
            assert_eq!(whole, 0..leaf.span.len());
        }).unwrap();
    }

    #[test]
    fn what_is_encoded_is_read_back(text in any::<String>()) {
        let mut out = vec![b'"'];
        encode(&text, &mut out);
        out.push(b'"');
        prop_assert_eq!(&serde_json::from_slice::<String>(&out).unwrap(), &text);
        let decoded = Decoded::of(&out[1..out.len() - 1]);
        prop_assert_eq!(decoded.text(), &text);
    }
}

/// What becomes of one body, by the rewriter of all strings and by that of chosen ones.
#[test]
fn bodies_are_edited_as_said() {
    let cases: &[(&str, &str, &str)] = &[
        (
            r#"{ "id" : "secret", "secret":"s\u0065cret\/", "n": -7654321, "m": -4111111111111111 }"#,
            r#"{ "id" : "<S>", "<S>":"<S>\/", "n": "-[N]", "m": -5000000000000009 }"#,
            r#"{ "id" : "secret", "secret":"<S>\/", "n": -7654321, "m": -4111111111111111 }"#,
        ),
        (
            r#"{"arguments":"{\"to\":\"jane\\u0040x.org\",\"n\":7654321,\"k\":4111111111111111}"}"#,
            r#"{"arguments":"{\"to\":\"jane\\u0040x.org\",\"n\":[N],\"k\":5000000000000009}"}"#,
            r#"{"arguments":"{\"to\":\"\\\"J\\\"\\\\\\n\",\"n\":\"[N]\",\"k\":5000000000000009}"}"#,
        ),
        (
            r#"{"arguments":" \n secret jane@x.org"}"#,
            r#"{"arguments":" \n <S> \"J\"\\\n"}"#,
            r#"{"arguments":" \n <S> \"J\"\\\n"}"#,
        ),
        (
            r#"{"arguments":"{}","x":{"arguments":"7654321"}}"#,
            r#"{"arguments":"{}","x":{"arguments":"[N]"}}"#,
            r#"{"arguments":"{}","x":{"arguments":"[N]"}}"#,
        ),
        ("{\"a\": secret}", "{\"a\": <S>}", "{\"a\": <S>}"),
        ("7654321 secret", "[N] <S>", "[N] <S>"),
        (
            "{\"id\":\"secret\"} oh, secret \"id",
            "{\"id\":\"<S>\"} oh, <S> \"id",
            "{\"id\":\"secret\"} oh, <S> \"id",
        ),
        ("[\"s\\cecret secret\\", "[\"s\\cecret <S>\\", "[\"s\\cecret <S>\\"),
    ];
    for (body, all, chosen) in cases {
        for (make, expected) in [(REWRITERS[3].1, all), (REWRITERS[4].1, chosen)] {
            let out = pass(make, Box::<Censor>::default(), &[body.as_bytes()]);
            assert_eq!(String::from_utf8(out).unwrap(), *expected);
        }
    }
}

#[test]
fn events_of_any_kind_are_edited_as_said() {
    let cases: &[(&str, &str)] = &[
        ("data: {\"a\":\"s\\u0065cret\",\"n\":7654321}\n\n", "data: {\"a\":\"<S>\",\"n\":\"[N]\"}\n\n"),
        ("data: {\r\ndata: \"secret\":1}\r\n\r\n", "data: {\r\ndata: \"<S>\":1}\r\n\r\n"),
        ("data:a secret\rid: 1\r\r", "data:a <S>\rid: 1\r\r"),
        ("data: jane@x.org\n\n", "data: \"J\"\\\ndata: \n\n"),
        ("data: {\"secret\n\ndata: \"secret\"", "data: {\"<S>\n\ndata: \"<S>\""),
    ];
    for (body, expected) in cases {
        let out = pass(REWRITERS[5].1, Box::<Censor>::default(), &[body.as_bytes()]);
        assert_eq!(String::from_utf8(out).unwrap(), *expected);
    }
}

#[test]
fn a_channel_may_carry_one_text_after_another() {
    let mut channel = Channel::new(Box::new(Embedded::new(Censor::default())), &MemoryBudget::unlimited());
    let mut out = String::new();
    for (pieces, expected) in [
        (["{\"to\":", "\"ja", "ne\\u00", "40x.org\"}"], "{\"to\":\"\\\"J\\\"\\\\\\n\"}"),
        (["sec", "ret", " ", "secr"], "<S> secr"),
    ] {
        out.clear();
        pieces.iter().for_each(|piece| channel.push(piece, &mut out).unwrap());
        channel.finish(&mut out).unwrap();
        assert_eq!(out, expected);
        assert_eq!(channel.held(), 0);
    }
}

#[test]
fn deeper_than_a_path_follows_all_is_taken() {
    let wrap = |text: &str, depth| format!("{}\"{text}\"{}", "[".repeat(depth), "]".repeat(depth));
    for (depth, with) in [(128, "secret"), (129, "<S>"), (1000, "<S>")] {
        let nothing = EditorSlots::new(Censor::default(), PathSet::new(&[], Treatment::Skip).unwrap());
        let mut rewriter = JsonSlots::new(nothing, &MemoryBudget::unlimited());
        let mut out = bytes::BytesMut::new();
        rewriter.write(wrap("secret", depth).as_bytes(), &mut out).unwrap();
        rewriter.finish(&mut out).unwrap();
        assert_eq!(&out[..], wrap(with, depth).as_bytes());
    }
}

#[test]
fn what_is_of_its_type_stays_however_it_is_cut() {
    let long = "secret-1 ".repeat(1000);
    let paths = [
        ("id", Treatment::Typed(Type::Id)),
        ("model", Treatment::Typed(Type::Name)),
        ("n", Treatment::Typed(Type::Number)),
    ];
    let document = |id: &str, short: &str, long: &str, number: &str| {
        format!(
            r#"{{"id":"{id}","id":"{short}","model":"{long}","n":{number},"m":7654321,"text":"{short}"}}"#
        )
    };
    let (came, want) = (
        document("secret-123", "secret", &long, "7654321"),
        document("secret-123", "<S>", &long.replace("secret", "<S>"), "7654321")
            .replace("\"m\":7654321", "\"m\":\"[N]\""),
    );
    for step in [1, 3, 7, 1000, 100_000] {
        let paths = PathSet::new(&paths, Treatment::Text).unwrap();
        let slots = EditorSlots::new(Censor::default(), paths).with_keys_and_numbers();
        let mut rewriter = JsonSlots::new(slots, &MemoryBudget::unlimited());
        let mut out = bytes::BytesMut::new();
        came.as_bytes().chunks(step).for_each(|piece| rewriter.write(piece, &mut out).unwrap());
        rewriter.finish(&mut out).unwrap();
        assert_eq!(String::from_utf8_lossy(&out), want, "pieces of {step}");
        assert_eq!(rewriter.held(), 0);
    }
}

#[test]
fn an_editor_in_a_box_is_an_editor() {
    let mut editor: Box<dyn Editor> = Box::<Censor>::default();
    let mut edits: Vec<Edit> = Vec::new();
    assert_eq!(editor.feed("a sec", &mut edits), Ok(2));
    assert_eq!(editor.feed("ret", &mut edits), Ok(8));
    assert_eq!(edits, [Edit { range: 2..8, with: "<S>".to_owned() }]);
}
