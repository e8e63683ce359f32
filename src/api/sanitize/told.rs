//! What is told of a file: counts, findings, and what its reader should know besides.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::api::envelope::Dialect;
use crate::api::redact::Analysis;
use crate::sanitize::child::Stillborn;
use crate::sanitize::{Note, Orders, Record, Redaction, Refusal, Sanitized, Tally};

/// What was done to a file: a stage that was not asked for has no member.
pub fn data(orders: Orders, looked_up: (bool, bool), sanitized: &Sanitized) -> Value {
    let Sanitized { cleaned, record } = sanitized;
    let tally = &cleaned.tally;
    let mut data = Map::new();
    data.insert("malicious_file".to_owned(), json!(false));
    if orders.attachments || orders.interactive {
        let cdr = json!({
            "file_attachments_removed": tally.attachments,
            "interactive_contents_removed": tally.interactive,
        });
        data.insert("cdr".to_owned(), cdr);
    }
    if orders.links {
        data.insert("defang".to_owned(), defang(looked_up, tally, record));
    }
    if orders.redaction != Redaction::Off {
        data.insert("redact".to_owned(), redact(orders.redaction, tally, record));
    }
    Value::Object(data)
}

fn defang((urls, domains): (bool, bool), tally: &Tally, record: &Record) -> Value {
    let mut defang = json!({
        "external_urls_count": record.urls.len(),
        "external_domains_count": record.domains.len(),
        "defanged_count": tally.defanged,
    });
    if let Value::Object(members) = &mut defang {
        if urls {
            members.insert("url_intel_summary".to_owned(), json!(Record::summary("URLs", &record.urls)));
        }
        if domains {
            let summary = Record::summary("domains", &record.domains);
            members.insert("domain_intel_summary".to_owned(), json!(summary));
        }
    }
    defang
}

fn redact(redaction: Redaction, tally: &Tally, record: &Record) -> Value {
    let mut results: Vec<Value> = Vec::new();
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for report in &record.reports {
        for told in Analysis::of_document(report, Dialect::Documented).into_results() {
            let mut told = serde_json::to_value(told).unwrap_or_default();
            if let Value::Object(members) = &mut told {
                members.remove("data_key");
                if redaction == Redaction::Detect {
                    members.insert("redacted".to_owned(), json!(false));
                }
            }
            results.push(told);
        }
        for (_, name, count) in report.by_rule() {
            let counted = found.entry(name.to_owned()).or_default();
            *counted = counted.saturating_add(count as u64);
        }
    }
    let (count, counts) = match redaction {
        Redaction::Detect => (0, &found),
        _ => (tally.redacted.values().sum::<u64>(), &tally.redacted),
    };
    json!({ "redaction_count": count, "summary_counts": counts, "recognizer_results": results })
}

/// What its reader should know besides the counts, for people.
pub fn summary(Sanitized { cleaned, record }: &Sanitized) -> String {
    let mut text = "The file was sanitized.".to_owned();
    let mut tell = |count: u64, what: &str| {
        if count > 0 {
            text.push_str(&format!(" {count} {what}."));
        }
    };
    for (note, count) in &cleaned.tally.notes {
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
        Note::Dropped => "parts were left out because they cannot be rewritten",
    }
}

/// Why a file is not released, in words for its owner.
pub fn why(error: &Stillborn) -> &'static str {
    match error {
        Stillborn::Start(_) => "no process could be started to read it",
        Stillborn::Died => "it could not be read within the limits of memory and time",
        Stillborn::Refused(_, refusal) => match refusal {
            Refusal::Malicious => "it is malicious",
            Refusal::Provider => "a scan or reputation provider gave no answer",
            Refusal::Encrypted => "it cannot be opened without a password",
            Refusal::Malformed => "it is broken, or not what it seems to be",
            Refusal::Unsupported => "files of its kind cannot be cleaned here",
            Refusal::OverLimit => "it unfolds to more than the limits allow",
            Refusal::Unproven => "what had to go could not be removed",
            Refusal::NotScanned => "it cannot be scanned, and the config wants that",
        },
    }
}
