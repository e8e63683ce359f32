//! [`RtfPlan`]: what becomes of each part of a file, before anybody is asked.

use std::ops::Range;

use encoding_rs::Encoding;

use crate::sanitize::format::patch::SpelledText;
use crate::sanitize::format::rtf::changes::PlannedChanges;
use crate::sanitize::format::rtf::decoder::{Pages, TextDecoder, UnicodeEscape};
use crate::sanitize::format::rtf::group::{
    GroupAction, is_field, is_followed, is_property, is_table, link, place, property,
};
use crate::sanitize::format::rtf::open_group::OpenGroup;
use crate::sanitize::format::rtf::picture::{self, Cleaned, hexed, unhexed};
use crate::sanitize::format::rtf::token::{RtfToken, RtfTokenKind, tokens};
use crate::sanitize::{ChangedObject, ObjectKind, RedactionMode, Rejection, Work};

/// Groups within groups that are followed.
const DEPTH: usize = 1000;

/// What is to become of a file.
pub(super) struct RtfPlan<'w, 'j> {
    file: &'w [u8],
    work: &'w mut Work<'j>,
    /// What acts goes.
    strict: bool,
    /// Objects go.
    objects: bool,
    /// Values go.
    redacted: bool,
    changes: PlannedChanges,
    open: Vec<SpelledText>,
    groups: Vec<OpenGroup>,
    pages: Pages,
    decoder: TextDecoder,
    /// The font that is being described.
    font: i32,
}

impl<'w, 'j> RtfPlan<'w, 'j> {
    /// Makes it.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`], [`Rejection::Malformed`] where there is no group, the host's.
    pub(super) fn of(file: &'w [u8], work: &'w mut Work<'j>) -> Result<PlannedChanges, Rejection> {
        let options = work.options();
        let mut plan = Self {
            file,
            work,
            strict: options.interactive,
            objects: options.interactive || options.attachments,
            redacted: options.redaction == RedactionMode::Apply,
            changes: PlannedChanges::default(),
            open: vec![SpelledText::default()],
            groups: Vec::new(),
            pages: Pages::default(),
            decoder: TextDecoder::default(),
            font: 0,
        };
        let mut begun = false;
        for token in tokens(file) {
            plan.work.items(1)?;
            if begun && plan.groups.is_empty() {
                // Nobody reads what stands behind the file's own group.
                if token.what == RtfTokenKind::Nothing {
                    continue;
                }
                plan.changes.patches.cut(token.range.start..file.len());
                break;
            }
            begun |= token.what == RtfTokenKind::Open;
            plan.token(token)?;
        }
        while !plan.groups.is_empty() {
            plan.close(file.len())?;
        }
        plan.end_block();
        if begun { Ok(plan.changes) } else { Err(Rejection::Malformed) }
    }

