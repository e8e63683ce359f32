//! Members of Kubernetes' manifests of kind `Secret`: whatever they are called, what they hold is secret, under `data` in
//! base 64. In YAML, also behind the numbers of its lines, and in JSON, also within a string.

use std::ops::Range;

use memchr::memmem;

/// How much of an object of JSON is read before its kind and behind it, in bytes.
const OBJECT: usize = 32 << 10;
/// The shortest line of a block that is taken for base 64, in bytes.
const BLOCK: usize = 8;

/// Whether a text may have such a manifest.
pub(super) fn may_be_in(text: &str) -> bool {
    memmem::find(text.as_bytes(), b"Secret").is_some()
}

/// Shows the values of a text's manifests.
pub(super) fn read(text: &str, show: &mut dyn FnMut(Range<usize>)) {
    yaml(text, show);
    json(text, show);
}

/// A line without its number, and where it stands.
struct ManifestLine<'t> {
    text: &'t str,
    start: usize,
}

impl<'t> ManifestLine<'t> {
    /// Behind a number and a sign, as programs that show files write them, or the sign of what was added.
    fn of(line: &'t str, start: usize) -> Self {
        let begin = line.trim_start();
        let rest = begin.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = rest.len() < begin.len();
        let parted = rest.strip_prefix(['\t', '|', '\u{2192}']).filter(|_| numbered);
        let text = parted.or_else(|| line.strip_prefix('+')).unwrap_or(line);
        Self { text: text.trim_end(), start: start + line.len() - text.len() }
    }

    fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start().len()
    }

    /// Without the sign of an entry of a list.
    fn body(&self) -> &'t str {
        let body = self.text.trim_start();
        body.strip_prefix("- ").unwrap_or(body).trim()
    }

    /// Whether a document begins, or an entry of a list of them.
    fn begins(&self) -> bool {
        self.text.starts_with("---") || self.text.trim_start().starts_with("- apiVersion")
    }

    /// Where a part stands that the line ends with, but for `quotes` behind it.
    fn range(&self, part: &str, quotes: usize) -> Range<usize> {
        let end = self.start + self.text.len() - quotes;
        end - part.len()..end
    }
}

fn lines(text: &str) -> impl Iterator<Item = ManifestLine<'_>> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        ManifestLine::of(line, start)
    })
}

fn yaml(text: &str, show: &mut dyn FnMut(Range<usize>)) {
    // The values of the document that is read: its kind may stand behind them.
    let (mut values, mut secret, mut within) = (Vec::new(), false, LinePath::default());
    for line in lines(text) {
        if line.begins() {
            if std::mem::take(&mut secret) {
                values.drain(..).for_each(&mut *show);
            }
            values.clear();
            within = LinePath::default();
        }
        secret |= matches!(line.body(), "kind: Secret" | "kind: \"Secret\"" | "kind: 'Secret'");
        values.extend(within.value(&line));
    }
    if secret {
        values.drain(..).for_each(show);
    }
}

/// Where in a document a line stands.
#[derive(Default)]
struct LinePath {
    /// How far the member is indented whose members are values.
    data: Option<usize>,
    /// How far the value is indented that goes on in lines of its own.
    block: Option<usize>,
}

impl LinePath {
    /// The value of a line, if it has one.
    fn value(&mut self, line: &ManifestLine<'_>) -> Option<Range<usize>> {
        let (indent, body) = (line.indent(), line.body());
        if body.is_empty() || body.starts_with('#') {
            return None;
        }
        let entry = usize::from(line.text.trim_start().starts_with("- ")) * 2;
        if self.data.is_none_or(|data| indent <= data) {
            self.data = matches!(body, "data:" | "stringData:").then_some(indent + entry);
            self.block = None;
            return None;
        }
        if self.block.is_some_and(|block| indent > block) {
            let coded = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
            return (body.len() >= BLOCK && body.bytes().all(coded)).then(|| line.range(body, 0));
        }
        self.block = None;
        let (_, value) = body.split_once(": ")?;
        let value = value.trim();
        if value.starts_with(['|', '>']) {
            self.block = Some(indent);
            return None;
        }
        let quoted = value.strip_prefix(['"', '\'']).and_then(|value| value.strip_suffix(['"', '\'']));
        let range = quoted.map_or_else(|| line.range(value, 0), |inner| line.range(inner, 1));
        Some(range).filter(|range| !range.is_empty())
    }
}

