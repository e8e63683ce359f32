//! A collected text, redacted so that it can be undone, in two passes like a document: what was found in one place is
//! replaced in every other. Bytes that are not UTF-8 stay as they are and part the text.

use crate::redact::encrypt::Surrogates;
use crate::redact::error::RedactError;
use crate::redact::keys::Keys;
use crate::redact::method::Method;
use crate::redact::redactor::Redactor;
use crate::redact::report::{Redacted, Report};
use crate::redact::undo::{Limits, Undo};
use crate::redact::values::{Hit, Place, Values};
use crate::stream::json::PathSet;

impl Redactor {
    /// Redacts a whole text, and tells how to undo it.
    pub fn plain(
        &self,
        body: &[u8],
        keys: &Keys,
        limits: Limits,
    ) -> Result<(Redacted<Vec<u8>>, Undo), RedactError> {
        let mut report = Report::default();
        let mut values = Values::new(std::slice::from_ref(self));
        let mut cache = self.detector.cache();
        let mut hits: Vec<Vec<Hit>> = Vec::new();
        for chunk in body.utf8_chunks() {
            let text = chunk.valid();
            let findings = self.detector.try_find_under(&mut cache, None, text)?;
            report.scan(text.len());
            for finding in &findings {
                let redacted = *self.plan.method(finding.rule) != Method::DetectOnly;
                report.find(finding, self.detector.rule(finding.rule).name(), redacted);
            }
            hits.push(values.take(Place::default(), text, &findings));
        }
        if values.is_empty() {
            return Ok((Redacted::new(body.to_vec(), report), Undo::nothing()));
        }
        let index = values.index();
        for (chunk, hits) in body.utf8_chunks().zip(&mut hits) {
            values.spread(&index, chunk.valid(), hits);
        }
        values.settle(&mut Surrogates::new(keys), body)?;
        let mut out = Vec::with_capacity(body.len());
        for (chunk, hits) in body.utf8_chunks().zip(hits) {
            let text = chunk.valid().as_bytes();
            let mut done = 0;
            for Hit { range, value } in hits {
                out.extend_from_slice(text.get(done..range.start).unwrap_or_default());
                out.extend_from_slice(values.with(value).as_bytes());
                done = range.end;
                let rule = values.rule(value);
                report.replace(rule, self.detector.rule(rule).name());
            }
            out.extend_from_slice(text.get(done..).unwrap_or_default());
            out.extend_from_slice(chunk.invalid());
        }
        Ok((Redacted::new(out, report), values.close(limits)?))
    }
}

impl Redactor {
    /// Redacts a JSON document a line (NDJSON) as [`Redactor::document`] does one; blank lines stay.
    pub fn lines(
        &self,
        body: &[u8],
        which: &PathSet,
        keys: &Keys,
        limits: Limits,
    ) -> Result<(Redacted<Vec<u8>>, Undo), RedactError> {
        // As one array, so that what is found in one line is replaced in all. No string holds a bare line break,
        // so the lines can be told apart again.
        let filled = |line: &[u8]| !line.trim_ascii().is_empty();
        let count = body.split(|&byte| byte == b'\n').filter(|line| filled(line)).count();
        if count == 0 {
            return Ok((Redacted::new(body.to_vec(), Report::default()), Undo::nothing()));
        }
        let mut array = Vec::with_capacity(body.len() + count + 2);
        let mut seen = 0;
        for (at, line) in body.split(|&byte| byte == b'\n').enumerate() {
            if at > 0 {
                array.push(b'\n');
            }
            if filled(line) {
                array.push(if seen == 0 { b'[' } else { b',' });
                seen += 1;
            }
            array.extend_from_slice(line);
        }
        array.push(b']');
        let (redacted, undo) = self.document(&array, which, keys, limits)?;
        let report = redacted.report().clone();
        let mut out = Vec::with_capacity(body.len());
        let array = redacted.into_value();
        let array = array.strip_suffix(b"]").unwrap_or(&array);
        for (at, line) in array.split(|&byte| byte == b'\n').enumerate() {
            if at > 0 {
                out.push(b'\n');
            }
            out.extend_from_slice(if filled(line) { line.get(1..).unwrap_or_default() } else { line });
        }
        Ok((Redacted::new(out, report), undo))
    }
}
