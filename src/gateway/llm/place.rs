//! [`ValuePlace`]: where a value is in an event, and [`EventDocument`]: an event in which values are looked up.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::stream::json::{Path, Segment, encoded};

/// A place that is not written as members (`a.b`) and elements (`a[*]`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the place {0} is not names joined by dots, each perhaps with [*]")]
pub struct PlaceError(&'static str);

/// Where a value is in an event.
#[derive(Debug)]
pub(super) struct ValuePlace(Vec<PathStep>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathStep {
    Member(&'static str),
    Each,
}

impl ValuePlace {
    /// Reads `a.b[*].c`.
    pub(super) fn parse(text: &'static str) -> Result<Self, PlaceError> {
        Self::within("", text)
    }

    /// The same in a member of this name; empty: in none.
    pub(super) fn within(member: &'static str, text: &'static str) -> Result<Self, PlaceError> {
        let mut steps: Vec<PathStep> =
            (!member.is_empty()).then_some(PathStep::Member(member)).into_iter().collect();
        for name in text.split('.') {
            let (name, each) = name.strip_suffix("[*]").map_or((name, false), |name| (name, true));
            if name.is_empty() || name.contains(['[', ']', '*', '"']) {
                return Err(PlaceError(text));
            }
            steps.push(PathStep::Member(name));
            steps.extend(each.then_some(PathStep::Each));
        }
        Ok(Self(steps))
    }

    /// The name of the member that it is; `None` for an element.
    pub(super) fn name(&self) -> Option<&'static str> {
        match self.0.last()? {
            PathStep::Member(name) => Some(name),
            PathStep::Each => None,
        }
    }

    /// The positions of the elements on the way, if `path` is this place.
    pub(super) fn positions(&self, path: &Path<'_>) -> Option<Vec<usize>> {
        (path.len() == self.0.len()).then(|| walk(&self.0, path)).flatten()
    }

    /// Whether `path` is this place, or lies within it.
    pub(super) fn holds(&self, path: &Path<'_>) -> bool {
        path.len() >= self.0.len() && walk(&self.0, path).is_some()
    }

    /// The positions on the way to the innermost element, if `path` lies within one.
    pub(super) fn element(&self, path: &Path<'_>) -> Option<Vec<usize>> {
        let end = self.0.iter().rposition(|step| *step == PathStep::Each).map_or(0, |at| at + 1);
        walk(self.0.get(..end)?, path)
    }

    /// How many elements are on the way that lead to both.
    pub(super) fn shared(&self, other: &Self) -> usize {
        let both = self.0.iter().zip(&other.0).take_while(|(own, other)| own == other);
        both.filter(|(step, _)| **step == PathStep::Each).count()
    }

    /// How many elements are on the way.
    pub(super) fn elements(&self) -> usize {
        self.0.iter().filter(|step| **step == PathStep::Each).count()
    }
}

/// The positions of elements along these steps of `path`; `None` where it leads elsewhere.
fn walk(steps: &[PathStep], path: &Path<'_>) -> Option<Vec<usize>> {
    let mut positions = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match (step, path.segment(at)?) {
            (PathStep::Member(name), Segment::Key(key)) if *name == key => {}
            (PathStep::Each, Segment::Index(position)) => positions.push(position),
            _ => return None,
        }
    }
    Some(positions)
}

/// What channels are told apart by.
pub(super) enum CompiledKey {
    /// A value; where an element has none, its position.
    Value(ValuePlace),
    /// A value, or that there is none.
    Mark(ValuePlace),
    /// The first of two values that there is.
    Either(ValuePlace, ValuePlace),
}

/// One part of a channel's key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum KeyPart {
    /// A number of the event, or the position of an element that has none.
    Number(u64),
    /// A string of the event.
    Text(String),
}

/// An event, taken apart as far as values in it are asked for.
pub(super) struct EventDocument<'a> {
    data: &'a [u8],
    root: Option<Node<'a>>,
}

struct Node<'a> {
    raw: &'a RawValue,
    inside: OnceCell<NodeContent<'a>>,
}

enum NodeContent<'a> {
    Members(BTreeMap<MemberName<'a>, Node<'a>>),
    Elements(Vec<Node<'a>>),
    Nothing,
}

/// A member's name, borrowed unless it is written with escapes.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MemberName<'a>(#[serde(borrow)] Cow<'a, str>);

