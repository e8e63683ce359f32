//! What is told of a file: counts, findings, and what its reader should know besides.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::api::envelope::Dialect;
use crate::api::redact::{Analysis, Entities};
use crate::sanitize::intel::Reputation;
use crate::sanitize::sandbox::SandboxError;
use crate::sanitize::{
    ContentLocation, Note, Options, RedactionMode, RejectedFile, Rejection, Sanitized, ScanRecord, Scores,
    Stats,
};

/// Who was asked about links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookedUp {
    /// Nobody: that was not wanted.
    No,
    /// A provider that knows nothing: it has no feeds.
    Unknowing,
    /// A provider.
    Yes,
}

impl LookedUp {
    /// By the provider that is asked.
    pub fn by(provider: Option<&dyn Reputation>) -> Self {
        match provider {
            None => Self::No,
            Some(provider) if provider.is_empty() => Self::Unknowing,
            Some(_) => Self::Yes,
        }
    }

    /// What is told of what was found, if it was looked up: counts, and whether they mean anything.
    fn summary(self, what: &str, scores: &Scores) -> Option<String> {
        let counts = ScanRecord::summary(what, scores);
        match self {
            Self::No => None,
            Self::Unknowing => Some(format!("{counts} {UNKNOWING}")),
            Self::Yes => Some(counts),
        }
    }
}

/// Said where links are looked up by a provider without feeds: that none is known to be bad says nothing of them.
const UNKNOWING: &str = "Nothing was asked: the provider has no feeds (sanitize.intel.feeds).";

/// What was asked of a file, as far as its answer depends on that.
pub struct SanitizeTerms<'a> {
    /// What was to be done.
    pub options: Options,
    /// Who was asked about its URLs.
    pub urls: LookedUp,
    /// Who was asked about its domains.
    pub domains: LookedUp,
    /// What findings of some rules are reported as.
    pub entities: &'a Entities,
}

/// What was done to a file: a stage that was not asked for has no member.
pub fn data(asked: &SanitizeTerms<'_>, sanitized: &Sanitized) -> Value {
    let options = asked.options;
    let Sanitized { cleaned, record, .. } = sanitized;
    let stats = &cleaned.stats;
    let mut data = Map::new();
    // Of a file of which a scanner could not look at all, nobody knows.
    if record.unscanned == 0 {
        data.insert("malicious_file".to_owned(), json!(false));
    }
    if options.attachments || options.interactive {
        let cdr = json!({
            "file_attachments_removed": stats.attachments,
            "interactive_contents_removed": stats.interactive,
        });
        data.insert("cdr".to_owned(), cdr);
    }
    if options.links {
        data.insert("defang".to_owned(), defang(asked, stats, record));
    }
    if options.redaction != RedactionMode::Off {
        data.insert("redact".to_owned(), redact(asked, stats, record));
    }
    data.insert("objects".to_owned(), json!(stats.objects.list));
    if stats.objects.left_out > 0 {
        data.insert("objects_left_out".to_owned(), json!(stats.objects.left_out));
    }
    data.insert("notes".to_owned(), json!(notes(stats, record)));
    Value::Object(data)
}

/// What was not looked into, or lost, and how often.
fn notes(stats: &Stats, record: &ScanRecord) -> BTreeMap<Note, u64> {
    let mut notes = stats.notes.clone();
    if record.unscanned > 0 {
        let all = notes.entry(Note::NotScanned).or_default();
        *all = all.saturating_add(record.unscanned);
    }
    notes
}

fn defang(asked: &SanitizeTerms<'_>, stats: &Stats, record: &ScanRecord) -> Value {
    let mut defang = json!({
        "external_urls_count": record.urls.len(),
        "external_domains_count": record.domains.len(),
        "defanged_count": stats.defanged,
    });
    if let Value::Object(members) = &mut defang {
        if let Some(summary) = asked.urls.summary("URLs", &record.urls) {
            members.insert("url_intel_summary".to_owned(), json!(summary));
        }
        if let Some(summary) = asked.domains.summary("domains", &record.domains) {
            members.insert("domain_intel_summary".to_owned(), json!(summary));
        }
    }
    defang
}

