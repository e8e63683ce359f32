//! Values without quotes: where they end, and what they may be.

use super::form::ValueForm;
use super::named::LocatedName;
use super::plain::{is_length, is_of_program, is_shouted};
use super::shape::{
    bare_password, fits_secret, is_bare, is_code, is_random, is_random_among_signs, is_random_setting,
    is_signed, is_tangle, is_unguessable, is_variable, looks_like_key,
};
use super::text::{NeedMore, WindowText, is_name, is_quote, is_tag};
use super::unspaced::is_prose;
use super::value::{AssignedValue, LONGEST, piece};
use crate::detect::naming::{Meaning, NAME, NameMeaning};
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential::{self, stands_in};

/// What the content of an element is made of.
fn is_content(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && byte != b'<'
}

/// Whether most values without quotes end with this sign.
fn is_ending(byte: u8) -> bool {
    is_quote(byte) || matches!(byte, b';' | b'\\' | b'<' | b'&')
}

impl WindowText<'_> {
    /// A value without quotes.
    pub(super) fn bare(
        &self,
        name: LocatedName,
        at: usize,
        form: ValueForm,
    ) -> Result<Option<AssignedValue>, NeedMore> {
        let class = if form == ValueForm::Element { is_content } else { is_bare };
        let password = name.meaning.named == NameMeaning::Password;
        let option = matches!(form, ValueForm::Assigned { tight: true, colon: false, .. });
        let mut stop = match password && option {
            true => self.before_option(at)?,
            false => self.bare_end(at, LONGEST, class)?,
        };
        // What ends the text that XML takes as it is.
        if form == ValueForm::Element
            && let Some(length) = memchr::memmem::find(self.view.slice(at, stop), b"]]>")
        {
            stop = at + length + 2;
        }
        if password && form != ValueForm::Element {
            stop = self.joined(name, at, stop)?;
        }
        if let Some(value) = self.connection_value(name, at, stop, form)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.bounded_value(name, at, stop, form)? {
            return Ok(Some(value));
        }
        let beyond = self.beyond_sign(name, at, stop, form)?;
        if beyond > stop
            && let Some(value) = self.bare_until(name, at, beyond, form)?
        {
            return Ok(Some(value));
        }
        self.bare_until(name, at, stop, form)
    }

    /// The value without quotes `at..stop`, if it is one.
    fn bare_until(
        &self,
        name: LocatedName,
        at: usize,
        stop: usize,
        form: ValueForm,
    ) -> Result<Option<AssignedValue>, NeedMore> {
        let setting = self.byte(stop)? == Some(b';');
        let Meaning { named, strong, .. } = name.meaning;
        let cut = stop >= at + LONGEST;
        if form == ValueForm::Element && !cut && !self.content_ends(stop)? {
            return Ok(None);
        }
        // Brackets and commas among signs of all kinds are of the value.
        let text = self.view.slice(at, stop);
        let lines = || Ok(is_signed(text) && !text.contains(&b'(') && self.ends_line(stop)?);
        let whole = self.heads_line(name) && (is_tangle(text) || lines()?);
        let trims = if whole { NameMeaning::Password } else { named };
        let end = self.trimmed(at, self.without_marks(at, stop), trims);
        let text = self.value_at(at, end);
        // A number of something: `8位`.
        let counted = self.counts_at(stop) && text.iter().all(|byte| !byte.is_ascii_alphabetic());
        // `$row['password']`, which a quote cuts.
        let cut = matches!(text.last(), Some(b'[' | b'{' | b'(')) && self.byte(end)?.is_some_and(is_quote);
        // `hash2(密码)`, a call with words of another script for arguments.
        let called = self.byte(stop)? == Some(b'(') && is_of_program(text, true);
        if counted || cut || called || is_prose(text) {
            return Ok(None);
        }
        let code = self.is_program(name, text, stop, form)?;
        // `X_PSK = other.X_PSK`.
        let own = text.strip_suffix(self.view.slice(name.start, name.end));
        let refers = own.is_some_and(|owner| owner.ends_with(b"."));
        let (kind, fits) = match named {
            _ if text.is_empty() || refers || code => (SecretKind::Password, false),
            _ if form == ValueForm::Line => (SecretKind::Password, bare_password(text, true, form, setting)),
            NameMeaning::Password => (SecretKind::Password, bare_password(text, strong, form, setting)),
            NameMeaning::Secret if form == ValueForm::Said && is_random(text) => (SecretKind::Secret, true),
            _ if matches!(form, ValueForm::Prose | ValueForm::Said) && !looks_like_key(text) => {
                (SecretKind::Key, false)
            }
            _ if is_variable(text, form) => (SecretKind::Key, false),
            NameMeaning::Key => (SecretKind::Key, credential::key(text, strong)),
            NameMeaning::Secret => {
                let leads = matches!(form, ValueForm::Assigned { tight: true, first: true, .. });
                let fits = credential::key(text, strong) || leads && strong && fits_secret(text, form);
                (SecretKind::Secret, fits)
            }
            // Their values are known by their form, and have places of their own.
            NameMeaning::Basic | NameMeaning::KeyNumber | NameMeaning::Seed => (SecretKind::Key, false),
        };
        // `16chars`, `90days`: what programs and manuals say of a value.
        let fits = fits && !(matches!(form, ValueForm::Assigned { tight: false, .. }) && is_length(text));
        let plain = !fits && !text.is_empty() && !refers && !code;
        let plain = if plain { self.plain_word(name, at..end, form)? } else { None };
        let (kind, fits) = plain.map_or((kind, fits), |kind| (kind, true));
        let listed = setting && self.before(name.start).is_some_and(|byte| byte == b';');
        let kind = if listed { SecretKind::Connection } else { kind };
        let doubt = if matches!(form, ValueForm::Prose | ValueForm::Said) { 0.1 } else { 0.0 };
        Ok(fits.then(|| piece(kind, at, end, doubt)))
    }

    /// Whether the value `text`, which ends at `stop`, is a part of a program: not where nobody writes its names, nor where its line is
    /// one of settings, which have no programs.
    fn is_program(
        &self,
        name: LocatedName,
        text: &[u8],
        stop: usize,
        form: ValueForm,
    ) -> Result<bool, NeedMore> {
        if !is_code(text) {
            return Ok(false);
        }
        if !name.meaning.is_password() {
            return Ok(true);
        }
        let behind = self.byte(self.blanks(stop)?)?;
        let ends = matches!(behind, None | Some(b'\n' | b'\r' | b'<' | b'|' | b';' | b'"' | b'\'' | b'`'));
        let spelled = self.view.slice(name.start, name.end);
        let dotted = spelled.contains(&b'.') && !spelled.iter().any(u8::is_ascii_uppercase);
        let tight = matches!(form, ValueForm::Assigned { tight: true, colon: false, .. });
        let setting = tight && (dotted || is_shouted(spelled)) && self.heads_line(name);
        let set = setting && is_random_setting(text) && matches!(behind, None | Some(b'\n' | b'\r'));
        Ok(!(ends && is_random_among_signs(text) || set))
    }

    /// Where the value ends that begins at `start` and holds the sign at `stop` with which most values end: with its line, if its
    /// name leads that, or with the word of a sentence. The name of another setting, an escape or a tag ends it there.
    fn beyond_sign(
        &self,
        name: LocatedName,
        start: usize,
        stop: usize,
        form: ValueForm,
    ) -> Result<usize, NeedMore> {
        let said = form == ValueForm::Prose;
        let assigned = matches!(form, ValueForm::Assigned { .. });
        let head = self.view.slice(start, stop);
        let opens = matches!(head.last(), Some(b'[' | b'{' | b'(' | b'='));
        if !(said || assigned && self.heads_line(name)) {
            return Ok(stop);
        }
        // A key of signs of all kinds; those of forms that are sent have others behind them.
        if name.meaning.named != NameMeaning::Password && assigned {
            let end = self.run(start, LONGEST, |byte| !byte.is_ascii_whitespace() && byte != b';')?;
            if is_tangle(self.view.slice(start, end)) && self.ends_line(end)? {
                return Ok(end);
            }
        }
        if opens || stands_in(head) || self.is_program(name, head, stop, form)? {
            return Ok(stop);
        }
        let line = self.line_before(name);
        let mut end = stop;
        while end < start + LONGEST && self.goes_on_behind(line, start, end)? {
            end = self.run(end + 1, (start + LONGEST).saturating_sub(end + 1), is_bare)?;
        }
        // A word alone may begin with such a sign.
        let begins = stop > start || is_unguessable(self.view.slice(start + 1, end));
        let ends = said || end >= start + LONGEST || self.ends_line(end)?;
        // `string;confirm`, `don't`.
        let is_word = |part: &[u8]| part.iter().all(u8::is_ascii_alphabetic);
        let words = self.view.slice(start, end).split(|&byte| is_ending(byte)).all(is_word);
        Ok(if begins && ends && !words { end } else { stop })
    }

    /// Whether the value that begins at `start` goes on behind the sign at `at`; `line` is what stands before its name.
    fn goes_on_behind(&self, line: &[u8], start: usize, at: usize) -> Result<bool, NeedMore> {
        let Some(sign) = self.byte(at)?.filter(|&sign| is_ending(sign)) else { return Ok(false) };
        let Some(next) = self.byte(at + 1)? else { return Ok(false) };
        let written =
            next.is_ascii_alphanumeric() || matches!(next, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'*');
        // What files of properties escape.
        let escaped = sign == b'\\' && matches!(next, b':' | b'=') && at > start + 1;
        let word = self.run(at + 1, NAME, |byte| is_name(byte) || byte == b'#')?;
        let another = matches!(self.byte(word)?, Some(b'=' | b';')) && word > at + 1;
        Ok(match sign {
            _ if escaped => true,
            _ if !written => false,
            b'\\' => {
                !matches!(next, b'a'..=b'f' | b'n' | b'r' | b't' | b'u' | b'v' | b'x' | b'0'..=b'9')
                    && self.before(at) != Some(b':')
            }
            b'<' => {
                let most = (start + LONGEST).saturating_sub(at + 1);
                let end = self.run(at + 1, most, |byte| is_tag(byte) && byte != b'\n')?;
                !self.is(end, b'>')?
            }
            b'&' | b';' => !another,
            quote => at > start && !line.contains(&quote),
        })
    }

    /// Whether nothing but what lists, shells, diffs and quotations have there stands before the name in its line.
    fn heads_line(&self, name: LocatedName) -> bool {
        let line = self.line_before(name);
        let whole = self.sees_line_start(name);
        let marks: [&[u8]; 8] = [b"-", b"*", b"+", b">", b"$", b"#", b"export", b"ENV"];
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        whole && name.dashes == 0 && words.all(|word| marks.contains(&word))
    }

    /// Where a password that holds `&` ends, of which `stop` is the first: in a query, and where the next parameter or
    /// an entity begins, that parts it from what follows.
    fn joined(&self, name: LocatedName, start: usize, stop: usize) -> Result<usize, NeedMore> {
        let mut stop = stop;
        let query = matches!(self.before(name.start - name.dashes), Some(b'?' | b'&'));
        while !query && stop < start + LONGEST && self.is(stop, b'&')? {
            let word = self.run(stop + 1, NAME, |byte| is_name(byte) || byte == b'#')?;
            let more = self.byte(word)?;
            let ends = word == stop + 1 && more.is_none_or(|byte| !is_bare(byte));
            if ends || matches!(more, Some(b'=' | b';')) {
                break;
            }
            stop = self.run(word, (start + LONGEST).saturating_sub(word), is_bare)?;
        }
        Ok(stop)
    }

    /// Where the password at `at` ends, behind which another option may follow with a comma between: `password=value,user=mo`.
    fn before_option(&self, at: usize) -> Result<usize, NeedMore> {
        let limit = at + LONGEST;
        let mut stop = at;
        while stop < limit {
            stop = self.bare_end(stop, limit - stop, |byte| is_bare(byte) && byte != b',')?;
            if stop >= limit || !self.is(stop, b',')? {
                break;
            }
            let name = self.run(stop + 1, NAME, is_name)?;
            let letter = self.view.get(stop + 1).is_some_and(|byte| byte.is_ascii_alphabetic());
            if letter && name > stop + 2 && self.is(name, b'=')? {
                break;
            }
            stop += 1;
        }
        Ok(stop.min(limit))
    }

    /// Without what belongs to the text around: a comma, a full stop, brackets that were opened before.
    pub(super) fn trimmed(&self, start: usize, stop: usize, named: NameMeaning) -> usize {
        let mut end = stop;
        if named != NameMeaning::Password {
            let text = self.view.slice(start, stop);
            let cut = text.iter().position(|byte| matches!(byte, b',' | b')' | b'}' | b']'));
            let open = text.iter().any(|byte| matches!(byte, b'(' | b'{' | b'['));
            end = cut.filter(|_| !open).map_or(stop, |n| start + n);
        }
        // More follows of what is as long as a piece.
        if end >= start + LONGEST {
            return end;
        }
        let text = self.view.slice(start, end);
        let count = |byte: u8| text.iter().filter(|&&one| one == byte).count();
        // Those that close more than was opened belong to the text around, each kind of its own.
        let surplus = |open: u8, close: u8| count(close).saturating_sub(count(open));
        let mut surplus =
            [(b')', surplus(b'(', b')')), (b'}', surplus(b'{', b'}')), (b']', surplus(b'[', b']'))];
        let mut outer = |byte: &u8| match byte {
            b',' | b'.' | b':' => true,
            byte => surplus.iter_mut().any(|(close, left)| {
                let taken = close == byte && *left > 0;
                *left -= usize::from(taken);
                taken
            }),
        };
        end - text.iter().rev().take_while(|byte| outer(byte)).count()
    }
}
