//! The rule files that are compiled in: by what they find, of states by region, of vendors by what they do.
//!
//! Of two rules that are equally sure of the same value, the one that stands first in the catalogue counts. That order is
//! the order of the files and, within [`NAMED`], of the rules' names.

/// The built-in rules, in catalogue order.
pub(crate) const BUILTIN: &[(&str, &str)] = &[
    ("pii.toml", include_str!("pii.toml")),
    ("dates.toml", include_str!("dates.toml")),
    ("words.toml", include_str!("words.toml")),
    ("finance.toml", include_str!("finance.toml")),
    ("crypto.toml", include_str!("crypto.toml")),
    ("identity/us.toml", include_str!("identity/us.toml")),
    ("identity/north_america.toml", include_str!("identity/north_america.toml")),
    ("identity/latin_america.toml", include_str!("identity/latin_america.toml")),
    ("identity/oceania.toml", include_str!("identity/oceania.toml")),
    ("identity/india.toml", include_str!("identity/india.toml")),
    ("identity/southeast_asia.toml", include_str!("identity/southeast_asia.toml")),
    ("identity/south_asia.toml", include_str!("identity/south_asia.toml")),
    ("identity/east_asia.toml", include_str!("identity/east_asia.toml")),
    ("identity/middle_east.toml", include_str!("identity/middle_east.toml")),
    ("identity/africa.toml", include_str!("identity/africa.toml")),
    ("identity/united_kingdom.toml", include_str!("identity/united_kingdom.toml")),
    ("identity/germany.toml", include_str!("identity/germany.toml")),
    ("identity/spain_italy.toml", include_str!("identity/spain_italy.toml")),
    ("identity/europe.toml", include_str!("identity/europe.toml")),
    ("network.toml", include_str!("network.toml")),
    ("devices.toml", include_str!("devices.toml")),
    ("health.toml", include_str!("health.toml")),
    ("secrets/common.toml", include_str!("secrets/common.toml")),
    ("secrets/credentials.toml", include_str!("secrets/credentials.toml")),
    ("secrets/cloud.toml", include_str!("secrets/cloud.toml")),
    ("secrets/infrastructure.toml", include_str!("secrets/infrastructure.toml")),
    ("secrets/data.toml", include_str!("secrets/data.toml")),
    ("secrets/monitoring.toml", include_str!("secrets/monitoring.toml")),
    ("secrets/ai.toml", include_str!("secrets/ai.toml")),
    ("secrets/code_hosting.toml", include_str!("secrets/code_hosting.toml")),
    ("secrets/packages_builds.toml", include_str!("secrets/packages_builds.toml")),
    ("secrets/developer_tools.toml", include_str!("secrets/developer_tools.toml")),
    ("secrets/payments.toml", include_str!("secrets/payments.toml")),
    ("secrets/messaging.toml", include_str!("secrets/messaging.toml")),
    ("secrets/social.toml", include_str!("secrets/social.toml")),
    ("secrets/productivity.toml", include_str!("secrets/productivity.toml")),
    ("secrets/marketing.toml", include_str!("secrets/marketing.toml")),
    ("secrets/services.toml", include_str!("secrets/services.toml")),
    ("secrets/password_hashes.toml", include_str!("secrets/password_hashes.toml")),
    ("secrets/tokens.toml", include_str!("secrets/tokens.toml")),
];

/// Rules of secrets that are known by their vendor named beside them; they stand behind the others, in the order of their
/// names.
pub(crate) const NAMED: &[(&str, &str)] = &[
    ("secrets/named/ai.toml", include_str!("secrets/named/ai.toml")),
    ("secrets/named/blockchain.toml", include_str!("secrets/named/blockchain.toml")),
    ("secrets/named/cloud.toml", include_str!("secrets/named/cloud.toml")),
    ("secrets/named/code.toml", include_str!("secrets/named/code.toml")),
    ("secrets/named/data.toml", include_str!("secrets/named/data.toml")),
    ("secrets/named/marketing.toml", include_str!("secrets/named/marketing.toml")),
    ("secrets/named/media.toml", include_str!("secrets/named/media.toml")),
    ("secrets/named/messaging.toml", include_str!("secrets/named/messaging.toml")),
    ("secrets/named/monitoring.toml", include_str!("secrets/named/monitoring.toml")),
    ("secrets/named/payments.toml", include_str!("secrets/named/payments.toml")),
    ("secrets/named/places.toml", include_str!("secrets/named/places.toml")),
    ("secrets/named/productivity.toml", include_str!("secrets/named/productivity.toml")),
    ("secrets/named/scraping.toml", include_str!("secrets/named/scraping.toml")),
    ("secrets/named/security.toml", include_str!("secrets/named/security.toml")),
];
