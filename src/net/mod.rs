//! Going out: one HTTP client, and a resolver that checks every address it hands out.
//!
//! Others' URLs are fetched ([`Client::fetch`]) only from the public internet and from what an [`Allow`] list names;
//! our own providers are called ([`Client::call`]) wherever the configuration says they are.
//!
//! | file | noun |
//! |---|---|
//! | `allow` | [`Allow`]: the places besides that may be fetched from |
//! | `dns_resolver` | [`DnsResolver`]: names to addresses, and the check of what it answers |
//! | `lookups` | names that the system looks up, a few at once |
//! | `client` | [`Client`]: its settings, and calls to our own providers |
//! | `form` | [`form()`]: names and values as a form has them |
//! | `fetch` | [`Fetched`]: a file as it comes from someone's URL |
//! | `any_certificate` | [`with_any_certificate`]: TLS to a listener of this machine |
//! | `error` | [`NetError`] |

mod allow;
mod any_certificate;
mod client;
mod dns_resolver;
mod error;
mod fetch;
mod form;
mod lookups;

pub use allow::{Allow, AllowEntry, AllowEntryError};
pub use any_certificate::with_any_certificate;
pub use client::{CallBody, Client, OutboundCall, ProviderAnswer};
pub use dns_resolver::{AddressFuture, DnsResolver, SystemResolver};
pub use error::NetError;
pub use fetch::{FetchLimits, Fetched};
pub use form::{form, form_value};
/// A URL as browsers read it (WHATWG URL).
pub use reqwest::Url;
