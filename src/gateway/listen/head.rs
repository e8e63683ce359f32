//! Whether an HTTP/1 head can be read in one way only (RFC 9112): judged on its bytes, before any parser that forgives.
//! What two programs in a row could read differently is refused, whatever the RFC lets a recipient repair.

use memchr::memchr;

use crate::api::{ApiError, HEALTH_PATH, READINESS_PATH};
use crate::gateway::head_check::METHODS;
use crate::telemetry::Refusal;

/// Empty lines before a request line that are forgiven (RFC 9112 section 2.2 asks for one).
const EMPTY_LINES: usize = 4;

/// Why a connection gets no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadRefusal {
    /// The bytes are not HTTP, or could be read in two ways.
    Malformed(&'static str),
    /// The head is larger than it may be, or has more fields.
    TooLarge,
    /// It does not come.
    Slow,
    /// It wants a tunnel.
    Connect,
}

impl HeadRefusal {
    /// How it is counted.
    pub(super) fn refusal(self) -> Refusal {
        match self {
            Self::Malformed(_) | Self::Connect => Refusal::Framing,
            Self::TooLarge => Refusal::LargeHead,
            Self::Slow => Refusal::SlowHead,
        }
    }

    /// What the caller is told.
    pub(super) fn error(self) -> ApiError {
        match self {
            Self::Malformed(why) => ApiError::BadRequest(why),
            Self::TooLarge => ApiError::HeadTooLarge,
            Self::Slow => ApiError::RequestTimeout,
            Self::Connect => ApiError::MethodNotAllowed(METHODS.to_owned()),
        }
    }
}

/// How a body ends (RFC 9112 section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// There is none.
    Empty,
    /// After so many bytes.
    Length(u64),
    /// With a chunk of no bytes.
    Chunked,
}

/// A head that can be read in one way only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JudgedHead {
    /// How its body ends.
    pub(super) framing: Framing,
    /// Whether its request is the connection's last: one of its `Connection` fields says so, which are one list (RFC 9110
    /// section 5.3).
    pub(super) closes: bool,
}

/// Where empty lines before a request line end, and what is refused if there are too many.
pub(super) fn skip_empty_lines(bytes: &[u8]) -> Result<usize, HeadRefusal> {
    let lines = bytes.chunks(2).take_while(|pair| *pair == b"\r\n").count();
    if lines > EMPTY_LINES {
        return Err(HeadRefusal::Malformed("a request does not begin with empty lines"));
    }
    Ok(lines * 2)
}

/// Where the head ends that `bytes` begin with, if it does. `line` is where its last line begins that has not ended yet:
/// 0 at first, and kept between calls.
pub(super) fn end(bytes: &[u8], line: &mut usize) -> Result<Option<usize>, HeadRefusal> {
    while let Some(rest) = bytes.get(*line..) {
        let Some(at) = memchr(b'\n', rest) else { return Ok(None) };
        match rest.get(..at) {
            Some(b"\r") => return Ok(Some(*line + 2)),
            Some([.., b'\r']) => *line += at + 1,
            _ => return Err(HeadRefusal::Malformed("a line of the head does not end with CR LF")),
        }
    }
    Ok(None)
}

/// The lines of a whole head, up to the empty one.
pub(super) fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = head.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.take_while(|line| !line.is_empty())
}

/// Judges a whole head, the empty line included; it may have `fields` fields.
pub(super) fn judge(head: &[u8], fields: usize) -> Result<JudgedHead, HeadRefusal> {
    let mut lines = lines(head);
    let request = request_line(lines.next().unwrap_or_default())?;
    let mut seen = SeenFields::default();
    for line in lines {
        seen.count += 1;
        if seen.count > fields {
            return Err(HeadRefusal::TooLarge);
        }
        let (name, value) = field(line)?;
        seen.field(name, value)?;
    }
    Ok(JudgedHead { framing: seen.judge(&request)?, closes: seen.closes })
}

/// Whether a head asks with GET or HEAD for the path of a probe.
pub(super) fn is_probe(head: &[u8]) -> bool {
    let mut words = lines(head).next().unwrap_or_default().split(|&byte| byte == b' ');
    let reads = matches!(words.next(), Some(b"GET" | b"HEAD"));
    let path = words.next().and_then(|target| target.split(|&byte| byte == b'?').next());
    reads
        && path.is_some_and(|path| [HEALTH_PATH, READINESS_PATH].iter().any(|probe| probe.as_bytes() == path))
}

struct RequestLine<'a> {
    /// The authority of an absolute target.
    authority: Option<&'a [u8]>,
    /// HTTP/1.1 and not 1.0.
    current: bool,
}

