//! The front: sockets, TLS, and everything that a connection must be before Pingora sees a request on it.
//!
//! Pingora has listeners of its own; ours replace them, since theirs cannot count connections, change a certificate or
//! refuse a request that could be read in two ways. What goes on from here is Pingora's proxy, one connection a task.
//!
//! | file | noun |
//! |---|---|
//! | `socket` | [`Sockets`]: bound before anything is served, adopted from a predecessor, handed to a successor |
//! | `tls` | [`ListenerTls`]: what TLS shows and asks for, replaced while it runs |
//! | `certificate` | a certificate of ours, and the names that it is for |
//! | `shown_certificates` | which of them a caller is shown, by the name that it asks for |
//! | `client_trust` | which certificates of callers are good |
//! | `provider` | who does the cryptography of TLS |
//! | `connections` | [`ConnectionLimit`]: how many connections there may be, in all and from one address |
//! | `limits` | [`ListenLimits`]: all that callers are held to before their request is known |
//! | `server` | [`serve`]: Pingora's server with our service in it, until it is stopped |
//! | `serving` | [`Serving`]: what is served, and where |
//! | `error` | [`ListenError`]: why it cannot be |
//! | `service` | accepts, counts, and gives each connection a task |
//! | `connection` | one connection's life |
//! | `proxied` | whose it is, by the PROXY protocol |
//! | `early_reject` | what is refused under load before it has a session |
//! | `filtered_stream` | the stream that Pingora gets |
//! | `linger` | the end of a connection |
//! | `head`, `chunks` | HTTP/1 that can be read in one way only |
//! | `frames` | HTTP/2 frames, rationed |

mod certificate;
mod chunks;
mod client_trust;
mod connection;
mod connections;
mod early_reject;
mod error;
mod filtered_stream;
mod frames;
mod head;
mod limits;
mod linger;
mod provider;
mod proxied;
mod server;
mod service;
mod serving;
mod shown_certificates;
mod socket;
mod tls;

pub use certificate::{CertificateFiles, CertificateSubject};
pub use client_trust::ClientTrust;
pub use connections::ConnectionLimit;
pub use error::ListenError;
pub use limits::ListenLimits;
pub use server::{ServerBounds, ShutdownMode, serve};
pub use serving::{Listen, Serving};
pub use socket::Sockets;
pub use tls::{ListenerTls, Renewed, TlsFiles};
