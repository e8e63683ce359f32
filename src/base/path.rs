//! [`RequestPath`]: the path of a request in the one form in which it is matched and sent on, so that no other spelling
//! of a path leads around the route that was made for it.

/// A path that is refused; what is shown says why and holds nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PathError(&'static str);

impl PathError {
    /// What is wrong.
    pub const fn why(self) -> &'static str {
        self.0
    }
}

const RELATIVE: PathError = PathError("the path does not begin with `/`");
const NOT_A_URI: PathError = PathError("the path has characters that no URI has");
const ESCAPE: PathError =
    PathError("the path has a percent sign that is not followed by two hexadecimal digits");
const CONTROL: PathError = PathError("the path has an encoded control character");
const OVERLONG: PathError = PathError("the path has an encoded character that is longer than it need be");
const CLIMBS: PathError = PathError("the path leads above its root");
const HIDDEN: PathError = PathError("the path has a dot segment that only some servers would see");
const EMPTY: PathError = PathError("the path has too many empty segments");

/// Empty segments that are left out, at the most: clients that join paths make one or two.
const MAX_EMPTY: usize = 32;

/// A request's path, normalised as RFC 3986 section 6.2.2 says: unreserved characters are decoded, what stays encoded
/// is in capitals, dot segments are resolved. Beyond that, repeated slashes are one: whether they mean anything is up to
/// each server, and some take what stands between two of them at the beginning for a host.
///
/// An encoded slash never separates segments, and is sent on as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPath {
    sent: String,
    /// Where it is not the same.
    compared: Option<String>,
}

impl Default for RequestPath {
    /// The root.
    fn default() -> Self {
        Self { sent: "/".to_owned(), compared: None }
    }
}

impl RequestPath {
    /// Reads a path as it is written in a request, without its query.
    ///
    /// # Errors
    /// What is no absolute path of a URI, or what two servers could resolve differently: dot segments above the root,
    /// after an empty segment or beside an encoded separator or a parameter; encoded control characters; overlong UTF-8.
    pub fn parse(written: &str) -> Result<Self, PathError> {
        let rest = written.strip_prefix('/').ok_or(RELATIVE)?;
        let (mut segments, mut empty, mut ends) = (Vec::new(), 0, true);
        for raw in rest.split('/') {
            let segment = normalised(raw)?;
            ends = true;
            match segment.as_str() {
                "." => {}
                ".." => match segments.pop() {
                    None => return Err(CLIMBS),
                    Some(last) if String::is_empty(&last) => return Err(HIDDEN),
                    Some(_) => {}
                },
                other if hides_dots(other) => return Err(HIDDEN),
                other => {
                    ends = other.is_empty();
                    empty += usize::from(ends);
                    segments.push(segment);
                }
            }
        }
        if empty > MAX_EMPTY {
            return Err(EMPTY);
        }
        segments.retain(|segment| !segment.is_empty());
        let slash = if ends && !segments.is_empty() { "/" } else { "" };
        Ok(Self::of(format!("/{}{slash}", segments.join("/"))))
    }

    fn of(sent: String) -> Self {
        let compared = sent.contains('%').then(|| decoded(&sent)).filter(|compared| *compared != sent);
        Self { sent, compared }
    }

    /// As it goes on: reserved characters are encoded where the caller encoded them.
    pub fn sent(&self) -> &str {
        &self.sent
    }

    /// As it is compared with paths of the configuration: all that a path may show is decoded too, but for what would
    /// separate segments, end the path or begin another escape (`%2F`, `%5C`, `%3F`, `%23`, `%25`).
    pub fn compared(&self) -> &str {
        self.compared.as_deref().unwrap_or(&self.sent)
    }

    /// The segment at `at`, from 0, as it is compared, and the path without it; `None` where there is none.
    pub fn split_off(&self, at: usize) -> Option<(String, Self)> {
        let compared = self.compared().split('/').nth(at + 1).filter(|segment| !segment.is_empty())?;
        let mut segments: Vec<&str> = self.sent.split('/').collect();
        if at + 1 < segments.len() {
            segments.remove(at + 1);
        }
        let sent = segments.join("/");
        Some((compared.to_owned(), Self::of(if sent.is_empty() { "/".to_owned() } else { sent })))
    }

