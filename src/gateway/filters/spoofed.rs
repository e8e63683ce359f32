//! Headers that are ours to set, whatever the caller sends.

use http::header::{CONNECTION, HeaderName};
use pingora::http::RequestHeader;

use crate::gateway::upstream::strip_hop_by_hop;

/// Does now what the sender of a head says of its connection (RFC 9110 section 7.6.1): later it could name a header that we
/// set, and take it away.
pub(super) fn end_hop(head: &mut RequestHeader) {
    if head.headers.contains_key(CONNECTION) {
        for ended in strip_hop_by_hop(&head.headers) {
            head.remove_header(&ended);
        }
    }
}

/// Takes out of a head whatever its sender says under this name, or under one that many servers read as the same
/// (`x_user` for `x-user`), after [`end_hop`].
pub(super) fn remove_spoofed(head: &mut RequestHeader, name: &HeaderName) {
    end_hop(head);
    let same = |other: &&HeaderName| other.as_str().replace('_', "-") == name.as_str().replace('_', "-");
    let forged: Vec<HeaderName> = head.headers.keys().filter(same).cloned().collect();
    for other in &forged {
        head.remove_header(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_cannot_set_a_header_of_ours_nor_take_it_away() {
        let mut head = RequestHeader::build("GET", b"/", None).unwrap();
        for (name, value) in [
            ("x-user", "root"),
            ("X-User", "admin"),
            ("x_user", "root"),
            ("x-users", "kept"),
            ("connection", "close, X-User, x-gone"),
            ("x-gone", "1"),
        ] {
            head.append_header(name, value).unwrap();
        }
        let name = HeaderName::from_static("x-user");
        remove_spoofed(&mut head, &name);
        head.insert_header(&name, "jane").unwrap();
        strip_hop_by_hop(&head.headers).iter().for_each(|name| drop(head.remove_header(name)));
        let left: Vec<_> =
            head.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        assert_eq!(left, [("x-users", &b"kept"[..]), ("x-user", b"jane")]);
    }
}
