//! [`Entity`]: header fields and a body (RFC 5322 2.1, RFC 2045 2.4).

/// Fields that say how a body is to be read (RFC 2045): there is one of each.
const STRUCTURE: &[&str] =
    &["content-type", "content-transfer-encoding", "content-disposition", "mime-version"];

/// A header field with its folded lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeaderField<'f> {
    /// All of it, with the end of its last line.
    pub(super) raw: &'f [u8],
    pub(super) name: &'f str,
    /// What stands behind the colon.
    pub(super) value: &'f [u8],
}

impl HeaderField<'_> {
    pub(super) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Its name in lower case, where it says how a body is to be read.
    pub(super) fn structure(&self) -> Option<&'static str> {
        STRUCTURE.iter().copied().find(|name| self.is(name))
    }
}

/// A message, or a part of one.
#[derive(Debug)]
pub(super) struct Entity<'f> {
    pub(super) fields: Vec<HeaderField<'f>>,
    /// The empty line between both; none where it is missing.
    pub(super) gap: &'f [u8],
    pub(super) body: &'f [u8],
    /// How its lines end.
    pub(super) eol: &'static str,
    /// Whether it can stay as it is written: every reader finds the same in it.
    pub(super) plain: bool,
}

impl<'f> Entity<'f> {
    /// Reads header fields up to an empty line, or to what is none: the body begins there, whoever reads.
    pub(super) fn read(raw: &'f [u8]) -> Self {
        let mut fields: Vec<HeaderField<'f>> = Vec::new();
        let mut rest = raw;
        let mut start = raw;
        let (mut gap, mut plain) = (&b""[..], true);
        let (first, _) = line(raw);
        let eol = if first.ends_with(b"\r\n") { "\r\n" } else { "\n" };
        while !rest.is_empty() {
            let (here, behind) = line(rest);
            if here.trim_ascii().is_empty() && !here.starts_with(b" ") && !here.starts_with(b"\t") {
                (gap, rest) = (here, behind);
                break;
            }
            let folded = here.starts_with(b" ") || here.starts_with(b"\t");
            match fields.last_mut() {
                Some(last) if folded => {
                    let raw = start.get(..start.len().saturating_sub(behind.len())).unwrap_or_default();
                    let head = last.raw.len().saturating_sub(last.value.len());
                    (last.raw, last.value) = (raw, raw.get(head..).unwrap_or_default());
                }
                _ => match field(here) {
                    Some(field) => {
                        fields.push(field);
                        start = rest;
                    }
                    None => {
                        plain = false;
                        break;
                    }
                },
            }
            rest = behind;
        }
        plain &= fields.iter().all(|field| !has_stray(field.raw));
        Self { fields, gap, body: rest, eol, plain }
    }

    /// The first field of this name: of several that there may be only one of, readers pick what they like.
    pub(super) fn field(&self, name: &str) -> Option<&HeaderField<'f>> {
        self.fields.iter().find(|field| field.is(name))
    }
}

/// A line with its end, and what follows.
pub(super) fn line(text: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memchr(b'\n', text).map_or(text.len(), |at| at.saturating_add(1));
    text.split_at_checked(end).unwrap_or((text, &[]))
}

/// The field that a line begins; `None` where it begins none.
pub(super) fn field(line: &[u8]) -> Option<HeaderField<'_>> {
    let colon = memchr::memchr(b':', line)?;
    let name = std::str::from_utf8(line.get(..colon)?).ok()?.trim_end_matches([' ', '\t']);
    let named = !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic());
    named.then_some(HeaderField { raw: line, name, value: line.get(colon.saturating_add(1)..)? })
}

/// Whether there is a carriage return that ends no line, or a zero: some readers end the line there.
pub(super) fn has_stray(raw: &[u8]) -> bool {
    memchr::memchr(0, raw).is_some()
        || memchr::memchr_iter(b'\r', raw).any(|at| raw.get(at.saturating_add(1)) != Some(&b'\n'))
}
