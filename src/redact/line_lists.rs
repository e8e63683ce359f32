//! [`LineLists`]: arrays of a document whose strings are the lines of one text, as notebooks have them, where that text has a table:
//! `["user,password\n", "joan,…\n"]`. They are read as that text.

use std::ops::Range;

use memchr::memmem;

use crate::edit::Edit;
use crate::redact::json_edits::string;
use crate::redact::table::has_columns;
use crate::stream::json::{Decoded, JsonToken, Segment, walk};

/// Strings that are the lines of one text: one after the other in an array, each but the last with a line end.
#[derive(Debug, Default)]
pub(super) struct LineList {
    text: String,
    /// Where each stands in the document, and in the text.
    strings: Vec<(Range<usize>, Range<usize>)>,
}

/// The lists of a document.
#[derive(Debug, Default)]
pub(super) struct LineLists {
    lists: Vec<LineList>,
    /// Where their strings stand in the document, each with the number of its list; in order.
    places: Vec<(usize, usize)>,
}

impl LineLists {
    pub(super) fn of(doc: &[u8]) -> Self {
        let mut lists = Self::default();
        if !memmem::find_iter(doc, br#"\n","#).any(|at| is_before_string(doc, at + 4)) {
            return lists;
        }
        let (mut open, mut next) = (LineList::default(), None);
        // Its faults are told by whoever reads all of it.
        let _faults = walk(doc, &mut |path, leaf| {
            let spelled = doc.get(leaf.span.clone()).unwrap_or_default();
            let place = match (path.last(), path.len().checked_sub(1)) {
                (Some(Segment::Index(index)), Some(length)) if leaf.token == JsonToken::Text => {
                    Some((path.fingerprint(length), index))
                }
                _ => None,
            };
            if place.is_none() || place != next {
                lists.close(std::mem::take(&mut open));
            }
            let line = spelled.ends_with(br"\n") && Decoded::of(spelled).text().ends_with('\n');
            next = place.filter(|_| line).map(|(way, index)| (way, index + 1));
            if place.is_some() && (line || !open.strings.is_empty()) {
                open.push(Decoded::of(spelled).text(), leaf.span);
            }
        });
        lists.close(open);
        lists
    }

    /// Keeps the list, if it is one.
    fn close(&mut self, list: LineList) {
        if list.strings.len() > 1 && has_columns(&list.text) {
            let number = self.lists.len();
            self.places.extend(list.strings.iter().map(|(place, _)| (place.start, number)));
            self.lists.push(list);
        }
    }

    /// The list of the string that begins at `start`.
    pub(super) fn at(&self, start: usize) -> Option<&LineList> {
        let place = self.places.binary_search_by_key(&start, |(place, _)| *place).ok()?;
        self.places.get(place).and_then(|(_, list)| self.lists.get(*list))
    }
}

impl LineList {
    fn push(&mut self, text: &str, place: Range<usize>) {
        let start = self.text.len();
        self.text.push_str(text);
        self.strings.push((place, start..self.text.len()));
    }

    /// Whether it begins with the string at `start`.
    pub(super) fn begins_at(&self, start: usize) -> bool {
        self.strings.first().is_some_and(|(first, _)| first.start == start)
    }

    /// Whether the string at `start` has been read with the first, which was the last that was `joined`.
    pub(super) fn follows(&self, start: usize, joined: Option<usize>) -> bool {
        !self.begins_at(start) && joined.is_some_and(|first| self.begins_at(first))
    }

    /// The edits of all its strings, as `see` has them of the text.
    pub(super) fn edits(
        &self,
        doc: &[u8],
        spell: fn(&str, &str) -> String,
        see: impl FnOnce(&str) -> Vec<Edit>,
    ) -> Vec<Edit> {
        let changes = see(&self.text);
        let mut edits = Vec::new();
        for (place, own) in &self.strings {
            let from = changes.partition_point(|edit| edit.range.end <= own.start);
            let of_string = changes.iter().skip(from).take_while(|edit| edit.range.start < own.end);
            let inner: Vec<Edit> = of_string.map(|edit| self.piece(edit, own)).collect();
            let spelled = doc.get(place.clone()).unwrap_or_default();
            edits.extend(string(spelled, place.clone(), spell, |_| inner));
        }
        edits
    }

