//! Passwords among the settings of connection strings (ADO.NET, ODBC, JDBC), which `;` parts:
//! `Server=…;User ID=…;Password=…;Encrypt=True`. There a password may have any other sign.

use super::form::ValueForm;
use super::named::LocatedName;
use super::shape::{has_label, is_marked, is_random, names_itself};
use super::text::{NeedMore, WindowText, is_quote};
use super::value::{AssignedValue, LONGEST, piece};
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential::{self, stands_in};

/// The most that is read for a password and the setting behind it, in bytes.
const READ: usize = 192;
/// The most words of a password.
const WORDS: usize = 6;

/// Other settings of such strings, in small letters and without blanks.
const SETTINGS: &[&[u8]] = &[
    b"addr",
    b"address",
    b"accountname",
    b"applicationintent",
    b"applicationname",
    b"authentication",
    b"connectiontimeout",
    b"connecttimeout",
    b"database",
    b"databasename",
    b"datasource",
    b"dbq",
    b"driver",
    b"dsn",
    b"encrypt",
    b"failoverpartner",
    b"host",
    b"hostname",
    b"initialcatalog",
    b"integratedsecurity",
    b"logintimeout",
    b"multipleactiveresultsets",
    b"networkaddress",
    b"persistsecurityinfo",
    b"pooling",
    b"port",
    b"protocol",
    b"provider",
    b"server",
    b"servername",
    b"sslmode",
    b"timeout",
    b"trustedconnection",
    b"trustservercertificate",
    b"uid",
    b"user",
    b"userid",
    b"username",
];

/// The signs of XML that stand within a value, as they are escaped.
const ESCAPED: [&[u8]; 6] = [b"&amp", b"&lt", b"&gt", b"&apos", b"&#34", b"&#39"];

impl WindowText<'_> {
    /// The password that begins at `at` in a list of settings, if it has more than the word that ends at `stop`: it goes to the sign
    /// that parts it from the next.
    pub(super) fn connection_value(
        &self,
        name: LocatedName,
        at: usize,
        stop: usize,
        form: ValueForm,
    ) -> Result<Option<AssignedValue>, NeedMore> {
        let password = name.meaning.is_password();
        if !password || !matches!(form, ValueForm::Assigned { tight: true, colon: false, .. }) {
            return Ok(None);
        }
        // A setting of its own needs another beside it.
        let line = self.line_before(name).trim_ascii_end();
        let opens = line.last().is_none_or(|&byte| byte == b';' || is_quote(byte));
        if !opens || name.dashes > 0 {
            return Ok(None);
        }
        let before = line.ends_with(b";") && line.split(|&byte| byte == b';').any(ends_with_setting);
        let end = self.run(at, READ, |byte| !matches!(byte, b'\n' | b'\r'))?;
        let text = self.view.slice(at, end);
        let Some((start, length, behind)) = value_of(text) else { return Ok(None) };
        let after = begins_with_setting(behind);
        let value = text.get(start..start + length).unwrap_or_default();
        let (start, end) = (at + start, at + start + length);
        if !before && !after || end <= stop || length >= LONGEST {
            return Ok(None);
        }
        // With quotes or blanks in it, what stands behind must be a setting, or nothing.
        let inner = |byte: &u8| is_quote(*byte) || *byte == b' ' || *byte == b'<';
        let closes = after || behind.first().is_none_or(|&byte| is_quote(byte));
        let words = value.split(|&byte| byte == b' ').count();
        let fits = start > at
            || !value.iter().any(inner)
            || closes && words <= WORDS && value.split(|&byte| byte == b' ').all(is_whole);
        let text = self.value_at(start, end);
        let fits = fits && is_marked(text) && !is_expression(text);
        let fits = fits && credential::password(text) && !stands_in(text) && !names_itself(text);
        let kind = if before { SecretKind::Connection } else { SecretKind::Password };
        Ok(fits.then(|| piece(kind, start, end, 0.0)))
    }
}

