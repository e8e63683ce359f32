//! Where a file says something, by the path to it. So settings may have types of other parts, which know of no file.

use toml::de::{DeTable, DeValue};

/// The places of a file's values.
pub(crate) struct ValuePlaces<'a>(Option<&'a DeTable<'a>>);

impl<'a> ValuePlaces<'a> {
    /// Those of a file.
    pub(crate) fn of(table: &'a DeTable<'a>) -> Self {
        Self(Some(table))
    }

    /// There is no file.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// Whether there is a file that does not say it.
    pub(crate) fn lacks(&self, path: &[&str]) -> bool {
        self.0.is_some() && self.value(path).is_none()
    }

    /// The byte offset at which the value at the end of a path of keys begins; 0 where the file does not say it.
    pub(crate) fn at(&self, path: &[&str]) -> usize {
        self.value(path).map_or(0, |value| value.0)
    }

    /// The same of each element of an array.
    pub(crate) fn elements(&self, path: &[&str]) -> Vec<usize> {
        let array = self.value(path).and_then(|(_, value)| value.as_array());
        array.into_iter().flat_map(|array| array.iter()).map(|element| element.span().start).collect()
    }

    fn value(&self, path: &[&str]) -> Option<(usize, &'a DeValue<'a>)> {
        let (last, tables) = path.split_last()?;
        let mut table = self.0?;
        for key in tables {
            table = table.get(*key)?.get_ref().as_table()?;
        }
        table.get(*last).map(|value| (value.span().start, value.get_ref()))
    }
}