/// RFC 9112 section 3.
fn request_line(line: &[u8]) -> Result<RequestLine<'_>, HeadRefusal> {
    const BAD: HeadRefusal = HeadRefusal::Malformed("the request line is not METHOD TARGET HTTP/1.1");
    let mut words = line.split(|&byte| byte == b' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(BAD);
    };
    let current = match version {
        b"HTTP/1.1" => true,
        b"HTTP/1.0" => false,
        _ => return Err(BAD),
    };
    if method.is_empty() || !method.iter().copied().all(is_token) {
        return Err(BAD);
    }
    if method == b"CONNECT" {
        return Err(HeadRefusal::Connect);
    }
    // A fragment is not sent (RFC 9112 section 3.2); what is not ASCII is percent-encoded (RFC 3986 section 2).
    if !target.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'#') {
        return Err(HeadRefusal::Malformed("the request target has characters that no URI has"));
    }
    let authority = match target {
        [b'/', ..] => None,
        b"*" if method == b"OPTIONS" => None,
        _ => Some(absolute(target).ok_or(BAD)?),
    };
    Ok(RequestLine { authority, current })
}

/// The authority of an absolute http or https URI.
fn absolute(target: &[u8]) -> Option<&[u8]> {
    let rest = [&b"http://"[..], b"https://"].iter().find_map(|scheme| {
        let (begin, rest) = target.split_at_checked(scheme.len())?;
        begin.eq_ignore_ascii_case(scheme).then_some(rest)
    })?;
    rest.split(|byte| matches!(byte, b'/' | b'?')).next()
}

/// RFC 9112 section 5: name, colon, value without the white space around it. A fold begins with white space, which is
/// not part of a name; nor is white space before the colon.
pub(super) fn field(line: &[u8]) -> Result<(&[u8], &[u8]), HeadRefusal> {
    const BAD_NAME: HeadRefusal = HeadRefusal::Malformed("a header line is not NAME: VALUE");
    let (name, value) = memchr(b':', line).and_then(|at| line.split_at_checked(at)).ok_or(BAD_NAME)?;
    if name.is_empty() || !name.iter().copied().all(is_token) {
        return Err(BAD_NAME);
    }
    let value = value.strip_prefix(b":").unwrap_or(value);
    let is_text = |byte: &u8| matches!(byte, b'\t' | b' '..=b'~' | 0x80..);
    if !value.iter().all(is_text) {
        return Err(HeadRefusal::Malformed("a header's value has control characters"));
    }
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let begin = value.iter().position(|byte| !blank(byte)).unwrap_or(value.len());
    let end = value.iter().rposition(|byte| !blank(byte)).map_or(begin, |last| last + 1);
    Ok((name, value.get(begin..end).unwrap_or_default()))
}

/// RFC 9110 section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[derive(Default)]
struct SeenFields<'a> {
    count: usize,
    host: Option<&'a [u8]>,
    length: Option<u64>,
    coding: Option<&'a [u8]>,
    /// Whether the connection is to end.
    closes: bool,
}

impl<'a> SeenFields<'a> {
    fn field(&mut self, name: &[u8], value: &'a [u8]) -> Result<(), HeadRefusal> {
        if name.eq_ignore_ascii_case(b"connection") {
            let mut options = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
            self.closes |= options.any(|option| option.eq_ignore_ascii_case(b"close"));
        } else if name.eq_ignore_ascii_case(b"host") {
            let host = is_host(value).then_some(value);
            let host = host.ok_or(HeadRefusal::Malformed("Host is not a host and a port"))?;
            if self.host.replace(host).is_some() {
                return Err(HeadRefusal::Malformed("a request must have one Host header"));
            }
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let length = digits(value).ok_or(HeadRefusal::Malformed("Content-Length is not a number"))?;
            if self.length.replace(length).is_some() {
                return Err(HeadRefusal::Malformed("a request must have one Content-Length header at most"));
            }
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") && self.coding.replace(value).is_some() {
            return Err(HeadRefusal::Malformed("a request must have one Transfer-Encoding header at most"));
        }
        Ok(())
    }

    fn judge(&self, request: &RequestLine<'_>) -> Result<Framing, HeadRefusal> {
        if request.current && self.host.is_none() {
            return Err(HeadRefusal::Malformed("a request must have one Host header"));
        }
        if let (Some(authority), Some(host)) = (request.authority, self.host)
            && authority != host
        {
            return Err(HeadRefusal::Malformed("Host is not what the request target says"));
        }
        if request.authority.is_some_and(|authority| !is_host(authority)) {
            return Err(HeadRefusal::Malformed("the request target has no host"));
        }
        match (self.coding, self.length) {
            (None, None) => Ok(Framing::Empty),
            (None, Some(0)) => Ok(Framing::Empty),
            (None, Some(length)) => Ok(Framing::Length(length)),
            (Some(_), Some(_)) => {
                Err(HeadRefusal::Malformed("Content-Length and Transfer-Encoding exclude each other"))
            }
            (Some(_), None) if !request.current => {
                Err(HeadRefusal::Malformed("HTTP/1.0 has no Transfer-Encoding"))
            }
            (Some(coding), None) if coding.eq_ignore_ascii_case(b"chunked") => Ok(Framing::Chunked),
            (Some(_), None) => Err(HeadRefusal::Malformed("the only Transfer-Encoding here is chunked")),
        }
    }
}

