//! [`Host`], whom the formats ask what they cannot decide themselves, and what is asked and answered.
//!
//! Formats run in a child process; their host there is the pipe to the parent. What passes through it are the same
//! [`HostRequest`]s and [`Response`]s: there is no second protocol.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::sanitize::Rejection;

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
pub struct NamedText<S = String> {
    /// The name of its member or element, or the head of its column, behind that of what it lies in and a dot, if both
    /// have one; empty if nothing has.
    pub name: S,
    /// The text.
    pub text: S,
}

/// What an edit writes, and why.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewText {
    /// What stands there afterwards.
    pub text: String,
    /// The rule that found what stood there; `None` for a link.
    pub rule: Option<String>,
    /// Whether what stood there means the same in another letter case.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any_case: bool,
}

/// One change to a text.
pub type Edit = crate::edit::Edit<NewText>;

/// What a format asks, as many at once as it has.
#[derive(Clone, Serialize, Deserialize)]
pub enum HostRequest<'a> {
    /// Scan a part of the file before anything else is done with it: an attachment, a stream that was inflated, an
    /// archive's member. A file with a part that is rejected is rejected.
    Part {
        /// What it is called inside the file; only for scanners that go by names.
        name: Cow<'a, str>,
        /// All of it. It passes through the pipe behind the request.
        #[serde(skip)]
        bytes: Cow<'a, [u8]>,
    },
    /// Which of these links are to be defanged?
    Links(Cow<'a, [Link]>),
    /// What is to be redacted in each of these texts?
    Texts(Vec<NamedText<Cow<'a, str>>>),
    /// What opens a file that is encrypted?
    Password,
}

/// What is answered.
#[derive(Clone, Serialize, Deserialize)]
pub enum Response {
    /// The part may stay.
    Part,
    /// Whether each link is to be defanged: as many answers as links.
    Links(Vec<bool>),
    /// What is to change in each text, sorted, apart from each other: as many lists as texts. They are empty where
    /// findings are only reported.
    Texts(Vec<Vec<Edit>>),
    /// The password, where the owner gave one.
    Password(Option<String>),
}

/// Decides what formats cannot.
pub trait Host {
    /// Answers a request.
    ///
    /// # Errors
    /// [`Rejection::Provider`] where nobody answers; for a part also [`Rejection::Malicious`] and
    /// [`Rejection::NotScanned`], for texts also [`Rejection::Spent`].
    fn ask(&mut self, request: HostRequest<'_>) -> Result<Response, Rejection>;
}

impl<'a> HostRequest<'a> {
    /// A request without the bytes of its part, and those.
    pub(super) fn detached(mut self) -> (Self, Cow<'a, [u8]>) {
        let bytes = match &mut self {
            Self::Part { bytes, .. } => std::mem::take(bytes),
            Self::Links(_) | Self::Texts(_) | Self::Password => Cow::default(),
        };
        (self, bytes)
    }

    /// The request with the bytes of its part.
    pub(super) fn attached(mut self, behind: Vec<u8>) -> Self {
        if let Self::Part { bytes, .. } = &mut self {
            *bytes = Cow::Owned(behind);
        }
        self
    }
}

impl<'t> NamedText<&'t str> {
    /// A text of which nobody knows what it is called.
    pub fn nowhere(text: &'t str) -> Self {
        Self { name: "", text }
    }

    /// Texts of which nobody knows what they are called.
    pub(super) fn all_nowhere(texts: &[&'t str]) -> Vec<Self> {
        texts.iter().map(|text| Self::nowhere(text)).collect()
    }
}

impl AsRef<str> for NewText {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl std::fmt::Debug for HostRequest<'_> {
    // What is asked about comes from a file.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Part { bytes, .. } => write!(f, "Part({} bytes)", bytes.len()),
            Self::Links(links) => write!(f, "Links({})", links.len()),
            Self::Texts(texts) => write!(f, "Texts({})", texts.len()),
            Self::Password => write!(f, "Password"),
        }
    }
}

impl std::fmt::Debug for Response {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Part => write!(f, "Part"),
            Self::Links(answers) => write!(f, "Links({})", answers.len()),
            Self::Texts(edits) => write!(f, "Texts({})", edits.len()),
            Self::Password(_) => write!(f, "Password(..)"),
        }
    }
}

impl<S> std::fmt::Debug for NamedText<S> {
    // Both come from a file.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Named(..)")
    }
}

impl std::fmt::Debug for NewText {
    // The text may be a surrogate, from which its holder gets the value back.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewText").field("rule", &self.rule).finish_non_exhaustive()
    }
}
