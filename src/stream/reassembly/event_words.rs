//! The words by which streams say that a text ends or goes on. Those of which nothing is known have these in common.

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
}
