//! Values without quotes of their own that have blanks in them, as phrases have, where something bounds them: the quotes around all
//! of the setting, `-e "DB_PASSWORD=spring water 9"`, its line in a file of such, or the tags of an element. Half of one says much.

use super::form::ValueForm;
use super::named::LocatedName;
use super::plain::is_shouted;
use super::shape::{has_digit, is_marked};
use super::text::{NeedMore, Quote, WindowText, is_name, is_quote, is_tag};
use super::value::{AssignedValue, LONGEST, piece};
use crate::detect::naming::NAME;
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// The most words of a phrase, and the longest of them, in bytes.
const WORDS: usize = 6;
const WORD: usize = 24;
/// The most backslashes before the quote around a setting.
const ESCAPES: usize = 4;

/// Options behind which a setting is given in quotes.
const OPTIONS: &[&[u8]] = &[
    b"-e",
    b"--env",
    b"-var",
    b"--var",
    b"--set",
    b"--set-string",
    b"--build-arg",
    b"-D",
    b"-E",
    b"set",
    b"SET",
];
/// Commands that a variable is set for on the same line.
const COMMANDS: &str = "\
    ansible ansible-playbook artisan aws az bash borg bundle cargo celery cmake composer createdb curl \
    dbt deno django-admin docker dotnet dropdb env exec flask gcloud go gradle gunicorn helm java jest \
    kubectl make mix mocha mongosh mvn mysql mysqladmin mysqldump next node nohup npm npx php pipenv \
    pnpm poetry psql pytest python python3 rails rake rclone redis-cli restic rspec ruby serverless sh \
    sqlcmd sudo terraform tox uvicorn vite yarn";
/// Words of sentences, that stand in no phrase.
const OF_SENTENCES: &str = "the a an of your to for be is are must with not or new this enter any";

