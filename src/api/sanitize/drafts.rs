//! Settings of sanitize configs, read from a request (specification, "Sanitize service config").

use futures_util::future::BoxFuture;

use crate::api::configs::{ConfigError, ConfigSettings, Configs, Drafts, Extent, foreign, version};
use crate::api::error::{ApiError, Code};
use crate::api::fields::{Faults, ObjectFields};
use crate::api::sanitize::settings::{Cdr, Defang, RedactOptions, SanitizeSettings, Scan, Sos};
use crate::api::token::Service;
use crate::base::id::ConfigId;
use crate::base::pointer::Pointer;

/// The longest name, in characters.
const NAME: usize = 256;

/// The longest name of a provider, in characters.
const PROVIDER: usize = 64;

impl ConfigSettings for SanitizeSettings {
    const ROWS: &'static str = "sanitize_config";
    const SERVICE: Service = Service::Sanitize;
    // The bare paths lead to redact configs.
    const BARE: bool = false;
    const SCHEMA: Option<&'static str> = None;
    const PARTS: &'static [&'static str] = &["cdr", "scan", "defang", "redact", "sos"];
    const OPTIONAL: &'static [&'static str] = &[
        "scan_provider",
        "risk_threshold",
        "url_intel_provider",
        "domain_intel_provider",
        "redact_service_config_id",
        "retention_days",
    ];
}

/// How they are read; the redact configs that they may name.
pub struct SanitizeDrafts(pub Configs<crate::api::configs::Settings>);

/// Settings as read.
pub struct SanitizeDraft(SanitizeSettings, Faults);

impl Drafts for SanitizeDrafts {
    type Settings = SanitizeSettings;
    type Draft = SanitizeDraft;

    fn read(&self, mut fields: ObjectFields<'_>, extent: Extent) -> SanitizeDraft {
        fields.nulls_are_absent();
        fields.text("config_id");
        fields.member("created_at");
        version(&mut fields, SanitizeSettings::SCHEMA, extent);
        if extent == Extent::Whole {
            fields.required("name");
        }
        let settings = settings(&mut fields);
        SanitizeDraft(settings, fields.finish())
    }

    fn settings<'d>(&self, draft: &'d SanitizeDraft) -> &'d SanitizeSettings {
        &draft.0
    }

    fn prove(
        &self,
        SanitizeDraft(settings, mut faults): SanitizeDraft,
    ) -> BoxFuture<'_, Result<SanitizeSettings, ApiError>> {
        Box::pin(async move {
            // An id that is none is a fault already.
            let named = settings.redact.redact_service_config_id.as_deref().and_then(ConfigId::parse);
            if let Some(id) = named {
                let found = self.0.get(&id).await;
                let at = Pointer::root().key("redact").key(REDACT_CONFIG);
                match found {
                    Ok(_) => {}
                    Err(ConfigError::Unknown) => {
                        faults.add(Code::ConfigNotExist, at, "there is no redact config of this id");
                    }
                    Err(ConfigError::Elsewhere) => {
                        let detail = "the config of this id is another service's";
                        faults.add(Code::ConfigServiceMismatch, at, detail);
                    }
                    Err(error) => return Err(error.unread()),
                }
            }
            faults.close().map(|()| settings)
        })
    }
}

fn settings(fields: &mut ObjectFields<'_>) -> SanitizeSettings {
    let name = fields.text_within("name", 1..=NAME).unwrap_or_default().to_owned();
    let cdr = fields.object("cdr", |cdr| Cdr {
        remove_attachments: cdr.flag("remove_attachments").unwrap_or(true),
        remove_interactive: cdr.flag("remove_interactive").unwrap_or(true),
    });
    let scan = fields.object("scan", |scan| {
        foreign(scan, "scan_service_config_id");
        Scan {
            scan_provider: text(scan, "scan_provider"),
            block_unable_to_scan: scan.flag("block_unable_to_scan").unwrap_or(false),
        }
    });
    let defang = fields.object("defang", |defang| {
        foreign(defang, "url_intel_config_id");
        foreign(defang, "domain_intel_config_id");
        Defang {
            enabled: defang.flag("enabled").unwrap_or(true),
            url_intel: defang.flag("url_intel").unwrap_or(false),
            domain_intel: defang.flag("domain_intel").unwrap_or(false),
            risk_threshold: threshold(defang),
            url_intel_provider: text(defang, "url_intel_provider"),
            domain_intel_provider: text(defang, "domain_intel_provider"),
        }
    });
    let redact = fields.object("redact", |redact| RedactOptions {
        enabled: redact.flag("enabled").unwrap_or(false),
        redact_service_config_id: config_id(redact),
    });
    let sos = fields.object("sos", |sos| {
        foreign(sos, "share_service_config_id");
        Sos {
            enabled: sos.flag("enabled").unwrap_or(false),
            retention_days: sos.integer("retention_days", 1),
        }
    });
    SanitizeSettings {
        name,
        cdr: cdr.unwrap_or_default(),
        scan: scan.unwrap_or_default(),
        defang: defang.unwrap_or_default(),
        redact: redact.unwrap_or_default(),
        sos: sos.unwrap_or_default(),
    }
}

fn text(fields: &mut ObjectFields<'_>, name: &'static str) -> Option<String> {
    fields.text_within(name, 1..=PROVIDER).map(str::to_owned)
}

fn threshold(fields: &mut ObjectFields<'_>) -> Option<u8> {
    let threshold = fields.integer("risk_threshold", 0)?;
    let fits = u8::try_from(threshold).ok().filter(|threshold| *threshold <= 100);
    if fits.is_none() {
        let at = fields.at("risk_threshold");
        fields.fault(Code::NotWithinRange, at, "must lie between 0 and 100");
    }
    fits
}

const REDACT_CONFIG: &str = "redact_service_config_id";

fn config_id(fields: &mut ObjectFields<'_>) -> Option<String> {
    let id = fields.text(REDACT_CONFIG)?;
    if ConfigId::parse(id).is_none() {
        let at = fields.at(REDACT_CONFIG);
        fields.fault(Code::DoesNotMatchPattern, at, "must be pci_ and 32 characters of a-z and 2-7");
    }
    Some(id.to_owned())
}
