//! The pages of a document. Readers walk the page tree differently where it is broken: one that is, is made anew, as
//! one node with all pages, so that all see the same ones.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lopdf::{Dictionary, Document, Object, ObjectId};

use crate::sanitize::format::pdf::graph;
use crate::sanitize::{Rejection, Work};

/// How deep nodes lie within nodes where readers still agree; a deeper tree is made anew.
const DEPTH: usize = 60;

/// How deep they lie at most.
const DEEPEST: usize = 500;

/// What a page has from the nodes above it, if it has none of its own.
const INHERITED: &[&[u8]] = &[b"Resources", b"MediaBox", b"CropBox", b"Rotate"];

/// Finds the pages, in their order, and sees to it that each is an object of its own under a sound tree.
///
/// # Errors
/// [`Rejection::Malformed`] without a page; [`Rejection::OverLimit`] if a broken tree makes too much of too little, or is
/// too deep.
pub(super) fn settle(doc: &mut Document, work: &mut Work<'_>) -> Result<Vec<ObjectId>, Rejection> {
    let catalog = doc.catalog().map_err(|_| Rejection::Malformed)?;
    let root =
        catalog.get(b"Pages").ok().and_then(|root| graph::target(doc, root)).ok_or(Rejection::Malformed)?;
    let mut walk = PageTreeWalk { doc, pages: Vec::new(), seen: BTreeSet::new(), sound: true, cut: false };
    walk.node(root, None, &Rc::default(), DEEPEST);
    let PageTreeWalk { pages, sound, cut, .. } = walk;
    if cut {
        return Err(Rejection::OverLimit);
    }
    if pages.is_empty() {
        return Err(Rejection::Malformed);
    }
    if sound {
        return Ok(pages.into_iter().filter_map(|page| page.id).collect());
    }
    let mut made = Vec::new();
    for page in pages {
        work.items(page.weight())?;
        made.push(page.whole(root));
    }
    rebuild(doc, root, made)
}

/// What leads from an annotation to somewhere else.
const ELSEWHERE: &[&[u8]] = &[b"Parent", b"P", b"Dest", b"D", b"SD", b"AP", b"Pg"];

/// The page, counted from 1, that each object of annotations and actions is on: the first that leads to it.
pub(super) fn shown(doc: &Document, pages: &[ObjectId]) -> BTreeMap<ObjectId, u32> {
    let mut shown: BTreeMap<ObjectId, u32> = pages.iter().copied().zip(1_u32..).collect();
    for (page, number) in pages.iter().zip(1_u32..) {
        let Some(page) = doc.objects.get(page).and_then(graph::dict) else { continue };
        let mut open: Vec<&Object> =
            [b"Annots".as_slice(), b"AA"].iter().filter_map(|key| page.get(key).ok()).collect();
        while let Some(object) = open.pop() {
            match object {
                Object::Reference(id) if !shown.contains_key(id) => {
                    shown.insert(*id, number);
                    open.extend(doc.objects.get(id));
                }
                Object::Array(items) => open.extend(items),
                other => {
                    let entries = graph::dict(other).into_iter().flatten();
                    open.extend(
                        entries.filter(|(key, _)| !ELSEWHERE.contains(&key.as_slice())).map(|(_, to)| to),
                    );
                }
            }
        }
    }
    shown
}

/// What the nodes above have that is inherited, of each key the nearest.
type InheritedKeys<'a> = Rc<Vec<(&'static [u8], &'a Object)>>;

/// A page on the way.
struct PageNode<'a> {
    /// Its number; none if it has to get one.
    id: Option<ObjectId>,
    dict: &'a Dictionary,
    inherited: InheritedKeys<'a>,
}

impl PageNode<'_> {
    /// How much a copy of it holds.
    fn weight(&self) -> usize {
        let own = self.dict.iter().map(|(_, value)| graph::weight(value)).sum::<usize>();
        let inherited = self.inherited.iter().map(|(_, value)| graph::weight(value)).sum::<usize>();
        own.saturating_add(inherited).saturating_add(1)
    }

    /// The page with all that it inherits, right below a node.
    fn whole(self, root: ObjectId) -> (Option<ObjectId>, Dictionary) {
        let mut dict = self.dict.clone();
        for (key, value) in self.inherited.iter() {
            if !dict.has(key) {
                dict.set(*key, (*value).clone());
            }
        }
        dict.remove(b"Kids");
        dict.set("Type", Object::Name(b"Page".to_vec()));
        dict.set("Parent", Object::Reference(root));
        (self.id, dict)
    }
}

