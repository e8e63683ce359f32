//! Bytes in motion: pure, incremental, budgeted.

mod editor;
mod rewriter;

pub use editor::{Edit, Editor};
pub use rewriter::{Identity, Pipeline, Rewriter, StreamError};