    /// What an edit of the text is in the string that stands there. What replaces several lines has as many, or stands in the first.
    fn piece(&self, edit: &Edit, own: &Range<usize>) -> Edit {
        let Edit { range, with } = edit;
        let (start, end) = (range.start.max(own.start), range.end.min(own.end));
        let ends =
            |from: usize, to: usize| self.text.get(from..to).map_or(0, |text| text.matches('\n').count());
        let with = if (start, end) == (range.start, range.end) {
            with.clone()
        } else if ends(range.start, range.end) == with.matches('\n').count() {
            let lines = with.split_inclusive('\n').skip(ends(range.start, start));
            lines.take(ends(start, end) + usize::from(end == range.end)).collect()
        } else if start == range.start {
            with.clone()
        } else {
            String::new()
        };
        Edit { range: start - own.start..end - own.start, with }
    }
}

/// Whether a string stands behind the comma before `at`, and no name: that has a colon behind it. Most documents are told here.
fn is_before_string(doc: &[u8], at: usize) -> bool {
    let rest = doc.get(at..).unwrap_or_default().trim_ascii_start();
    let Some(string) = rest.strip_prefix(b"\"") else { return false };
    memchr::memchr(b'"', string)
        .is_none_or(|end| string.get(end + 1..).unwrap_or_default().trim_ascii_start().first() != Some(&b':'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::fixture;
    use crate::redact::{FindingLimits, Method};
    use crate::stream::json::PathSet;

    fn masked(doc: &str) -> String {
        let (which, keys) = (PathSet::everything(), fixture::keys());
        let redactor = fixture::redactor(Method::Replace);
        let done = redactor.document(doc.as_bytes(), &which, &keys, FindingLimits::default()).unwrap();
        String::from_utf8(done.0.into_value()).unwrap()
    }

    #[test]
    fn strings_that_are_the_lines_of_a_table_are_read_as_one() {
        for doc in [
            r#"["user,password\n","imog,autumn99x\n","bram,Xk9mQ7zLw2"]"#,
            r#"{"text/plain": ["   user   password\n", "0  imog  autumn99x\n", "1  bram  Xk9mQ7zLw2"]}"#,
            r#"{"cells": [1, "a", "| user | password |\n", "|---|---|\n", "| imog | autumn99x |\n", "| bram | Xk9mQ7zLw2 |\n"]}"#,
        ] {
            let expected = doc.replace("autumn99x", "<PASSWORD>").replace("Xk9mQ7zLw2", "<PASSWORD>");
            assert_eq!(masked(doc), expected);
        }
    }

    #[test]
    fn other_strings_are_read_each_by_itself() {
        for doc in [
            r#"["user,password","imog,autumn99x","bram,Xk9mQ7zLw2"]"#,
            r#"["user,password\n",{"a":1},"imog,autumn99x\n"]"#,
            r#"{"a":"user,password\n","b":"imog,autumn99x\n"}"#,
            r#"["order,amount\n","imog,autumn99x\n"]"#,
        ] {
            assert_eq!(masked(doc), doc);
        }
    }

    #[test]
    fn edits_of_several_lines_are_parted() {
        let doc = br#"["user,password\n","a,b\n","c,d"]"#;
        let lists = LineLists::of(doc);
        let list = lists.at(2).unwrap();
        assert_eq!(list.text, "user,password\na,b\nc,d");
        let edited = |with: &str| {
            let edit = Edit { range: 16..19, with: with.to_owned() };
            let edits = list.edits(doc, |_, with| with.to_owned(), |_| vec![edit]);
            edits.into_iter().map(|Edit { range, with }| (range, with)).collect::<Vec<_>>()
        };
        assert_eq!(edited("x\ny"), [(22..25, "x\n".to_owned()), (28..29, "y".to_owned())]);
        assert_eq!(edited("x"), [(22..25, "x".to_owned()), (28..29, String::new())]);
    }
}