fn json(text: &str, show: &mut dyn FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let (mut known, mut read) = (0, 0);
    for at in memmem::find_iter(bytes, b"kind") {
        let from = std::mem::replace(&mut known, at).max(at.saturating_sub(OBJECT));
        if at < read || !is_secret(bytes, at) {
            continue;
        }
        let Some(open) = unmatched(bytes.get(from..at).unwrap_or_default().iter().rev(), b'{', b'}') else {
            continue;
        };
        let rest = bytes.get(at..bytes.len().min(at + OBJECT)).unwrap_or_default();
        let close = unmatched(rest.iter(), b'}', b'{').unwrap_or(rest.len());
        read = at + close;
        let object = at - open..read;
        for member in memmem::find_iter(bytes.get(object.clone()).unwrap_or_default(), b"ata") {
            members(text, object.start + member + 3, read, show);
        }
    }
}

/// Whether `kind` at `at` is a name, and `Secret` its value.
fn is_secret(bytes: &[u8], at: usize) -> bool {
    let mut at = at + 4;
    quote(bytes, &mut at) && sign(bytes, &mut at, b':') && quote(bytes, &mut at) && {
        let word = bytes.get(at..at + 6) == Some(b"Secret");
        at += 6;
        word && quote(bytes, &mut at)
    }
}

/// Shows the values of the object behind the name that ends before `at`, if that is one of such an object.
fn members(text: &str, at: usize, end: usize, show: &mut dyn FnMut(Range<usize>)) {
    let (bytes, mut at) = (text.as_bytes(), at);
    let name = bytes.get(..at).unwrap_or_default();
    let named = |word: &[u8]| name.strip_suffix(word).is_some_and(|rest| rest.last() == Some(&b'"'));
    if !(named(b"data") || named(b"stringData")) || !quote(bytes, &mut at) || !sign(bytes, &mut at, b':') {
        return;
    }
    let mut opens = b'{';
    while at < end && sign(bytes, &mut at, opens) && quote(bytes, &mut at) {
        let Some(name) = closing(bytes, at, end) else { return };
        at = name;
        if !(quote(bytes, &mut at) && sign(bytes, &mut at, b':') && quote(bytes, &mut at)) {
            return;
        }
        let Some(close) = closing(bytes, at, end) else { return };
        if text.is_char_boundary(at) && text.is_char_boundary(close) && at < close {
            show(at..close);
        }
        at = close;
        quote(bytes, &mut at);
        opens = b',';
    }
}

/// Where the text that begins at `at` ends: before its quote, and the backslashes of a string within a string. A quote behind one
/// backslash in a text that is in no string is a part of it.
fn closing(bytes: &[u8], at: usize, end: usize) -> Option<usize> {
    let within = bytes.get(..at.checked_sub(1)?)?.last() == Some(&b'\\');
    let mut here = at;
    while here < end {
        let quote = here + memchr::memchr(b'"', bytes.get(here..end)?)?;
        let escapes = bytes.get(at..quote)?.iter().rev().take_while(|byte| **byte == b'\\').count();
        if within || escapes % 2 == 0 {
            return Some(quote - escapes);
        }
        here = quote + 1;
    }
    None
}

/// Goes behind a quote, escaped or not; whether there is one.
fn quote(bytes: &[u8], at: &mut usize) -> bool {
    let rest = bytes.get(*at..).unwrap_or_default();
    let escapes = rest.iter().take(4).take_while(|byte| **byte == b'\\').count();
    let quoted = rest.get(escapes) == Some(&b'"');
    *at += if quoted { escapes + 1 } else { 0 };
    quoted
}

