//! [`Work`]: one file's way through the formats, with all that they share: the table of formats, options, host, budget,
//! stats.

use std::collections::HashSet;

use crate::base::secret::Secret;
use crate::edit::spliced_text;
use crate::sanitize::budget::BoundsLeft;
use crate::sanitize::defanging::{as_followed, with_links};
use crate::sanitize::link;
use crate::sanitize::place::FilePath;
use crate::sanitize::values::{Needles, ReplacedTexts, add_values, without_values};
use crate::sanitize::{
    ChangedObject, ContentLocation, Edit, FileKind, Host, HostRequest, Link, NamedText, NewText, Note,
    ObjectAction, ObjectKind, Options, RedactionMode, Rejection, Response, Stats, UnfoldBounds, Values, name,
};

/// The most text in one question, in bytes: spelled as JSON it still passes through the pipe.
const BATCH: usize = 32 << 20;

/// Reads a file of one kind, takes out what has to go, and writes a clean one.
pub type FormatCleaner = fn(&[u8], &mut Work<'_>) -> Result<Vec<u8>, Rejection>;

/// The formats, as files need them that hold files.
#[derive(Clone, Copy, Debug)]
pub struct Formats {
    /// The kind of a file, by its bytes and its name.
    pub identify: fn(&[u8], &str) -> FileKind,
    /// The format of each kind that is rewritten.
    pub table: &'static [(FileKind, FormatCleaner)],
}

/// What a format works with. One for a file and all files within it.
pub struct Work<'j> {
    formats: &'j Formats,
    options: Options,
    host: &'j mut dyn Host,
    bounds: UnfoldBounds,
    left: BoundsLeft,
    stats: Stats,
    /// Values that are to go, of all files that are read together.
    values: Values,
    /// What was asked about, where that is looked through at the end.
    said: Option<ReplacedTexts>,
    /// What goes besides: nobody is asked any more.
    known: Option<Needles>,
    /// What is being cleaned.
    place: FilePath,
}

impl<'j> Work<'j> {
    /// Begins on a file.
    pub fn new(formats: &'j Formats, options: Options, bounds: UnfoldBounds, host: &'j mut dyn Host) -> Self {
        Self {
            formats,
            options,
            host,
            bounds,
            left: BoundsLeft::new(bounds),
            stats: Stats::default(),
            values: Values::new(),
            said: None,
            known: None,
            place: FilePath::default(),
        }
    }

    /// What is to be done.
    pub fn options(&self) -> Options {
        self.options
    }

    /// What was done so far.
    pub fn stats(&mut self) -> &mut Stats {
        &mut self.stats
    }

    /// What was done, at the end.
    pub fn into_stats(self) -> Stats {
        self.stats
    }

    /// Tells of something that was taken out or changed in the file that is being cleaned.
    pub fn tell(&mut self, mut object: ChangedObject) {
        self.place.say(&mut object.spot);
        self.stats.objects.push(object);
    }

    /// Counts what acted and does no longer, and tells of it.
    pub fn acting(&mut self, object: ChangedObject) {
        self.stats.interactive = self.stats.interactive.saturating_add(object.count);
        self.tell(object);
    }

    /// Counts files that were attached and are gone, and tells of them.
    pub fn detached(&mut self, object: ChangedObject) {
        self.stats.attachments = self.stats.attachments.saturating_add(object.count);
        self.tell(object);
    }

    /// Notes signatures that are taken out, and tells of them.
    pub fn unsign(&mut self, signatures: u64) {
        self.stats.note(Note::Signatures, signatures);
        self.tell(ChangedObject::new(ObjectKind::Signature, ObjectAction::Removed, signatures));
    }

    /// Notes what is left out of the file that is being cleaned, and tells of it.
    pub fn leave_out(&mut self, object: ChangedObject) {
        self.stats.note(Note::Dropped, object.count);
        self.tell(object);
    }

    /// What is told from now on is of this part of a package; of none, if it is empty.
    pub fn enter(&mut self, part: &str) {
        self.place.enter(part);
    }

