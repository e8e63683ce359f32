//! The filters: one file each, both halves together. None knows another; what two of them do alike is in
//! `bearer`, `spoofed` and `cookies_and_query`; `head_tokens` knows where tokens stand in a head, `who` who calls, `remember` and `restoring` what was issued, and `scope` what surrogates
//! go by.

mod auth;
mod bearer;
mod cookies_and_query;
mod head_tokens;
mod jwt;
mod limits;
mod load_shed;
mod log;
mod redact;
mod remember;
mod restoring;
mod scope;
mod sign;
mod spoofed;
mod who;

pub use auth::{Auth, StripTokens};
pub use jwt::{Jwt, JwtParts, Place};
pub use limits::{Allowance, Limits, Whose};
pub use load_shed::{LoadShed, LoadShedParts, QueueDelay};
pub use log::Log;
pub use redact::{AnswerMode, Invented, Redact, RedactParts};
pub use remember::Remember;
pub use scope::Tweak;
pub use sign::{Sign, SignParts};
pub use who::{Credential, Who};