struct PageTreeWalk<'a> {
    doc: &'a Document,
    pages: Vec<PageNode<'a>>,
    seen: BTreeSet<ObjectId>,
    sound: bool,
    /// Whether there is more below.
    cut: bool,
}

impl<'a> PageTreeWalk<'a> {
    /// Walks through a node; says how many pages are below it.
    fn node(
        &mut self,
        id: ObjectId,
        parent: Option<ObjectId>,
        above: &InheritedKeys<'a>,
        depth: usize,
    ) -> usize {
        let doc = self.doc;
        let Some(Object::Dictionary(node)) = doc.objects.get(&id) else { return self.unsound() };
        if !self.seen.insert(id) {
            return self.unsound();
        }
        if depth == 0 {
            self.cut = true;
            return self.unsound();
        }
        self.sound &= depth > DEEPEST - DEPTH;
        let own = INHERITED.iter().filter_map(|key| Some((*key, node.get(key).ok()?)));
        let hidden = |key: &[u8]| !node.has(key);
        let inherited: InheritedKeys<'a> =
            Rc::new(above.iter().copied().filter(|(key, _)| hidden(key)).chain(own).collect());
        let before = self.pages.len();
        let kids = graph::array(doc, node, b"Kids");
        for kid in kids {
            self.kid(kid, id, &inherited, depth);
        }
        let count = self.pages.len().saturating_sub(before);
        self.sound &= graph::integer(doc, node, b"Count") == i64::try_from(count).ok()
            && graph::name(doc, node, b"Type") == b"Pages"
            && node.get(b"Parent").ok().and_then(|above| graph::target(doc, above)) == parent;
        count
    }

    fn kid(&mut self, kid: &'a Object, parent: ObjectId, inherited: &InheritedKeys<'a>, depth: usize) {
        let doc = self.doc;
        let Object::Dictionary(dict) = graph::resolve(doc, kid) else {
            self.unsound();
            return;
        };
        let id = graph::target(doc, kid);
        let node = dict.has(b"Kids") && graph::name(doc, dict, b"Type") != b"Page";
        match id {
            Some(id) if node => {
                self.node(id, Some(parent), inherited, depth.saturating_sub(1));
            }
            // Nothing would lead back to it.
            None if node => {
                self.unsound();
            }
            _ => {
                let first = id.is_some_and(|id| self.seen.insert(id));
                let above = dict.get(b"Parent").ok().and_then(|above| graph::target(doc, above));
                self.sound &= first
                    && above == Some(parent)
                    && graph::name(doc, dict, b"Type") == b"Page"
                    && !dict.has(b"Kids");
                let id = id.filter(|_| first);
                self.pages.push(PageNode { id, dict, inherited: Rc::clone(inherited) });
            }
        }
    }

    fn unsound(&mut self) -> usize {
        self.sound = false;
        0
    }
}

fn rebuild(
    doc: &mut Document,
    root: ObjectId,
    pages: Vec<(Option<ObjectId>, Dictionary)>,
) -> Result<Vec<ObjectId>, Rejection> {
    let mut ids = Vec::new();
    for (id, dict) in pages {
        let id = match id {
            Some(id) => {
                doc.objects.insert(id, Object::Dictionary(dict));
                id
            }
            None => graph::add(doc, Object::Dictionary(dict))?,
        };
        ids.push(id);
    }
    let count = i64::try_from(ids.len()).map_err(|_| Rejection::OverLimit)?;
    let mut node = Dictionary::new();
    node.set("Type", Object::Name(b"Pages".to_vec()));
    node.set("Kids", ids.iter().map(|id| Object::Reference(*id)).collect::<Vec<_>>());
    node.set("Count", count);
    doc.objects.insert(root, Object::Dictionary(node));
    Ok(ids)
}
