//! What is given to a name where a setting of the environment is missing: `ENV['X'] || "value"`, `os.getenv("X", "value")`,
//! `process.env.X ?? "value"`, `${X:-value}`, `${x.y:value}`. And values in quotes for which a word of a shell is closed and
//! opened again.

use super::beside::GIVEN;
use super::named::LocatedName;
use super::text::{NeedMore, Quote, WindowText, is_name, is_quote};
use super::value::{self, AssignedValue, piece};
use crate::detect::naming::NAME;

/// How far from the beginning of an expression its value may stand, in bytes.
const EXPRESSION: usize = 128;

/// How expressions begin that read the environment or settings.
const READERS: [&str; 18] = [
    "config.get(",
    "config(",
    "deno.env.get(",
    "env(",
    "env.",
    "env[",
    "env::var(",
    "environ.get(",
    "getenv(",
    "import.meta.env.",
    "os.environ.get(",
    "os.environ[",
    "os.getenv(",
    "process.env.",
    "process.env[",
    "std::env::var(",
    "system.getenv(",
    "viper.get(",
];
/// The longest of them.
const READER: usize = 16;

/// What stands between such an expression and the value in its place.
const OTHERWISE: [&str; 7] = ["||", "??", "?:", ",", "or ", "unwrap_or(", "orelse("];

/// How a word of a shell in quotes is closed for a quote within, and opened again.
const REOPENED: [&str; 3] = ["'\"'\"'", "'\\''", "'\\\"'\\\"'"];

impl WindowText<'_> {
    /// The value in place of a setting that is missing, where an expression that reads one begins at `at`.
    pub(super) fn fallback(&self, name: LocatedName, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        if self.is(at, b'$')? && self.is(at + 1, b'{')? {
            return self.braced(name, at + 2);
        }
        let tag = if self.is(at, b'<')? && self.follows(at, "<%=")? { self.blanks(at + 3)? } else { at };
        let Some(reader) = self.reader(tag)? else { return Ok(None) };
        let mut behind = tag + reader;
        while behind < tag + EXPRESSION {
            let Some(byte) = self.byte(behind)?.filter(|byte| !matches!(byte, b'\n' | b';' | b'{')) else {
                break;
            };
            if let Some(open) = self.quote(behind)?.filter(|_| is_quote(byte) || byte == b'\\') {
                let Some(end) = self.closed(open, NAME)? else { break };
                behind = end + open.escapes + 1;
                continue;
            }
            if let Some(value) = self.otherwise(behind)? {
                let Some(open) = self.quote(value)? else { break };
                let end = self.closed_or_cut(open)?;
                return Ok(end.and_then(|end| self.quoted(name.meaning, open.end, end, GIVEN)));
            }
            behind += 1;
        }
        Ok(None)
    }

    /// How long the beginning is of an expression at `at` that reads a setting.
    fn reader(&self, at: usize) -> Result<Option<usize>, NeedMore> {
        if !self.byte(at)?.is_some_and(|byte| byte.is_ascii_alphabetic()) {
            return Ok(None);
        }
        let end = self.run(at, READER, |byte| is_name(byte) || matches!(byte, b':' | b'[' | b'('))?;
        let head = self.view.slice(at, end);
        let begins = |reader: &&&str| {
            head.get(..reader.len()).is_some_and(|head| head.eq_ignore_ascii_case(reader.as_bytes()))
        };
        Ok(READERS.iter().find(begins).map(|reader| reader.len()))
    }

    /// Where the value stands behind what parts it from such an expression, if that stands at `at`.
    fn otherwise(&self, at: usize) -> Result<Option<usize>, NeedMore> {
        for word in OTHERWISE {
            if self.follows(at, word)? {
                return Ok(Some(self.blanks(at + word.len())?));
            }
        }
        Ok(None)
    }

    /// `X:-value}` at `at`, of a shell or of Compose, or Spring's `X:value}`.
    fn braced(&self, name: LocatedName, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let stop = self.run(at, NAME, |byte| is_name(byte) && byte != b'-')?;
        let start = match self.byte(stop)? {
            Some(b'-') => stop + 1,
            Some(b':') if matches!(self.byte(stop + 1)?, Some(b'-' | b'=')) => stop + 2,
            Some(b':') if self.has_default(at, stop)? => stop + 1,
            _ => return Ok(None),
        };
        let end = self.run(start, value::LONGEST, |byte| !byte.is_ascii_whitespace() && byte != b'}')?;
        if end == start || !self.is(end, b'}')? {
            return Ok(None);
        }
        let quoted = end > start + 2 && self.byte(start)?.is_some_and(is_quote);
        let (start, end) = if quoted { (start + 1, end - 1) } else { (start, end) };
        let kind = value::kind(name.meaning, self.value_at(start, end), GIVEN);
        Ok(kind.map(|kind| piece(kind, start, end, 0.0)))
    }

    /// Whether the name `start..end` of a setting in braces has a value behind a colon for where it is missing, and no part of a
    /// shell's variable nor the kind of a reference before it: `${X:0:4}`, `${env:X}`.
    pub(super) fn has_default(&self, start: usize, end: usize) -> Result<bool, NeedMore> {
        let name = self.view.slice(start, end);
        let setting = name.iter().any(|byte| matches!(byte, b'.' | b'_'))
            || name.len() >= 2 && name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        if !setting || !self.is(end, b':')? {
            return Ok(false);
        }
        let part =
            self.run(end + 1, NAME, |byte| byte.is_ascii_digit() || matches!(byte, b':' | b' ' | b'-'))?;
        let begins = match self.byte(end + 1)? {
            None | Some(b'?' | b'+' | b'%' | b'.' | b'/' | b'}' | b'$') => false,
            // An expression.
            Some(b'#') => !self.is(end + 2, b'{')?,
            Some(_) => true,
        };
        Ok(begins && !self.is(part, b'}')?)
    }

    /// The quote within a word of a shell in quotes, at `at`.
    pub(super) fn reopened(&self, at: usize) -> Result<Option<Quote>, NeedMore> {
        if !self.is(at, b'\'')? {
            return Ok(None);
        }
        for form in REOPENED {
            if self.follows(at, form)? {
                return Ok(Some(Quote { byte: b'\'', escapes: 0, end: at + form.len() }));
            }
        }
        Ok(None)
    }
}
