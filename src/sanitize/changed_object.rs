//! [`ChangedObject`]s that were taken out of a file or changed in it, each with its [`ContentLocation`], and [`ChangedObjects`]: as many of them as a
//! person reads.

use serde::{Deserialize, Serialize};

use crate::sanitize::Rejection;

/// What something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectKind {
    /// A file that is attached or embedded.
    Attachment,
    /// A script.
    Script,
    /// Macros of an Office document.
    Macro,
    /// What acts by itself, or when somebody clicks: an action of a PDF, a field that starts a program, an alarm.
    Action,
    /// A field of a form, or a form.
    FormField,
    /// Film, sound, 3D, PostScript, and data outside of the file.
    Media,
    /// A part of a package that acts: a control, a query, an external workbook.
    ActivePart,
    /// What leads out of the file by itself, or to a program.
    Reference,
    /// A cell that a spreadsheet would run.
    Formula,
    /// Tags and attributes.
    Markup,
    /// A signature, which the change makes invalid.
    Signature,
    /// A picture of how a document looked.
    Preview,
    /// What is called a picture, sound, film or font and is none; a smaller copy of a page; a picture that cannot be cleaned.
    Picture,
    /// A file within the file.
    File,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectAction {
    /// It is gone.
    Removed,
    /// It is there, and does nothing.
    Disarmed,
    /// It is not released; the file around it is.
    LeftOut,
    /// It has a name that fits what it is.
    Renamed,
}

/// Where something is in a file. Names are those of the file: they are shown without values.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ContentLocation {
    /// The files within files that lead to it, from the outermost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// The part of a package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The page, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
}

/// Things of one kind in one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedObject {
    /// What they are.
    pub what: ObjectKind,
    /// Where they are, or were.
    #[serde(rename = "where")]
    pub spot: ContentLocation,
    /// What became of them.
    pub action: ObjectAction,
    /// Why, where that is a reason for refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Rejection>,
    /// How many they are.
    pub count: u64,
}

/// What was taken out or changed, up to [`MOST`](ChangedObjects::MOST) entries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedObjects {
    /// In the order in which they were come upon.
    pub list: Vec<ChangedObject>,
    /// How many more things there are.
    pub left_out: u64,
}

impl ContentLocation {
    /// The longest name that is told, in characters.
    const NAME: usize = 160;

    /// The names in it.
    pub(super) fn names(&mut self) -> impl Iterator<Item = &mut String> {
        self.path.iter_mut().chain(&mut self.part)
    }

    /// Leaves out what is too long to be read.
    pub(super) fn bound(&mut self) {
        self.path.truncate(ChangedObjects::DEPTH);
        for name in self.names() {
            if let Some((end, _)) = name.char_indices().nth(Self::NAME) {
                name.truncate(end);
                name.push('…');
            }
        }
    }
}

impl ChangedObject {
    /// So many of a kind, where the file is that is being cleaned.
    pub fn new(what: ObjectKind, action: ObjectAction, count: u64) -> Self {
        Self { what, action, count, spot: ContentLocation::default(), reason: None }
    }

    /// One that is gone.
    pub fn removed(what: ObjectKind) -> Self {
        Self::new(what, ObjectAction::Removed, 1)
    }

    /// One that is not released.
    pub fn left_out(what: ObjectKind) -> Self {
        Self::new(what, ObjectAction::LeftOut, 1)
    }

    /// In this part of a package.
    #[must_use]
    pub fn in_part(mut self, name: &str) -> Self {
        self.spot.part = Some(name.to_owned());
        self
    }

    /// On this page, if it is on one.
    #[must_use]
    pub fn on_page(mut self, page: Option<u32>) -> Self {
        self.spot.page = page;
        self
    }

    /// For this reason.
    #[must_use]
    pub fn because(mut self, reason: Rejection) -> Self {
        self.reason = Some(reason);
        self
    }

    fn is_like(&self, other: &Self) -> bool {
        let same = (self.what, self.action, self.reason) == (other.what, other.action, other.reason);
        same && self.spot == other.spot
    }
}

impl ChangedObjects {
    /// The most entries.
    pub const MOST: usize = 200;

    /// The most files within files that are named.
    const DEPTH: usize = 16;

    /// Adds something, to its like if that is there.
    pub(super) fn push(&mut self, mut object: ChangedObject) {
        object.spot.bound();
        if object.count == 0 {
            return;
        }
        if let Some(like) = self.list.iter_mut().rev().find(|like| like.is_like(&object)) {
            like.count = like.count.saturating_add(object.count);
        } else if self.list.len() < Self::MOST {
            self.list.push(object);
        } else {
            self.left_out = self.left_out.saturating_add(object.count);
        }
    }

    /// The same within its bounds, whoever made it.
    pub(super) fn bounded(self) -> Self {
        let mut bounded = Self { list: Vec::new(), left_out: self.left_out };
        self.list.into_iter().for_each(|object| bounded.push(object));
        bounded
    }

    /// The names in it.
    pub(super) fn names(&mut self) -> impl Iterator<Item = &mut String> {
        self.list.iter_mut().flat_map(|object| object.spot.names())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_one_entry_and_entries_have_a_bound() {
        let mut objects = ChangedObjects::default();
        for part in 0..ChangedObjects::MOST + 50 {
            let object = ChangedObject::removed(ObjectKind::Macro).in_part(&format!("word/{part}.bin"));
            (0..3).for_each(|_| objects.push(object.clone()));
        }
        objects.push(ChangedObject::new(ObjectKind::Script, ObjectAction::Removed, 0));
        assert_eq!((objects.list.len(), objects.left_out), (ChangedObjects::MOST, 150));
        assert!(objects.list.iter().all(|object| object.count == 3));
        assert_eq!(objects.clone().bounded(), objects);
    }

    #[test]
    fn names_are_bounded_whoever_says_them() {
        let mut object = ChangedObject::removed(ObjectKind::File).in_part(&"ä".repeat(1000));
        object.spot.path = vec!["x".repeat(1000); 1000];
        let objects = ChangedObjects { list: vec![object; 1000], left_out: 0 }.bounded();
        let [object] = objects.list.as_slice() else { panic!("one entry") };
        assert_eq!((object.count, object.spot.path.len()), (1000, ChangedObjects::DEPTH));
        assert!(object.spot.clone().names().all(|name| name.chars().count() == ContentLocation::NAME + 1));
    }

    #[test]
    fn an_entry_says_what_where_and_what_became_of_it() {
        let mut object =
            ChangedObject::left_out(ObjectKind::File).because(Rejection::Script).on_page(Some(3));
        object.spot.path = vec!["a.zip".to_owned()];
        let said = serde_json::json!({
            "what": "file", "where": {"path": ["a.zip"], "page": 3}, "action": "left_out", "reason": "script", "count": 1,
        });
        assert_eq!(serde_json::to_value(&object).unwrap(), said);
    }
}
