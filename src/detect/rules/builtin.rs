//! The rule files that are compiled in: by what they find, of states by region, of vendors by what they do.
//!
//! Of two rules that are equally sure of the same value, the one that stands first in the catalogue counts. That order is
//! the order of the files and, within [`NAMED`], of the rules' names.

use super::parse::RuleFile;

const fn file(name: &'static str, toml: &'static str) -> RuleFile<'static> {
    RuleFile { name, toml }
}

/// The built-in rules, in catalogue order.
pub(crate) const BUILTIN: &[RuleFile<'static>] = &[
    file("pii.toml", include_str!("pii.toml")),
    file("dates.toml", include_str!("dates.toml")),
    file("words.toml", include_str!("words.toml")),
    file("finance.toml", include_str!("finance.toml")),
    file("crypto.toml", include_str!("crypto.toml")),
    file("identity/us.toml", include_str!("identity/us.toml")),
    file("identity/north_america.toml", include_str!("identity/north_america.toml")),
    file("identity/latin_america.toml", include_str!("identity/latin_america.toml")),
    file("identity/oceania.toml", include_str!("identity/oceania.toml")),
    file("identity/india.toml", include_str!("identity/india.toml")),
    file("identity/southeast_asia.toml", include_str!("identity/southeast_asia.toml")),
    file("identity/south_asia.toml", include_str!("identity/south_asia.toml")),
    file("identity/east_asia.toml", include_str!("identity/east_asia.toml")),
    file("identity/middle_east.toml", include_str!("identity/middle_east.toml")),
    file("identity/africa.toml", include_str!("identity/africa.toml")),
    file("identity/united_kingdom.toml", include_str!("identity/united_kingdom.toml")),
    file("identity/germany.toml", include_str!("identity/germany.toml")),
    file("identity/spain_italy.toml", include_str!("identity/spain_italy.toml")),
    file("identity/europe.toml", include_str!("identity/europe.toml")),
    file("network.toml", include_str!("network.toml")),
    file("devices.toml", include_str!("devices.toml")),
    file("health.toml", include_str!("health.toml")),
    file("secrets/common.toml", include_str!("secrets/common.toml")),
    file("secrets/credentials.toml", include_str!("secrets/credentials.toml")),
    file("secrets/cloud.toml", include_str!("secrets/cloud.toml")),
    file("secrets/infrastructure.toml", include_str!("secrets/infrastructure.toml")),
    file("secrets/data.toml", include_str!("secrets/data.toml")),
    file("secrets/monitoring.toml", include_str!("secrets/monitoring.toml")),
    file("secrets/ai.toml", include_str!("secrets/ai.toml")),
    file("secrets/code_hosting.toml", include_str!("secrets/code_hosting.toml")),
    file("secrets/packages_builds.toml", include_str!("secrets/packages_builds.toml")),
    file("secrets/developer_tools.toml", include_str!("secrets/developer_tools.toml")),
    file("secrets/payments.toml", include_str!("secrets/payments.toml")),
    file("secrets/messaging.toml", include_str!("secrets/messaging.toml")),
    file("secrets/social.toml", include_str!("secrets/social.toml")),
    file("secrets/productivity.toml", include_str!("secrets/productivity.toml")),
    file("secrets/marketing.toml", include_str!("secrets/marketing.toml")),
    file("secrets/services.toml", include_str!("secrets/services.toml")),
    file("secrets/password_hashes.toml", include_str!("secrets/password_hashes.toml")),
    file("secrets/tokens.toml", include_str!("secrets/tokens.toml")),
];

/// Rules of secrets that are known by their vendor named beside them; they stand behind the others, in the order of their
/// names.
pub(crate) const NAMED: &[RuleFile<'static>] = &[
    file("secrets/named/ai.toml", include_str!("secrets/named/ai.toml")),
    file("secrets/named/blockchain.toml", include_str!("secrets/named/blockchain.toml")),
    file("secrets/named/cloud.toml", include_str!("secrets/named/cloud.toml")),
    file("secrets/named/code.toml", include_str!("secrets/named/code.toml")),
    file("secrets/named/data.toml", include_str!("secrets/named/data.toml")),
    file("secrets/named/marketing.toml", include_str!("secrets/named/marketing.toml")),
    file("secrets/named/media.toml", include_str!("secrets/named/media.toml")),
    file("secrets/named/messaging.toml", include_str!("secrets/named/messaging.toml")),
    file("secrets/named/monitoring.toml", include_str!("secrets/named/monitoring.toml")),
    file("secrets/named/payments.toml", include_str!("secrets/named/payments.toml")),
    file("secrets/named/places.toml", include_str!("secrets/named/places.toml")),
    file("secrets/named/productivity.toml", include_str!("secrets/named/productivity.toml")),
    file("secrets/named/scraping.toml", include_str!("secrets/named/scraping.toml")),
    file("secrets/named/security.toml", include_str!("secrets/named/security.toml")),
];
