//! The filters: one file each, both halves together. None knows another; what two of them do alike is in `bearer`,
//! `token_place`, `claims`, `spoofed`, `readable_answer` and `cookies_and_query`; `head_tokens` knows where tokens stand in a head,
//! `caller_identity` who calls, `remember` and `restoring` what was issued, and `scope` what surrogates go by. Of `redact`, `redact_parts` is
//! what it is made from, `answers` what is done in those of upstreams, `session` redacts the messages of a WebSocket, `direct`
//! knows what leads around us, `head_values` is what it does to heads, `file_policy` which files pass, `findings` what it counts,
//! and `redaction_error` why it cannot. `usage_report` is what `usage` asks of streams, and `endpoint_events` what `own_urls`
//! rewrites in them.

mod answers;
mod audit_trail;
mod auth;
mod aws_signature;
mod bearer;
mod caller_identity;
mod certificate;
mod claims;
mod client_addresses;
mod compress;
mod cookies_and_query;
mod cors;
mod direct;
mod endpoint_events;
mod file_policy;
mod findings;
mod head_tokens;
mod head_values;
mod header_rules;
mod introspect;
mod jwt;
mod limits;
mod load_shed;
mod log;
mod models;
mod own_urls;
mod readable_answer;
mod redact;
mod redact_parts;
mod redaction_error;
mod remember;
mod restoring;
mod scope;
mod session;
mod sign;
mod spoofed;
mod token_place;
mod usage;
mod usage_report;

pub use audit_trail::AuditTrail;
pub use auth::{Auth, StripTokens};
pub use caller_identity::{CallerCredential, CallerIdentity};
pub use certificate::{Certificate, CertificateParts, StripHeaders};
pub use claims::{ClaimHeaders, TokenPassage};
pub use client_addresses::ClientAddresses;
pub use compress::Compress;
pub use cors::{Cors, CorsParts};
pub use file_policy::{FilePolicy, FileTreatment};
pub use head_values::HeadValues;
pub use header_rules::{AnswerHeaders, HeaderRules, RequestHeaders};
pub use introspect::{Introspect, IntrospectParts};
pub use jwt::{Jwt, JwtParts};
pub use limits::{Allowance, RateFilter, RateSubject};
pub use load_shed::{LoadShed, LoadShedParts, QueueDelay};
pub use log::Log;
pub use models::Models;
pub use own_urls::OwnUrls;
pub use redact::RedactFilter;
pub use redact_parts::{AnswerMode, Invented, RedactParts, UrlRules};
pub use remember::RememberFilter;
pub use scope::TweakScope;
pub use sign::{Sign, SignParts};
pub use token_place::TokenPosition;
pub use usage::{Usage, UsageParts};