fn redact(asked: &SanitizeTerms<'_>, stats: &Stats, record: &ScanRecord) -> Value {
    let (redaction, entities) = (asked.options.redaction, asked.entities);
    let mut results: Vec<Value> = Vec::new();
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for report in &record.reports {
        for told in Analysis::of_document(report, Dialect::Documented).called(entities).into_results() {
            let mut told = serde_json::to_value(told).unwrap_or_default();
            if let Value::Object(members) = &mut told {
                members.remove("data_key");
                if redaction == RedactionMode::Detect {
                    members.insert("redacted".to_owned(), json!(false));
                }
            }
            results.push(told);
        }
        for (_, name, count) in report.by_rule() {
            let counted = found.entry(entities.of(name).to_owned()).or_default();
            *counted = counted.saturating_add(count as u64);
        }
    }
    let mut redacted: BTreeMap<String, u64> = BTreeMap::new();
    for (name, count) in &stats.redacted {
        let counted = redacted.entry(entities.of(name).to_owned()).or_default();
        *counted = counted.saturating_add(*count);
    }
    let (count, counts) = match redaction {
        RedactionMode::Detect => (0, found),
        _ => (redacted.values().sum::<u64>(), redacted),
    };
    json!({ "redaction_count": count, "summary_counts": counts, "recognizer_results": results })
}

/// What its reader should know besides the counts, for people.
pub fn summary(asked: &SanitizeTerms<'_>, Sanitized { cleaned, record, .. }: &Sanitized) -> String {
    let mut text = "The file was sanitized.".to_owned();
    if [asked.urls, asked.domains].contains(&LookedUp::Unknowing) && !record.domains.is_empty() {
        text.push_str(" Links were looked up, but nothing was asked: the provider has no feeds.");
    }
    let mut tell = |count: u64, what: &str| {
        if count > 0 {
            text.push_str(&format!(" {count} {what}."));
        }
    };
    for (note, count) in &cleaned.stats.notes {
        tell(*count, noted(*note));
    }
    tell(record.unscanned, "parts could not be scanned");
    text
}

fn noted(note: Note) -> &'static str {
    match note {
        Note::ImageOnly => "pages or parts contain only images; text in images was not examined",
        Note::Images => "images were not examined for text",
        Note::Undecodable => "characters could not be read from their glyphs and were not examined",
        Note::Signatures => "signatures were removed, since the change makes them invalid",
        Note::Passed => "parts of a kind that cannot be rewritten were passed as they are",
        Note::NotScanned => "parts were not scanned",
        Note::Dropped => "parts were left out because they cannot be rewritten, or are scripts",
        Note::Renamed => "names did not fit what the files are, and were put right",
    }
}

/// Why a file is not released, for programs: a word, where in it that lies, and what is known of one that is malicious.
pub fn refusal(error: &SandboxError) -> Value {
    let mut told = Map::new();
    let reason = match error {
        SandboxError::Start(_) => "not_started",
        SandboxError::Died => "limits",
        SandboxError::Rejected(refusal) => refusal.rejection.word(),
    };
    told.insert("reason".to_owned(), json!(reason));
    if let SandboxError::Rejected(RejectedFile { spot, threat, .. }) = error {
        if *spot != ContentLocation::default() {
            told.insert("where".to_owned(), json!(spot));
        }
        if let Some(threat) = threat {
            told.insert("threat".to_owned(), json!({ "rule": threat.rule, "scanner": threat.scanner }));
        }
    }
    Value::Object(told)
}

/// Why a file is not released, in words for its owner.
pub fn why(error: &SandboxError) -> &'static str {
    match error {
        SandboxError::Start(_) => "no process could be started to read it",
        SandboxError::Died => "it could not be read within the limits of memory and time",
        SandboxError::Rejected(refusal) => match refusal.rejection {
            Rejection::Malicious => "it is malicious",
            Rejection::Provider => "a scan or reputation provider gave no answer",
            Rejection::Spent(_) => "too many different values are encrypted or hashed for its owner",
            Rejection::Encrypted => "it cannot be opened without a password",
            Rejection::WrongPassword => "the password that was given does not open it",
            Rejection::Malformed => "it is broken, or not what it seems to be",
            Rejection::Traversal => "a name in it leads out of the folder that it is unpacked to",
            Rejection::Symlink => "a member of it is a link to another file",
            Rejection::DuplicateName => "two of its members have one name",
            Rejection::Doctype => "it declares a document type or entities of its own",
            Rejection::Unsupported => "files of its kind cannot be cleaned here",
            Rejection::Script => {
                "it is a script, which acts when it is opened; sanitize.scripts can release it as text"
            }
            Rejection::OverLimit => "it unfolds to more than the limits allow",
            Rejection::Unproven => "what had to go could not be removed",
            Rejection::Unread => {
                "images, or characters without a meaning, in it could not be read; sanitize.on_unread can let it pass"
            }
            Rejection::NotScanned => "it cannot be scanned, and the config wants that",
        },
    }
}
