//! [`SanitizeSettings`]: what a stored sanitize config says (specification, "Sanitize service config"), and
//! [`Resolved`]: what holds for one call: a field of the call over its config over the defaults of calls.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::api::error::{ApiError, Code, Invalid};
use crate::api::sanitize::request::ConfigurableFields;
use crate::base::pointer::Pointer;
use crate::sanitize::{Options, RedactionMode, ReleasePolicy};

/// The provider that calls name when they name none (specification, "file-level config").
pub const DEFAULT_PROVIDER: &str = "crowdstrike";

/// The score from which on links are defanged.
const THRESHOLD: u8 = 30;

/// A config's settings. Rows of before have more members, ids of configs that there are none of; they are passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SanitizeSettings {
    /// For people; need not be unique.
    pub name: String,
    /// What is taken out.
    pub cdr: Cdr,
    /// How files are scanned.
    pub scan: Scan,
    /// What becomes of links.
    pub defang: Defang,
    /// Whether values are redacted.
    pub redact: RedactOptions,
    /// Whether clean files may be stored.
    pub sos: Sos,
}

/// `cdr`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cdr {
    /// Take file attachments out.
    pub remove_attachments: bool,
    /// Take out what acts.
    pub remove_interactive: bool,
}

impl Default for Cdr {
    fn default() -> Self {
        Self { remove_attachments: true, remove_interactive: true }
    }
}

/// `scan`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scan {
    /// Who scans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scan_provider: Option<String>,
    /// Whether what cannot be scanned is refused.
    pub block_unable_to_scan: bool,
}

/// `defang`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Defang {
    /// Whether links are defanged.
    pub enabled: bool,
    /// Whether URLs are looked up.
    pub url_intel: bool,
    /// Whether domains are looked up.
    pub domain_intel: bool,
    /// From which score on, 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk_threshold: Option<u8>,
    /// Who knows URLs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_intel_provider: Option<String>,
    /// Who knows domains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain_intel_provider: Option<String>,
}

impl Default for Defang {
    fn default() -> Self {
        Self {
            enabled: true,
            url_intel: false,
            domain_intel: false,
            risk_threshold: None,
            url_intel_provider: None,
            domain_intel_provider: None,
        }
    }
}

/// `redact`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RedactOptions {
    /// Whether values are redacted.
    pub enabled: bool,
    /// The redact config that says which, and how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redact_service_config_id: Option<String>,
}

/// `sos`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sos {
    /// Whether clean files may be stored in the share of files.
    pub enabled: bool,
    /// How long they are kept there, in days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention_days: Option<u32>,
}

impl SanitizeSettings {
    /// Of calls that name no config: the defaults of the call's own fields.
    pub fn of_calls() -> Self {
        let defang = Defang { url_intel: true, domain_intel: true, ..Defang::default() };
        Self { defang, sos: Sos { enabled: true, ..Sos::default() }, ..Self::default() }
    }
}

/// What holds for one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolved {
    /// For the formats.
    #[serde(rename = "orders")]
    pub options: Options,
    /// Who scans.
    pub scan_provider: String,
    /// Whether what cannot be scanned is refused.
    pub block_unable: bool,
    /// Who knows URLs, if they are looked up.
    pub url_intel: Option<String>,
    /// Who knows domains, if they are looked up.
    pub domain_intel: Option<String>,
    /// Whether links are defanged; in rows of before they were not looked for otherwise.
    #[serde(default = "yes")]
    pub defang: bool,
    /// From which score on links are defanged.
    pub threshold: u8,
    /// The redact config, if one is named.
    pub redact_config: Option<String>,
    /// The folder that the clean file goes to; `None`: to a URL.
    pub folder: Option<String>,
    /// How long it stays there, in days.
    pub retention_days: Option<u32>,
}

fn yes() -> bool {
    true
}

