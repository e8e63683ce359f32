//! Bytes in motion: pure, incremental, budgeted.
//!
//! | file | noun |
//! |---|---|
//! | `rewriter` | what rewrites a body as it passes, its laws, and several in a row |
//! | `path`, `path_set` | where in a document a value is, and which places are ours |
//! | `editor` | what edits one channel of decoded text |
//! | `text` | text bodies, and text that comes in pieces |
//! | [`json`] | JSON bodies and documents |
//! | [`sse`], `generic` | event streams, and those of which nothing is known |
//! | [`reassembly`] | what the documents of a stream cut, where nobody follows its texts |
//! | [`amazon`] | Amazon event streams, which are made of binary messages |
//! | [`form`] | forms |
//! | [`formatted`] | tables and markup |
//! | [`websocket`] | WebSocket frames and messages |
//! | [`multipart`] | multipart bodies |
//! | [`sniff`] | what a body is by its first bytes |
//! | [`codec`] | content codings |
//! | `text_channel`, `window`, `utf8` | where decoded text lies in bytes, and what is not decided yet |

pub mod amazon;
#[cfg(feature = "server")]
pub mod codec;
mod editor;
pub mod form;
pub mod formatted;
mod generic;
pub mod json;
pub mod multipart;
mod path;
mod path_set;
pub mod reassembly;
mod rewriter;
pub mod sniff;
pub mod sse;
mod text;
mod text_channel;
mod utf8;
pub mod websocket;
mod window;

pub use crate::edit::Edit;
pub use editor::{Editor, TextUse};
pub use generic::{GenericEvents, GenericMessages, SHORT};
pub use rewriter::{Identity, Pipeline, Rewriter, StreamError};
pub use text::{Channel, TextBody};
#[cfg(feature = "server")]
pub(crate) use utf8::complete;