/// Goes behind a sign with blanks, and line ends that may be written as escapes, around it; whether there is one.
fn sign(bytes: &[u8], at: &mut usize, sign: u8) -> bool {
    *at = blanks(bytes, *at);
    let there = bytes.get(*at) == Some(&sign);
    *at = if there { blanks(bytes, *at + 1) } else { *at };
    there
}

fn blanks(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    loop {
        match bytes.get(at..at + 2) {
            Some(b"\\n" | b"\\t" | b"\\r") => at += 2,
            _ if bytes.get(at).is_some_and(u8::is_ascii_whitespace) => at += 1,
            _ => return at,
        }
    }
}

/// How many bytes on the first `sign` stands that no `other` before it belongs to, itself included.
fn unmatched<'b>(bytes: impl Iterator<Item = &'b u8>, sign: u8, other: u8) -> Option<usize> {
    let mut depth = 0usize;
    for (n, &byte) in bytes.enumerate() {
        if byte == other {
            depth += 1;
        } else if byte == sign && depth == 0 {
            return Some(n + 1);
        } else if byte == sign {
            depth -= 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<&str> {
        let mut values = Vec::new();
        read(text, &mut |range| values.push(text.get(range).unwrap()));
        values
    }

    #[test]
    fn members_of_secrets_are_values() {
        let rows: &[(&str, &[&str])] = &[
            (
                "apiVersion: v1\nkind: Secret\ndata:\n  password: aFQ1\n  ci.txt: Z2hw\ntype: Opaque\n",
                &["aFQ1", "Z2hw"],
            ),
            ("apiVersion: v1\ndata:\n  a: \"aFQ1\"\nkind: Secret\nmetadata:\n  name: x\n", &["aFQ1"]),
            (
                "     1\tkind: Secret\n     2\tstringData:\n     3\t  url: 'db x'\n     4\t  # no: x\n",
                &["db x"],
            ),
            ("00001| kind: Secret\n00002| data:\n00003|   a: aFQ1\n", &["aFQ1"]),
            (
                "kind: Secret\ndata:\n  tls.key: |\n    LS0tLS1CRUdJTg==\n    aFQ1dlJxOFpr\n  b: YQ==\n",
                &["LS0tLS1CRUdJTg==", "aFQ1dlJxOFpr", "YQ=="],
            ),
            (
                "kind: ConfigMap\ndata:\n  a: b\n---\nkind: Secret\ndata:\n  a: c\n---\nkind: ConfigMap\ndata:\n  a: d\n",
                &["c"],
            ),
            (
                "items:\n- apiVersion: v1\n  data:\n    a: b\n  kind: Secret\n- apiVersion: v1\n  data:\n    a: c\n  kind: ConfigMap\n",
                &["b"],
            ),
            (
                r#"{"apiVersion":"v1","data":{"a":"aFQ1","b":"Z2hw"},"kind":"Secret","metadata":{"name":"x"}}"#,
                &["aFQ1", "Z2hw"],
            ),
            ("{\n  \"kind\": \"Secret\",\n  \"stringData\": {\n    \"a\": \"b\\\"c\"\n  }\n}", &["b\\\"c"]),
            (r#"x: '{\"kind\":\"Secret\",\"data\":{\"a\":\"aFQ1\"}}'"#, &["aFQ1"]),
            (r#"[{"kind":"ConfigMap","data":{"a":"b"}},{"data":{"a":"c"},"kind":"Secret"}]"#, &["c"]),
            ("kind: Deployment\ndata:\n  a: b\n", &[]),
            ("kind: SecretStore\ndata:\n  a: b\n", &[]),
            (r#"{"kind":"ConfigMap","data":{"a":"Secret"}}"#, &[]),
            ("Secret things of a kind, data: none", &[]),
        ];
        for (text, expected) in rows {
            assert_eq!(values(text), *expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_closed_is_read_once() {
        for text in [r#"{"kind":"Secret","data":{"#.repeat(9000), r#""kind":"Secret""#.repeat(9000)] {
            assert_eq!(values(&text), Vec::<&str>::new());
        }
    }
}
