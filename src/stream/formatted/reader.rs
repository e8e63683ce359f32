//! [`FormatReader`]: takes a body of one format apart.

use crate::stream::formatted::text::FormattedText;
use crate::stream::path::Path;

/// Sees a text, and the way to it: the names there, and what stands before it.
pub(super) type SeeText<'s> = &'s mut dyn FnMut(&Path<'_>, &FormattedText);

/// Takes a body of one format apart.
pub(super) trait FormatReader: Send {
    /// How long the unit is that `held` begins with; `None` while it has no end. It may be asked again with more behind
    /// that, and goes on where it was. `ended` when nothing follows.
    fn unit(&mut self, held: &[u8], ended: bool) -> Option<usize>;

    /// Shows the texts of the unit whose length was told, in any order; none overlaps another.
    fn texts(&mut self, unit: &[u8], see: SeeText<'_>);
}
