//! What a job's answer says (specification, "Sanitize result").

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::api::envelope::Dialect;
use crate::api::pending::Ended;
use crate::api::redact::Analysis;
use crate::api::sanitize::run::Order;
use crate::sanitize::child::Cleaned;
use crate::sanitize::{Note, Record, Redaction, Tally};

/// Where a clean file lies.
pub(super) enum Place {
    /// At this URL, for a while.
    Url(String),
    /// In the share of files, under this id.
    Share(String),
}

/// The answer about a malicious file: it goes nowhere.
pub(super) fn malicious(parameters: &Map<String, Value>) -> Ended {
    let result = json!({ "parameters": parameters, "data": { "malicious_file": true } });
    Ended::success("The file is malicious and was not released".to_owned(), result)
}

/// The answer with a clean file.
pub(super) fn clean(order: &Order, place: Place, cleaned: &Cleaned, record: &Record) -> Ended {
    let orders = order.resolved.orders;
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
        data.insert("defang".to_owned(), defang(order, tally, record));
    }
    if orders.redaction != Redaction::Off {
        data.insert("redact".to_owned(), redact(orders.redaction, tally, record));
    }
    let mut result = Map::new();
    let (member, text) = match place {
        Place::Url(url) => ("dest_url", url),
        Place::Share(id) => ("dest_share_id", id),
    };
    result.insert(member.to_owned(), json!(text));
    result.insert("parameters".to_owned(), json!(order.parameters));
    result.insert("data".to_owned(), Value::Object(data));
    Ended::success(summary(tally, record), Value::Object(result))
}

fn defang(order: &Order, tally: &Tally, record: &Record) -> Value {
    let mut defang = json!({
        "external_urls_count": record.urls.len(),
        "external_domains_count": record.domains.len(),
        "defanged_count": tally.defanged,
    });
    if let Value::Object(members) = &mut defang {
        if order.resolved.url_intel.is_some() {
            members.insert("url_intel_summary".to_owned(), json!(Record::summary("URLs", &record.urls)));
        }
        if order.resolved.domain_intel.is_some() {
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

/// What its reader should know besides the counts.
fn summary(tally: &Tally, record: &Record) -> String {
    let mut text = "The file was sanitized.".to_owned();
    let mut tell = |count: u64, what: &str| {
        if count > 0 {
            text.push_str(&format!(" {count} {what}."));
        }
    };
    for (note, count) in &tally.notes {
        tell(*count, told(*note));
    }
    tell(record.unscanned, "parts could not be scanned");
    text
}

fn told(note: Note) -> &'static str {
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
