//! Our endpoints; no Pingora here, only `http` types.
//!
//! | file | noun |
//! |---|---|
//! | `endpoint` | [`Endpoint`], and [`Endpoints`]: the table everything follows from |
//! | [`accept_encoding`] | content codings that callers accept |
//! | [`analyzers`] | who else is asked what a text holds |
//! | `blob` | [`BlobPort`]: the receiving end of grants |
//! | `call` | [`ApiCall`] and [`ApiAnswer`]: what a handler gets and gives |
//! | [`changes`] | [`changes::ChangeLog`]: the audit record of administrative acts |
//! | [`configs`] | stored redact configs: the object, its endpoints, and [`configs::MethodSpec`] |
//! | `cpu` | [`CpuPool`]: long work, off the threads that move bytes |
//! | `distinct` | [`Distinct`]: how many different values each caller has had encrypted |
//! | [`envelope`] | the frame around every answer, in the caller's dialect |
//! | `error` | [`ApiError`]: what goes wrong, and its status |
//! | `fields` | [`ObjectFields`]: parse, don't validate; all faults at once |
//! | [`grant`] | [`grant::Grants`]: URLs for one upload or download |
//! | [`guardrail`] | what other gateways call about a text of theirs |
//! | `health` | [`Health`] and [`Readiness`] |
//! | [`incoming`] | uploads as they come: bodies and forms |
//! | [`json`] | bodies as JSON values, strictly |
//! | [`openapi`] | the API as an OpenAPI document |
//! | [`pending`] | calls that are answered later |
//! | [`redact`] | the redaction operations |
//! | [`sanitize`] | cleaning of files |
//! | [`share`] | the share service: files in folders |
//! | [`vault`] | the vault's operations |
//! | `tenant` | [`token::Tenant`]: whose data a caller works on |
//! | [`scope`] | what a [`token::Principal`] may do, all of it |
//! | `token_fault` | what it is to a caller that tokens cannot be read |
//! | [`token_service`] | tokens made and changed by HTTP |
//! | [`token_signers`] | keys of AWS that stand for tokens |
//! | [`token`] | bearer token → [`token::Principal`] |
//! | `token_ids` | finds a token's row by the token's id |
//! | `token_info` | what is known of a token: name, service, bounds, expiry; why it is refused |
//! | `token_record` | a token as its row stores it |
//! | `token_text` | the form of a token (`pts_` and 32 characters): making and recognising it |
//! | `token_uses` | when each token was last used, to the minute |

pub mod accept_encoding;
pub mod analyzers;
mod blob;
mod call;
pub mod changes;
pub mod configs;
mod cpu;
mod distinct;
mod endpoint;
pub mod envelope;
mod error;
mod fields;
pub mod grant;
pub mod guardrail;
mod health;
pub mod incoming;
pub mod json;
pub mod openapi;
pub mod pending;
pub mod redact;
pub mod sanitize;
pub mod scope;
pub mod share;
mod tenant;
pub mod token;
pub(crate) mod token_fault;
mod token_ids;
mod token_info;
mod token_record;
pub mod token_service;
pub mod token_signers;
mod token_text;
mod token_uses;
pub mod vault;

pub use blob::{BlobPort, attachment, charged, form_data};
pub use call::{ApiAnswer, ApiCall, Body, BodyError, BodyRead, BufferedBody, Handler};
pub use cpu::{Caller, CpuPool, CpuTask, PoolError, block_in_place};
pub use distinct::{Bound, Distinct, DistinctLimit};
pub use endpoint::{ApiCaller, Endpoint, EndpointAccess, EndpointMatch, Endpoints, Mount, Success};
pub(crate) use error::CHALLENGE;
pub use error::{ApiError, Code, Excess, Invalid, MAX_FAULTS};
pub use fields::{Faults, ObjectFields};
pub use health::{HEALTH_PATH, Health, READINESS_PATH, Readiness, Ready};