impl Resolved {
    /// A call's fields over its config; what they come to is filled into `parameters`.
    ///
    /// # Errors
    /// A call that wants its file stored, with a config that does not allow it.
    pub(super) fn of(
        chosen: &ConfigurableFields,
        settings: &SanitizeSettings,
        policy: ReleasePolicy,
        parameters: &mut Map<String, Value>,
    ) -> Result<Self, ApiError> {
        let SanitizeSettings { cdr, scan, defang, redact, sos, .. } = settings;
        let provider = |chosen: &Option<String>, config: &Option<String>| {
            chosen.clone().or_else(|| config.clone()).unwrap_or_else(|| DEFAULT_PROVIDER.to_owned())
        };
        let share = chosen.share.unwrap_or(false);
        if share && !sos.enabled {
            let at = Pointer::root().key("share_output").key("enabled");
            let fault =
                Invalid::new(Code::ProviderDisabled, at, "the config keeps clean files out of the share");
            return Err(ApiError::Validation(vec![fault]));
        }
        let scan_provider = provider(&chosen.scan_provider, &scan.scan_provider);
        let url_provider = provider(&chosen.url_intel_provider, &defang.url_intel_provider);
        let domain_provider = provider(&chosen.domain_intel_provider, &defang.domain_intel_provider);
        let (url_intel, domain_intel) = (
            chosen.url_intel.unwrap_or(defang.url_intel),
            chosen.domain_intel.unwrap_or(defang.domain_intel),
        );
        let defanged = chosen.defang.unwrap_or(defang.enabled);
        let named = chosen.defang_threshold.and_then(|threshold| u8::try_from(threshold).ok());
        let threshold = named.or(defang.risk_threshold).unwrap_or(THRESHOLD);
        let wanted = chosen.redact.unwrap_or(redact.enabled);
        let redaction = match (wanted, chosen.redact_detect_only.unwrap_or(false)) {
            (false, _) => RedactionMode::Off,
            (true, true) => RedactionMode::Detect,
            (true, false) => RedactionMode::Apply,
        };
        let folder = chosen.output_folder.clone().unwrap_or_default();
        fill(parameters, "file", [("scan_provider", json!(scan_provider))]);
        fill(
            parameters,
            "content",
            [
                ("url_intel", json!(url_intel)),
                ("url_intel_provider", json!(url_provider)),
                ("domain_intel", json!(domain_intel)),
                ("domain_intel_provider", json!(domain_provider)),
                ("defang", json!(defanged)),
                ("defang_threshold", json!(threshold)),
                ("redact", json!(wanted)),
            ],
        );
        fill(parameters, "share_output", [("enabled", json!(share)), ("output_folder", json!(folder))]);
        Ok(Self {
            options: Options {
                attachments: cdr.remove_attachments,
                interactive: cdr.remove_interactive,
                // What is only looked up has to be found too.
                links: defanged || url_intel || domain_intel,
                redaction,
                policy,
                fit_names: true,
            },
            scan_provider,
            block_unable: scan.block_unable_to_scan,
            url_intel: url_intel.then_some(url_provider),
            domain_intel: domain_intel.then_some(domain_provider),
            defang: defanged,
            threshold,
            redact_config: redact.redact_service_config_id.clone(),
            folder: share.then_some(folder),
            retention_days: sos.retention_days,
        })
    }
}

/// Adds what is not there to the object `name`.
fn fill<const N: usize>(parameters: &mut Map<String, Value>, name: &str, members: [(&str, Value); N]) {
    if let Value::Object(object) = parameters.entry(name).or_insert_with(|| json!({})) {
        for (member, value) in members {
            object.entry(member).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(chosen: &ConfigurableFields, settings: &SanitizeSettings) -> (Resolved, Value) {
        let mut parameters = Map::new();
        let resolved = Resolved::of(chosen, settings, ReleasePolicy::default(), &mut parameters).unwrap();
        (resolved, Value::Object(parameters))
    }

    #[test]
    fn without_config_the_defaults_of_calls_hold() {
        let (resolved, parameters) = resolved(&ConfigurableFields::default(), &SanitizeSettings::of_calls());
        assert_eq!(resolved.options, Options::default());
        assert_eq!(resolved.url_intel.as_deref(), Some("crowdstrike"));
        assert_eq!(resolved.threshold, 30);
        assert_eq!(resolved.folder, None);
        assert_eq!(parameters["content"]["defang_threshold"], 30);
        assert_eq!(parameters["content"]["redact"], false);
        assert_eq!(parameters["share_output"], json!({"enabled": false, "output_folder": ""}));
    }

    #[test]
    fn a_call_is_above_its_config_and_that_above_the_defaults() {
        let config: SanitizeSettings =
            serde_json::from_value(json!({"defang": {"risk_threshold": 50}, "redact": {"enabled": true}}))
                .unwrap();
        let (by_config, _) = resolved(&ConfigurableFields::default(), &config);
        assert_eq!((by_config.threshold, by_config.url_intel), (50, None));
        assert_eq!(by_config.options.redaction, RedactionMode::Apply);
        let chosen = ConfigurableFields {
            url_intel: Some(true),
            defang_threshold: Some(7),
            redact_detect_only: Some(true),
            ..ConfigurableFields::default()
        };
        let (by_call, _) = resolved(&chosen, &config);
        assert_eq!((by_call.threshold, by_call.options.redaction), (7, RedactionMode::Detect));
        assert_eq!(by_call.url_intel.as_deref(), Some("crowdstrike"));
    }

    #[test]
    fn links_are_looked_up_though_they_are_not_defanged() {
        let rows = [
            (false, true, false, true),
            (false, false, true, true),
            (false, false, false, false),
            (true, false, false, true),
        ];
        for (defang, urls, domains, links) in rows {
            let chosen = ConfigurableFields {
                defang: Some(defang),
                url_intel: Some(urls),
                domain_intel: Some(domains),
                ..ConfigurableFields::default()
            };
            let (found, _) = resolved(&chosen, &SanitizeSettings::of_calls());
            let asked = (found.url_intel.is_some(), found.domain_intel.is_some());
            assert_eq!((found.options.links, found.defang, asked), (links, defang, (urls, domains)));
        }
    }

    #[test]
    fn a_config_without_share_forbids_it() {
        let chosen = ConfigurableFields { share: Some(true), ..ConfigurableFields::default() };
        let outcome =
            Resolved::of(&chosen, &SanitizeSettings::default(), ReleasePolicy::default(), &mut Map::new());
        let Err(ApiError::Validation(faults)) = outcome else { panic!("allowed") };
        assert_eq!(faults[0].source.to_string(), "/share_output/enabled");
    }
}
