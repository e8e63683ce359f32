//! [`Census`]: everything that has to go. Taken before anything is changed, so that each thing is counted once.

use std::collections::{BTreeMap, BTreeSet};

use lopdf::{Dictionary, Document, Object, ObjectId};

use crate::sanitize::format::pdf::action::{self, DictionaryAction, Slot};
use crate::sanitize::format::pdf::fields::FormFields;
use crate::sanitize::format::pdf::{graph, pages};
use crate::sanitize::{ChangedObject as Removed, ObjectAction, ObjectKind, Options, Work};

/// Annotations that play something.
const MEDIA: &[&[u8]] = &[b"RichMedia", b"3D", b"Screen", b"Movie", b"Sound"];

/// What a document holds that has to go, according to the options.
#[derive(Debug, Default)]
pub(super) struct Census {
    /// Objects that nothing may refer to any more.
    pub(super) gone: BTreeSet<ObjectId>,
    /// What each object is where it is referred to: the worst of its places.
    pub(super) slots: BTreeMap<ObjectId, Slot>,
    /// Signatures.
    pub(super) signatures: u64,
    /// What goes, by kind and page: file specifications with an embedded file; scripts and other actions, and entries of `/AA`
    /// whose action would stay; fields, an XFA form, and widgets of no field; media annotations, PostScript, data outside of
    /// the file.
    things: BTreeMap<PageContent, u64>,
}

/// A kind of thing on a page, if it is on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PageContent {
    page: Option<u32>,
    what: ObjectKind,
}

/// What is looked at, and for what.
struct CensusScope<'a> {
    doc: &'a Document,
    options: Options,
    fields: FormFields,
    /// The page that each object of its annotations and actions is on.
    pages: BTreeMap<ObjectId, u32>,
}

/// Where a dictionary was found.
#[derive(Clone, Copy)]
struct Location<'a> {
    /// Its number, if it is an object.
    id: Option<ObjectId>,
    /// The key it stands under.
    key: &'a [u8],
    slot: Slot,
    page: Option<u32>,
}

impl Census {
    /// Counts what there is. Only what is reachable is in `doc`; `pages` are those of its page tree.
    pub(super) fn take(doc: &Document, options: Options, pages: &[ObjectId]) -> Self {
        let mut census = Self::default();
        census.place(doc);
        let look = CensusScope { doc, options, fields: FormFields::of(doc), pages: pages::shown(doc, pages) };
        let pages: BTreeSet<ObjectId> = pages.iter().copied().collect();
        for (id, object) in &doc.objects {
            census.stray(doc, *id, object, &pages);
            census.object(&look, *id, object);
        }
        // Whatever else they pretend to be.
        census.gone.retain(|id| !pages.contains(id) && Some(*id) != root(doc));
        if options.interactive {
            let form = doc.catalog().ok().and_then(|catalog| graph::sub(doc, catalog, b"AcroForm"));
            let xfa = u64::from(form.is_some_and(|form| form.has(b"XFA")));
            census.count(ObjectKind::FormField, None, look.fields.terminal.saturating_add(xfa));
        }
        census.orphans(doc);
        census
    }

    fn count(&mut self, what: ObjectKind, page: Option<u32>, count: u64) {
        let known = self.things.entry(PageContent { page, what }).or_default();
        *known = known.saturating_add(count);
    }

    /// Counts all that goes by the options, and tells of it page by page.
    pub(super) fn tell(&self, options: Options, work: &mut Work<'_>) {
        for (thing, count) in &self.things {
            let object = Removed::new(thing.what, ObjectAction::Removed, *count).on_page(thing.page);
            match thing.what {
                ObjectKind::Attachment if options.attachments => work.detached(object),
                ObjectKind::Attachment => {}
                _ if options.interactive => work.acting(object),
                _ => {}
            }
        }
    }

    /// Whether there is nothing to take out.
    pub(super) fn is_empty(&self, options: Options) -> bool {
        let goes = |thing: &PageContent| match thing.what {
            ObjectKind::Attachment => options.attachments,
            _ => options.interactive,
        };
        let none = self.things.iter().all(|(thing, count)| *count == 0 || !goes(thing));
        self.gone.is_empty() && self.signatures == 0 && none
    }

    /// Finds the places of all objects that stand for actions.
    fn place(&mut self, doc: &Document) {
        let mut mark = |object: &Object, slot: Slot| {
            if let Some(id) = graph::target(doc, object) {
                let known = self.slots.entry(id).or_insert(slot);
                *known = slot.max(*known);
            }
        };
        for object in doc.objects.values() {
            graph::each(object, b"", graph::DEPTH, &mut |_, dict| {
                for (key, value) in dict.iter() {
                    if key == b"AA" {
                        let entries = graph::dict(graph::resolve(doc, value));
                        entries.into_iter().flatten().for_each(|(_, action)| mark(action, Slot::Action));
                        continue;
                    }
                    let slot = action::slot(key);
                    // Bookmarks and others have a next one too.
                    if slot == Slot::Other || (key == b"Next" && !dict.has(b"S")) {
                        continue;
                    }
                    match graph::resolve(doc, value) {
                        Object::Array(items) if key == b"Next" => {
                            items.iter().for_each(|item| mark(item, slot))
                        }
                        _ => mark(value, slot),
                    }
                }
            });
        }
    }

    /// Pages that are in no page tree hold what nobody sees.
    fn stray(&mut self, doc: &Document, id: ObjectId, object: &Object, pages: &BTreeSet<ObjectId>) {
        let page = graph::dict(object).is_some_and(|dict| graph::name(doc, dict, b"Type") == b"Page");
        if page && !pages.contains(&id) {
            self.gone.insert(id);
        }
    }

