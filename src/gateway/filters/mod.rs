//! The filters: one file each, both halves together. None knows another; what two of them read alike is in
//! `bearer`.

mod auth;
mod bearer;
mod jwt;
mod limits;
mod log;
mod redact;

pub use auth::Auth;
pub use jwt::{Jwt, JwtParts, Place};
pub use limits::{Allowance, Buckets, Limits, Whose};
pub use log::Log;
pub use redact::{AnswerWay, Redact, RedactParts};
