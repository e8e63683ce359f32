//! `portcullis memory`: what gateways remember of callers, on the store itself.

use std::io::Read;

use zeroize::Zeroizing;

use crate::app::{OpenStore, RememberedScope, erase};
use crate::base::id::TokenId;
use crate::cli::args::StoreArgs;
use crate::cli::failure::Failure;
use crate::cli::memory_args::{EraseArgs, MemoryCommand};
use crate::cli::settings::placed;
use crate::cli::streams::message;
use crate::config::Requirements;

/// The longest provider's key that is read, in bytes.
const LONGEST_KEY: u64 = 64 << 10;

pub(super) fn run(place: &StoreArgs, command: MemoryCommand) -> Result<(), Failure> {
    let MemoryCommand::Erase(args) = command;
    let whose = whose(args)?;
    let config = placed(place, Requirements::VAULT)?;
    let opened = OpenStore::existing(&config)?;
    let rows = erase(&opened, &config, whose);
    opened.io.block_on(opened.records.close());
    message(&format!("erased: {} rows", rows?));
    Ok(())
}

fn whose(args: EraseArgs) -> Result<RememberedScope, Failure> {
    let EraseArgs { token, subject, issuer, certificate, key_stdin, access_key, address, all } = args;
    Ok(if let Some(id) = token {
        let unknown = || {
            Failure::Usage(
                "a token's id is pti_ and 32 characters; `portcullis tokens list` shows it".to_owned(),
            )
        };
        RememberedScope::Token(TokenId::parse(&id).ok_or_else(unknown)?)
    } else if let Some(subject) = subject {
        RememberedScope::Subject { issuer: issuer.unwrap_or_default(), subject }
    } else if let Some(name) = certificate {
        RememberedScope::Certificate(name)
    } else if key_stdin {
        let mut key = Zeroizing::new(Vec::new());
        std::io::stdin().lock().take(LONGEST_KEY).read_to_end(&mut key)?;
        let key = Zeroizing::new(key.trim_ascii().to_vec());
        if key.is_empty() {
            return Err(Failure::Usage("standard input has no key".to_owned()));
        }
        RememberedScope::Key(key)
    } else if let Some(id) = access_key {
        RememberedScope::AccessKey(id)
    } else if let Some(address) = address {
        RememberedScope::Address(address)
    } else if all {
        RememberedScope::All
    } else {
        return Err(Failure::Usage("say whose memory is erased".to_owned()));
    })
}