    /// The files that lead to what a file is refused for, by names without the values that go.
    pub fn place_of(&mut self, rejection: Rejection) -> ContentLocation {
        let mut spot = self.place.of(rejection);
        without_values(&self.values, spot.names());
        spot
    }

    /// Reads a file whose values are looked for in it by its own format: those of files around it are not among
    /// [`values`](Self::values), which they join at the end.
    pub fn with_own_values<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::take(&mut self.values);
        let done = read(self);
        for (value, edit) in std::mem::replace(&mut self.values, around) {
            self.values.entry(value).or_insert(edit);
        }
        done
    }

    /// The values that are to go, as far as they were found.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Keeps what was found in texts, and what is left of them.
    pub(super) fn keep(&mut self, texts: &[NamedText<&str>], edits: &[Vec<Edit>]) {
        for (text, edits) in texts.iter().zip(edits) {
            add_values(&mut self.values, text.text, edits);
            self.said.iter_mut().for_each(|said| said.keep(text.text, edits));
        }
    }

    /// Cleans a file that lies in no other. What was found by its context in one of its texts stands without that in another:
    /// what is left of it goes, too.
    ///
    /// # Errors
    /// The format's; [`Rejection::OverLimit`].
    pub fn whole(&mut self, kind: FileKind, file: &[u8]) -> Result<Vec<u8>, Rejection> {
        let clean = self.in_all_parts(kind, file);
        without_values(&self.values, self.stats.objects.names());
        clean
    }

    fn in_all_parts(&mut self, kind: FileKind, file: &[u8]) -> Result<Vec<u8>, Rejection> {
        // A PDF looks for its values itself, but for those of files in it.
        let pages = kind == FileKind::Pdf && self.options.attachments;
        let wanted = self.options.redaction == RedactionMode::Apply && !pages;
        self.said = wanted.then(ReplacedTexts::default);
        let clean = self.clean(kind, file)?;
        let Some(said) = self.said.take().filter(|_| !self.values.is_empty()) else { return Ok(clean) };
        let needles = Needles::words(&self.values)?;
        if said.holds(&needles) { self.again(kind, &clean, needles) } else { Ok(clean) }
    }

    /// Reads a clean file once more, and takes what is known out of it. It is a fixed point: nothing else changes.
    fn again(&mut self, kind: FileKind, clean: &[u8], known: Needles) -> Result<Vec<u8>, Rejection> {
        let stats = std::mem::take(&mut self.stats);
        self.left = BoundsLeft::new(self.bounds);
        self.known = Some(known);
        let again = self.clean(kind, clean);
        self.known = None;
        for (rule, count) in std::mem::replace(&mut self.stats, stats).redacted {
            let all = self.stats.redacted.entry(rule).or_default();
            *all = all.saturating_add(count);
        }
        again
    }

    /// Whether only what is known still goes from a file that is clean otherwise.
    pub fn is_again(&self) -> bool {
        self.known.is_some()
    }

    /// The bytes that may still be unpacked: the cap for the next decoder.
    pub fn room(&self) -> usize {
        usize::try_from(self.left.bytes()).unwrap_or(usize::MAX)
    }

    /// Takes bytes that were unpacked out of the budget.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`].
    pub fn unpacked(&mut self, bytes: usize) -> Result<(), Rejection> {
        self.left.spend(1, bytes as u64)
    }

    /// Takes objects, members or elements out of the budget.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`].
    pub fn items(&mut self, items: usize) -> Result<(), Rejection> {
        self.left.spend(items as u64, 0)
    }

    /// Has a part looked at that was unpacked; call before anything else is done with it, also if it will be
    /// dropped. Its bytes are in the budget already (see [`unpacked`](Self::unpacked)).
    ///
    /// # Errors
    /// The host's.
    pub fn part(&mut self, name: &str, bytes: &[u8]) -> Result<(), Rejection> {
        if bytes.is_empty() || self.is_again() {
            return Ok(());
        }
        self.left.ask()?;
        self.host.ask(HostRequest::Part { name: name.into(), bytes: bytes.into() }).map(drop)
    }

    /// What opens the file that is being cleaned, which is encrypted; nothing where nobody said so.
    ///
    /// # Errors
    /// The host's.
    pub fn password(&mut self) -> Result<Option<Secret<String>>, Rejection> {
        self.left.ask()?;
        match self.host.ask(HostRequest::Password)? {
            Response::Password(password) => Ok(password.map(Secret::new)),
            _ => Err(Rejection::Provider),
        }
    }

    /// The file around all others is called so.
    #[must_use]
    pub fn called(self, name: &str) -> Self {
        Self { place: FilePath::called(name), ..self }
    }

    /// What the file is called that is being cleaned; empty where nobody says.
    pub fn name(&self) -> &str {
        self.place.name()
    }

    /// The kind of a file within a file.
    pub fn identify(&self, name: &str, bytes: &[u8]) -> FileKind {
        (self.formats.identify)(bytes, name)
    }

    /// Cleans a file of this kind.
    ///
    /// # Errors
    /// The format's; [`Rejection::Unsupported`] for a kind that has none; [`Rejection::OverLimit`].
    pub fn clean(&mut self, kind: FileKind, file: &[u8]) -> Result<Vec<u8>, Rejection> {
        self.unpacked(file.len())?;
        if self.is_again() && kind == FileKind::Image {
            return Ok(file.to_vec());
        }
        match self.formats.table.iter().find(|(known, _)| *known == kind) {
            Some((_, format)) => format(file, self),
            None => self.pass(file),
        }
    }

    /// Lets a file pass as it is that nothing here can rewrite, where such files may; the notes say so.
    ///
    /// # Errors
    /// [`Rejection::Unsupported`] where they may not.
    pub fn pass(&mut self, file: &[u8]) -> Result<Vec<u8>, Rejection> {
        if !self.options.policy.pass_unknown {
            return Err(Rejection::Unsupported);
        }
        self.stats.note(Note::Passed, 1);
        Ok(file.to_vec())
    }

    /// Cleans a file within a file: looked at, told apart, and rewritten by its own format.
    ///
    /// # Errors
    /// The format's; [`Rejection::OverLimit`] too deep within files.
    pub fn file(&mut self, name: &str, bytes: &[u8]) -> Result<Vec<u8>, Rejection> {
        self.file_of(name, bytes).map(|(_, clean)| clean)
    }

    /// The same, and what it is.
    ///
    /// # Errors
    /// As [`file`](Self::file).
    pub fn file_of(&mut self, name: &str, bytes: &[u8]) -> Result<(FileKind, Vec<u8>), Rejection> {
        self.left.descend()?;
        self.part(name, bytes)?;
        let kind = self.identify(name, bytes);
        let around = self.place.descend(name);
        let clean = self.clean(kind, bytes);
        self.place.ascend(around, clean.as_ref().err().copied());
        self.left.ascend();
        clean.map(|clean| (kind, clean))
    }

    /// The name that a file of this kind has instead of `name`, where that does not fit; which is noted.
    pub fn fitting(&mut self, name: &str, kind: FileKind) -> Option<String> {
        let fitting = name::fitting(name, kind, self.options);
        if let Some(fitting) = &fitting {
            self.renamed(fitting);
        }
        fitting
    }

    /// Notes that a file within the file has this name now.
    pub fn renamed(&mut self, fitting: &str) {
        self.stats.note(Note::Renamed, 1);
        self.tell(ChangedObject::new(ObjectKind::File, ObjectAction::Renamed, 1).in_part(fitting));
    }

    /// Cleans a file within a file, which stays as it is where its format is none that can be cleaned; the notes say so.
    /// `None`: it does not change.
    ///
    /// # Errors
    /// As [`file`](Self::file), without [`Rejection::Unsupported`].
    pub fn attachment(&mut self, name: &str, bytes: &[u8]) -> Result<Option<Vec<u8>>, Rejection> {
        match self.file(name, bytes) {
            Ok(clean) => Ok((clean != bytes).then_some(clean)),
            Err(Rejection::Unsupported) => {
                self.stats().note(Note::Passed, 1);
                Ok(None)
            }
            Err(rejection) => Err(rejection),
        }
    }

    /// What is to change in each of these texts, in the order of reading: redactions and links, sorted, apart from
    /// each other. Whoever makes the change tells [`applied`](Self::applied).
    ///
    /// # Errors
    /// The host's.
    pub fn edits(&mut self, texts: &[&str]) -> Result<Vec<Vec<Edit>>, Rejection> {
        let redactions = self.redactions(&NamedText::all_nowhere(texts))?;
        self.and_links(texts, redactions)
    }

    /// The same for texts that are called something where they stand: `SSN` above a column tells what bare digits in it
    /// are.
    ///
    /// # Errors
    /// The host's.
    pub fn named(&mut self, texts: &[NamedText<&str>]) -> Result<Vec<Vec<Edit>>, Rejection> {
        let redactions = self.redactions(texts)?;
        let texts: Vec<&str> = texts.iter().map(|named| named.text).collect();
        self.and_links(&texts, redactions)
    }

    fn and_links(&mut self, texts: &[&str], redactions: Vec<Vec<Edit>>) -> Result<Vec<Vec<Edit>>, Rejection> {
        if !self.options.links {
            return Ok(redactions);
        }
        let found: Vec<Vec<link::FoundLink>> = texts.iter().map(|text| link::find(text)).collect();
        let bad = self.bad_links(found.iter().flatten().map(|found| &found.link))?;
        let merge = texts.iter().zip(&found).zip(redactions).map(|((text, found), redactions)| {
            let bad = found.iter().filter(|found| bad.contains(&found.link));
            with_links(text, redactions, bad.map(|found| &found.front))
        });
        Ok(merge.collect())
    }

    /// What each of these link targets becomes (`href`, `Target`, `/URI`: the link is all there is); `None` where
    /// nothing changes. Counted as applied.
    ///
    /// # Errors
    /// The host's.
    pub fn targets(&mut self, targets: &[&str]) -> Result<Vec<Option<String>>, Rejection> {
        let read: Vec<String> = targets.iter().map(|target| as_followed(target)).collect();
        let read: Vec<&str> = read.iter().map(String::as_str).collect();
        let redactions = self.redactions_within(&read)?;
        let links = self.options.links;
        let found: Vec<_> = read.iter().map(|text| if links { link::target(text) } else { None }).collect();
        let bad = self.bad_links(found.iter().flatten().map(|found| &found.link))?;
        let mut out = Vec::with_capacity(targets.len());
        for ((text, found), redactions) in read.iter().zip(found).zip(redactions) {
            redactions.iter().for_each(|edit| self.applied(edit));
            let mut new = (!redactions.is_empty()).then(|| spliced_text(text, &redactions));
            let left = new.as_deref().unwrap_or(text);
            if let Some(link) =
                found.filter(|found| bad.contains(&found.link)).and_then(|_| link::target(left))
            {
                let edit =
                    Edit { range: link.front, with: NewText { text: link.with, ..NewText::default() } };
                self.applied(&edit);
                new = Some(spliced_text(left, std::slice::from_ref(&edit)));
            }
            out.push(new);
        }
        Ok(out)
    }

    /// What each of these names becomes: only redactions, since the domain that a name ends in (`notes.md`) is no
    /// link. `None` where nothing changes. Counted as applied.
    ///
    /// # Errors
    /// The host's.
    pub fn names(&mut self, names: &[&str]) -> Result<Vec<Option<String>>, Rejection> {
        let edits = self.redactions(&NamedText::all_nowhere(names))?;
        Ok(self.changed(names, edits))
    }

    /// The same for targets of links, in which `%20` is a blank (RFC 3986, 2.1).
    fn redactions_within(&mut self, targets: &[&str]) -> Result<Vec<Vec<Edit>>, Rejection> {
        let plain: Vec<Option<link::LinkText>> =
            targets.iter().map(|target| link::LinkText::of(target)).collect();
        let texts = targets.iter().zip(&plain);
        let texts: Vec<&str> =
            texts.map(|(target, plain)| plain.as_ref().map_or(*target, link::LinkText::text)).collect();
        let mut redactions = self.redactions(&NamedText::all_nowhere(&texts))?;
        for (plain, edits) in plain.iter().zip(&mut redactions) {
            let Some(plain) = plain else { continue };
            edits.iter_mut().for_each(|edit| edit.range = plain.map().range(edit.range.clone()));
        }
        Ok(redactions)
    }

    /// What is to be redacted in each of these texts, in which no link is looked for.
    ///
    /// # Errors
    /// The host's.
    pub(super) fn redactions(&mut self, texts: &[NamedText<&str>]) -> Result<Vec<Vec<Edit>>, Rejection> {
        if self.options.redaction == RedactionMode::Off || texts.is_empty() {
            return Ok(texts.iter().map(|_| Vec::new()).collect());
        }
        if let Some(known) = &self.known {
            let edits: Vec<Vec<Edit>> = texts.iter().map(|named| known.edits(named.text)).collect();
            self.keep(texts, &edits);
            return Ok(edits);
        }
        let mut edits = Vec::with_capacity(texts.len());
        let mut rest = texts;
        while !rest.is_empty() {
            let mut size = 0_usize;
            let fits = |named: &&NamedText<&str>| {
                size = size.saturating_add(named.name.len()).saturating_add(named.text.len());
                size <= BATCH
            };
            let (batch, behind) = rest.split_at(rest.iter().take_while(fits).count().max(1));
            self.left.ask()?;
            let texts =
                batch.iter().map(|named| NamedText { name: named.name.into(), text: named.text.into() });
            let answer = match self.host.ask(HostRequest::Texts(texts.collect()))? {
                Response::Texts(answer) if answer.len() == batch.len() => answer,
                _ => return Err(Rejection::Provider),
            };
            self.keep(batch, &answer);
            edits.extend(answer);
            rest = behind;
        }
        Ok(edits)
    }

    /// Those of the links that are to be defanged.
    fn bad_links<'l>(&mut self, links: impl Iterator<Item = &'l Link>) -> Result<HashSet<Link>, Rejection> {
        let mut seen = HashSet::new();
        let distinct: Vec<Link> = links.filter(|link| seen.insert(*link)).cloned().collect();
        if distinct.is_empty() || self.is_again() {
            return Ok(HashSet::new());
        }
        self.left.ask()?;
        let answers = match self.host.ask(HostRequest::Links(distinct.as_slice().into()))? {
            Response::Links(answers) if answers.len() == distinct.len() => answers,
            _ => return Err(Rejection::Provider),
        };
        Ok(distinct.into_iter().zip(answers).filter(|(_, bad)| *bad).map(|(link, _)| link).collect())
    }

    /// Counts an edit that was made.
    pub fn applied(&mut self, edit: &Edit) {
        let count = match &edit.with.rule {
            Some(rule) => self.stats.redacted.entry(rule.clone()).or_default(),
            None => &mut self.stats.defanged,
        };
        *count = count.saturating_add(1);
    }

    /// What each of these texts becomes; `None` where nothing changes. Counted as applied.
    ///
    /// # Errors
    /// The host's.
    pub fn texts(&mut self, texts: &[&str]) -> Result<Vec<Option<String>>, Rejection> {
        let edits = self.edits(texts)?;
        Ok(self.changed(texts, edits))
    }

    fn changed(&mut self, texts: &[&str], edits: Vec<Vec<Edit>>) -> Vec<Option<String>> {
        let changed = texts.iter().zip(edits).map(|(text, edits)| {
            edits.iter().for_each(|edit| self.applied(edit));
            (!edits.is_empty()).then(|| spliced_text(text, &edits))
        });
        changed.collect()
    }
}
