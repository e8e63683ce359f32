//! WebSocket (RFC 6455) through the chain: a request that asks for it passes the filters as any other; once the upstream
//! has agreed, messages are redacted on their way there and restored on their way back.
//!
//! | file | noun |
//! |---|---|
//! | `handshake` | what a request for WebSocket must be, and how it is passed on |
//! | `messages` | [`MessagePlan`]: what filters do with messages |
//! | `session_end` | why a session ends, and when |
//! | `session_recheck` | whether the caller may go on with a session |
//! | `tunnel` | the two connections, once they are upgraded |

mod handshake;
mod messages;
mod session_end;
mod session_recheck;
mod tunnel;

pub(super) use handshake::{check_answer, check_request, upgraded_head};
pub use messages::{
    ClientMessage, ClientMessages, MessagePlan, RedactedMessage, Redacting, ServerPlan, is_readable,
};
pub(super) use tunnel::{TunnelParts, tunnel};
