//! Links by which whoever has one and knows its password gets files, or puts some, without a token.
//!
//! | file | noun |
//! |---|---|
//! | `object` | [`Link`], and how it is shown |
//! | `store` | [`Links`]: links as rows |
//! | `address` | [`LinkAddresses`]: URLs of links, and sessions |
//! | `password` | a password as its row keeps it |
//! | `create`, `list`, `change` | the calls of whoever makes links |
//! | `mail` | [`SendLinks`], and a link as a [`Mail`] |
//! | `port` | [`LinkPort`]: what a link's URL serves |
//! | `visit` | what somebody who came in does there |
//! | `parts` | [`LinkParts`], and how often what |
//! | `page` | what they see of it |

mod address;
mod change;
mod create;
mod list;
mod mail;
mod object;
mod page;
mod parts;
mod password;
mod port;
mod store;
mod visit;

pub use address::{LINK_PATH, LinkAddresses};
pub use change::{DeleteLinks, GetLink};
pub use create::CreateLinks;
pub use list::ListLinks;
pub use mail::{Mail, MailError, Mailer, SendLinks};
pub use object::{LastSent, Link, LinkTerms, LinkType};
pub use parts::{LinkParts, LinkRates};
pub use port::LinkPort;
pub use store::Links;
