//! LLM protocols: where the words are in a request, in an answer and in a stream of deltas. A protocol is data.
//!
//! | file | noun |
//! |---|---|
//! | `protocol` | [`Protocol`]: what a protocol is |
//! | `openai`, `responses`, `anthropic`, `bedrock`, `gemini`, `gemini_interactions`, `gemini_code_assist`, `ollama`, `cohere`, `mistral`, `hugging_face`, `mcp` | the protocols; another one is another file like these |
//! | `realtime`, `gemini_live` | those that are messages of a WebSocket |
//! | `provider` | [`Provider`]: what is spoken at the addresses of one, and how it spells errors |
//! | `registry` | every protocol, and [`ProtocolChoice`]: how a route chooses one |
//! | [`results`] | results of batches, in files that say nothing of a protocol |
//! | `schema` | what of a JSON Schema is no text, in every protocol |
//! | `turn_rule`, `turns` | texts of a stream of which only one kind goes on at a time, and whose turn it is |
//! | `piece`, `piece_reader` | the strings of an event, which of them are text, and what becomes of each |
//! | `place` | where values are in an event |
//! | `delta` | follows texts over the documents of a stream, whatever the protocol |
//! | `followed` | [`FollowedTexts`]: the strings that it follows |
//! | `template` | the document in which held text leaves by itself |
//! | `signed` | signed blocks on their way back |
//! | `offsets`, `pointed` | [`Offsets`]: numbers that point into a text, and go with what they point at |
//! | `place_coverage` | whether places cover all that a document says |
//! | `framer` | [`SseDeltas`], [`MessageDeltas`], [`WholeAnswer`]: how those documents become a body, or messages |
//! | `json_deltas` | [`JsonDeltas`]: the same for documents one a line, or in an array |
//! | `amazon_deltas` | [`AmazonDeltas`]: the same for messages of an Amazon event stream |
//! | `model_request` | what a request asks for: models, a stream, how long an answer |
//! | `asked_path` | what a path says of models |
//! | `usage` | [`UsageReader`]: the tokens that an answer says it took |
//! | [`resources`], `resources_data`, `resources_any` | what providers keep between requests, and how it is named |
//! | [`conversation`] | which conversation a request belongs to |

mod amazon_deltas;
mod anthropic;
mod asked_path;
mod bedrock;
mod cohere;
pub mod conversation;
mod delta;
mod followed;
mod framer;
mod gemini;
mod gemini_code_assist;
mod gemini_interactions;
mod gemini_live;
mod hugging_face;
mod json_deltas;
mod mcp;
mod mistral;
mod model_request;
mod offsets;
mod ollama;
mod openai;
mod piece;
mod piece_reader;
mod place;
mod place_coverage;
mod pointed;
mod protocol;
mod provider;
mod realtime;
mod registry;
pub mod resources;
mod resources_any;
mod resources_data;
mod responses;
pub mod results;
mod schema;
mod signed;
mod template;
mod turn_rule;
mod turns;
mod usage;

pub use amazon_deltas::AmazonDeltas;
pub use asked_path::{is_ambiguous, is_blind, is_free, is_idle, is_uncounted};
pub use delta::DocumentOutcome;
pub use followed::FollowedTexts;
pub use framer::{MessageDeltas, SentMessage, SseDeltas, WholeAnswer};
pub use json_deltas::JsonDeltas;
pub use mcp::{Repeats, is_mcp, repeats_body};
pub use model_request::{
    LONGEST_ANSWER, ModelMember, ModelRequest, ModelRequestSource, UnreadRequest, model_member, with_model,
};
pub use offsets::{OffsetUnit, Offsets};
pub use piece_reader::EditorFactory;
pub use protocol::{
    ANY_BOUND, ChannelRule, CloseRule, CompiledProtocol, ConversationNaming, DeltaRule, EchoRule,
    EventCondition, ModelNaming, Protocol, ProtocolError, SignedRule, SignedScope, StreamProtocol,
    TokenCount,
};
pub use provider::Provider;
pub use registry::{ProtocolChoice, is_final_line};
pub use schema::{enumerated, of_any_server};
pub use signed::open_blocks;
pub use usage::{AnswerUsage, UNKNOWN, UsageReader, estimated};
