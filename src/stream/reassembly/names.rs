//! What the name of a member says of its value, and what the name of an event says of its stream. Streams of which nothing
//! is known have these in common.

/// What a member tells of the strings beside it and below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SiblingRole {
    /// What kind of document it is.
    Kind,
    /// Whose text it is.
    Id,
    /// Which of several texts it is.
    Ordinal,
}

impl SiblingRole {
    /// That of a member of this name, if it has one.
    pub(super) fn of(name: &str) -> Option<Self> {
        const KINDS: [&str; 6] = ["type", "kind", "event", "object", "channel", "sessionUpdate"];
        // Each event has its own.
        const EACH: [&str; 4] = ["event_id", "eventId", "sequence_id", "chunk_id"];
        let is =
            |short: &str, behind: [&str; 2]| name == short || behind.iter().any(|end| name.ends_with(end));
        if KINDS.contains(&name) {
            Some(Self::Kind)
        } else if is("index", ["_index", "Index"]) {
            Some(Self::Ordinal)
        } else if is("id", ["_id", "Id"]) && !EACH.contains(&name) {
            Some(Self::Id)
        } else {
            None
        }
    }
}

/// Whether the value of a member of this name may say that something ends.
pub(super) fn says_state(name: &str) -> bool {
    matches!(name, "type" | "kind" | "event" | "status" | "state")
}

/// Whether what is called so ends texts: `message_stop`, `TOOL_CALL_END`, `response.output_text.done`, `[DONE]`.
pub(super) fn ends(name: &str) -> bool {
    const ENDS: [&str; 17] = [
        "done",
        "end",
        "ended",
        "stop",
        "stopped",
        "finish",
        "finished",
        "complete",
        "completed",
        "idle",
        "error",
        "failed",
        "succeeded",
        "success",
        "canceled",
        "cancelled",
        "required",
    ];
    ENDS.iter().any(|end| last_word(name).eq_ignore_ascii_case(end))
}

/// Whether what is called so is a piece of a text: `chat.completion.chunk`, `thread.message.delta`.
pub(super) fn goes_on(name: &str) -> bool {
    ["delta", "chunk", "partial"].iter().any(|piece| last_word(name).eq_ignore_ascii_case(piece))
}

/// The last word of a name, however its words are parted.
fn last_word(name: &str) -> &str {
    let name = name.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let mut from = 0;
    let mut before = ' ';
    for (at, c) in name.char_indices() {
        let inside = c.is_ascii_alphanumeric();
        if inside
            && (!before.is_ascii_alphanumeric() || (before.is_ascii_lowercase() && c.is_ascii_uppercase()))
        {
            from = at;
        }
        before = c;
    }
    name.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_ends_and_what_goes_on() {
        for name in [
            "message_stop",
            "TOOL_CALL_END",
            "response.output_text.done",
            "messageStop",
            "[DONE]",
            "end",
            "text-end",
        ] {
            assert!(ends(name) && !goes_on(name), "{name}");
        }
        for name in [
            "thread.message.delta",
            "chat.completion.chunk",
            "text-delta",
            "agent_message_chunk",
            "contentDelta",
        ] {
            assert!(goes_on(name) && !ends(name), "{name}");
        }
        for name in ["", "send", "append", "message", "endpoint", "backend", "end_user", "…"] {
            assert!(!ends(name) && !goes_on(name), "{name}");
        }
    }

    #[test]
    fn some_members_tell_texts_apart() {
        for (name, role) in [
            ("type", Some(SiblingRole::Kind)),
            ("id", Some(SiblingRole::Id)),
            ("toolCallId", Some(SiblingRole::Id)),
            ("event_id", None),
            ("output_index", Some(SiblingRole::Ordinal)),
            ("valid", None),
            ("text", None),
        ] {
            assert_eq!(SiblingRole::of(name), role, "{name}");
        }
    }
}
