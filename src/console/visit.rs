//! [`Visit`] and [`PageReply`]: what a section of the console is asked, and what it says.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::StatusCode;
use maud::Markup;

use crate::api::Caller;
use crate::console::form::{Form, TooManyFields};
use crate::console::session::Visitor;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageRequest {
    /// To be shown something.
    Show,
    /// To do something, or to look through what was sent.
    Do,
}

/// One request of somebody who has signed in. One to do something comes from a page of ours.
pub(super) struct Visit<'v> {
    /// What is asked.
    pub(super) asked: PageRequest,
    /// What of the path stands behind the section's own, without the slash between.
    pub(super) rest: &'v str,
    /// What stands in the query.
    pub(super) query: Form,
    /// The body.
    pub(super) body: Bytes,
    /// Who asks.
    pub(super) visitor: &'v Visitor,
    /// Whose turn it is where callers take turns.
    pub(super) caller: Caller,
}

impl Visit<'_> {
    /// The body as the fields of a form.
    ///
    /// # Errors
    /// [`TooManyFields`].
    pub(super) fn form(&self) -> Result<Form, TooManyFields> {
        Form::read(&self.body)
    }
}

/// What a page shows.
pub(super) struct PageContext {
    /// What it is called, also in the browser's tab.
    pub(super) title: String,
    /// What stands on it.
    pub(super) content: Markup,
    /// The scripts of ours that it wants, by file.
    pub(super) scripts: &'static [&'static str],
}

impl PageContext {
    /// A page without scripts of its own.
    pub(super) fn plain(title: impl Into<String>, content: Markup) -> Self {
        Self { title: title.into(), content, scripts: &[] }
    }
}

/// What a section says.
pub(super) enum PageReply {
    /// A page.
    Page(PageContext),
    /// A page with this status, which says what is wrong.
    Wrong(StatusCode, PageContext),
    /// To be read by a script of ours.
    Json(StatusCode, String),
    /// A file to keep.
    File {
        /// Its media type.
        media_type: &'static str,
        /// What it is to be called: letters, digits, dots and hyphens.
        name: String,
        /// What is in it.
        bytes: Bytes,
    },
    /// Look there: a path of ours.
    See(String),
    /// There is nothing at that path.
    NotFound,
    /// It takes a token that may change things.
    Forbidden,
}

/// A part of the console: a page and what can be done there.
pub(super) trait Section: Send + Sync + 'static {
    /// Where it is: a path of one segment.
    fn path(&self) -> &'static str;

    /// What the navigation calls it.
    fn name(&self) -> &'static str;

    /// The largest body that is sent to it, in bytes.
    fn limit(&self) -> usize {
        64 << 10
    }

    /// Whether what can be done at this path changes nothing, so that whoever may look may do it.
    fn only_looks(&self, _rest: &str) -> bool {
        false
    }

    /// Answers.
    fn call<'v>(&'v self, visit: Visit<'v>) -> BoxFuture<'v, PageReply>;
}
