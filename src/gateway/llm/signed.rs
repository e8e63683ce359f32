//! Signed blocks on their way back: where a signature is one of ours, the block gets its own text again, and the provider
//! its own signature.

use serde_json::value::RawValue;

use crate::edit::{Edit, spliced};
use crate::gateway::llm::place::{Member, MemberName, ObjectMembers};
use crate::redact::{BlockSeal, may_have_seals};
use crate::stream::json::encoded;

/// How deep in a request blocks are looked for.
const LEVELS: usize = 16;

/// A member of a signed block as its provider wrote it.
pub(super) struct SignedMember<'b> {
    /// Its name.
    pub(super) name: &'b str,
    /// Its value, as JSON.
    pub(super) value: &'b str,
}

impl SignedMember<'_> {
    /// As one text, which is sealed.
    pub(super) fn text(&self) -> String {
        format!("{}\n{}", self.name, self.value)
    }
}

/// A request's body with its signed blocks as their provider wrote them; `None` where nothing of ours is in it.
pub fn open_blocks(body: &[u8], seal: BlockSeal<'_>) -> Option<Vec<u8>> {
    if !may_have_seals(body) {
        return None;
    }
    let root: &RawValue = serde_json::from_slice(body).ok()?;
    let mut blocks = Blocks { base: body.as_ptr() as usize, seal, edits: Vec::new() };
    blocks.visit(root, LEVELS);
    blocks.edits.sort_by_key(|edit| edit.range.start);
    (!blocks.edits.is_empty()).then(|| spliced(body, &blocks.edits))
}

struct Blocks<'k> {
    base: usize,
    seal: BlockSeal<'k>,
    edits: Vec<Edit>,
}

impl Blocks<'_> {
    fn visit(&mut self, value: &RawValue, levels: usize) {
        let Some(levels) = levels.checked_sub(1).filter(|_| may_have_seals(value.get().as_bytes())) else {
            return;
        };
        if let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(value.get()) {
            return elements.into_iter().for_each(|element| self.visit(element, levels));
        }
        let Ok(ObjectMembers(members)) = serde_json::from_str(value.get()) else { return };
        for (_, member) in &members {
            match serde_json::from_str::<String>(member.get()) {
                Ok(text) => self.signature(&text, member, &members),
                Err(_) => self.visit(member, levels),
            }
        }
    }

    /// A string beside these members, which may be a signature of ours.
    fn signature(&mut self, text: &str, at: &RawValue, members: &[Member<'_>]) {
        let Some(opened) = self.seal.open(text) else { return };
        let Some((name, value)) = opened.text.split_once('\n') else { return };
        let Some((_, block)) = members.iter().find(|(known, _)| known.is_in_either_case(name)) else {
            return;
        };
        self.replace(block, with_added(value, block.get()));
        self.replace(at, format!("\"{}\"", encoded(opened.signature)));
    }

    fn replace(&mut self, value: &RawValue, with: String) {
        let start = (value.get().as_ptr() as usize).saturating_sub(self.base);
        self.edits.push(Edit { range: start..start + value.get().len(), with });
    }
}

/// What the provider wrote, and behind it the members that the client has added since: some number calls themselves.
fn with_added(provider: &str, client: &str) -> String {
    let members = |text| serde_json::from_str::<ObjectMembers<'_>>(text).ok();
    let (Some(ObjectMembers(known)), Some(ObjectMembers(there))) = (members(provider), members(client))
    else {
        return provider.to_owned();
    };
    let is_known =
        |name: &MemberName<'_>| known.iter().any(|(known, _)| known.is_in_either_case(name.text()));
    let added = there.into_iter().filter(|(name, _)| !is_known(name));
    let added = added.map(|(name, value)| format!("\"{}\":{}", encoded(name.text()), value.get()));
    let added: Vec<String> = added.collect();
    match provider.trim_end().strip_suffix('}').filter(|_| !added.is_empty()) {
        None => provider.to_owned(),
        Some(open) => {
            let comma = if known.is_empty() { "" } else { "," };
            format!("{open}{comma}{}}}", added.join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::secret::Secret;
    use crate::crypto::fpe::FpeKey;
    use crate::redact::Keys;

    #[test]
    fn a_block_gets_its_own_text_and_signature_again() {
        let key = FpeKey::new(Secret::new(vec![7; 32])).unwrap();
        let keys = Keys { fpe: Some(Arc::new(key)), ..Keys::default() };
        let seal = BlockSeal::new(&keys);
        let block = |name, value| seal.seal(&SignedMember { name, value }.text(), "c2lnbmVk").unwrap();
        let (thought, call) =
            (block("thinking", r#""it is \n jane""#), block("functionCall", r#"{"a":[1,"jane"]}"#));
        let body = format!(
            r#"{{"m": [ {{"c":[{{"type":"thinking","thinking":"it is ****","signature":"{thought}"}},{{"x":1}}]}}],"p":{{"functionCall":{{"a":"*"}},"sig":"{call}"}},"t":"{thought}"}}"#
        );
        let want = r#"{"m": [ {"c":[{"type":"thinking","thinking":"it is \n jane","signature":"c2lnbmVk"},{"x":1}]}],"p":{"functionCall":{"a":[1,"jane"]},"sig":"c2lnbmVk"},"t":"THERE"}"#;
        let opened = open_blocks(body.as_bytes(), seal).unwrap();
        assert_eq!(
            String::from_utf8(opened).unwrap(),
            want.replace("THERE", &thought),
            "and nothing else changes"
        );
        let other = Keys { tenant: "other".into(), ..keys.clone() };
        assert!(open_blocks(body.as_bytes(), BlockSeal::new(&other)).is_none(), "of another tenant");
        assert!(open_blocks(br#"{"thinking":"x","signature":"c2lnbmVk"}"#, seal).is_none());
        let snake = format!(r#"{{"function_call":{{"a":"*"}},"thought_signature":"{call}"}}"#);
        let opened = open_blocks(snake.as_bytes(), seal).expect("what LiteLLM sends");
        assert_eq!(opened, br#"{"function_call":{"a":[1,"jane"]},"thought_signature":"c2lnbmVk"}"#);
        let deep = format!("{}{body}{}", "[".repeat(40), "]".repeat(40));
        assert!(open_blocks(deep.as_bytes(), seal).is_none(), "no request is so deep");
    }

    #[test]
    fn what_the_client_adds_to_a_block_stays() {
        let cases = [
            (
                r#"{"name":"f","args":{}}"#,
                r#"{"name":"f","args":{"a":1},"id":"f_1"}"#,
                r#"{"name":"f","args":{},"id":"f_1"}"#,
            ),
            (r#"{"name":"f","id":"p"}"#, r#"{"id":"c","name":"*"}"#, r#"{"name":"f","id":"p"}"#),
            ("{ }", r#"{"i\nd":[1, 2]}"#, r#"{ "i\nd":[1, 2]}"#),
            (r#"{"a":1} "#, r#"{"b":"}","a":"*"}"#, r#"{"a":1,"b":"}"}"#),
            (r#"{"willContinue":true}"#, r#"{"will_continue":true}"#, r#"{"willContinue":true}"#),
            (r#"" text""#, r#"{"id":1}"#, r#"" text""#),
            (r#"{"a":1}"#, r#""text""#, r#"{"a":1}"#),
        ];
        for (provider, client, want) in cases {
            assert_eq!(with_added(provider, client), want, "{provider} {client}");
        }
    }
}
