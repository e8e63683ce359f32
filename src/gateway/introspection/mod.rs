//! Tokens that say nothing by themselves: the authorization server that has issued them is asked (RFC 7662), once for a
//! token and a time.
//!
//! | file | noun |
//! |---|---|
//! | `server` | [`AuthorizationServer`]: where it is asked, and with what |
//! | `token_status_cache` | `TokenStatusCache`: what it said, for a time |
//! | `introspector` | [`Introspector`]: asks it, or knows what it said |

mod introspector;
mod server;
mod token_status_cache;

pub use introspector::{Introspector, IntrospectorParts};
pub use server::{AuthorizationServer, IntrospectionError, ServerParts, TokenStatus};
