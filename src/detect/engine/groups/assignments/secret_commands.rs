//! Secrets that commands of continuous integration and of stores of secrets are given, and codes that hold one:
//! `::add-mask::value`, `##vso[task.setvariable variable=x;issecret=true]value`, `aws ssm put-parameter --name db/password --value x`,
//! `WIFI:S:name;P:value;;`, and lines of an account and its password.

use super::beside::GIVEN;
use super::form::ValueForm;
use super::named::LocatedName;
use super::shape::{is_marked, is_random, is_signed};
use super::text::{NeedMore, WindowText, is_dense, is_name, is_quote};
use super::value::{AssignedValue, LONGEST, piece};
use crate::detect::naming::{self, NAME};
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// How far before a value its command or its account is looked at, in bytes.
const BEFORE: usize = 60;
/// The most fields of a network's code, and the longest of them, in bytes.
const FIELDS: usize = 8;
const FIELD: usize = 96;
/// The longest name of a parameter, in bytes.
const PARAMETER: usize = 128;

impl WindowText<'_> {
    /// The value with which the line goes on at `at`.
    pub(super) fn masked(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let end = self.run(at, LONGEST, |byte| !matches!(byte, b'\n' | b'\r' | b'"' | b'\''))?;
        let text = self.value_at(at, end).trim_ascii_end();
        let fits = is_marked(text) && credential::password(text) && !text.contains(&b' ');
        Ok(fits.then(|| piece(SecretKind::Secret, at, at + text.len(), 0.0)))
    }

    /// The value of a variable that is set as a secret, behind the bracket which closes behind `at`.
    pub(super) fn secret_variable(&self, start: usize, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let head = self.view.slice(start.saturating_sub(BEFORE), start);
        if memchr::memmem::find(head, b"setvariable ").is_none() {
            return Ok(None);
        }
        let close = self.run(at, NAME, |byte| is_name(byte) || matches!(byte, b';' | b'='))?;
        if self.is(close, b']')? { self.masked(close + 1) } else { Ok(None) }
    }

    /// Where the value stands that a command of a workflow gives the name: `::set-output name=password::value`.
    pub(super) fn workflow_value(&self, name: LocatedName) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        let line = self.line_before(name);
        let command = line.ends_with(b" name=") && memchr::memmem::find(line, b"::").is_some();
        if !command || !self.follows(name.end, "::")? {
            return Ok(None);
        }
        Ok(Some((name.end + 2, GIVEN)))
    }

    /// The value that a store of parameters is given behind `at`, if it is a secret's or says so.
    pub(super) fn parameter(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let Some(option) = self.option(at, &["--name ", "--name="])? else { return Ok(None) };
        let start = self.run(self.blanks(option)?, 1, is_quote)?;
        let stop = self.run(start, PARAMETER, |byte| is_name(byte) || byte == b'/')?;
        let last = self.view.slice(start, stop).rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        let named = naming::meaning(last).is_some_and(|meaning| meaning.strong);
        if named || self.option(at, &["--type SecureString", "--type=SecureString"])?.is_some() {
            return self.behind_option(at, &["--value ", "--value="]);
        }
        Ok(None)
    }

    /// The password of the network whose code has its first field at `at`. Backslashes stand before the signs that part fields.
    pub(super) fn network_code(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let mut field = at;
        for _ in 0..FIELDS {
            let key = self.byte(field)?;
            if !key.is_some_and(|key| key.is_ascii_uppercase()) || !self.is(field + 1, b':')? {
                return Ok(None);
            }
            let start = field + 2;
            let mut end = start;
            while end < start + FIELD {
                end = match self.byte(end)? {
                    Some(b'\\') => end + 2,
                    None | Some(b';' | b'\n' | b'\r') => break,
                    Some(_) => end + 1,
                };
            }
            if !self.is(end, b';')? {
                return Ok(None);
            }
            if key == Some(b'P') {
                let fits = credential::password(self.value_at(start, end));
                return Ok(fits.then(|| piece(SecretKind::Password, start, end, 0.0)));
            }
            field = end + 1;
        }
        Ok(None)
    }

    /// The password behind an account's address, of which the end begins at `start`, with which the line begins: `mo@example.com:value`.
    pub(super) fn account(&self, start: usize, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let head = self.view.slice(start.saturating_sub(BEFORE), start);
        let line = head.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        let whole = line.len() < head.len() || start < BEFORE;
        let mut parts = line.trim_ascii_start().split(|&byte| byte == b'@');
        let (user, host) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let plain = |part: &[u8], more: u8| {
            !part.is_empty() && part.iter().all(|&byte| is_name(byte) || byte == more)
        };
        if !whole || !plain(user, b'+') || !plain(host, b'-') || parts.next().is_some() {
            return Ok(None);
        }
        let value = self.blanks(at)?;
        let end = self.run(value, LONGEST, is_dense)?;
        let text = self.value_at(value, end);
        let fits = is_random(text) && is_signed(text) && (end == value + LONGEST || self.ends_line(end)?);
        Ok(fits.then(|| piece(SecretKind::Password, value, end, 0.0)))
    }
}