impl WindowText<'_> {
    /// The value at `at` whose first word ends at `stop`, with the others that something bounds together with it.
    pub(super) fn bounded_value(
        &self,
        name: LocatedName,
        at: usize,
        stop: usize,
        form: ValueForm,
    ) -> Result<Option<AssignedValue>, NeedMore> {
        if !name.meaning.is_password() || !self.is(stop, b' ')? {
            return Ok(None);
        }
        let end = match form {
            ValueForm::Element => self.element_end(name, at)?,
            ValueForm::Assigned { tight: true, colon: false, .. } => match self.quoted_end(name, at)? {
                Some(end) => Some(end),
                None => self.setting_end(name, at)?,
            },
            _ => None,
        };
        let fits = |end: &usize| *end > stop && *end < at + LONGEST;
        Ok(end.filter(fits).and_then(|end| self.quoted(name.meaning, at, end, form)))
    }

    /// The value `open.end..end` of a line of Windows' registry as it is exported: `"DefaultPassword"="two words"`.
    pub(super) fn exported_value(
        &self,
        name: LocatedName,
        open: Quote,
        end: usize,
    ) -> Result<Option<AssignedValue>, NeedMore> {
        let line = self.line_before(name);
        let whole = self.sees_line_start(name);
        let between = self.view.slice(name.end, open.end);
        let password = name.meaning.is_password();
        if !password || !whole || line != b"\"" || between != b"\"=\"" || !self.ends_line(end + 1)? {
            return Ok(None);
        }
        let text = self.value_at(open.end, end);
        let fits = is_phrase(text) && credential::password(text);
        Ok(fits.then(|| piece(SecretKind::Password, open.end, end, 0.0)))
    }

    /// Where the quote closes that opened before the name of a variable or an option.
    fn quoted_end(&self, name: LocatedName, at: usize) -> Result<Option<usize>, NeedMore> {
        let start = name.start - name.dashes;
        let Some(byte) = self.before(start).filter(|&byte| is_quote(byte)) else { return Ok(None) };
        let line = self.line_before(LocatedName { start: start - 1, ..name });
        let escapes = line.iter().rev().take(ESCAPES).take_while(|&&byte| byte == b'\\').count();
        let head = line.get(..line.len() - escapes).unwrap_or_default();
        let behind = head.trim_ascii_end();
        let parted = behind.len() < head.len();
        let word =
            behind.rsplit(|byte| byte.is_ascii_whitespace() || is_quote(*byte)).next().unwrap_or_default();
        let option = OPTIONS.contains(&word.strip_suffix(b"=").unwrap_or(word));
        // A shell reads what stands in an argument of its own.
        let shell = behind
            .windows(3)
            .any(|three| matches!(three, [b'-', b'c', sign] if !sign.is_ascii_alphanumeric()));
        let item = matches!(behind.last(), Some(b'[' | b',')) || behind.trim_ascii_start() == b"-" && parted;
        let unit = behind.ends_with(b"nvironment=");
        let named = name.dashes > 0 || is_shouted(self.view.slice(name.start, name.end));
        if shell || !(option || named && (item || unit)) {
            return Ok(None);
        }
        let Some(end) = self.closed(Quote { byte, escapes, end: at }, LONGEST)? else { return Ok(None) };
        Ok(Some(end).filter(|_| is_phrase(self.view.slice(at, end))))
    }

    /// Where the line ends of a variable in a file of such, or behind the command `set` of Windows' shell.
    fn setting_end(&self, name: LocatedName, at: usize) -> Result<Option<usize>, NeedMore> {
        let line = self.line_before(name);
        let whole = self.sees_line_start(name);
        let spelled = self.view.slice(name.start, name.end);
        if !whole || name.dashes > 0 || !is_shouted(spelled) {
            return Ok(None);
        }
        let sets = line.trim_ascii().eq_ignore_ascii_case(b"set");
        if !sets && !line.is_empty() {
            return Ok(None);
        }
        let end = self.run(at, LONGEST, |byte| !matches!(byte, b'\n' | b'\r'))?;
        let text = self.view.slice(at, end).trim_ascii_end();
        let alone = || self.is_alone(name, text, end);
        let fits = is_phrase(text) && (sets || self.is_among_variables(name, text, end)? || alone()?);
        Ok(fits.then_some(at + text.len()))
    }

    /// Whether the line behind the name's end at `end` sets a variable too, or the one above, if the last word of the text is none of a
    /// command.
    fn is_among_variables(&self, name: LocatedName, text: &[u8], end: usize) -> Result<bool, NeedMore> {
        let mut above = self.head(name).rsplit(|&byte| byte == b'\n').skip(1);
        let variable = |line: &[u8]| {
            let equals = line.iter().position(|&byte| byte == b'=');
            equals.and_then(|equals| line.get(..equals)).is_some_and(is_shouted)
        };
        if above.next().is_some_and(variable) && ends_with_number(text) {
            return Ok(true);
        }
        let next = self.space(end)?;
        let stop = self.run(next, NAME, is_name)?;
        Ok(is_shouted(self.view.slice(next, stop)) && self.is(stop, b'=')?)
    }

    /// Whether the setting is all of the text, and its last word says that it is no command.
    fn is_alone(&self, name: LocatedName, text: &[u8], end: usize) -> Result<bool, NeedMore> {
        let first = self.begins(name) && self.head(name).is_empty();
        Ok(first && ends_with_number(text) && self.byte(self.space(end)?)?.is_none())
    }

    /// Where the content of an element of this name ends that begins at `at`.
    fn element_end(&self, name: LocatedName, at: usize) -> Result<Option<usize>, NeedMore> {
        let end = self.run(at, WORDS * WORD, |byte| is_tag(byte) && !matches!(byte, b'\n' | b'\r'))?;
        if !self.is(end, b'<')? || !self.is(end + 1, b'/')? {
            return Ok(None);
        }
        let stop = self.run(end + 2, NAME, |byte| is_name(byte) || byte == b':')?;
        let closes = self.view.slice(end + 2, stop).ends_with(self.view.slice(name.start, name.end));
        let text = self.view.slice(at, end).trim_ascii_end();
        let phrase = is_phrase(text) && (is_marked(text) || text.split(|&byte| byte == b' ').count() <= 3);
        Ok((closes && phrase).then_some(at + text.len()))
    }
}

/// Whether the last word of a text has a digit.
fn ends_with_number(text: &[u8]) -> bool {
    text.rsplit(|&byte| byte == b' ').next().is_some_and(has_digit)
}

/// Whether a word is one of those between spaces.
fn is_one_of(word: &[u8], of: &str) -> bool {
    of.split(' ').any(|one| one.as_bytes() == word)
}

/// Whether a text is a few words such as phrases have: no sentence, and no command with what it is given.
fn is_phrase(text: &[u8]) -> bool {
    let words = || text.split(|&byte| byte == b' ');
    let inner = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || !byte.is_ascii()
            || matches!(byte, b'-' | b'!' | b'?' | b'#' | b'@' | b'+' | b'*' | b'&' | b'_')
    };
    let plain = |word: &[u8]| {
        let first = word.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
        first && word.len() <= WORD && word.iter().all(inner) && !is_one_of(word, OF_SENTENCES)
    };
    let second = words().nth(1).unwrap_or_default();
    (2..=WORDS).contains(&words().count()) && words().all(plain) && !is_one_of(second, COMMANDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_told_from_commands_and_sentences() {
        for text in ["spring water 9", "qpwo eiru tyla ksjd", "autumn leaf", "win ter 9", "spring-water 9!"] {
            assert!(is_phrase(text.as_bytes()), "{text}");
        }
        for text in [
            "k7Vq2x psql db",
            "k7Vq2x ./run.sh",
            "k7Vq2x --host db",
            "k7Vq2x $HOME",
            "k7Vq2x USER=mo",
            "the old one",
            "k7Vq2x  db",
            "k7Vq2x",
        ] {
            assert!(!is_phrase(text.as_bytes()), "{text}");
        }
    }
}
