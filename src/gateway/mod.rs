//! The road: Pingora lives here and nowhere else.
//!
//! | file | noun |
//! |---|---|
//! | [`proxy`] | Pingora's callbacks, each one call on the exchange |
//! | [`embed`] | the chain around somebody else's callbacks |
//! | `begin` | how a request begins: its route, its exchange |
//! | `refuse` | what no request's head may say |
//! | [`exchange`] | one request's walk through the filters, to the terminal, and back |
//! | [`filter`] | what a filter is, when it runs, what it may install |
//! | [`filters`] | the filters |
//! | [`route`] | which road a request takes |
//! | [`terminal`] | where a road ends |
//! | [`upstream`] | pools of peers |
//! | [`dialer`] | what a request needs on its way to a peer |
//! | [`relay`] | a collected request, sent by ourselves |
//! | [`keys`] | public keys of those who sign tokens |
//! | `in_flight` | how many requests are under way |
//! | [`clients`] | who a caller is, behind other proxies |
//! | `told` | whether a caller that leaves has had all of its answer |
//! | `min_rate` | how slowly bytes may come or be taken |
//! | [`native`] | our own endpoints over a session |
//! | [`media_type`] | what `Content-Type` says |
//! | [`body`] | content coding × media type × protocol → rewriters |
//! | [`llm`] | where the words are in an LLM protocol |
//! | [`error`] | what goes wrong, in the shape that the caller expects |
//! | [`watched`] | what a walk tells about itself: spans and attempts |
//! | [`listen`] | sockets, TLS, and the end |

mod begin;
pub mod body;
pub mod clients;
pub mod dialer;
pub mod embed;
pub mod error;
pub mod exchange;
pub mod filter;
pub mod filters;
mod in_flight;
pub mod keys;
pub mod listen;
pub mod llm;
pub mod media_type;
mod min_rate;
pub mod native;
pub mod proxy;
mod refuse;
pub mod relay;
pub mod route;
pub mod terminal;
mod told;
pub mod upstream;
pub mod watched;
