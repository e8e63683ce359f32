//! What can be said after `portcullis tokens`.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(super) enum TokenCommand {
    /// Create a token and print it, and nothing else; it cannot be shown again.
    Create {
        /// For you to know it by.
        #[arg(long, default_value = "token")]
        name: String,
        /// Whose data its caller works on, such as acme: surrogates, files and what undoes them are each tenant's own.
        #[arg(long, value_name = "NAME")]
        tenant: Option<String>,
        #[command(flatten)]
        reach: ReachArgs,
        #[command(flatten)]
        bounds: BoundArgs,
        /// How long it lives: 30d, 12h, 90m, or until a date such as 2027-01-31; for ever, if not said.
        #[arg(long, value_name = "WHEN")]
        expires: Option<String>,
    },
    /// List all tokens: never the token itself.
    List,
    /// Change a token: what is said replaces what it had, all else stays; running gateways know within a second.
    Update {
        /// Its id, as `tokens list` shows it (pti_…).
        id: String,
        /// Another name.
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        reach: ReachArgs,
        #[command(flatten)]
        bounds: BoundArgs,
        /// Another end: 30d, 12h, 90m from now, or a date such as 2027-01-31.
        #[arg(long, value_name = "WHEN")]
        expires: Option<String>,
        /// Take these away first: models, budgets, rate, labels, expires; may be repeated.
        #[arg(long, value_name = "WHAT", value_parser = ["models", "budgets", "rate", "labels", "expires"])]
        clear: Vec<String>,
    },
    /// Print another secret for a token, which stays who it is; the secret before ends.
    Rotate {
        /// Its id, as `tokens list` shows it (pti_…).
        id: String,
        /// For how long the secret before is accepted yet: 30d, 12h, 90m.
        #[arg(long, value_name = "TIME")]
        grace: Option<String>,
    },
    /// Print an access key of AWS that stands for a token, for clients of Amazon Bedrock that sign: its id and a secret, which
    /// ends with the token's own.
    Aws {
        /// Its id, as `tokens list` shows it (pti_…).
        id: String,
    },
    /// Revoke a token for good; running gateways know within a second.
    Revoke {
        /// Its id, as `tokens list` shows it (pti_…).
        id: String,
    },
}

/// Where a token may go.
#[derive(Debug, Args)]
pub(super) struct ReachArgs {
    /// A service it covers (redact, sanitize, vault, share; token, which makes tokens, admin and viewer, which are for the
    /// console, must be named); may be repeated. Neither a service nor a route: all of both but these three; else those that are
    /// named and no others.
    #[arg(long = "service", value_name = "SERVICE")]
    pub(super) services: Vec<String>,
    /// A route with `auth = "token"` that it covers, by its name in the configuration; may be repeated. Names are
    /// checked against a configuration file, if one is given.
    #[arg(long = "route", value_name = "NAME")]
    pub(super) routes: Vec<String>,
    /// The id of a stored config it covers (pci_…); may be repeated; all, if none is named.
    #[arg(long = "config", value_name = "ID")]
    pub(super) configs: Vec<String>,
}

/// What a token is bound by.
#[derive(Debug, Args)]
pub(super) struct BoundArgs {
    /// A model it may ask, such as gpt-4o or claude-*; may be repeated; all, if none is named.
    #[arg(long = "model", value_name = "MODEL")]
    pub(super) models: Vec<String>,
    /// What may be spent with it, such as 25usd/month, 1000000tokens/day or 500requests/hour; requests are refused once it is
    /// used up; may be repeated.
    #[arg(long = "budget", value_name = "BUDGET")]
    pub(super) budgets: Vec<String>,
    /// The same, but once it is used up it is only shown; may be repeated.
    #[arg(long = "soft-budget", value_name = "BUDGET")]
    pub(super) soft_budgets: Vec<String>,
    /// How often it may be used, on all routes together: 60/1m, 5/1s.
    #[arg(long, value_name = "RATE")]
    pub(super) rate: Option<String>,
    /// What its caller is labelled with in the audit log and for budgets, such as team=research; may be repeated.
    #[arg(long = "label", value_name = "NAME=VALUE")]
    pub(super) labels: Vec<String>,
}