    fn object(&mut self, look: &CensusScope<'_>, id: ObjectId, object: &Object) {
        let (doc, options) = (look.doc, look.options);
        let own = self.slots.get(&id).copied().unwrap_or(Slot::Other);
        let page = look.pages.get(&id).copied();
        if let Object::Stream(stream) = object {
            let hidden = options.attachments
                && options.interactive
                && graph::name(doc, &stream.dict, b"Type") == b"EmbeddedFile";
            if hidden {
                self.gone.insert(id);
            }
            if options.interactive && (stream.dict.has(b"F") || postscript(doc, &stream.dict)) {
                self.count(ObjectKind::Media, page, 1);
            }
        }
        let mut found = Vec::new();
        graph::each(object, b"", graph::DEPTH, &mut |key, dict| found.push((key, dict)));
        for (n, (key, dict)) in found.into_iter().enumerate() {
            let whole = n == 0 && !matches!(object, Object::Array(_));
            let slot = if whole { own } else { action::slot(key) };
            if dict.has(b"EF") {
                self.count(ObjectKind::Attachment, page, 1);
            }
            let mut goes = false;
            if signature(doc, dict) {
                self.signatures = self.signatures.saturating_add(1);
                goes = true;
            }
            if options.interactive {
                goes |= self.acting(look, dict, Location { id: whole.then_some(id), key, slot, page });
            }
            goes |= options.attachments && annotation(doc, dict) == b"FileAttachment";
            if goes && whole {
                self.gone.insert(id);
            }
        }
    }

    /// Counts a dictionary that acts.
    fn acting(&mut self, look: &CensusScope<'_>, dict: &Dictionary, place: Location<'_>) -> bool {
        let (doc, fields) = (look.doc, &look.fields);
        let entries = graph::sub(doc, dict, b"AA").into_iter().flatten();
        let quiet = entries.filter(|(_, value)| {
            let action = graph::dict(graph::resolve(doc, value));
            action.is_none_or(|action| action::verdict(doc, action, Slot::Action) != DictionaryAction::Acts)
        });
        let direct = graph::sub(doc, dict, b"AA").into_iter().flatten().filter(|(_, value)| {
            // Direct ones stand under names that tell nothing, such as `/O` and `/C`.
            matches!(value, Object::Dictionary(action)
                if action::verdict(doc, action, Slot::Action) == DictionaryAction::Acts
                    && action::verdict(doc, action, Slot::Other) != DictionaryAction::Acts)
        });
        self.count(ObjectKind::Action, place.page, (quiet.count() + direct.count()) as u64);
        let verdict = action::verdict(doc, dict, place.slot);
        let script = dict.has(b"JS") || graph::name(doc, dict, b"S") == b"JavaScript";
        let action = if script { ObjectKind::Script } else { ObjectKind::Action };
        self.count(action, place.page, u64::from(verdict == DictionaryAction::Acts));
        let kind = annotation(doc, dict);
        let media = MEDIA.contains(&kind);
        self.count(ObjectKind::Media, place.page, u64::from(media));
        let widget = kind == b"Widget";
        // The form's own were counted with it.
        let counted = match place.id {
            Some(id) => fields.seen.contains(&id),
            None => [b"Fields".as_slice(), b"Kids"].contains(&place.key),
        };
        if widget && !counted && !of_field(doc, dict, fields) {
            self.count(ObjectKind::FormField, place.page, 1);
        }
        verdict == DictionaryAction::Acts || media || widget
    }

    /// What only belonged to annotations that go: their pop-ups.
    fn orphans(&mut self, doc: &Document) {
        let of_gone = |object: &Object| {
            let dict = graph::dict(object).filter(|dict| annotation(doc, dict) == b"Popup")?;
            graph::target(doc, dict.get(b"Parent").ok()?).filter(|parent| self.gone.contains(parent))
        };
        let popups: Vec<ObjectId> =
            doc.objects.iter().filter(|(_, object)| of_gone(object).is_some()).map(|(id, _)| *id).collect();
        self.gone.extend(popups);
    }
}

fn root(doc: &Document) -> Option<ObjectId> {
    doc.trailer.get(b"Root").ok().and_then(|root| graph::target(doc, root))
}

/// Whether a widget is the kid of a field that was counted.
fn of_field(doc: &Document, widget: &Dictionary, fields: &FormFields) -> bool {
    widget
        .get(b"Parent")
        .ok()
        .and_then(|parent| graph::target(doc, parent))
        .is_some_and(|id| fields.seen.contains(&id))
}

/// The subtype of an annotation; empty if it is none.
pub(super) fn annotation<'a>(doc: &'a Document, dict: &'a Dictionary) -> &'a [u8] {
    let is = dict.has(b"Rect") || graph::name(doc, dict, b"Type") == b"Annot";
    if is { graph::name(doc, dict, b"Subtype") } else { b"" }
}

/// Whether a dictionary that stands for itself plays something.
pub(super) fn media(doc: &Document, dict: &Dictionary) -> bool {
    MEDIA.contains(&annotation(doc, dict))
}

/// Whether this is a signature's value.
pub(super) fn signature(doc: &Document, dict: &Dictionary) -> bool {
    dict.has(b"ByteRange") || [b"Sig".as_slice(), b"DocTimeStamp"].contains(&graph::name(doc, dict, b"Type"))
}

/// Whether this is a PostScript XObject.
pub(super) fn postscript(doc: &Document, dict: &Dictionary) -> bool {
    graph::name(doc, dict, b"Subtype") == b"PS"
        || (graph::name(doc, dict, b"Subtype") == b"Form" && graph::name(doc, dict, b"Subtype2") == b"PS")
}