    /// The path with `put` in the place of its first segments: nothing, or a path as it is sent that does not end with `/`.
    #[must_use]
    pub fn replaced(&self, segments: usize, put: &str) -> Self {
        Self::of(match self.sent.splitn(segments + 2, '/').nth(segments + 1) {
            Some(rest) => format!("{put}/{rest}"),
            None if put.is_empty() => "/".to_owned(),
            None => put.to_owned(),
        })
    }

    /// What servers that decode separators (`%2F`, `%5C`) or leave out parameters (`;…`) could take it for; nothing, for
    /// almost all paths.
    pub fn readings(&self) -> Vec<Self> {
        let (separators, parameters) =
            (["%2F", "%5C"].iter().any(|code| self.sent.contains(code)), self.compared().contains(';'));
        let split = |path: &str| path.replace("%2F", "/").replace("%5C", "/");
        let short = |path: &str| {
            let bare = path.split('/').map(|segment| segment.split(';').next().unwrap_or_default());
            bare.collect::<Vec<_>>().join("/")
        };
        let path = self.compared();
        let read = match (separators, parameters) {
            (false, false) => Vec::new(),
            (true, false) => vec![split(path)],
            (false, true) => vec![short(path)],
            (true, true) => vec![split(path), short(path), split(&short(path)), short(&split(path))],
        };
        read.iter().filter_map(|path| Self::parse(path).ok()).collect()
    }
}

/// A segment with its escapes as they should be.
fn normalised(raw: &str) -> Result<String, PathError> {
    let mut segment = String::with_capacity(raw.len());
    // The encoded byte before this one.
    let mut before = None;
    let mut bytes = raw.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            if !byte.is_ascii_graphic() || byte == b'\\' {
                return Err(NOT_A_URI);
            }
            segment.push(char::from(byte));
            before = None;
            continue;
        }
        let mut digit = || bytes.next().and_then(|digit| char::from(digit).to_digit(16));
        let (high, low) = digit().zip(digit()).ok_or(ESCAPE)?;
        let code = u8::try_from(high * 16 + low).map_err(|_| ESCAPE)?;
        if code.is_ascii_control() {
            return Err(CONTROL);
        }
        if is_overlong(before, code) {
            return Err(OVERLONG);
        }
        if code.is_ascii_alphanumeric() || b"-._~".contains(&code) {
            segment.push(char::from(code));
        } else {
            segment.push_str(&format!("%{code:02X}"));
        }
        before = Some(code);
    }
    Ok(segment)
}

/// Whether two bytes are how a character begins that has a shorter form (RFC 3629 section 3).
fn is_overlong(first: Option<u8>, second: u8) -> bool {
    match first {
        Some(0xC0 | 0xC1) => (0x80..=0xBF).contains(&second),
        Some(0xE0) => (0x80..=0x9F).contains(&second),
        Some(0xF0) => (0x80..=0x8F).contains(&second),
        _ => false,
    }
}

/// Whether a part of a segment is a dot segment for a server that decodes separators or leaves out parameters.
fn hides_dots(segment: &str) -> bool {
    if !segment.contains(['%', ';']) || !segment.contains('.') {
        return false;
    }
    let parts = segment.replace("%2F", "/").replace("%5C", "/").replace("%3B", ";");
    let is_dots = |part: &str| matches!(part, "." | "..");
    let hidden = parts.split('/').any(|part| is_dots(part.split(';').next().unwrap_or_default()));
    hidden || parts.split(['/', ';']).any(is_dots)
}

/// Decodes what [`RequestPath::compared`] says.
fn decoded(sent: &str) -> String {
    let mut parts = sent.split('%');
    let mut path = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let shown = part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        let shown = shown.filter(|code| code.is_ascii_graphic() && !b"/\\?#%".contains(code));
        match (shown, part.get(2..)) {
            (Some(code), Some(rest)) => {
                path.push(char::from(code));
                path.push_str(rest);
            }
            _ => {
                path.push('%');
                path.push_str(part);
            }
        }
    }
    path
}

