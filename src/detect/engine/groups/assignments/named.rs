//! Values given to names: `name = "value"` in the ways of programs, settings, markup, command lines and prose.

use super::super::super::view::LOOKBACK;
use super::beside::GIVEN;
use super::call_names::{call_form, is_called};
use super::form::ValueForm;
use super::labels::{is_attribute, is_constant, is_label_of_words};
use super::operator::Operator;
use super::shape::names_user;
use super::text::{NeedMore, WindowText, is_name, is_quote};
use super::value::{AssignedValue, ContentAndRest, PlaceContent};
use crate::detect::naming::{self, Meaning, NAME, NameMeaning};

/// A name where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocatedName {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where the word was found that it holds.
    pub(super) word: usize,
    /// Dashes before it.
    pub(super) dashes: usize,
    pub(super) meaning: Meaning,
}

/// Where a name stands, without the signs around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameBounds {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Dashes and other signs before it.
    pub(super) dashes: usize,
}

/// What stands between a name and what may be its value.
#[derive(Clone, Copy)]
struct GivingSign {
    operator: Operator,
    /// Where it begins, and where it ends.
    blank: usize,
    behind: usize,
    /// Whether blanks stand before it, and whether the name is in quotes.
    spaced: bool,
    quoted: bool,
}

impl WindowText<'_> {
    /// What is given to the name that the word at `start..end` is a part of.
    pub(super) fn named(&self, start: usize, end: usize) -> ContentAndRest {
        // The sign behind a name may be part of the word that was found.
        let signs = self.view.slice(start, end).iter().rev().take_while(|&&byte| !is_name(byte)).count();
        let end = end - signs;
        // So may the letter that says whose it is: `pw's`.
        let end = if self.view.slice(start, end).ends_with(b"'s") { end - 2 } else { end };
        let stop = self.run(end, NAME, is_name)?;
        if stop == end && self.view.slice(start.saturating_sub(3), end) == b"sshpass" {
            let option = self.blanks(end)?;
            let given = self.follows(option, "-p")?;
            let value = if given { self.pass(self.blanks(option + 2)?)? } else { None };
            return Ok((end, value.into()));
        }
        if let Some(name) = self.key_content(start, stop)? {
            return Ok((name.end, self.given(name)?.into()));
        }
        // What Go's tests print: `--- PASS: TestOf2`.
        let head = self.view.slice(start.saturating_sub(4), stop);
        // Dots that lead to the value are no part of the name: `Password........ value`.
        let dots = self.view.slice(end, stop).iter().rev().take_while(|&&byte| byte == b'.').count();
        let stop = stop - dots;
        let Some(name) = self.name(start, stop).filter(|_| head != b"--- PASS") else {
            let list = self.list_named(start, stop)?;
            return Ok((stop, list.map_or(PlaceContent::Nothing, PlaceContent::List)));
        };
        // The name of a secret in that of a resource: `arn:aws:secretsmanager:eu-west-1:0:secret:name`.
        let resource = self.before(name.start) == Some(b':')
            && memchr::memmem::find(self.head(name), b":secretsmanager:").is_some();
        if resource {
            return Ok((stop, PlaceContent::Nothing));
        }
        let trusted = LocatedName { meaning: Meaning { doubtful: false, ..name.meaning }, ..name };
        Ok((name.end.max(end), self.without_doubt(name, self.given(trusted)?).into()))
    }

    /// What a name is given, in whichever way.
    pub(super) fn given(&self, name: LocatedName) -> Result<Option<AssignedValue>, NeedMore> {
        if let Some(value) = self.laid_out(name)? {
            return Ok(Some(value));
        }
        let Some((at, form)) = self.link(name)? else { return Ok(None) };
        let given = self.value_at_link(name, at, form)?;
        let given = match given.filter(|value| !self.is_of_source(value, form)) {
            None => self.changed_value(name, at, form)?,
            given => given,
        };
        match given {
            None if name.meaning.named == NameMeaning::Secret => match self.pair(at)? {
                Some(value) => Ok(Some(value)),
                None => self.said_key(name, at, form),
            },
            None if name.meaning.named == NameMeaning::Key => self.said_key(name, at, form),
            given => given.map(|value| self.with_list(name.meaning, value)).transpose(),
        }
    }

    /// Whether the value is what programs and texts about them have in its place.
    fn is_of_source(&self, value: &AssignedValue, form: ValueForm) -> bool {
        let text = self.view.slice(value.start, value.end);
        let quoted = self.before(value.start).is_some_and(is_quote);
        match form {
            ValueForm::Argument(false) => is_label_of_words(text),
            ValueForm::Assigned { tight: false, colon: false, .. } => !quoted && is_constant(text),
            ValueForm::Beside => is_attribute(text),
            _ => false,
        }
    }

    /// `Key Content`, as Windows calls the password of a network, of which `start..stop` is the first word.
    fn key_content(&self, start: usize, stop: usize) -> Result<Option<LocatedName>, NeedMore> {
        let key = self.view.slice(start, stop) == b"Key" && !self.before(start).is_some_and(is_name);
        if !key || !self.follows(stop, " content")? {
            return Ok(None);
        }
        let meaning = Meaning { named: NameMeaning::Password, strong: true, doubtful: false };
        Ok(Some(LocatedName { start, end: stop + " content".len(), word: start, dashes: 0, meaning }))
    }

    /// The name that holds `start` and ends before `stop`, if it is a secret's.
    fn name(&self, start: usize, stop: usize) -> Option<LocatedName> {
        let NameBounds { start: begin, end: stop, dashes } = self.located(start, stop)?;
        let meaning =
            naming::meaning(self.view.slice(begin, stop)).or_else(|| self.two_words(begin, stop))?;
        let strong = meaning.strong
            || self.ends_phrase(begin, stop)
            || self.view.get(stop) == Some(b'(') && is_called(self.view.slice(begin, stop));
        let meaning = Meaning { strong, ..meaning };
        Some(LocatedName { start: begin, end: stop, word: start, dashes, meaning })
    }

    /// Where the name stands that holds `start` and ends before `stop`.
    pub(super) fn located(&self, start: usize, stop: usize) -> Option<NameBounds> {
        let head = self.view.slice(start.saturating_sub(NAME + 1), start);
        let back = head.iter().rev().take_while(|&&byte| is_name(byte)).count();
        if stop - start + back > NAME {
            return None;
        }
        let begin = self.view.after_escape(start - back)?.min(start);
        let text = self.view.slice(begin, stop);
        let outer = |byte: &&u8| !byte.is_ascii_alphanumeric();
        let dashes = text.iter().take_while(outer).count();
        let tail = text.iter().rev().take_while(outer).count();
        let named = dashes + tail < text.len();
        named.then_some(NameBounds { start: begin + dashes, end: stop - tail, dashes })
    }

    /// Whether the name ends a phrase of several words that is more than it: `mot de passe`, `palavra passe`.
    fn ends_phrase(&self, start: usize, stop: usize) -> bool {
        let head = self.view.slice(start.saturating_sub(8), start).to_ascii_lowercase();
        self.view.slice(start, stop).eq_ignore_ascii_case(b"passe")
            && (head.ends_with(b"mot de ") || head.ends_with(b"palavra "))
    }

    /// `API key`, in two words.
    pub(super) fn two_words(&self, start: usize, stop: usize) -> Option<Meaning> {
        let blank = start.checked_sub(1).filter(|&at| self.view.get(at) == Some(b' '))?;
        let head = self.view.slice(blank.saturating_sub(16), blank);
        let letters = head.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if !self.view.slice(start, stop).eq_ignore_ascii_case(b"key") || letters == 0 {
            return None;
        }
        let mut both = [b'_'; NAME];
        let word = head.get(head.len() - letters..)?;
        both.get_mut(..letters)?.copy_from_slice(word);
        both.get_mut(letters + 1..letters + 4)?.copy_from_slice(b"key");
        both.make_ascii_lowercase();
        naming::meaning(both.get(..letters + 4)?).filter(|meaning| meaning.strong)
    }

    /// Where the name's value begins, and how it is given.
    fn link(&self, name: LocatedName) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        let before = self.before(name.start - name.dashes);
        let mut at = name.end;
        let mut quoted = false;
        if let Some(quote) = self
            .quote(at)?
            .filter(|_| before.is_some_and(|byte| is_quote(byte) || matches!(byte, b' ' | b'#')))
        {
            quoted = true;
            at = quote.end;
        } else if let Some(content) = self.content(name)? {
            return Ok(Some((content, ValueForm::Element)));
        }
        if let Some(given) = self.workflow_value(name)? {
            return Ok(Some(given));
        }
        if let Some(word) = self.owned_word(name)? {
            return Ok(Some(word));
        }
        if self.is(at, b'[')? {
            let close = self.run(at + 1, 6, |byte| byte.is_ascii_digit())?;
            at = if self.is(close, b']')? { close + 1 } else { at };
        }
        if (quoted || before == Some(b'[')) && matches!(self.byte(at)?, Some(b']' | b')')) {
            at += 1;
        }
        // `${DB_PASSWORD:-value}`.
        if before == Some(b'{') && (self.follows(at, ":-")? || self.follows(at, ":=")?) {
            return Ok(Some((at + 2, GIVEN)));
        }
        // Spring's `${db.password:value}`.
        let braced = self.view.slice((name.start - name.dashes).saturating_sub(2), name.start) == b"${";
        if braced && self.has_default(name.start, at)? {
            return Ok(Some((at + 1, GIVEN)));
        }
        // What a shell says where it is missing: `${DB_PASSWORD:?error}`.
        if before == Some(b'{')
            && self.is(at, b':')?
            && self.before(name.start - name.dashes - 1) == Some(b'$')
        {
            return Ok(None);
        }
        if let Some(given) = self.given_beside(name.start - name.dashes, at, quoted)? {
            return Ok(Some(given));
        }
        if quoted && let Some(value) = self.serialized(at)? {
            return Ok(Some((value, GIVEN)));
        }
        let at = if quoted { at } else { self.marks(at)? };
        if !quoted && matches!(self.byte(at)?, Some(b'\n' | b'\r')) {
            return match self.behind_complex_key(name, at)? {
                Some(value) => {
                    Ok(Some((value, ValueForm::Assigned { tight: false, first: false, colon: true })))
                }
                None => self.below(name, at, false),
            };
        }
        let blank = self.blanks(at)?;
        let spaced = blank > at;
        if let Some(value) = self.behind_left_arrow(blank)? {
            return Ok(Some((value, ValueForm::Assigned { tight: false, first: false, colon: false })));
        }
        if quoted && spaced && self.follows(blank, "value=")? {
            return Ok(Some((blank + 6, ValueForm::Assigned { tight: true, first: true, colon: false })));
        }
        if self.is(at, b'(')?
            && self.view.slice(name.start, name.end).to_ascii_lowercase().ends_with(b"credential")
        {
            return self.second(at + 1);
        }
        if let Some(form) = call_form(self.view.slice(name.start, name.end))
            && self.is(at, b'(')?
            && self.quote(at + 1)?.is_some()
        {
            return Ok(Some((at + 1, form)));
        }
        let (operator, behind) = self.operator(blank, spaced)?;
        self.behind_operator(name, GivingSign { operator, blank, behind, spaced, quoted })
    }

    /// Where the value begins behind the sign that may give it, and how it is given.
    fn behind_operator(
        &self,
        name: LocatedName,
        sign: GivingSign,
    ) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        let GivingSign { operator, blank, behind, spaced, quoted } = sign;
        let value = match operator {
            Operator::Colon => self.block(self.behind_tags(self.behind_marks(behind)?)?)?,
            Operator::Is => self.behind_deed(self.behind_marks(behind)?)?,
            Operator::Assigns => self.dumped(self.blanks(behind)?)?,
            _ => self.blanks(behind)?,
        };
        if operator == Operator::Colon && !quoted && matches!(self.byte(value)?, Some(b'\n' | b'\r')) {
            return match self.given_beside(name.start - name.dashes, value, false)? {
                Some(given) => Ok(Some(given)),
                None => self.below(name, value, true),
            };
        }
        let form = match operator {
            Operator::Assigns => ValueForm::Assigned { tight: false, first: false, colon: false },
            Operator::Equals => {
                let tight = !spaced && value == behind;
                ValueForm::Assigned { tight, first: self.leads(name), colon: false }
            }
            // The value of an attribute, with another behind it: `type="password" :value="…"`.
            Operator::Colon
                if quoted && spaced && self.before(name.start - name.dashes - 1) == Some(b'=') =>
            {
                return Ok(None);
            }
            // What programs write so is no password of letters with a digit; what people write may be.
            Operator::Colon if name.meaning.named == NameMeaning::Password && self.is_phrase(name) => {
                ValueForm::Prose
            }
            Operator::Colon => {
                ValueForm::Assigned { tight: !spaced && value == behind, first: false, colon: true }
            }
            Operator::Compares => ValueForm::Compared,
            // In prose that marks names: `a` or `b`.
            Operator::Or if self.is(value, b'`')? => return Ok(None),
            Operator::Or => ValueForm::Or,
            Operator::Comma if quoted => {
                let head = self.view.slice(name.start.saturating_sub(8), name.start.saturating_sub(1));
                ValueForm::Argument(head.trim_ascii_end().ends_with(b"("))
            }
            Operator::Comma if self.is_first_argument(name) && self.quote(value)?.is_some() => {
                ValueForm::Compared
            }
            Operator::Is if spaced && !quoted => ValueForm::Prose,
            Operator::None | Operator::Comma | Operator::Is => {
                return if spaced { self.beside(name, blank) } else { Ok(None) };
            }
        };
        Ok(Some((value, form)))
    }

    /// Where the text of a block of YAML begins, whose sign is at `at`; `at` where none is.
    fn block(&self, at: usize) -> Result<usize, NeedMore> {
        if !matches!(self.byte(at)?, Some(b'|' | b'>')) {
            return Ok(at);
        }
        let sign = self.run(at + 1, 2, |byte| matches!(byte, b'-' | b'+' | b'0'..=b'9'))?;
        let end = self.blanks(sign)?;
        Ok(if matches!(self.byte(end)?, Some(b'\n' | b'\r')) { self.space(end)? } else { at })
    }

    /// `NetworkCredential("user", "password")`.
    fn second(&self, at: usize) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        let Some(user) = self.quote(self.blanks(at)?)? else { return Ok(None) };
        let Some(end) = self.closed(user, NAME)? else { return Ok(None) };
        let comma = self.blanks(end + 1)?;
        let value = if self.is(comma, b',')? { self.blanks(comma + 1)? } else { return Ok(None) };
        Ok(self.quote(value)?.map(|_| (value, ValueForm::Compared)))
    }

    /// What stands beside a name without an operator.
    fn beside(&self, name: LocatedName, at: usize) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        if name.dashes > 0
            && self
                .before(name.start - name.dashes)
                .is_none_or(|byte| byte.is_ascii_whitespace() || is_quote(byte))
        {
            return Ok(Some((at, ValueForm::Flag)));
        }
        if let Some(open) = self.quote(at)? {
            let altered = open.byte == b'\'' && self.alters_user(name);
            let login = name.meaning.named == NameMeaning::Password
                && (self.behind_login(name)
                    || self.line_before(name).trim_ascii_start().starts_with(b"nmcli "));
            let form = if altered || login { GIVEN } else { ValueForm::Beside };
            return Ok(Some((at, form)));
        }
        if name.meaning.named == NameMeaning::Password && self.behind_login(name) {
            return Ok(Some((at, ValueForm::Login)));
        }
        if self.is(at, b'(')?
            && let Some(said) = self.said(name, at)?
        {
            return Ok(Some(said));
        }
        if let Some(line) = self.on_line(name, at)? {
            return Ok(Some(line));
        }
        if let Some(value) = self.behind_words(name.end)?
            && let Some(word) = self.random_word(name, value)?
        {
            return Ok(Some(word));
        }
        if let Some(word) = self.said_abroad(name)? {
            return Ok(Some(word));
        }
        for word in ["for ", "of ", "on "] {
            if self.follows(at, word)? {
                return self.purpose(name, at + word.len());
            }
        }
        // `acme token 9f86d0…`, as people write it.
        let said = match self.typed(at)? {
            Some(typed) => Some(typed),
            None => self.said(name, at)?,
        };
        let any = || (name.meaning.named != NameMeaning::Password).then_some((at, ValueForm::Prose));
        Ok(said.or_else(any))
    }

    /// Whether the name is a word of SQL that gives a user a password: `ALTER USER mo WITH PASSWORD '…'`.
    fn alters_user(&self, name: LocatedName) -> bool {
        let line = self.line_before(name).to_ascii_uppercase();
        let user = |word: &&[u8]| matches!(*word, b"USER" | b"ROLE" | b"LOGIN");
        line.split(u8::is_ascii_whitespace).any(|word| user(&word))
            && self.view.slice(name.start, name.end).eq_ignore_ascii_case(b"password")
    }

    /// Whether `login user` stands before the name, on its line or the one before.
    fn behind_login(&self, name: LocatedName) -> bool {
        let mut words = self.head(name).split(u8::is_ascii_whitespace).rev().filter(|word| !word.is_empty());
        words.next().is_some_and(names_user) && words.next() == Some(b"login")
    }

    /// What stands before the name: as much as is kept of a stream.
    pub(super) fn head(&self, name: LocatedName) -> &[u8] {
        self.view.slice(name.word.saturating_sub(LOOKBACK), name.start)
    }

    /// The same of its line.
    pub(super) fn line_before(&self, name: LocatedName) -> &[u8] {
        self.head(name).rsplit(|&byte| byte == b'\n').next().unwrap_or_default()
    }

    /// Whether nothing stands before that.
    pub(super) fn begins(&self, name: LocatedName) -> bool {
        name.word < LOOKBACK
    }

    /// Whether what is kept before the name holds the beginning of its line.
    pub(super) fn sees_line_start(&self, name: LocatedName) -> bool {
        self.line_before(name).len() < self.head(name).len() || self.begins(name)
    }

    /// What is given behind a type: `name Type = "value"`.
    fn typed(&self, at: usize) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        let stop = self.run(at, 24, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'*' | b'[' | b']' | b'.')
        })?;
        let equals = self.blanks(stop)?;
        if stop > at && equals > stop && self.is(equals, b'=')? && !self.is(equals + 1, b'=')? {
            let value = self.blanks(equals + 1)?;
            if self.quote(value)?.is_some() {
                return Ok(Some((value, ValueForm::Assigned { tight: false, first: false, colon: false })));
            }
        }
        Ok(None)
    }
}