/// RFC 9110 section 8.6: digits and nothing else.
fn digits(value: &[u8]) -> Option<u64> {
    let plain = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    plain.then(|| std::str::from_utf8(value).ok()?.parse().ok()).flatten()
}

/// RFC 9110 section 7.2: a host that is not empty, and perhaps a port. Letters of a name are those of RFC 3986 section
/// 3.2.2 without the comma, by which some join headers.
fn is_host(value: &[u8]) -> bool {
    let (host, port) = match value {
        [b'[', rest @ ..] => {
            let Some(end) = memchr(b']', rest) else { return false };
            let (address, port) = rest.split_at_checked(end).unwrap_or((rest, b""));
            if !address.iter().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.')) {
                return false;
            }
            (address, port.strip_prefix(b"]").unwrap_or_default())
        }
        _ => value.split_at_checked(memchr(b':', value).unwrap_or(value.len())).unwrap_or((value, b"")),
    };
    let named = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+;=:".contains(byte);
    let numbered = match port {
        [] => true,
        [b':', digits @ ..] => digits.len() <= 5 && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    !host.is_empty() && host.iter().all(named) && numbered
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a connection does it, the bytes coming in two pieces.
    fn read(bytes: &[u8], cut: usize) -> Result<Option<(usize, Framing)>, HeadRefusal> {
        let mut line = 0;
        let found = end(&bytes[..cut], &mut line)?;
        let found = if found.is_some() { found } else { end(bytes, &mut line)? };
        found.map(|at| Ok((at, judge(&bytes[..at], 8)?.framing))).transpose()
    }

    #[test]
    fn a_head_ends_where_it_ends() {
        let bytes = b"POST /a?b=%20 HTTP/1.1\r\nHost: a.example:8080\r\nCONTENT-length:\t7 \r\n\r\nbody...";
        for cut in 0..bytes.len() {
            assert_eq!(read(bytes, cut), Ok(Some((bytes.len() - 7, Framing::Length(7)))), "{cut}");
        }
        assert_eq!(read(b"GET / HTTP/1.1\r\nHost: a\r\n", 3), Ok(None));
    }

    #[test]
    fn framing_is_one_thing() {
        let of = |rest: &str| {
            let head = format!("POST / HTTP/1.1\r\nHost: a\r\n{rest}\r\n");
            read(head.as_bytes(), 0).map(|found| found.map(|(_, framing)| framing))
        };
        assert_eq!(of(""), Ok(Some(Framing::Empty)));
        assert_eq!(of("content-length: 0\r\n"), Ok(Some(Framing::Empty)));
        assert_eq!(of("Transfer-Encoding: CHUNKED\r\n"), Ok(Some(Framing::Chunked)));
        for bad in ["Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "Content-Length: 1, 1\r\n"] {
            assert!(matches!(of(bad), Err(HeadRefusal::Malformed(_))), "{bad}");
        }
        assert_eq!(of(&"a: b\r\n".repeat(8)), Err(HeadRefusal::TooLarge));
    }

    #[test]
    fn the_fields_of_a_connection_are_one_list() {
        let closes = |fields: &[&str]| {
            let lines: String = fields.iter().map(|value| format!("Connection: {value}\r\n")).collect();
            judge(format!("GET / HTTP/1.1\r\nHost: a\r\n{lines}\r\n").as_bytes(), 8).unwrap().closes
        };
        for fields in [&["close"][..], &["keep-alive", "Close"], &["x-a", "close"], &["te,\tCLOSE ,x"]] {
            assert!(closes(fields), "{fields:?}");
        }
        for fields in [&["keep-alive"][..], &[], &["Upgrade", "keep-alive"], &["x-close", "closed"]] {
            assert!(!closes(fields), "{fields:?}");
        }
    }

    #[test]
    fn probes_are_told_by_their_first_line() {
        for (line, probes) in [
            ("GET /readyz HTTP/1.1", true),
            ("HEAD /healthz?x=1 HTTP/1.0", true),
            ("GET /readyz/ HTTP/1.1", false),
            ("GET /metrics HTTP/1.1", false),
            ("POST /readyz HTTP/1.1", false),
            ("", false),
        ] {
            assert_eq!(is_probe(format!("{line}\r\nHost: a\r\n\r\n").as_bytes()), probes, "{line}");
        }
    }

    #[test]
    fn hosts_are_hosts() {
        for good in ["a", "A.example:80", "127.0.0.1", "[::1]:8080", "[2001:db8::1]", "a_b.example", "a:"] {
            assert!(is_host(good.as_bytes()), "{good}");
        }
        for bad in ["", ":80", "a b", "a/b", "u@a", "a,b", "a:b", "[::1", "[::1]x", "a:123456", "[]", "a\\b"]
        {
            assert!(!is_host(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn empty_lines_are_forgiven_in_number() {
        assert_eq!(skip_empty_lines(b"\r\n\r\nGET"), Ok(4));
        assert_eq!(skip_empty_lines(b"\r"), Ok(0));
        assert!(skip_empty_lines(&b"\r\n".repeat(5)).is_err());
    }
}
