//! Our endpoints; no Pingora here, only `http` types.
//!
//! | file | noun |
//! |---|---|
//! | `endpoint` | [`Endpoint`], and [`Endpoints`]: the table everything follows from |
//! | `call` | [`Call`] and [`Answer`]: what a handler gets and gives |
//! | [`configs`] | stored redact configs: the object, its endpoints, and [`configs::MethodSpec`] |
//! | `cpu` | [`CpuPool`]: long work, off the threads that move bytes |
//! | [`envelope`] | the frame around every answer, in the caller's dialect |
//! | `error` | [`ApiError`]: what goes wrong, and its status |
//! | `fields` | [`Fields`]: parse, don't validate; all faults at once |
//! | `health` | [`Health`] and [`Readiness`] |
//! | [`json`] | bodies as JSON values, strictly |
//! | [`redact`] | the redaction operations |
//! | [`vault`] | the vault's operations |
//! | [`token`] | bearer token → [`token::Principal`] with scopes |

mod call;
pub mod configs;
mod cpu;
mod endpoint;
pub mod envelope;
mod error;
mod fields;
mod health;
pub mod json;
pub mod redact;
pub mod token;
mod token_uses;
pub mod vault;

pub use call::{Answer, BodyError, BodyRead, BoxFuture, Call, Collected, Handler};
pub use cpu::{CpuPool, GivenUp};
pub use endpoint::{Asker, Endpoint, Endpoints, Lookup, Success};
pub use error::{ApiError, Code, Invalid, MAX_FAULTS};
pub use fields::{Faults, Fields};
pub use health::{Health, Readiness, Ready};
