//! [`FilePath`]: which file is being cleaned, and which part of it.

use crate::sanitize::{ContentLocation, Rejection};

/// Which file is being cleaned, among files within files.
#[derive(Debug, Default)]
pub(super) struct FilePath {
    /// What it is called.
    name: String,
    /// The files that lead to it from the outermost, itself too, and which part of it is being cleaned.
    spot: ContentLocation,
    /// Why a file within was not released last, and where it lies.
    fault: Option<FileRejection>,
}

#[derive(Debug)]
struct FileRejection {
    rejection: Rejection,
    path: Vec<String>,
}

/// What was being cleaned before.
pub(super) struct OuterFile {
    name: String,
    part: Option<String>,
}

impl FilePath {
    /// In the outermost file, which is called so.
    pub(super) fn called(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// What the file is called; empty where nobody says.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// In this part of a package; in none, if it is empty.
    pub(super) fn enter(&mut self, part: &str) {
        self.spot.part = Some(part.to_owned()).filter(|part| !part.is_empty());
    }

    /// Says where something is of which perhaps the part is known.
    pub(super) fn say(&self, of: &mut ContentLocation) {
        of.path.clone_from(&self.spot.path);
        if of.part.is_none() {
            of.part.clone_from(&self.spot.part);
        }
    }

    /// In a file within the file.
    pub(super) fn descend(&mut self, name: &str) -> OuterFile {
        let name = name.to_owned();
        self.spot.path.push(name.clone());
        OuterFile { name: std::mem::replace(&mut self.name, name), part: self.spot.part.take() }
    }

    /// Out of it again, whose fault it is if it is not released.
    pub(super) fn ascend(&mut self, around: OuterFile, rejection: Option<Rejection>) {
        let path = &self.spot.path;
        // What lies deeper was at fault first.
        let known =
            |fault: &FileRejection| Some(fault.rejection) == rejection && fault.path.starts_with(path);
        if let Some(rejection) = rejection
            && !self.fault.as_ref().is_some_and(known)
        {
            self.fault = Some(FileRejection { rejection, path: path.clone() });
        }
        self.spot.path.pop();
        (self.name, self.spot.part) = (around.name, around.part);
    }

    /// Where that lies for which the outermost file is refused.
    pub(super) fn of(&self, rejection: Rejection) -> ContentLocation {
        let fault = self.fault.as_ref().filter(|fault| fault.rejection == rejection);
        let mut spot = ContentLocation {
            path: fault.map(|fault| fault.path.clone()).unwrap_or_default(),
            ..ContentLocation::default()
        };
        spot.bound();
        spot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_lies_where_it_was_first() {
        let mut place = FilePath::called("a.zip");
        let outer = place.descend("b.zip");
        let left_out = place.descend("left out.js");
        place.ascend(left_out, Some(Rejection::Script));
        let inner = place.descend("c.pdf");
        assert_eq!(place.name(), "c.pdf");
        place.ascend(inner, Some(Rejection::Encrypted));
        place.ascend(outer, Some(Rejection::Encrypted));
        assert_eq!(place.of(Rejection::Encrypted).path, ["b.zip", "c.pdf"]);
        assert_eq!((place.of(Rejection::Script), place.name()), (ContentLocation::default(), "a.zip"));
    }

    #[test]
    fn what_is_told_is_of_the_file_and_its_part() {
        let mut place = FilePath::default();
        place.enter("word/document.xml");
        let around = place.descend("x.docx");
        let mut spot = ContentLocation::default();
        place.say(&mut spot);
        assert_eq!((spot.path.as_slice(), spot.part), (&["x.docx".to_owned()][..], None));
        place.ascend(around, None);
        let mut spot = ContentLocation::default();
        place.say(&mut spot);
        assert_eq!(spot.part.as_deref(), Some("word/document.xml"));
    }
}
