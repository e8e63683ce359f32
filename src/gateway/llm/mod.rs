//! LLM protocols: where the words are in a request, in an answer and in a stream of deltas. A protocol is data.
//!
//! | file | noun |
//! |---|---|
//! | `protocol` | [`Protocol`]: what a protocol is |
//! | `openai` | one protocol; another one is another file like it |
//! | `registry` | every protocol, and [`ProtocolChoice`]: how a route chooses one |
//! | `delta` | [`Deltas`]: follows texts over the events of a stream, whatever the protocol |
//! | [`conversation`] | which conversation a request belongs to |

pub mod conversation;
mod delta;
mod openai;
mod protocol;
mod registry;

pub use delta::{Deltas, WholeAnswer};
pub use protocol::{CompiledProtocol, Protocol};
pub use registry::{ProtocolChoice, is_final_event};
