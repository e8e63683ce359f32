//! What other gateways and programs call about a text of theirs: guardrails, which find or replace values and leave the text's
//! way to the model to whoever asks. Each is the end of a route, whose `[routes.redact]` says what is looked for and what
//! becomes of it.
//!
//! | file | noun |
//! |---|---|
//! | `engine` | [`Guardrail`]: a route's rules and methods, and places to work at |
//! | `traffic` | [`Traffic`]: the same for requests to models, and for what models answer to them |
//! | `issued_memory` | [`IssuedMemory`]: what was issued in a request, until its answer comes |
//! | `answer` | how answers and errors are written |
//! | [`presidio`] | the API of Presidio's analyzer and anonymizer |
//! | [`litellm`] | the API that LiteLLM's proxy asks: its generic guardrail |
//! | [`agentgateway`] | the API that agentgateway asks: its guardrail webhook |
//! | [`moderations`] | OpenAI's moderations, of which the only category is personal data |

pub mod agentgateway;
mod answer;
mod engine;
mod issued_memory;
pub mod litellm;
pub mod moderations;
pub mod presidio;
mod traffic;

pub use engine::{Guardrail, GuardrailParts};
pub use issued_memory::{IssuedMemory, RememberedCall};
pub use traffic::{AnswerMode, Traffic, TrafficParts};