/// Where the value stands with which this begins, how long it is, and what follows it: in braces, as ODBC has it, or up to the sign
/// behind it.
fn value_of(text: &[u8]) -> Option<(usize, usize, &[u8])> {
    match text.first()? {
        b'{' => {
            let inner = text.get(1..)?;
            let mut ends = inner.iter().enumerate().filter(|(_, byte)| **byte == b'}');
            // One that stands for itself is doubled.
            let (length, _) = ends.find(|(n, _)| {
                inner.get(n + 1) != Some(&b'}') && (*n == 0 || inner.get(n - 1) != Some(&b'}'))
            })?;
            let value = inner.get(..length)?;
            let signed = value
                .iter()
                .any(|byte| matches!(byte, b';' | b'!' | b'#' | b'%' | b'^' | b'*' | b'~' | b'&'));
            let behind = inner.get(length + 1..)?;
            let closes = behind.first().is_none_or(|&byte| byte == b';' || is_quote(byte));
            let fits = closes && (signed || is_random(value)) && !has_label(value);
            fits.then_some((1, length, behind.get(1..).unwrap_or_default()))
        }
        b'$' | b'<' | b'[' | b'@' | b'%' | b'+' | b'(' | b'"' | b'\'' | b'`' => None,
        _ => {
            let mut signs = text.iter().enumerate().filter(|(_, byte)| **byte == b';');
            let end = signs.find(|(n, _)| {
                let head = text.get(..*n).unwrap_or_default();
                !ESCAPED.iter().any(|sign| head.ends_with(sign))
            });
            match end {
                Some((length, _)) => Some((0, length, text.get(length + 1..)?)),
                None if text.len() < READ => {
                    let inner =
                        |byte: &&u8| !byte.is_ascii_whitespace() && !is_quote(**byte) && **byte != b'<';
                    Some((0, text.iter().take_while(inner).count(), text.get(text.len()..)?))
                }
                None => None,
            }
        }
    }
}

/// Whether a word of a value has no quote with which a text around it could end: none stands at its edge or beside a sign of a program.
fn is_whole(word: &[u8]) -> bool {
    let sign = |byte: Option<&u8>| {
        byte.is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'!' | b'#' | b'$' | b'%' | b'*')
        })
    };
    !word.is_empty()
        && word
            .iter()
            .enumerate()
            .filter(|(_, byte)| is_quote(**byte))
            .all(|(n, _)| n > 0 && sign(word.get(n - 1)) && sign(word.get(n + 1)))
}

/// Whether a value is an expression of a program, or has parameters of a query behind it: `a&&b`, `x&user=mo`.
fn is_expression(value: &[u8]) -> bool {
    let parameter = |part: &[u8]| {
        let name = part.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        name > 0 && part.get(name) == Some(&b'=')
    };
    value.windows(2).any(|pair| matches!(pair, b"&&" | b"||" | b"=="))
        || value.split(|&byte| byte == b'&').skip(1).any(parameter)
}

/// Whether a part of such a list ends with a setting that is given a value: `"Server=s`, `User ID=sa`.
fn ends_with_setting(part: &[u8]) -> bool {
    let Some(equals) = part.iter().rposition(|&byte| byte == b'=') else { return false };
    let head = part.get(..equals).unwrap_or_default().trim_ascii_end();
    let letters = |byte: &&u8| byte.is_ascii_alphabetic() || **byte == b' ' || **byte == b'_';
    let name = head.iter().rev().take_while(letters).count();
    is_setting(head.get(head.len() - name..).unwrap_or_default())
}

/// Whether a setting that is given a value stands at the beginning.
fn begins_with_setting(text: &[u8]) -> bool {
    let equals = text.iter().take(READ).position(|&byte| byte == b'=');
    equals.is_some_and(|equals| is_setting(text.get(..equals).unwrap_or_default()))
}

/// Whether this is the name of such a setting.
fn is_setting(name: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b' ' | b'_');
    let letters = name.iter().filter(|byte| byte.is_ascii_alphabetic()).map(u8::to_ascii_lowercase);
    name.iter().all(plain) && SETTINGS.contains(&letters.collect::<Vec<u8>>().as_slice())
}
