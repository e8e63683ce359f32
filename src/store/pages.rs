//! [`Pages`]: the rows of a kind, page by page, so that however many there are only a few are in memory.

use crate::store::{Records, Row, StoreError};

/// The rows of one kind in the order of their ids' bytes, page by page. Each page is as the store is when it is read: what
/// is removed or added behind it meanwhile is not there, or is.
pub struct Pages<'a> {
    records: &'a dyn Records,
    kind: &'static str,
    /// The id of the last row that was read, or behind which the first page begins.
    after: String,
    /// What ids begin with.
    prefix: String,
    /// The most rows on a page.
    rows: u32,
    ended: bool,
}

impl<'a> Pages<'a> {
    /// Rows on a page, where nothing else is said: few calls for many rows, and with rows of a few kilobytes no more than a
    /// megabyte or so in memory.
    pub const ROWS: u32 = 200;

    /// All rows of the kind.
    pub fn all(records: &'a dyn Records, kind: &'static str) -> Self {
        Self::after(records, kind, "")
    }

    /// Those with an id greater than this one, which need not be a row's.
    pub fn after(records: &'a dyn Records, kind: &'static str, id: impl Into<String>) -> Self {
        let (after, prefix) = (id.into(), String::new());
        Self { records, kind, after, prefix, rows: Self::ROWS, ended: false }
    }

    /// Ends at the first id that does not begin with `prefix`: so it has to be begun [after](Pages::after) one that does.
    pub fn with_prefix(self, prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), ..self }
    }

    /// With so many rows on a page, at least one: fewer where rows are large.
    pub fn of(self, rows: u32) -> Self {
        Self { rows: rows.max(1), ..self }
    }

    /// The next page, which has at least one row; `None` at the end.
    ///
    /// # Errors
    /// What the store says; the same page can be asked for again then.
    pub async fn next(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        if self.ended {
            return Ok(None);
        }
        let mut page = self.records.scan(self.kind, &self.after, self.rows).await?;
        self.ended = page.len() < self.rows as usize;
        let prefix = self.prefix.as_str();
        if let Some(other) = page.iter().position(|row| !row.key.id().starts_with(prefix)) {
            page.truncate(other);
            self.ended = true;
        }
        let Some(last) = page.last() else { return Ok(None) };
        last.key.id().clone_into(&mut self.after);
        Ok(Some(page))
    }
}

impl std::fmt::Debug for Pages<'_> {
    // Ids may come from outside.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pages({})", self.kind)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::base::clock::{FixedClock, SharedClock, Timestamp};
    use crate::store::{EmbeddedRecords, Key, NewRow, Precondition};

    const KIND: &str = "case.pages";

    /// A store with these rows, and with some of other kinds beside them.
    async fn filled(folder: &Path, ids: &[&str]) -> EmbeddedRecords {
        let clock: SharedClock = Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let records = EmbeddedRecords::open(&folder.join("portcullis.sqlite"), clock).await.unwrap();
        let keys = ids.iter().map(|id| Key::new(KIND, *id));
        for key in keys.chain(["case.page", "case.pages2"].map(|kind| Key::new(kind, "a"))) {
            let entry = NewRow::lasting(Vec::new());
            records.put_if(&key, Precondition::Absent, entry).await.unwrap();
        }
        records
    }

    fn shown(page: &[Row]) -> String {
        page.iter().map(|row| row.key.id()).collect::<Vec<_>>().join(" ")
    }

    /// The ids of each page that is left.
    async fn rest(mut pages: Pages<'_>) -> Vec<String> {
        let mut seen = Vec::new();
        while let Some(page) = pages.next().await.unwrap() {
            seen.push(shown(&page));
        }
        assert_eq!(pages.next().await.unwrap(), None, "it stays at its end");
        seen
    }

    #[tokio::test]
    async fn every_row_is_on_one_page_however_many_there_are() {
        let cases: [(&[&str], &[&str]); 4] = [
            (&[], &[]),
            (&["a"], &["a"]),
            // As many as one page has, and one more.
            (&["a", "b"], &["a b"]),
            (&["c", "a", "b"], &["a b", "c"]),
        ];
        for (ids, wanted) in cases {
            let folder = tempfile::tempdir().unwrap();
            let records = filled(folder.path(), ids).await;
            assert_eq!(rest(Pages::all(&records, KIND).of(2)).await, wanted, "{ids:?}");
            let whole: Vec<String> = rest(Pages::all(&records, KIND)).await;
            assert_eq!(whole.len(), usize::from(!ids.is_empty()), "{ids:?}");
        }
    }

    #[tokio::test]
    async fn they_begin_behind_an_id_and_end_where_the_prefix_does() {
        let folder = tempfile::tempdir().unwrap();
        let records = filled(folder.path(), &["a/1", "b", "b/1", "b/2", "b/3", "c/1", "c/2"]).await;
        let after = |id: &str| Pages::after(&records, KIND, id);
        assert_eq!(rest(after("b/2").of(2)).await, ["b/3 c/1", "c/2"]);
        let cases: [(&str, &str, u32, &[&str]); 7] = [
            // The prefix ends on a page, where a page does, and where all rows do.
            ("b/", "b/", 2, &["b/1 b/2", "b/3"]),
            ("b/", "b/", 3, &["b/1 b/2 b/3"]),
            ("b/", "b/", 9, &["b/1 b/2 b/3"]),
            ("c/", "c/", 2, &["c/1 c/2"]),
            ("b/1", "b/", 1, &["b/2", "b/3"]),
            ("b/3", "b/", 2, &[]),
            ("d/", "d/", 2, &[]),
        ];
        for (id, prefix, rows, wanted) in cases {
            assert_eq!(rest(after(id).with_prefix(prefix).of(rows)).await, wanted, "{id} {prefix} {rows}");
        }
    }

    #[tokio::test]
    async fn rows_that_go_between_two_pages_hide_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let records = filled(folder.path(), &["a", "b", "c", "d", "e"]).await;
        let mut pages = Pages::all(&records, KIND).of(2);
        assert_eq!(shown(&pages.next().await.unwrap().unwrap()), "a b");
        // The one behind which the next page begins, and the first that would be on it.
        for id in ["b", "c"] {
            records.remove_if(&Key::new(KIND, id), 1).await.unwrap();
        }
        assert_eq!(rest(pages).await, ["d e"]);
    }
}