    fn page(&self) -> &'static Encoding {
        self.groups.last().map_or(self.pages.default, |group| group.page)
    }

    fn place(&self) -> GroupAction {
        self.groups.last().map_or(GroupAction::Data, |group| group.place)
    }

    /// Does something with the decoder and the text that is open.
    fn read(&mut self, read: impl FnOnce(&mut TextDecoder, &'static Encoding, &mut SpelledText)) {
        let page = self.page();
        if let Some(open) = self.open.last_mut() {
            read(&mut self.decoder, page, open);
        }
    }

    /// Text goes on behind a line or a paragraph.
    fn end_line(&mut self, at: usize) {
        self.read(|decoder, page, open| {
            decoder.end(page, open);
            open.end_line(at);
        });
        if self.open.last().is_some_and(SpelledText::is_full) {
            self.end_block();
        }
    }

    fn end_block(&mut self) {
        self.read(|decoder, page, open| decoder.end(page, open));
        let Some(block) = self.open.last_mut().map(std::mem::take) else { return };
        let place = self.place();
        self.changes.keep(block, place);
    }

    fn token(&mut self, token: RtfToken) -> Result<(), Rejection> {
        let RtfToken { range, what } = token;
        if !matches!(what, RtfTokenKind::Text | RtfTokenKind::Nothing | RtfTokenKind::Close) {
            self.misspelled();
        }
        match what {
            RtfTokenKind::Open => return self.begin(range.start),
            RtfTokenKind::Close => return self.close(range.end),
            RtfTokenKind::Word(name, number) => self.word(&name, number, range),
            RtfTokenKind::Binary => {
                let bytes = self.file.get(range.clone()).unwrap_or_default();
                match self.place() {
                    GroupAction::ObjectData => self.collect(bytes)?,
                    GroupAction::Picture => {
                        self.collect(hexed(bytes).as_bytes())?;
                        self.shows(range);
                    }
                    GroupAction::Data => self.spoil(bytes),
                    _ if self.strict => self.changes.patches.cut(range),
                    _ => {}
                }
            }
            RtfTokenKind::Nothing => {}
            _ if !self.is_text() => {
                let bytes = self.file.get(range.clone()).unwrap_or_default();
                match self.place() {
                    GroupAction::Data => self.spoil(match &what {
                        RtfTokenKind::Byte(byte) => std::slice::from_ref(byte),
                        _ => bytes,
                    }),
                    GroupAction::ObjectData | GroupAction::ObjectClass | GroupAction::Property => {
                        self.collect(bytes)?;
                    }
                    GroupAction::Picture => {
                        self.collect(bytes)?;
                        self.shows(range);
                    }
                    _ => {}
                }
            }
            RtfTokenKind::Text => {
                let file = self.file;
                let text = file.get(range.clone()).and_then(|bytes| std::str::from_utf8(bytes).ok());
                self.read(|decoder, page, open| {
                    decoder.text(text.unwrap_or_default(), range.start, page, open)
                });
            }
            RtfTokenKind::Byte(byte) => {
                self.read(|decoder, page, open| decoder.byte(byte, range, page, open))
            }
            RtfTokenKind::Symbol(symbol) => {
                let sign = match symbol {
                    b'~' => "\u{a0}",
                    b'_' => "-",
                    b'\\' => "\\",
                    b'{' => "{",
                    b'}' => "}",
                    b'\t' => "\t",
                    _ => return Ok(()),
                };
                self.read(|decoder, page, open| decoder.sign(sign, range, page, open));
            }
        }
        Ok(())
    }

    fn is_text(&self) -> bool {
        self.place().is_read()
    }

    /// What holds words and should hold bytes or numbers does not stay where values go.
    fn spoil(&mut self, bytes: &[u8]) {
        let odd = |b: &u8| !b.is_ascii_hexdigit() && (b.is_ascii_alphabetic() || *b == b'@' || !b.is_ascii());
        if self.redacted
            && bytes.iter().any(odd)
            && let Some(group) = self.groups.last_mut()
        {
            group.place = GroupAction::Gone(None);
        }
    }

    fn collect(&mut self, bytes: &[u8]) -> Result<(), Rejection> {
        self.work.unpacked(bytes.len())?;
        if let Some(group) = self.groups.last_mut() {
            group.collected.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Bytes of a picture stand here.
    fn shows(&mut self, range: Range<usize>) {
        if let Some(group) = self.groups.last_mut() {
            group.shown.push(range);
        }
    }

    /// Programs write the name of a property in one piece. One that is spelled in another way is what some readers take it
    /// for: it goes, and nothing says what its value is for.
    fn misspelled(&mut self) {
        if !self.strict || self.groups.len() < 2 {
            return;
        }
        if let Some(group) = self.groups.last_mut().filter(|group| group.place == GroupAction::Property) {
            group.place = GroupAction::Gone(Some(ObjectKind::Reference));
        }
    }

    fn begin(&mut self, start: usize) -> Result<(), Rejection> {
        if self.groups.len() >= DEPTH {
            return Err(Rejection::OverLimit);
        }
        self.read(|decoder, page, open| decoder.end(page, open));
        let group = OpenGroup::within(self.groups.last(), start, self.pages.default);
        if group.apart {
            self.open.push(SpelledText::default());
        }
        self.groups.push(group);
        Ok(())
    }

    fn word(&mut self, name: &str, number: Option<i32>, range: Range<usize>) {
        if matches!(self.place(), GroupAction::Gone(_)) {
            return;
        }
        match (name, number) {
            ("u", Some(code)) => {
                if self.is_text() {
                    let count = self.groups.last().map_or(1, |group| group.count);
                    self.read(|decoder, page, open| {
                        decoder.unit(range, UnicodeEscape { code, stand_ins: count }, page, open)
                    });
                } else if self.place() == GroupAction::Data {
                    self.spoil(b"@");
                }
                return;
            }
            ("f", Some(font)) if self.place() == GroupAction::Fonts => self.font = font,
            ("bin", Some(_))
                if self.strict
                    && !matches!(
                        self.place(),
                        GroupAction::ObjectData | GroupAction::Data | GroupAction::Picture
                    ) =>
            {
                return self.changes.patches.put(range, "{}");
            }
            ("bin", Some(_)) if self.place() == GroupAction::Picture => return self.shows(range),
            ("dibitmap", _) if self.place() == GroupAction::Picture => {
                if let Some(group) = self.groups.last_mut() {
                    group.bitmap = true;
                }
            }
            ("fcharset", Some(charset)) => self.pages.charset(self.font, charset),
            ("ansicpg", Some(page)) => {
                self.pages.default = Pages::page(page);
                self.set_page(self.pages.default);
            }
            ("f", Some(font)) => self.set_page(self.pages.of(font)),
            ("plain", _) => self.set_page(self.pages.default),
            ("uc", Some(count)) => {
                if let Some(group) = self.groups.last_mut() {
                    group.count = u32::try_from(count).unwrap_or(0).min(16);
                }
            }
            _ => {}
        }
        if let Some(new) = place(name) {
            // Of the file's own group, the rest is text.
            if self.groups.len() < 2 && (new == GroupAction::Data || new.is_named()) {
                return;
            }
            let stays = matches!(new, GroupAction::Gone(_)) && !self.strict;
            return self.placed(if stays { GroupAction::Text } else { new }, name, range);
        }
        if !self.is_text() {
            return;
        }
        let sign = match name {
            "cell" | "row" | "nestcell" | "nestrow" => return self.end_block(),
            "par" | "line" | "page" | "column" | "sect" | "softline" => return self.end_line(range.start),
            "tab" => "\t",
            "emdash" => "—",
            "endash" => "–",
            "bullet" => "•",
            "lquote" => "‘",
            "rquote" => "’",
            "ldblquote" => "“",
            "rdblquote" => "”",
            "emspace" | "enspace" | "qmspace" => " ",
            // What only says how text looks does not part it.
            _ => return self.read(|decoder, page, open| decoder.end(page, open)),
        };
        self.read(|decoder, page, open| decoder.sign(sign, range, page, open));
    }

    fn set_page(&mut self, page: &'static Encoding) {
        self.read(|decoder, page, open| decoder.end(page, open));
        if let Some(group) = self.groups.last_mut() {
            group.page = page;
        }
    }

    /// The group turns out to be for something.
    fn placed(&mut self, new: GroupAction, name: &str, range: Range<usize>) {
        self.read(|decoder, page, open| decoder.end(page, open));
        let around = self.groups.len().checked_sub(2);
        if new == GroupAction::Field
            && let Some(inner) =
                self.groups.iter_mut().rfind(|group| group.place == GroupAction::Instruction && group.apart)
        {
            inner.nested = true;
        }
        if name == "fldrslt"
            && let Some(field) = around.and_then(|at| self.groups.get_mut(at))
        {
            field.words.push(range.clone());
        }
        let Some(group) = self.groups.last_mut() else { return };
        let apart = new.is_apart() && !group.apart;
        if new == GroupAction::Field {
            group.words.push(range.clone());
        }
        group.place = new;
        group.table |= is_table(name);
        group.word = Some(range);
        if apart {
            group.apart = true;
            self.open.push(SpelledText::default());
        }
    }

    /// It goes, and is counted as this.
    fn removed(&mut self, range: Range<usize>, what: Option<ObjectKind>) {
        // Empty braces, so that the control word before does not run into what follows.
        self.changes.patches.put(range, "{}");
        if let Some(what) = what {
            self.work.acting(ChangedObject::removed(what));
        }
    }

    fn close(&mut self, end: usize) -> Result<(), Rejection> {
        self.read(|decoder, page, open| decoder.end(page, open));
        let Some(group) = self.groups.pop() else { return Ok(()) };
        let (whole, place) = (group.start..end, group.place);
        let text = if group.apart { self.open.pop() } else { None };
        let read = text.as_ref().map(SpelledText::text).unwrap_or_default();
        match place {
            GroupAction::Gone(what) => self.removed(whole, what),
            GroupAction::Instruction
                if self.strict && (group.nested || !is_field(read) || leads_astray(read)) =>
            {
                self.removed(whole, Some(ObjectKind::Action));
                if let Some(field) = self.groups.last_mut() {
                    field.gone = true;
                }
                return Ok(());
            }
            GroupAction::Target if self.strict && !is_followed(read) => {
                self.removed(whole, Some(ObjectKind::Action));
                return Ok(());
            }
            GroupAction::Field if group.gone => {
                for word in group.words {
                    self.changes.patches.put(word, "{}");
                }
            }
            GroupAction::Object => return self.object(group, whole),
            GroupAction::Picture => self.picture(group, whole)?,
            GroupAction::ObjectData => {
                let bytes = unhexed(&group.collected);
                self.work.part("object", &bytes)?;
                if self.objects && !self.groups.iter().any(|group| group.place == GroupAction::Object) {
                    self.removed(whole, Some(ObjectKind::Action));
                }
            }
            GroupAction::ObjectClass => {
                let package = group.collected.trim_ascii().eq_ignore_ascii_case(b"Package");
                if let Some(object) = self.groups.iter_mut().rfind(|group| group.place == GroupAction::Object)
                {
                    object.package |= package;
                }
            }
            GroupAction::Property => {
                let what = property(&group.collected).filter(|_| self.strict);
                if what.is_some() || self.redacted && !is_property(&group.collected) {
                    self.unset(whole, what);
                }
            }
            GroupAction::Shown => {
                if let Some(object) =
                    self.groups.last_mut().filter(|group| group.place == GroupAction::Object)
                {
                    object.shown.push(whole);
                    object.words.extend(group.word);
                }
            }
            _ => {}
        }
        if let Some(text) = text {
            self.changes.keep(text, place);
        }
        Ok(())
    }

    /// A property goes with its value: the group around its name, but not the whole file for one.
    fn unset(&mut self, name: Range<usize>, what: Option<ObjectKind>) {
        match self.groups.len() {
            0 => {}
            1 => self.removed(name, what),
            _ => {
                if let Some(shape) = self.groups.last_mut() {
                    shape.place = GroupAction::Gone(what);
                }
            }
        }
    }

    /// A picture is cleaned as if it came alone; what is none does not stay.
    fn picture(&mut self, group: OpenGroup, whole: Range<usize>) -> Result<(), Rejection> {
        // Readers take what stands in a group within for the picture's own.
        if self.place() == GroupAction::Picture {
            self.collect(&group.collected)?;
            if let Some(around) = self.groups.last_mut() {
                around.shown.extend(group.shown);
                around.bitmap |= group.bitmap;
            }
            return Ok(());
        }
        match picture::picture(&group.collected, group.bitmap, self.work)? {
            Cleaned::Same => {}
            Cleaned::Gone => self.removed(whole, None),
            Cleaned::Changed(bytes) => {
                // In place of `\bin`, digits would be the number of the control word before it.
                let first = group.shown.first().and_then(|range| self.file.get(range.start));
                let mut with = if first == Some(&b'\\') { format!(" {bytes}") } else { bytes };
                for range in group.shown {
                    self.changes.patches.put(range, std::mem::take(&mut with));
                }
            }
        }
        Ok(())
    }

    /// An object gives way to what it shows.
    fn object(&mut self, group: OpenGroup, whole: Range<usize>) -> Result<(), Rejection> {
        if !self.objects {
            return Ok(());
        }
        let mut from = whole.start;
        for shown in group.shown {
            self.changes.patches.put(from..shown.start, "{}");
            from = shown.end;
        }
        self.changes.patches.put(from..whole.end, "{}");
        for word in group.words {
            self.changes.patches.put(word, "{}");
        }
        if group.package && self.work.options().attachments {
            self.work.detached(ChangedObject::removed(ObjectKind::Attachment));
        } else {
            self.work.acting(ChangedObject::removed(ObjectKind::ActivePart));
        }
        Ok(())
    }
}

fn leads_astray(instruction: &str) -> bool {
    link(instruction).is_some_and(|link| !is_followed(&link))
}
