//! What gateways remember of callers, forgotten.

use std::net::IpAddr;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::api::Caller;
use crate::app::error::AppError;
use crate::app::open_store::OpenStore;
use crate::base::address::customer;
use crate::base::id::TokenId;
use crate::config::Config;
use crate::crypto::hash::sha256;
use crate::gateway::client_certificate::SubjectName;
use crate::gateway::filters::{CallerCredential, CallerIdentity};
use crate::gateway::memory::Memory;

/// What is remembered of whom.
pub enum RememberedScope {
    /// Of whoever has the API token of this id.
    Token(TokenId),
    /// Of whoever brings signed tokens of this subject.
    Subject {
        /// The issuer that they name; empty if none.
        issuer: String,
        /// The subject.
        subject: String,
    },
    /// Of whoever shows client certificates with this name first, written as a route's `subjects` are; or of a certificate
    /// without names, by its fingerprint (`sha256:…`).
    Certificate(String),
    /// Of whoever sends its provider this key alone.
    Key(Zeroizing<Vec<u8>>),
    /// Of whoever signs requests with the access key of this id.
    AccessKey(String),
    /// Of whoever sends no key from this address.
    Address(IpAddr),
    /// Of everybody.
    All,
}

/// Forgets it; returns how many rows of the store that were.
///
/// # Errors
/// A vault that cannot be opened, or what the store says.
pub fn erase(opened: &OpenStore, config: &Config, whose: RememberedScope) -> Result<u64, AppError> {
    let vault = Arc::new(opened.vault(config)?);
    let memory = Memory::new(Arc::clone(&opened.records), vault, Arc::clone(&opened.clock));
    let by_digest = match &whose {
        RememberedScope::Certificate(name) => {
            let name = SubjectName::parse(name).map_or_else(|_| name.clone(), |name| name.to_string());
            Some(memory.caller_of_ours(&Caller::Certificate(sha256(name.as_bytes()))))
        }
        _ => None,
    };
    let who = match whose {
        RememberedScope::Token(id) => Some(CallerIdentity::Token(id.to_string())),
        RememberedScope::Subject { issuer, subject } => Some(CallerIdentity::Subject(issuer, subject)),
        RememberedScope::Certificate(name) => {
            let same = SubjectName::parse(&name).map(|name| name.to_string());
            Some(CallerIdentity::Certificate(same.unwrap_or(name)))
        }
        RememberedScope::Key(key) => Some(CallerIdentity::Keys(vec![CallerCredential::Secret(key)])),
        RememberedScope::AccessKey(id) => Some(CallerIdentity::Keys(vec![CallerCredential::AccessKey(id)])),
        RememberedScope::Address(address) => Some(CallerIdentity::Address(Some(customer(address)))),
        RememberedScope::All => None,
    };
    let name = who.map(|who| who.name());
    let caller = name.map(|name| memory.caller(name.iter().map(|part| part.as_slice())));
    opened.io.block_on(async {
        let mut erased = memory.erase(caller.as_ref()).await?;
        if let Some(by_digest) = &by_digest {
            // As endpoints of ours know it.
            erased += memory.erase(Some(by_digest)).await?;
        }
        Ok(erased)
    })
}
