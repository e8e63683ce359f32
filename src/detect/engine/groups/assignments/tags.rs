//! What stands between a name and its value in YAML, and before a value for Spring: tags, `!!str value`, anchors, `&name value`, the
//! sign of a key that has a line of its own, `{noop}value`.

use super::named::LocatedName;
use super::text::{NeedMore, WindowText, is_dense, is_name};
use super::value::{AssignedValue, LONGEST, piece};
use crate::detect::naming::{NAME, NameMeaning};
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// Tags behind which the value itself stands: those of YAML and of Ansible. Others are calls and references, `!Ref`.
const TAGS: [&str; 4] = ["!!str ", "!!binary ", "!unsafe ", "!vault "];
/// What Spring's value begins with where it is in clear.
const ENCODER: &str = "{noop}";
/// Words behind `&` that are of a type.
const TYPES: [&[u8]; 4] = [b"mut", b"dyn", b"str", b"const"];

impl WindowText<'_> {
    /// Behind the tag and the anchor at `at`; `at` where none is.
    pub(super) fn behind_tags(&self, at: usize) -> Result<usize, NeedMore> {
        let tagged = self.behind_tag(at)?;
        self.behind_tag(self.behind_anchor_name(tagged)?)
    }

    /// Behind the tag of YAML at `at`, before a value on its line.
    fn behind_tag(&self, at: usize) -> Result<usize, NeedMore> {
        if !self.is(at, b'!')? {
            return Ok(at);
        }
        for tag in TAGS {
            if self.follows(at, tag)? {
                let value = self.blanks(at + tag.len())?;
                // A block of what is enciphered.
                let block = matches!(self.byte(value)?, None | Some(b'|' | b'>' | b'\n' | b'\r'));
                return Ok(if block { at } else { value });
            }
        }
        Ok(at)
    }

    /// Behind the anchor of YAML at `at`, before a value with which the line ends.
    fn behind_anchor_name(&self, at: usize) -> Result<usize, NeedMore> {
        if !self.is(at, b'&')? {
            return Ok(at);
        }
        let stop = self.run(at + 1, NAME, is_name)?;
        let value = self.blanks(stop)?;
        let word = self.view.slice(at + 1, stop);
        if value == stop || word.is_empty() || TYPES.contains(&word) {
            return Ok(at);
        }
        if self.quote(value)?.is_some() || self.is(value, b'!')? {
            return Ok(value);
        }
        let end = self.run(value, LONGEST, |byte| !byte.is_ascii_whitespace())?;
        let given = self.byte(value)?.is_some_and(|byte| byte.is_ascii_alphanumeric());
        Ok(if given && self.ends_line(end)? { value } else { at })
    }

    /// Where the value stands of a key with a line of its own, `? password⏎: value`, whose line ends at `at`.
    pub(super) fn behind_complex_key(&self, name: LocatedName, at: usize) -> Result<Option<usize>, NeedMore> {
        if self.line_before(name).trim_ascii() != b"?" {
            return Ok(None);
        }
        let sign = self.space(at)?;
        let value = self.blanks(sign + 1)?;
        Ok((self.is(sign, b':')? && value > sign + 1).then_some(value))
    }

    /// The value at `at` behind the word by which Spring knows that it is in clear.
    pub(super) fn unencoded(&self, name: LocatedName, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        if name.meaning.named != NameMeaning::Password || !self.is(at, b'{')? || !self.follows(at, ENCODER)? {
            return Ok(None);
        }
        let start = at + ENCODER.len();
        let end = self.run(start, LONGEST, is_dense)?;
        let end = self.trimmed(start, end, NameMeaning::Password);
        let fits = credential::password(self.value_at(start, end));
        Ok(fits.then(|| piece(SecretKind::Password, start, end, 0.0)))
    }
}
