//! Links by which whoever has one and knows its password gets files, or puts some, without a token.
//!
//! | file | noun |
//! |---|---|
//! | `object` | [`Link`], and how it is shown |
//! | `store` | [`Links`]: links as rows |
//! | `address` | [`Addresses`]: URLs of links, and sessions |
//! | `password` | a password as its row keeps it |
//! | `create`, `list`, `change` | the calls of whoever makes links |
//! | `mail` | [`SendLinks`], and a link as a [`Mail`] |
//! | `port` | [`LinkPort`]: what a link's URL serves |
//! | `visit` | what somebody who came in does there |
//! | `page` | what they see of it |

mod address;
mod change;
mod create;
mod list;
mod mail;
mod object;
mod page;
mod password;
mod port;
mod store;
mod visit;

use std::sync::Arc;

use crate::api::CpuPool;
use crate::api::share::store::Shares;
use crate::api::token::Tokens;
use crate::base::clock::SharedClock;
use crate::base::id::ShareLinkId;
use crate::base::rate::Buckets;

pub use address::{Addresses, LINK_PATH};
pub use change::{DeleteLinks, GetLink};
pub use create::CreateLinks;
pub use list::ListLinks;
pub use mail::{Mail, MailError, Mailer, SendLinks};
pub use object::{Link, LinkType, Sent, Terms};
pub use port::LinkPort;
pub use store::Links;

/// How often what is done about each link; they outlive a reload.
#[derive(Debug, Default)]
pub struct LinkRates {
    /// Passwords that were tried.
    guesses: Buckets<ShareLinkId>,
    /// Files that were put there, and archives that were made.
    writes: Buckets<ShareLinkId>,
    /// Mails that were sent.
    mails: Buckets<crate::api::Caller>,
}

/// What the calls about links, and the links themselves, are made from. Cheap to clone.
#[derive(Clone)]
pub struct LinkParts {
    /// The links.
    pub links: Links,
    /// What they lead to.
    pub shares: Shares,
    /// Their URLs.
    pub addresses: Arc<Addresses>,
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
