//! How long the body of an answer is (RFC 9112, section 6.3), said once: what an upstream says twice, or of an answer that has no
//! body, callers might read in two ways.

use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, StatusCode};
use pingora::http::ResponseHeader;

use crate::gateway::error::GatewayError;
use crate::telemetry::UpstreamFailure;

/// Puts right what a head says of its body's length.
///
/// # Errors
/// A length that is none, or several that differ, and a switch of protocols that nobody asked for.
pub(super) fn frame_answer(head: &mut ResponseHeader, switches: bool) -> Result<(), GatewayError> {
    let broken = || GatewayError::Upstream(UpstreamFailure::Broken);
    if head.status == StatusCode::SWITCHING_PROTOCOLS && !switches {
        return Err(broken());
    }
    let length = declared(&head.headers).ok_or_else(broken)?;
    if let Some(length) = length.filter(|_| said_again(&head.headers)) {
        head.insert_header(CONTENT_LENGTH, length).map_err(|_| broken())?;
    }
    let bodiless = head.status.is_informational()
        || matches!(head.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    if bodiless {
        head.remove_header(&TRANSFER_ENCODING);
    }
    // RFC 9110, section 8.6.
    let unsaid = head.status.is_informational() || head.status == StatusCode::NO_CONTENT;
    if unsaid || head.headers.contains_key(TRANSFER_ENCODING) {
        head.remove_header(&CONTENT_LENGTH);
    }
    Ok(())
}

/// What the head declares: nothing, or one number, perhaps several times. `None` for anything else.
fn declared(headers: &HeaderMap) -> Option<Option<usize>> {
    let mut length = None;
    for field in headers.get_all(CONTENT_LENGTH) {
        for digits in field.to_str().ok()?.split(',').map(str::trim) {
            let number = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())??;
            if length.replace(number).is_some_and(|before| before != number) {
                return None;
            }
        }
    }
    Some(length)
}

/// Whether it is declared more than once.
fn said_again(headers: &HeaderMap) -> bool {
    let mut fields = headers.get_all(CONTENT_LENGTH).iter();
    fields.next().is_some_and(|first| first.as_bytes().contains(&b',')) || fields.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a head with these fields: its length, and which fields are left.
    fn framed(status: u16, fields: &[(&'static str, &str)]) -> Option<(Option<usize>, Vec<String>)> {
        let mut head = ResponseHeader::build(status, None).unwrap();
        for (name, value) in fields {
            head.append_header(*name, *value).unwrap();
        }
        frame_answer(&mut head, false).ok()?;
        let length = head.headers.get(CONTENT_LENGTH).map(|length| length.to_str().unwrap().parse().unwrap());
        Some((length, head.headers.keys().map(ToString::to_string).collect()))
    }

    #[test]
    fn a_length_is_said_once_or_not_at_all() {
        let (length, coding) = ("content-length", "transfer-encoding");
        let left = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<String>>();
        let cases = [
            (200, vec![(length, "7")], Some((Some(7), left(&[length])))),
            (200, vec![], Some((None, vec![]))),
            (200, vec![(length, "7, 7")], Some((Some(7), left(&[length])))),
            (200, vec![(length, "7"), (length, "7")], Some((Some(7), left(&[length])))),
            (200, vec![(length, "7"), (length, "8")], None),
            (200, vec![(length, "7,")], None),
            (200, vec![(length, "+7")], None),
            (200, vec![(length, "-1")], None),
            (200, vec![(length, "99999999999999999999999")], None),
            (200, vec![(length, "7"), (coding, "chunked")], Some((None, left(&[coding])))),
            (204, vec![(coding, "chunked"), (length, "0")], Some((None, vec![]))),
            (304, vec![(coding, "chunked")], Some((None, vec![]))),
            (304, vec![(length, "7")], Some((Some(7), left(&[length])))),
            (101, vec![], None),
        ];
        for (status, fields, want) in cases {
            assert_eq!(framed(status, &fields), want, "{status} {fields:?}");
        }
    }
}
