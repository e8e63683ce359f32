//! Values in a request's head: parameters of the query, chosen headers and cookies. They get the methods of the body's
//! rules. What is found here is not restored by itself: an answer that repeats it has the surrogate, unless the body had the
//! value too.

use http::HeaderName;
use http::header::{CONTENT_DISPOSITION, COOKIE, HeaderValue};
use http::uri::PathAndQuery;
use pingora::http::RequestHeader;

use crate::api::ApiError;
use crate::gateway::error::GatewayError;
use crate::gateway::filters::cookies_and_query::split;
use crate::gateway::filters::redaction_error::of_redaction;
use crate::gateway::upstream::origin_form;
use crate::redact::{FindingLimits, Keys, RedactError, Redactor, Report};

/// Parameters by which clients prove who they are, in small letters: what they hold is for the upstream.
const CREDENTIALS: [&[u8]; 8] =
    [b"key", b"api_key", b"api-key", b"apikey", b"access_token", b"subscription-key", b"sig", b"signature"];

/// Beginnings of parameters that sign a request: nothing of it may change.
const SIGNED: [&[u8]; 2] = [b"x-amz-", b"x-goog-"];

/// Headers that name a file that is uploaded (Gemini API, "Files"; RFC 6266; RFC 5023 section 9.7): part of what is said, as the
/// names of files in a form are.
static FILE_NAMES: [HeaderName; 3] = [
    HeaderName::from_static("x-goog-upload-file-name"),
    CONTENT_DISPOSITION,
    HeaderName::from_static("slug"),
];

/// What stands between a charset, of no language, and the text that it is of.
const CHARSET_END: &[u8] = b"''";

/// Which values of a head are looked at, beside those that name a file.
#[derive(Clone, Debug, Default)]
pub struct HeadValues {
    /// Whether those of the query are, but for credentials.
    pub query: bool,
    /// Those of these headers.
    pub headers: Vec<HeaderName>,
    /// Those of the cookies of these names.
    pub cookies: Vec<String>,
}

/// One head, and how it is redacted.
pub(super) struct HeadRedaction<'r> {
    pub(super) values: &'r HeadValues,
    pub(super) redactor: &'r Redactor,
    pub(super) keys: &'r Keys,
}

impl HeadValues {
    /// Whether nothing of `head` is looked at.
    pub(super) fn is_nothing_of(&self, head: &RequestHeader) -> bool {
        let named = FILE_NAMES.iter().any(|name| head.headers.contains_key(name));
        !self.query && self.headers.is_empty() && self.cookies.is_empty() && !named
    }
}

impl HeadRedaction<'_> {
    /// Redacts the values; `found` gets what was found in each.
    ///
    /// # Errors
    /// What the route blocks or cannot redact, or a head that cannot be written.
    pub(super) fn apply(
        &self,
        head: &mut RequestHeader,
        found: &mut dyn FnMut(&Report),
    ) -> Result<(), HeadFault> {
        if self.values.query {
            self.query(head, found)?;
        }
        let unnamed = FILE_NAMES.iter().filter(|name| !self.values.headers.contains(name));
        for name in self.values.headers.iter().chain(unnamed) {
            let values: Vec<HeaderValue> = head.headers.get_all(name).iter().cloned().collect();
            let mut changed = Vec::new();
            for value in &values {
                let value = value.as_bytes();
                let redacted = if FILE_NAMES.contains(name) {
                    self.file_name(value, found)
                } else {
                    self.text(value, found)
                };
                changed.push(redacted?);
            }
            write(head, name, &values, changed);
        }
        if !self.values.cookies.is_empty() {
            let lines: Vec<HeaderValue> = head.headers.get_all(COOKIE).iter().cloned().collect();
            let mut changed = Vec::new();
            for line in &lines {
                changed.push(self.cookies(line.as_bytes(), found)?);
            }
            write(head, &COOKIE, &lines, changed);
        }
        Ok(())
    }

    fn query(&self, head: &mut RequestHeader, found: &mut dyn FnMut(&Report)) -> Result<(), HeadFault> {
        let target = origin_form(head);
        let (path, parameters) = split(&target);
        let (mut out, mut changed, mut joint) = (path.to_vec(), false, b'?');
        for parameter in parameters {
            out.push(std::mem::replace(&mut joint, b'&'));
            let redacted = if is_credential(parameter) { None } else { self.field(parameter, found)? };
            changed |= redacted.is_some();
            out.extend_from_slice(redacted.as_deref().unwrap_or(parameter));
        }
        if changed {
            // Longer than a path can be: what stands there may not pass as it came.
            PathAndQuery::try_from(out.as_slice()).map_err(|_| HeadFault::TargetTooLong)?;
            // Of HTTP/2 the host has been moved to a field of its own.
            head.set_raw_path(&out).map_err(|_| HeadFault::TargetTooLong)?;
        }
        Ok(())
    }

    /// The cookies of one line: the rest of it stays as it is written.
    fn cookies(&self, line: &[u8], found: &mut dyn FnMut(&Report)) -> Result<Option<Vec<u8>>, RedactError> {
        let (mut out, mut changed) = (Vec::with_capacity(line.len()), false);
        for (at, cookie) in line.split(|byte| *byte == b';').enumerate() {
            if at > 0 {
                out.push(b';');
            }
            let blank = cookie.len() - cookie.trim_ascii_start().len();
            let (blank, pair) = cookie.split_at_checked(blank).unwrap_or((b"", cookie));
            let name = pair.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii();
            let chosen = self.values.cookies.iter().any(|wanted| wanted.as_bytes() == name);
            let redacted = if chosen { self.field(pair, found)? } else { None };
            changed |= redacted.is_some();
            out.extend_from_slice(blank);
            out.extend_from_slice(redacted.as_deref().unwrap_or(pair));
        }
        Ok(changed.then_some(out))
    }

    /// One value under its name, with what escapes of a query spell; `None`: it stays.
    fn field(&self, field: &[u8], found: &mut dyn FnMut(&Report)) -> Result<Option<Vec<u8>>, RedactError> {
        let (redacted, _) = self.redactor.form(field, self.keys, FindingLimits::default())?;
        found(redacted.report());
        Ok((redacted.report().count() > 0).then(|| redacted.into_value()))
    }

    /// A header that names a file: where it says in which charset that is, the name behind is escaped (RFC 8187 section 3.2.1).
    fn file_name(
        &self,
        value: &[u8],
        found: &mut dyn FnMut(&Report),
    ) -> Result<Option<Vec<u8>>, RedactError> {
        let Some(at) = memchr::memmem::find(value, CHARSET_END) else { return self.text(value, found) };
        let (before, name) = value.split_at(at + CHARSET_END.len());
        let (redacted, named) = (self.text(before, found)?, self.field(name, found)?);
        let changed = redacted.is_some() || named.is_some();
        let whole = || [redacted.as_deref().unwrap_or(before), named.as_deref().unwrap_or(name)].concat();
        Ok(changed.then(whole))
    }

    /// The value of a header; that of an address (`Referer`) by its parameters.
    fn text(&self, value: &[u8], found: &mut dyn FnMut(&Report)) -> Result<Option<Vec<u8>>, RedactError> {
        let query = value.iter().position(|byte| *byte == b'?').filter(|_| value.starts_with(b"http"));
        let (text, query) = value.split_at_checked(query.unwrap_or(value.len())).unwrap_or((value, b""));
        let (redacted, _) = self.redactor.plain(text, self.keys, FindingLimits::default())?;
        found(redacted.report());
        let mut changed = redacted.report().count() > 0;
        let mut out = redacted.into_value();
        let mut joint = b'?';
        let parameters = query.split_first().map(|(_, parameters)| parameters);
        for field in parameters.into_iter().flat_map(|parameters| parameters.split(|byte| *byte == b'&')) {
            out.push(std::mem::replace(&mut joint, b'&'));
            let redacted = self.field(field, found)?;
            changed |= redacted.is_some();
            out.extend_from_slice(redacted.as_deref().unwrap_or(field));
        }
        Ok(changed.then_some(out))
    }
}

