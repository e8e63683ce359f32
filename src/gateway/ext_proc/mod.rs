//! Envoy's external processing (`envoy.service.ext_proc.v3.ExternalProcessor`): a proxy that carries exchanges itself has
//! each of them go through the chain, over a gRPC stream of its own.
//!
//! | file | noun |
//! |---|---|
//! | `service` | [`ExternalProcessor`]: what Pingora's server of HTTP/2 drives |
//! | `processing` | one exchange, through the states of every other |
//! | `outgoing`, `incoming` | its request, and its answer |
//! | `pieces` | the body of a request that is read whole |
//! | `mode` | how the proxy shows bodies |
//! | `head` | heads as it shows them, and what changes in them |
//! | `tell` | what it is told |
//! | `stream` | a stream of messages |
//! | `frame` | messages among bytes |
//! | `message` | the messages |

mod frame;
mod head;
mod incoming;
mod message;
mod mode;
mod outgoing;
mod pieces;
mod processing;
mod service;
mod stream;
mod tell;

pub(in crate::gateway) use service::ExternalProcessor;

#[cfg(test)]
mod tests;