/// What a hexadecimal digit counts.
pub const fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// Out of percent escapes (RFC 3986 section 2.1); what is none stays.
pub fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        let escaped = after.split_at_checked(2).filter(|_| *byte == b'%').and_then(|(digits, after)| {
            let [high, low] = *digits else { return None };
            Some((hex_digit(high)? << 4 | hex_digit(low)?, after))
        });
        let (byte, after) = escaped.unwrap_or((*byte, after));
        decoded.push(byte);
        rest = after;
    }
    decoded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_two_digits_are_an_escape() {
        for (text, decoded) in
            [("a%20b%2F", "a b/"), ("100%+5", "100%+5"), ("%4", "%4"), ("%zz%41", "%zzA"), ("%%41", "%A")]
        {
            assert_eq!(percent_decoded(text.as_bytes()), decoded.as_bytes(), "{text}");
        }
    }

    #[test]
    fn a_segment_is_split_off() {
        let rows = [
            ("/a/b/c", 1, Some(("b", "/a/c"))),
            ("/a/b", 1, Some(("b", "/a"))),
            ("/a/b/", 1, Some(("b", "/a/"))),
            ("/%7B/a%2Fb", 0, Some(("{", "/a%2Fb"))),
            ("/a", 0, Some(("a", "/"))),
            ("/a", 1, None),
            ("/a/", 1, None),
            ("/", 0, None),
        ];
        for (path, at, want) in rows {
            let split = RequestPath::parse(path).unwrap().split_off(at);
            let split = split.as_ref().map(|(segment, rest)| (segment.as_str(), rest.sent()));
            assert_eq!(split, want, "{path} {at}");
        }
    }

    #[test]
    fn a_path_has_one_form() {
        let rows = [
            ("/", "/", "/"),
            ("//", "/", "/"),
            ("/a/b", "/a/b", "/a/b"),
            ("/a/b/", "/a/b/", "/a/b/"),
            ("//a///b//", "/a/b/", "/a/b/"),
            ("/./a/./b/.", "/a/b/", "/a/b/"),
            ("/x/../a", "/a", "/a"),
            ("/a/b/..", "/a/", "/a/"),
            ("/a/%2e%2E/b", "/b", "/b"),
            ("/%61/%7e%2D%5F%2e", "/a/~-_.", "/a/~-_."),
            ("/a%2fb", "/a%2Fb", "/a%2Fb"),
            ("/m/arn%3aaws%3Ax%2fy:z", "/m/arn%3Aaws%3Ax%2Fy:z", "/m/arn:aws:x%2Fy:z"),
            ("/%252e%252e/a", "/%252e%252e/a", "/%252e%252e/a"),
            ("/%e9/%C3%A9/%20", "/%E9/%C3%A9/%20", "/%E9/%C3%A9/%20"),
            ("/a%3Fb%23c%5Cd%7B", "/a%3Fb%23c%5Cd%7B", "/a%3Fb%23c%5Cd{"),
            ("/...", "/...", "/..."),
            ("/..a/.b/a;v=1.5", "/..a/.b/a;v=1.5", "/..a/.b/a;v=1.5"),
            ("/a%3Bb", "/a%3Bb", "/a;b"),
        ];
        for (written, sent, compared) in rows {
            let path = RequestPath::parse(written).unwrap();
            assert_eq!((path.sent(), path.compared()), (sent, compared), "{written}");
        }
    }

    #[test]
    fn what_could_be_resolved_in_two_ways_is_refused() {
        let rows = [
            ("", RELATIVE),
            ("*", RELATIVE),
            ("a/b", RELATIVE),
            ("/..", CLIMBS),
            ("/a/../../b", CLIMBS),
            ("/%2e%2e/b", CLIMBS),
            ("/.%2E/b", CLIMBS),
            ("//../b", HIDDEN),
            ("/a//../b", HIDDEN),
            ("/a/..%2Fb", HIDDEN),
            ("/a/%2e%2e%2fb", HIDDEN),
            ("/a/x%2F..", HIDDEN),
            ("/a/..%5cb", HIDDEN),
            ("/a/..;/b", HIDDEN),
            ("/a/..;v=1/b", HIDDEN),
            ("/a/.%3B/b", HIDDEN),
            ("/a\\..\\b", NOT_A_URI),
            ("/a b", NOT_A_URI),
            ("/\u{e9}", NOT_A_URI),
            ("/a\0", NOT_A_URI),
            ("/a%00", CONTROL),
            ("/a%0d%0a", CONTROL),
            ("/a%7F", CONTROL),
            ("/a%", ESCAPE),
            ("/a%2", ESCAPE),
            ("/a%zz", ESCAPE),
            ("/%u002e", ESCAPE),
            ("/%+f", ESCAPE),
            ("/%c0%ae%c0%ae/", OVERLONG),
            ("/a%c0%afb", OVERLONG),
            ("/a%e0%80%afb", OVERLONG),
            ("/a%F0%80%80%AFb", OVERLONG),
        ];
        for (written, why) in rows {
            assert_eq!(RequestPath::parse(written), Err(why), "{written}");
        }
        assert_eq!(RequestPath::parse(&"/".repeat(MAX_EMPTY)).unwrap().sent(), "/");
        assert_eq!(RequestPath::parse(&"/".repeat(1 + MAX_EMPTY)), Err(EMPTY));
    }

    #[test]
    fn the_first_segments_are_replaced_and_the_rest_stays_as_it_is() {
        let rows = [
            ("/v1", 1, "/v2", "/v2"),
            ("/v1/", 1, "/v2", "/v2/"),
            ("/v1/x/y/", 1, "/v2", "/v2/x/y/"),
            ("/v1/v1/x", 1, "/v2", "/v2/v1/x"),
            ("/v1/a%2Fb%3f/%C3%A9;v=1", 1, "/v2", "/v2/a%2Fb%3F/%C3%A9;v=1"),
            ("/a%2Fb/x", 1, "/v2", "/v2/x"),
            ("/a/b/x", 2, "/v2", "/v2/x"),
            ("/a/x", 1, "/b/c%2Fd", "/b/c%2Fd/x"),
            ("/x", 0, "/v2", "/v2/x"),
            ("/", 0, "/v2", "/v2/"),
            ("/v1/x", 1, "", "/x"),
            ("/v1", 1, "", "/"),
            ("/v1/", 1, "", "/"),
            ("/x", 0, "", "/x"),
        ];
        for (path, segments, put, want) in rows {
            let replaced = RequestPath::parse(path).unwrap().replaced(segments, put);
            assert_eq!(replaced.sent(), want, "{path} {put}");
            assert_eq!(RequestPath::parse(want).as_ref(), Ok(&replaced), "{path} {put}");
        }
    }

    #[test]
    fn other_readings_are_known() {
        let rows: [(&str, &[&str]); 6] = [
            ("/secret/f", &[]),
            ("/secret%2Ff", &["/secret/f"]),
            ("/secret%5cf", &["/secret/f"]),
            ("/secret;v=1/f", &["/secret/f"]),
            ("/secret%3bv/f", &["/secret/f"]),
            ("/secret%2Ff;v", &["/secret/f;v", "/secret%2Ff", "/secret/f", "/secret/f"]),
        ];
        for (written, others) in rows {
            let readings = RequestPath::parse(written).unwrap().readings();
            assert_eq!(readings.iter().map(RequestPath::compared).collect::<Vec<_>>(), others, "{written}");
        }
    }

    proptest! {
        /// What is sent is what would be matched, were it received again.
        #[test]
        fn the_form_is_final(written in "(/|[a.;%\\\\]|%2[eEfF5]|%5[cC]|%3[aAbB]|%[0-9a-fA-F]{2}){0,24}") {
            let Ok(path) = RequestPath::parse(&format!("/{written}")) else { return Ok(()) };
            let again = RequestPath::parse(path.sent());
            prop_assert_eq!(again.as_ref(), Ok(&path));
            let compared = RequestPath::parse(path.compared()).unwrap();
            prop_assert_eq!(compared.compared(), path.compared());
            let parts: Vec<&str> = path.sent().split('/').skip(1).collect();
            prop_assert!(parts.iter().all(|part| !matches!(*part, "." | "..")));
            prop_assert!(parts.iter().rev().skip(1).all(|part| !part.is_empty()));
        }
    }
}
