//! The filters: one file each, both halves together. None knows another; what several of them use, or one of them is
//! made of, is in files of its own. Here they stand in the order of their stages.
//!
//! | filter | what |
//! |---|---|
//! | `log` | writes the access line and the metrics of every request |
//! | `load_shed` | refuses requests under overload |
//! | `client_addresses` | which client addresses may call |
//! | `cors` | CORS: preflights and headers for browsers |
//! | `compress` | whether an answer is compressed |
//! | `auth` | authenticates callers by API tokens of this process |
//! | `certificate` | authenticates callers by client certificates |
//! | `jwt` | authenticates callers by signed tokens (JWT) |
//! | `introspect` | authenticates callers by token introspection (RFC 7662) |
//! | `limits` | rate limits of callers and tokens |
//! | `usage` | model allow-lists, budgets and usage of tokens |
//! | `models` | replaces model aliases by the models that answer |
//! | `redact` | redacts requests; restores or redacts answers |
//! | `provider_urls` | rewrites URLs of the provider in answers to URLs of the route |
//! | `sign` | signs a token for the upstream |
//! | `header_rules` | sets, adds and removes headers |
//!
//! | of | files | what |
//! |---|---|---|
//! | `log` | `audit_trail` | the audit record of a request |
//! | `auth` | `aws_signature` | verifies AWS Signature Version 4 |
//! | tokens | `bearer` | reads `Authorization: Bearer` |
//! | | `token_place` | where in a head the token of a route is |
//! | | `head_tokens` | finds and removes our tokens in a head |
//! | | `claims` | errors and headers from claims, for `jwt` and `introspect` |
//! | heads | `cookies_and_query` | removes single cookies and query parameters |
//! | | `spoofed` | removes headers of callers that only the gateway may set |
//! | `usage` | `usage_report` | asks a stream for its usage report, and takes it out again |
//! | `provider_urls` | `endpoint_events` | the MCP event that names the URL for messages |
//! | answers | `readable_answer` | asks the upstream for whole answers, in codings that we can decode |
//! | `redact` | `redact_parts` | what the filter is built from |
//! | | `head_values` | redacts query parameters, headers and cookies |
//! | | `file_policy` | which files in a request pass, are redacted or refused |
//! | | `session` | redacts the messages of a WebSocket client |
//! | | `answers` | restores and redacts answers and messages |
//! | | `restoring` | editors that restore surrogates and count them |
//! | | `remember` | what is kept between requests, for restoring |
//! | | `caller_identity` | by what a caller is recognised across requests |
//! | | `scope` | derives the tweak: where surrogates are the same |
//! | | `direct` | recognises requests that open a way around the gateway |
//! | | `findings` | counts findings, for metrics, log and caller |
//! | | `redaction_error` | errors of redaction, as callers see them |

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
mod provider_urls;
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
pub use auth::{AuthFilter, StripTokensFilter};
pub use caller_identity::{CallerCredential, CallerIdentity};
pub use certificate::{CertificateFilter, CertificateParts, StripHeadersFilter};
pub use claims::{ClaimHeaders, TokenPassage};
pub use client_addresses::ClientAddressFilter;
pub use compress::CompressFilter;
pub use cors::{CorsFilter, CorsParts};
pub use file_policy::{FilePolicy, FileTreatment};
pub use head_values::HeadValues;
pub use header_rules::{AnswerHeaderFilter, HeaderRules, RequestHeaderFilter};
pub use introspect::{IntrospectFilter, IntrospectParts};
pub use jwt::{JwtFilter, JwtParts};
pub use limits::{Allowance, RateFilter, RateSubject};
pub use load_shed::{LoadShedFilter, LoadShedParts, QueueDelay};
pub use log::LogFilter;
pub use models::ModelFilter;
pub use provider_urls::ProviderUrlFilter;
pub use redact::RedactFilter;
pub use redact_parts::{AnswerMode, Invented, RedactParts, UrlRules};
pub use remember::RememberPolicy;
pub use scope::TweakScope;
pub use sign::{SignFilter, SignParts};
pub use token_place::TokenPosition;
pub use usage::{UsageFilter, UsageParts};