/// Writes the values of a header anew where one of them has changed; what no header can hold is left out.
fn write(head: &mut RequestHeader, name: &HeaderName, before: &[HeaderValue], changed: Vec<Option<Vec<u8>>>) {
    if changed.iter().all(Option::is_none) {
        return;
    }
    head.remove_header(name);
    for (before, changed) in before.iter().zip(changed) {
        let value = match changed {
            Some(changed) => HeaderValue::from_bytes(&changed).ok(),
            None => Some(before.clone()),
        };
        if let Some(value) = value {
            drop(head.append_header(name.clone(), value));
        }
    }
}

fn is_credential(parameter: &[u8]) -> bool {
    let name = parameter.split(|byte| *byte == b'=').next().unwrap_or_default().to_ascii_lowercase();
    CREDENTIALS.contains(&name.as_slice()) || SIGNED.iter().any(|begin| name.starts_with(begin))
}

/// Why the values of a head are not redacted.
#[derive(Debug, thiserror::Error)]
pub(super) enum HeadFault {
    /// A value's.
    #[error(transparent)]
    Redact(#[from] RedactError),
    /// The query grew, and the target with it, beyond what one can be (65,534 bytes: `http::uri::MAX_LEN`).
    #[error("the target is too long with its values replaced")]
    TargetTooLong,
}

impl From<HeadFault> for GatewayError {
    fn from(fault: HeadFault) -> Self {
        match fault {
            HeadFault::TargetTooLong => ApiError::HeadTooLarge.into(),
            HeadFault::Redact(RedactError::TooDeep { .. } | RedactError::Json(_)) => {
                Self::BadBody("a value in the request's head cannot be scanned")
            }
            HeadFault::Redact(other) => of_redaction(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::{Method, fixture};

    #[test]
    fn a_query_that_grows_too_long_is_refused_and_the_head_stays() {
        let redactor = fixture::redactor(Method::Replace);
        let values = HeadValues { query: true, ..HeadValues::default() };
        let keys = Keys::default();
        let redaction = HeadRedaction { values: &values, redactor: &redactor, keys: &keys };
        // Each address is shorter than the label in its place.
        for (addresses, fits) in [(10, true), (5_900, false)] {
            let target = format!("/?q={}", "jo@ab.de+".repeat(addresses));
            let mut head = RequestHeader::build("GET", target.as_bytes(), None).unwrap();
            let done = redaction.apply(&mut head, &mut |_| ());
            assert_eq!(done.is_ok(), fits, "{addresses}: {done:?}");
            assert!(fits || matches!(done, Err(HeadFault::TargetTooLong)));
            assert_eq!(head.raw_path() == target.as_bytes(), !fits);
        }
    }
}
