//! What other gateways and programs call about a text of theirs: guardrails, which find or replace values and leave the text's
//! way to the model to whoever asks. Each is the end of a route, whose `[routes.redact]` says what is looked for and what
//! becomes of it.
//!
//! | file | noun |
//! |---|---|
//! | `engine` | [`Guardrail`]: a route's rules and methods, and places to work at |
//! | [`presidio`] | the API of Presidio's analyzer and anonymizer |

mod engine;
pub mod presidio;

pub use engine::{Guardrail, GuardrailParts};