impl MemberName<'_> {
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Whether it is this name, whatever the case of its letters.
    pub(super) fn is_like(&self, name: &str) -> bool {
        self.0.eq_ignore_ascii_case(name)
    }

    /// The same, be it in camel case or in snake case: Google's servers take both (Protocol Buffers, "ProtoJSON Format").
    pub(super) fn is_in_either_case(&self, name: &str) -> bool {
        fn letters(name: &str) -> impl Iterator<Item = u8> + '_ {
            name.bytes().filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase())
        }
        letters(&self.0).eq(letters(name))
    }
}

/// The members of an object as they come.
pub(super) struct ObjectMembers<'a>(pub(super) Vec<Member<'a>>);

/// A member: its name and its value.
pub(super) type Member<'a> = (MemberName<'a>, &'a RawValue);

impl<'de> Deserialize<'de> for ObjectMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = ObjectMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(ObjectMembers(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

impl<'a> Node<'a> {
    fn new(raw: &'a RawValue) -> Self {
        Self { raw, inside: OnceCell::new() }
    }

    fn inside(&self) -> &NodeContent<'a> {
        self.inside.get_or_init(|| {
            let text = self.raw.get();
            match text.as_bytes().first() {
                Some(b'{') => match serde_json::from_str::<BTreeMap<MemberName<'a>, &'a RawValue>>(text) {
                    Ok(all) => NodeContent::Members(
                        all.into_iter().map(|(name, raw)| (name, Self::new(raw))).collect(),
                    ),
                    Err(_) => NodeContent::Nothing,
                },
                Some(b'[') => match serde_json::from_str::<Vec<&'a RawValue>>(text) {
                    Ok(all) => NodeContent::Elements(all.into_iter().map(Self::new).collect()),
                    Err(_) => NodeContent::Nothing,
                },
                _ => NodeContent::Nothing,
            }
        })
    }

    /// What stands before and behind a member of an object once all others are left out that hold more than one value;
    /// `None` where there are none.
    fn alone(&self, child: &Self) -> Option<(String, String)> {
        let all: ObjectMembers<'_> = serde_json::from_str(self.raw.get()).ok()?;
        let many = |raw: &RawValue| raw.get().starts_with(['{', '[']) && !matches!(raw.get(), "{}" | "[]");
        let ours = |raw: &RawValue| std::ptr::eq(raw.get(), child.raw.get());
        if !all.0.iter().any(|(_, raw)| many(raw) && !ours(raw)) {
            return None;
        }
        let mut halves = [String::from("{"), String::new()];
        let mut behind = false;
        for (name, raw) in all.0.into_iter().filter(|(_, raw)| ours(raw) || !many(raw)) {
            let half = halves.get_mut(usize::from(behind))?;
            if behind || half.len() > 1 {
                half.push(',');
            }
            half.push('"');
            half.push_str(&encoded(&name.0));
            half.push_str("\":");
            match ours(raw) {
                true => behind = true,
                false => half.push_str(raw.get()),
            }
        }
        let [before, mut after] = halves;
        after.push('}');
        Some((before, after))
    }

    fn at(&self, step: PathStep, position: Option<usize>) -> Option<&Self> {
        match (self.inside(), step) {
            (NodeContent::Members(members), PathStep::Member(name)) => {
                members.get(&MemberName(Cow::Borrowed(name)))
            }
            (NodeContent::Elements(elements), PathStep::Each) => elements.get(position?),
            _ => None,
        }
    }
}

/// Whether a value is one: what is empty, or called unspecified, stands where others write `null`.
fn says_something(raw: &str) -> bool {
    const NOTHING: [&str; 7] = ["\"\"", "false", "0", "{}", "[]", "\"null\"", "\"none\""];
    !NOTHING.contains(&raw) && !raw.ends_with("_UNSPECIFIED\"")
}

impl<'a> EventDocument<'a> {
    /// Of an event's data. What is no JSON has no values.
    pub(super) fn new(data: &'a [u8]) -> Self {
        let root = serde_json::from_slice::<&RawValue>(data).ok().map(Node::new);
        Self { data, root }
    }

