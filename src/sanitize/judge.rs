//! [`Judge`], whom the formats ask, and what is asked and answered.

use serde::{Deserialize, Serialize};

use crate::sanitize::Rejection;

/// A part of a file that can be looked at by itself: an attachment, a stream that was inflated, an archive's member.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// What it is called inside the file; only for scanners that go by names.
    pub name: &'a str,
    /// All of it.
    pub bytes: &'a [u8],
}

/// A link as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// With a scheme, or beginning with `www.`.
    Url(String),
    /// A host name by itself.
    Domain(String),
}

/// A text and what it is called where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named<S = String> {
    /// The name of its member or element, or the head of its column, behind that of what it lies in and a dot, if both
    /// have one; empty if nothing has.
    pub name: S,
    /// The text.
    pub text: S,
}

/// What an edit writes, and why.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewText {
    /// What stands there afterwards.
    pub text: String,
    /// The rule that found what stood there; `None` for a link.
    pub rule: Option<String>,
}

/// One change to a text.
pub type Edit = crate::edit::Edit<NewText>;

/// Decides what formats cannot. Asked in batches, since the answer may come from another process.
pub trait Judge {
    /// Looks at a part before anything else is done with it.
    ///
    /// # Errors
    /// [`Rejection::Malicious`], [`Rejection::NotScanned`], or [`Rejection::Provider`].
    fn part(&mut self, part: Part<'_>) -> Result<(), Rejection>;

    /// Which of these links are to be defanged: as many answers as links. What is asked here is counted.
    ///
    /// # Errors
    /// [`Rejection::Provider`].
    fn links(&mut self, links: &[Link]) -> Result<Vec<bool>, Rejection>;

    /// What is to be redacted in each of these texts: sorted, apart from each other. Empty where findings are only
    /// told.
    ///
    /// # Errors
    /// [`Rejection::Provider`].
    fn texts(&mut self, texts: &[Named<&str>]) -> Result<Vec<Vec<Edit>>, Rejection>;
}

impl std::fmt::Debug for Part<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Part({} bytes)", self.bytes.len())
    }
}

impl<'t> Named<&'t str> {
    /// A text of which nobody knows what it is called.
    pub fn nowhere(text: &'t str) -> Self {
        Self { name: "", text }
    }

    /// The same in memory of its own.
    pub fn kept(self) -> Named {
        Named { name: self.name.to_owned(), text: self.text.to_owned() }
    }
}

impl<S> std::fmt::Debug for Named<S> {
    // Both come from a file.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Named(..)")
    }
}

impl AsRef<str> for NewText {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl std::fmt::Debug for NewText {
    // The text may be a surrogate, from which its holder gets the value back.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewText").field("rule", &self.rule).finish_non_exhaustive()
    }
}
