//! Where proxied requests go.
//!
//! | file | noun |
//! |---|---|
//! | [`Upstream`] in `pool` | a pool of peers as good as each other, and which of them is next |
//! | [`ConnectOptions`] in `connect_options` | addresses, TLS and time-outs |
//! | `addresses` | where a peer's name leads, and which of its addresses rest |
//! | `connecting` | a connection to a peer that is not kept |
//! | [`SelectedPeer`] in `selected` | where a request goes next |
//! | [`Attempt`] in `attempt` | one request on its way to one peer, and how that went |
//! | [`TriedPeers`] in `tried` | which peers and addresses a request has been sent to already |
//! | [`PeerHealth`] in `health` | what is known of a peer: checks, failures, how long it stays out |
//! | [`Breaker`] in `breaker` | how many requests a pool may have, and when it may have none |
//! | [`UpstreamSockets`] in `sockets` | how many connections all pools together may have |
//! | [`Probe`] in `probe` | asks every peer how it is |
//! | [`Credentials`] in `credentials` | what an upstream is shown that callers do not have |
//! | [`AwsSigner`] in `signer` | signs what goes to AWS with keys of ours |
//! | `failure_times` | what the log is told of its failures |
//! | `headers` | what a head has on its way out, and what it leaves behind |

mod addresses;
mod attempt;
mod breaker;
mod connect_options;
mod connecting;
mod credentials;
mod failure_times;
mod headers;
mod health;
mod pool;
mod probe;
mod selected;
mod signer;
mod sockets;
mod tried;

pub use attempt::Attempt;
pub use breaker::{Breaker, BreakerLimits, Permit};
pub use connect_options::{Authorities, ConnectOptions, Http, PoolTls, Target, Timeouts};
pub use connecting::ConnectFailure;
pub use credentials::{AwsKeyParts, CredentialError, CredentialParts, Credentials, UpstreamCredential};
pub use failure_times::{failure_of, is_ours};
pub(in crate::gateway) use headers::origin_form;
pub use headers::{is_stripped, never_leaves, plain, strip_hop_by_hop};
pub use health::{Ejection, PeerHealth};
pub use pool::{RetryPolicy, SendProgress, Upstream, UpstreamParts};
pub use probe::{Probe, watch};
pub use selected::SelectedPeer;
pub(in crate::gateway) use signer::{AMZ_DATE, AMZ_DIGEST, AMZ_TOKEN, digesting};
pub use signer::{AWS_SERVICES, AwsSigner, AwsSignerParts};
pub use sockets::UpstreamSockets;
pub use tried::TriedPeers;
