//! What was issued stays known, for a time: surrogates with their originals by the ids under which a provider keeps what
//! had them, and keyed digests of surrogates by the caller that they were issued to. In the store, sealed; so every
//! process on it knows them, and a restart forgets nothing.
//!
//! Whatever fails here is logged, and leaves an answer unrestored; it never lets a value through.
//!
//! | file | noun |
//! |---|---|
//! | `calls` | [`CallMemory`]: the same of calls about which other gateways ask |
//! | `caller` | [`CallerId`]: whose something is; tells nothing about the caller |
//! | `digests` | [`CallerDigests`]: which surrogates a caller has had |
//! | `issued` | [`IssuedStore`]: what was issued in conversations, and the ids that name them |
//! | `service` | [`Memory`]: both, of all callers; bounds, pruning, erasure |
//! | `request` | [`RequestMemory`]: what one request has to do with it |
//! | `seen_ids` | ids in an answer, noted as it passes |
//! | `words` | `RecentWords`: what such calls said, which their answers may repeat |

mod caller;
mod calls;
mod digests;
mod issued;
mod request;
mod seen_ids;
mod service;
mod words;

pub use caller::CallerId;
pub use calls::CallMemory;
pub use digests::CallerDigests;
pub use issued::IssuedStore;
pub use request::{RequestMemory, RequestMemoryParts};
pub use service::{Memory, RowsRemoved};
