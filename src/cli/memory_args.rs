//! What can be said after `portcullis memory`.

use std::net::IpAddr;

use clap::{ArgGroup, Args, Subcommand};

/// One of these, and no more.
const WHOSE: [&str; 7] = ["token", "subject", "certificate", "key_stdin", "access_key", "address", "all"];

#[derive(Debug, Subcommand)]
pub(super) enum MemoryCommand {
    /// Forget the surrogates that were issued to one caller, with what they stand for; running gateways know within a second.
    Erase(EraseArgs),
}

/// Whose are forgotten.
#[derive(Debug, Args)]
#[group(skip)]
#[command(group(ArgGroup::new("whose").required(true).args(WHOSE)))]
pub(super) struct EraseArgs {
    /// Whoever has this API token: its id, as `tokens list` shows it (pti_…).
    #[arg(long, value_name = "ID")]
    pub(super) token: Option<String>,
    /// Whoever brings signed tokens of this subject (`sub`).
    #[arg(long, value_name = "SUBJECT")]
    pub(super) subject: Option<String>,
    /// The issuer (`iss`) of those tokens, if they name one.
    #[arg(long, value_name = "ISSUER", requires = "subject")]
    pub(super) issuer: Option<String>,
    /// Whoever shows client certificates with this name, such as uri:spiffe://example.com/agent, dns:agent.example.com,
    /// email:jane@example.com or CN=agent.
    #[arg(long, value_name = "NAME")]
    pub(super) certificate: Option<String>,
    /// Whoever sends its provider this key, which is read from standard input.
    #[arg(long)]
    pub(super) key_stdin: bool,
    /// Whoever signs requests with this access key: its public id.
    #[arg(long, value_name = "ID")]
    pub(super) access_key: Option<String>,
    /// Whoever sends no key from this address; of IPv6 the /64 counts.
    #[arg(long, value_name = "ADDRESS")]
    pub(super) address: Option<IpAddr>,
    /// Everybody.
    #[arg(long)]
    pub(super) all: bool,
}
