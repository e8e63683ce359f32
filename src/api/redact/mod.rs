//! The redaction operations (specification, group B).
//!
//! | file | noun |
//! |---|---|
//! | `text` | [`RedactText`]: `POST /v1/redact` |
//! | `structured` | [`RedactStructured`]: `POST /v1/redact_structured` |
//! | `unredact` | [`Unredact`]: `POST /v1/unredact` |
//! | `events` | [`UnredactEvents`]: `POST /v1/unredact_events` |
//! | `request` | what calls have in common |
//! | `configured` | a stored config made ready |
//! | `vault_material` | what a call names of the vault's |
//! | `plan` | names looked up: rules and methods |
//! | `path` | JSONPath |
//! | `path_shape` | what a query costs, before it is read |
//! | `report` | the analysis that `debug` asks for |
//! | `service` | [`Redaction`]: what the operations share |

mod configured;
mod events;
mod path;
mod path_shape;
mod plan;
mod report;
mod request;
mod service;
mod structured;
mod text;
mod unredact;
mod vault_material;

pub use events::{EventsRequest, EventsResponse, UnredactEvents};
pub use path::select;
pub(in crate::api) use report::Analysis;
pub use report::Entities;
pub use service::{FileRedactor, Owner, Redaction, RedactionServices};
pub use structured::{RedactStructured, StructuredRequest, StructuredResponse};
pub use text::{RedactRequest, RedactResponse, RedactText};
pub use unredact::{Unredact, UnredactRequest, UnredactResponse};
