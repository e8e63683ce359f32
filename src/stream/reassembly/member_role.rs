//! [`MemberRole`]: what the name of a member says of its value. Documents of which nothing is known have these in common.

/// What a member tells of the strings beside it and below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberRole {
    /// What kind of document it is.
    Kind,
    /// Whose text it is.
    Id,
    /// Which of several texts it is.
    Ordinal,
}

impl MemberRole {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_members_tell_texts_apart() {
        for (name, role) in [
            ("type", Some(MemberRole::Kind)),
            ("id", Some(MemberRole::Id)),
            ("toolCallId", Some(MemberRole::Id)),
            ("event_id", None),
            ("output_index", Some(MemberRole::Ordinal)),
            ("valid", None),
            ("text", None),
        ] {
            assert_eq!(MemberRole::of(name), role, "{name}");
        }
    }
}
