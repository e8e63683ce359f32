//! Which conversation a request belongs to, where its provider gave it an id before the first turn: the id stands in every
//! turn then. One that comes with an answer (`previous_response_id`) is another in each turn, and the first has none.

use crate::base::path::RequestPath;
use crate::gateway::llm::protocol::ConversationNaming;
use crate::gateway::llm::registry::CONVERSATIONS;
use crate::stream::json::{Decoded, JsonToken, Leaf, Segment, walk};

/// Those whose bodies a request to `path` may have.
fn named_in_body(path: &RequestPath) -> impl Iterator<Item = &'static ConversationNaming> {
    let path = path.compared().trim_end_matches('/');
    CONVERSATIONS.into_iter().filter(move |naming| naming.body_paths.iter().any(|end| path.ends_with(end)))
}

/// Whether the body of a request to `path` may name one.
pub fn may_be_in_body(path: &RequestPath) -> bool {
    named_in_body(path).next().is_some()
}

/// The one that the body of a request to `path` names.
pub fn in_body(path: &RequestPath, body: &[u8]) -> Option<String> {
    named_in_body(path).find_map(|naming| member(naming.member, body))
}

fn member(member: &str, body: &[u8]) -> Option<String> {
    let mut id = None;
    let walked = walk(body, &mut |path, Leaf { span, token }| {
        if token == JsonToken::Key {
            // The last of several members of a name counts, also where it has no text. The path is the object's.
            let name = match (path.len(), path.segment(0)) {
                (0, _) => member,
                (1, Some(Segment::Key(name))) if name == member => "id",
                _ => return,
            };
            if Decoded::of(body.get(span).unwrap_or_default()).text() == name {
                id = None;
            }
            return;
        }
        let named = token == JsonToken::Text
            && path.segment(0) == Some(Segment::Key(member))
            && match path.len() {
                1 => true,
                2 => path.segment(1) == Some(Segment::Key("id")),
                _ => false,
            };
        if named {
            id = Some(Decoded::of(body.get(span).unwrap_or_default()).text().to_owned());
        }
    });
    walked.ok().and(id).filter(|id| !id.is_empty())
}

/// The one that a path names: items are added to it there.
pub fn in_path(path: &RequestPath) -> Option<&str> {
    let mut segments = path.compared().trim_end_matches('/').rsplit('/');
    let (last, id, kind) = (segments.next()?, segments.next()?, segments.next()?);
    let known = |naming: &&ConversationNaming| last == naming.items && kind == naming.collection;
    CONVERSATIONS.iter().any(|naming| known(naming) && !id.is_empty()).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_names_it_by_its_id_or_as_an_object() {
        let path = RequestPath::parse("/v1/responses").unwrap();
        let cases = [
            (r#"{"input":"hi","conversation":"conv_1"}"#, Some("conv_1")),
            (r#"{"conversation":{"id":"conv_1"},"input":[{"conversation":"no"}]}"#, Some("conv_1")),
            (r#"{"conv\u0065rsation":"conv\u005f1"}"#, Some("conv_1")),
            (r#"{"conversation":"a","conversation":"b"}"#, Some("b")),
            (r#"{"conversation":"a","conversation":null}"#, None),
            (r#"{"conversation":"a","conversation":{}}"#, None),
            (r#"{"conversation":"a","conversation":["b"]}"#, None),
            (r#"{"conversation":{"id":"a","id":null}}"#, None),
            (r#"{"conversation":{"id":"a","id":"b"}}"#, Some("b")),
            (r#"{"conversation":{"id":"a","name":"b"}}"#, Some("a")),
            (r#"{"conversation":{"id":"a"},"id":"x"}"#, Some("a")),
            (r#"{"conversation":"a","metadata":{"conversation":1,"id":2}}"#, Some("a")),
            (r#"{"conversation":{"id":"a","x":{"id":1}}}"#, Some("a")),
            (r#"{"conversation":null,"previous_response_id":"resp_1"}"#, None),
            (r#"{"conversation":""}"#, None),
            (r#"{"conversation":["conv_1"]}"#, None),
            (r#"{"conversation":{"id":{"id":"no"},"name":"no"}}"#, None),
            (r#"{"metadata":{"conversation":"no"}}"#, None),
            (r#"["conversation","no"]"#, None),
            (r#"{"conversation":"conv_1""#, None),
            ("", None),
        ];
        for (body, want) in cases {
            assert_eq!(in_body(&path, body.as_bytes()).as_deref(), want, "{body}");
        }
    }

    #[test]
    fn paths_say_where_it_may_be() {
        let path = |path| RequestPath::parse(path).unwrap();
        for (text, body, id) in [
            ("/v1/responses", true, None),
            ("/openai/v1/responses/", true, None),
            ("/v1/responses/compact", true, None),
            ("/v1/responses/resp_1", false, None),
            ("/v1/chat/completions", false, None),
            ("/v1/conversations", false, None),
            ("/v1/conversations/conv_1", false, None),
            ("/v1/conversations/conv_1/items", false, Some("conv_1")),
            ("/openai/v1/conversations/conv%5F1/items/", false, Some("conv_1")),
            ("/v1/conversations/items", false, None),
        ] {
            let path = path(text);
            assert_eq!((may_be_in_body(&path), in_path(&path)), (body, id), "{text}");
        }
    }
}
