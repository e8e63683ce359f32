//! [`LinkParts`]: what the calls about links are made from.

use std::sync::Arc;

use crate::api::share::link::address::LinkAddresses;
use crate::api::share::link::store::Links;
use crate::api::share::rows::Shares;
use crate::api::token::Tokens;
use crate::api::{Caller, CpuPool};
use crate::base::clock::SharedClock;
use crate::base::id::ShareLinkId;
use crate::base::rate::Buckets;

/// How often what is done about each link; they outlive a reload.
#[derive(Debug, Default)]
pub struct LinkRates {
    /// Passwords that were tried.
    pub(super) guesses: Buckets<ShareLinkId>,
    /// Files that were put there, and archives that were made.
    pub(super) writes: Buckets<ShareLinkId>,
    /// Mails that were sent.
    pub(super) mails: Buckets<Caller>,
}

/// What the calls about links, and the links themselves, are made from. Cheap to clone.
#[derive(Clone)]
pub struct LinkParts {
    /// The links.
    pub links: Links,
    /// What they lead to.
    pub shares: Shares,
    /// Their URLs.
    pub addresses: Arc<LinkAddresses>,
    /// Those that made them.
    pub tokens: Arc<Tokens>,
    /// Where passwords are compared.
    pub cpu: CpuPool,
    /// How often what.
    pub rates: Arc<LinkRates>,
    /// Reads time.
    pub clock: SharedClock,
    /// The largest file that is put, in bytes.
    pub limit: u64,
}