    fn value(&self, place: &ValuePlace, positions: &[usize]) -> Option<&'a RawValue> {
        let mut positions = positions.iter().copied();
        let mut node = self.root.as_ref()?;
        for step in &place.0 {
            let position = if *step == PathStep::Each { positions.next() } else { None };
            node = node.at(*step, position)?;
        }
        Some(node.raw).filter(|raw| raw.get() != "null")
    }

    /// Whether the value there is the string `is`, or spelled so where it is none; without one, any value that says something.
    pub(super) fn is(&self, place: &ValuePlace, positions: &[usize], is: Option<&str>) -> bool {
        let Some(raw) = self.value(place, positions) else { return false };
        let text = || {
            serde_json::from_str::<MemberName<'_>>(raw.get()).map_or(Cow::Borrowed(raw.get()), |text| text.0)
        };
        is.map_or_else(|| says_something(raw.get()), |is| text() == is)
    }

    /// Where the value lies in the event.
    pub(super) fn span(&self, place: &ValuePlace, positions: &[usize]) -> Option<Range<usize>> {
        let text = self.value(place, positions)?.get();
        let start = (text.as_ptr() as usize).checked_sub(self.data.as_ptr() as usize)?;
        let span = start..start + text.len();
        self.data.get(span.clone())?;
        Some(span)
    }

    /// The document again, in which the string at `place` is `text`, as JSON without its quotes. Other elements of arrays on
    /// the way stay out, and so does what lies beside the string and holds more than one value.
    pub(super) fn with(&self, place: &ValuePlace, positions: &[usize], text: &str) -> Option<Vec<u8>> {
        let mut positions = positions.iter().copied();
        let mut node = self.root.as_ref()?;
        let (mut before, mut behind) = (String::new(), Vec::new());
        for (at, step) in place.0.iter().enumerate() {
            let whole = node.raw.get();
            let position = if *step == PathStep::Each { positions.next() } else { None };
            let child = node.at(*step, position)?;
            let innermost = at + 1 == place.0.len();
            if *step == PathStep::Each {
                before.push('[');
                behind.push("]".to_owned());
            } else if let Some((head, tail)) = innermost.then(|| node.alone(child)).flatten() {
                before.push_str(&head);
                behind.push(tail);
            } else {
                let start = (child.raw.get().as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
                before.push_str(whole.get(..start)?);
                behind.push(whole.get(start + child.raw.get().len()..)?.to_owned());
            }
            node = child;
        }
        before.push('"');
        before.push_str(text);
        before.push('"');
        behind.iter().rev().for_each(|tail| before.push_str(tail));
        Some(before.into_bytes())
    }

    /// The values of `key` for the elements at these positions.
    pub(super) fn key(&self, key: &[CompiledKey], positions: &[usize]) -> Vec<KeyPart> {
        key.iter().map(|key| self.key_part(key, positions)).collect()
    }

    fn key_part(&self, key: &CompiledKey, positions: &[usize]) -> KeyPart {
        let place = match key {
            CompiledKey::Value(place) | CompiledKey::Mark(place) => place,
            CompiledKey::Either(first, second) => match self.value(first, positions) {
                Some(_) => first,
                None => second,
            },
        };
        let raw = self.value(place, positions).map(RawValue::get);
        let number = raw.and_then(|raw| raw.parse().ok()).map(KeyPart::Number);
        let text = || raw.and_then(|raw| serde_json::from_str(raw).ok()).map(KeyPart::Text);
        number.or_else(text).unwrap_or_else(|| match key {
            CompiledKey::Value(_) | CompiledKey::Either(..) => {
                let position = place.elements().checked_sub(1).and_then(|last| positions.get(last));
                KeyPart::Number(position.map_or(0, |at| *at as u64))
            }
            CompiledKey::Mark(_) => KeyPart::Text(raw.unwrap_or_default().to_owned()),
        })
    }

    /// The positions of all values at `place` that are `is`.
    pub(super) fn all(&self, place: &ValuePlace, is: Option<&str>) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new()];
        for (at, _) in place.0.iter().enumerate().filter(|(_, step)| **step == PathStep::Each) {
            let array = ValuePlace(place.0.get(..at).unwrap_or_default().to_vec());
            let longer = all.iter().flat_map(|positions: &Vec<usize>| {
                let length = self.length(&array, positions);
                (0..length).map(|at| [positions.as_slice(), &[at]].concat())
            });
            all = longer.collect();
        }
        all.retain(|positions| self.is(place, positions, is));
        all
    }

    fn length(&self, place: &ValuePlace, positions: &[usize]) -> usize {
        let mut positions = positions.iter().copied();
        let mut node = self.root.as_ref();
        for step in &place.0 {
            let position = if *step == PathStep::Each { positions.next() } else { None };
            node = node.and_then(|node| node.at(*step, position));
        }
        match node.map(Node::inside) {
            Some(NodeContent::Elements(elements)) => elements.len(),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::json::walk;

    fn place(text: &'static str) -> ValuePlace {
        ValuePlace::parse(text).unwrap()
    }

    #[test]
    fn a_place_is_names_and_elements() {
        for bad in ["", ".", "a.", "a..b", "[*]", "a[0]", "a[*].*", "a[*][*]", "a[\"b\"]"] {
            assert_eq!(ValuePlace::parse(bad).unwrap_err(), PlaceError(bad));
        }
        let mut seen = Vec::new();
        walk(br#"{"a":[{"b":"x"},{"b":"y","c":["z"]}],"b":"w"}"#, &mut |path, leaf| {
            if leaf.token.is_value() {
                let at = (place("a[*].b").positions(path), place("a[*].c").element(path));
                seen.push((at, place("a[*].c").holds(path)));
            }
        })
        .unwrap();
        let row = |positions: Option<usize>, element: Option<usize>, holds| {
            ((positions.map(|at| vec![at]), element.map(|at| vec![at])), holds)
        };
        let want = [
            row(Some(0), Some(0), false),
            row(Some(1), Some(1), false),
            row(None, Some(1), true),
            row(None, None, false),
        ];
        assert_eq!(seen, want);
    }

    #[test]
    fn a_text_leaves_without_what_its_document_says_beside_it() {
        let rows = [
            (
                r#"{"i":1,"delta":{"type":"t","text":""},"u":{"n":2}}"#,
                "delta.text",
                vec![],
                r#"{"i":1,"delta":{"type":"t","text":"x"},"u":{"n":2}}"#,
            ),
            (
                r#"{"m":"o","message":{"role": "a","content":"","calls":[{"f":1}],"none":[]},"done":false}"#,
                "message.content",
                vec![],
                r#"{"m":"o","message":{"role":"a","content":"x","none":[]},"done":false}"#,
            ),
            (
                r#"{"c":[{"n":0,"d":{"t":"","x":1}},{"n":1, "d":{"t":""}}],"z":2}"#,
                "c[*].d.t",
                vec![1],
                r#"{"c":[{"n":1, "d":{"t":"x"}}],"z":2}"#,
            ),
            (
                r#"{"c":[{"p":[{"f":{}},{"text":"","s":"q"}]}]}"#,
                "c[*].p[*].text",
                vec![0, 1],
                r#"{"c":[{"p":[{"text":"x","s":"q"}]}]}"#,
            ),
        ];
        for (data, at, positions, want) in rows {
            let with = EventDocument::new(data.as_bytes()).with(&place(at), &positions, "x");
            assert_eq!(with.as_deref(), Some(want.as_bytes()), "{data}");
        }
        assert!(EventDocument::new(b"{}").with(&place("a"), &[], "x").is_none());
    }

    #[test]
    fn values_are_looked_up_by_position() {
        let data = br#" {"b":true,"n":3,"t":"s\u0041","a":[{"i":7},{"i":"x"},{"e":null},4],"e":{"x":[1]}} "#;
        let document = EventDocument::new(data);
        let key = |text, positions: &[usize]| document.key_part(&CompiledKey::Value(place(text)), positions);
        let mark = |text, positions: &[usize]| document.key_part(&CompiledKey::Mark(place(text)), positions);
        assert_eq!(mark("a[*].i", &[2]), KeyPart::Text(String::new()), "it has none");
        assert_eq!(mark("b", &[]), KeyPart::Text("true".to_owned()));
        assert!(document.is(&place("b"), &[], Some("true")));
        assert_eq!(key("n", &[]), KeyPart::Number(3));
        assert_eq!(key("t", &[]), KeyPart::Text("sA".to_owned()));
        assert_eq!(key("a[*].i", &[0]), KeyPart::Number(7));
        assert_eq!(key("a[*].i", &[1]), KeyPart::Text("x".to_owned()));
        assert_eq!(key("a[*].i", &[2]), KeyPart::Number(2), "its position");
        assert_eq!(key("missing", &[]), KeyPart::Number(0));
        assert!(document.is(&place("t"), &[], Some("sA")) && !document.is(&place("t"), &[], Some("s")));
        assert!(document.is(&place("e"), &[], None) && !document.is(&place("a[*].e"), &[2], None));
        assert_eq!(document.all(&place("a[*].i"), None), [vec![0], vec![1]]);
        assert_eq!(document.all(&place("e"), None), [Vec::<usize>::new()]);
        let span = document.span(&place("e.x"), &[]).unwrap();
        assert_eq!(&data[span], b"[1]");
        assert!(EventDocument::new(b"[DONE]").all(&place("e"), None).is_empty());
    }
}
