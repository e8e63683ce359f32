//! Portcullis keeps secrets in.

pub mod base;
pub mod stream;
