//! The gateway: one chain of filters for every request; Pingora lives here and nowhere else.
//!
//! | file | noun |
//! |---|---|
//! | [`proxy`] | Pingora's callbacks, each one step of a request's state |
//! | [`embed`] | the chain around another server's callbacks |
//! | `receive` | how a request is received: its route, its exchange |
//! | `head_check` | what no request's head may say |
//! | `head_fields`, `vary` | the fields of a head, whoever's, and what it says that an answer depends on |
//! | [`origin`], `preflight` | what browsers say of the pages that ask |
//! | `state` | the states of a request, each of which owns what exists by then |
//! | [`exchange`] | what is true of a request in every state |
//! | [`plan`] | what filters decide for the bodies |
//! | [`filter`] | what a filter is, and when it runs |
//! | [`filter_chain`] | the filters of one request |
//! | [`filters`] | the filters |
//! | [`layer`] | what filters install on bodies |
//! | [`route`], [`route_info`] | which filters a request passes, and where it ends |
//! | [`path_rewrite`] | what a route makes of the beginning of a path |
//! | [`terminal`] | where a route ends |
//! | [`upstream`] | pools of peers |
//! | [`dialer`] | chooses the peers of a request |
//! | `relay` | a collected request, sent by ourselves, and its answer |
//! | `answer_framing` | how long the body of an answer is, said once |
//! | `sending` | such a request on its way, up to the head of its answer |
//! | `collected_body` | the body of a request that was read whole |
//! | `upgrade` | a request for a WebSocket |
//! | `ext_proc` | exchanges that another proxy carries, and has processed here |
//! | [`websocket`] | upgraded connections, and the messages on them |
//! | [`model_alias`] | names of models of one's own, and which model answers |
//! | `native` | answers of our own |
//! | `session_body` | the body of a session's request |
//! | [`keys`], [`key_set`] | public keys of those who sign tokens |
//! | [`key_source`], [`discovery`] | where they are fetched from |
//! | [`introspection`] | tokens that only their server can read |
//! | [`compression`] | answers that are put into a content coding |
//! | [`bounds`] | what every request may take up |
//! | [`in_flight`] | how many requests are under way, and whether the process drains |
//! | [`min_rate`] | how slowly bytes may come or be taken |
//! | [`clients`] | the address of a caller behind other proxies |
//! | [`client_certificate`] | who a caller is, by its certificate |
//! | [`session_proof`] | whether whoever opened a session may go on with it |
//! | `decoded_body` | a body out of its codings, for whoever reads along |
//! | `delivery` | how much of its answer a caller has had |
//! | [`media_type`] | what `Content-Type` says |
//! | [`body`], `body_fields` | content coding × media type × protocol → rewriters; what a head says of the bytes of a body |
//! | [`content_coding`] | which codings a head names; bodies out of them and into them |
//! | [`memory`] | what was issued stays known, for a time |
//! | [`llm`] | where the words are in an LLM protocol |
//! | [`error`], `error_shape`, `unavailable`, `token_fault` | what goes wrong, in the shape that the caller expects |
//! | `bedrock_error` | errors in the shape of Amazon Bedrock |
//! | [`request_trace`] | spans of a request and its attempts |
//! | [`listen`] | sockets, TLS, and the end |

mod answer_framing;
mod bedrock_error;
pub mod body;
mod body_fields;
pub mod bounds;
pub mod client_certificate;
pub mod clients;
mod collected_body;
pub mod compression;
pub mod content_coding;
mod decoded_body;
mod delivery;
pub mod dialer;
pub mod discovery;
pub mod embed;
pub mod error;
mod error_shape;
pub mod exchange;
#[cfg(feature = "ext_proc")]
mod ext_proc;
pub mod filter;
pub mod filter_chain;
pub mod filters;
mod head_check;
mod head_fields;
pub mod in_flight;
pub mod introspection;
pub mod key_set;
pub mod key_source;
pub mod keys;
pub mod layer;
pub mod listen;
pub mod llm;
pub mod media_type;
pub mod memory;
pub mod min_rate;
pub mod model_alias;
mod native;
pub mod origin;
pub mod path_rewrite;
pub mod plan;
mod preflight;
pub mod proxy;
mod receive;
mod relay;
pub mod request_trace;
pub mod route;
pub mod route_info;
mod sending;
mod session_body;
pub mod session_proof;
mod state;
pub mod terminal;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod testing_certificates;
mod token_fault;
mod unavailable;
mod upgrade;
pub mod upstream;
mod vary;
pub mod websocket;
