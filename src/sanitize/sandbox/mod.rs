//! Formats at work in a process of their own: what a hostile file does to a parser, it does to a child that has
//! nothing but that file, little memory, little time, and a pipe.
//!
//! | file | noun |
//! |---|---|
//! | `frame` | what passes through the pipe: a tag, a head in JSON, and bytes |
//! | `message` | `Start`, `ChildMessage`: what the frames say |
//! | [`child`] | the child: its limits, and its host, which asks the parent |
//! | [`confinement`] | what the child takes away from itself |
//! | `parent` | [`Sandbox`]: the parent's side |

pub mod child;
pub mod confinement;
mod frame;
mod message;
mod parent;

pub use parent::{Cleaned, Sandbox, SandboxError, SandboxLimits};
