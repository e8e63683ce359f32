//! LLM protocols: where the words are in a request, in an answer and in a stream of deltas. An adapter is data.

pub mod conversation;
mod delta;
mod openai;
mod protocol;

pub use delta::{Deltas, WholeAnswer};
pub use protocol::{CompiledProtocol, Protocol, ProtocolChoice};
