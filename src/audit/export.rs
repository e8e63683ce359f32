//! [`export`]: lines of the audit log for other programs, as they are or as CSV.

use std::io::{BufRead, Write};

use serde_json::Value;

use crate::audit::chain::{NextLine, is_torn, next_line};
use crate::audit::error::AuditError;
use crate::audit::verify::{BrokenLine, LineFault};
use crate::base::clock::Timestamp;

/// How lines are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// As they stand in the log, byte by byte.
    JsonLines,
    /// RFC 4180, with a header row and the same columns in every row. Labels and findings are JSON in one
    /// column each. Before a text that a spreadsheet would take for a formula stands a single quote.
    Csv,
}

impl ExportFormat {
    /// Every format.
    pub const ALL: [Self; 2] = [Self::JsonLines, Self::Csv];

    /// How it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::JsonLines => "jsonl",
            Self::Csv => "csv",
        }
    }

    /// The format that is written so.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == text)
    }
}

/// Which lines are exported: those that fit all that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportFilter {
    /// From this time on.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    /// Of the API token with this id.
    pub token: Option<String>,
    /// Of the route with this name.
    pub route: Option<String>,
}

/// What became of the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Lines that were written.
    pub lines: u64,
    /// Lines that did not fit the filter.
    pub left_out: u64,
    /// Lines that were being written when the process or the machine stopped. They are not exported.
    pub torn: u64,
}

/// The columns, and where their values stand in a line (JSON Pointer).
const COLUMNS: &[(&str, &str)] = &[
    ("seq", "/seq"),
    ("node", "/node"),
    ("time", "/time"),
    ("kind", "/kind"),
    ("request_id", "/request_id"),
    ("token", "/token"),
    ("token_name", "/token_name"),
    ("subject", "/subject"),
    ("certificate", "/certificate"),
    ("client", "/client"),
    ("labels", "/labels"),
    ("labels_left_out", "/labels_left_out"),
    ("method", "/method"),
    ("route", "/route"),
    ("path_protocol", "/path_protocol"),
    ("model", "/model"),
    ("upstream", "/upstream"),
    ("status", "/status"),
    ("decision", "/decision"),
    ("reason", "/reason"),
    ("findings", "/findings"),
    ("findings_left_out", "/findings_left_out"),
    ("redacted", "/redacted"),
    ("restored", "/restored"),
    ("input_tokens", "/tokens/input"),
    ("cached_input_tokens", "/tokens/cached_input"),
    ("output_tokens", "/tokens/output"),
    ("reasoning_tokens", "/tokens/reasoning"),
    ("tokens_estimated", "/tokens/estimated"),
    ("cost_usd", "/cost_usd"),
    ("took_us", "/took_us"),
    ("act", "/act"),
    ("target", "/target"),
    ("prev", "/prev"),
    ("hash", "/hash"),
];

/// What makes a spreadsheet run a text when it begins with it; some take the wide forms for the same.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Reads lines to their end and writes those that fit the filter. Holds one line at a time. It does not check
/// the chain: for that there is [`verify`](crate::audit::verify()).
///
/// # Errors
/// [`AuditError::Line`] for the first line that is none or cannot be read, [`AuditError::Export`] if the
/// writer fails. What came before is written.
pub fn export(
    mut reader: impl BufRead,
    mut writer: impl Write,
    format: ExportFormat,
    filter: &ExportFilter,
) -> Result<Exported, AuditError> {
    let mut found = Exported::default();
    let mut text = Vec::new();
    if format == ExportFormat::Csv {
        writer.write_all(header().as_bytes()).map_err(AuditError::Export)?;
    }
    for line in 1.. {
        let broken = |why| AuditError::Line(BrokenLine { line, why });
        match next_line(&mut reader, &mut text) {
            Ok(NextLine::End) => break,
            Ok(NextLine::Line) => {}
            Ok(NextLine::TooLong) => return Err(broken(LineFault::TooLong)),
            Err(cause) => return Err(broken(LineFault::Io(cause))),
        }
        let Ok(value) = serde_json::from_slice::<Value>(&text) else {
            if !is_torn(&text, None) {
                return Err(broken(LineFault::Form));
            }
            found.torn += 1;
            continue;
        };
        if !filter.takes(&value).ok_or_else(|| broken(LineFault::Form))? {
            found.left_out += 1;
            continue;
        }
        match format {
            ExportFormat::JsonLines => text.push(b'\n'),
            ExportFormat::Csv => text = row(&value).into_bytes(),
        }
        writer.write_all(&text).map_err(AuditError::Export)?;
        found.lines += 1;
    }
    writer.flush().map_err(AuditError::Export)?;
    Ok(found)
}

impl ExportFilter {
    /// `None` for what is no line of an audit log.
    fn takes(&self, line: &Value) -> Option<bool> {
        let text = |name: &str| line.get(name).and_then(Value::as_str);
        let time = Timestamp::parse_iso8601(text("time")?)?;
        Some(
            self.since.is_none_or(|since| time >= since)
                && self.until.is_none_or(|until| time < until)
                && (self.token.is_none() || self.token.as_deref() == text("token"))
                && (self.route.is_none() || self.route.as_deref() == text("route")),
        )
    }
}

fn header() -> String {
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    names.join(",") + "\r\n"
}

fn row(line: &Value) -> String {
    let fields = COLUMNS.iter().map(|(_, place)| match line.pointer(place) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => field(text),
        Some(other) => field(&other.to_string()),
    });
    fields.collect::<Vec<_>>().join(",") + "\r\n"
}

fn field(text: &str) -> String {
    let safe = if text.starts_with(FORMULA) { format!("'{text}") } else { text.to_owned() };
    if safe.contains([',', '"', '\r', '\n']) { format!("\"{}\"", safe.replace('"', "\"\"")) } else { safe }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::audit::chain::{Chain, ChainLink, sample, samples};
    use crate::audit::event::{AuditEvent, AuditTokens};
    use crate::base::id::TokenId;

    fn exported(text: &str, format: ExportFormat, filter: &ExportFilter) -> (String, Exported) {
        let mut out = Vec::new();
        let found = export(text.as_bytes(), &mut out, format, filter).unwrap();
        (String::from_utf8(out).unwrap(), found)
    }

    fn line(event: &AuditEvent<'_>) -> String {
        Chain::after(ChainLink::START).seal("node-1", &event.members())
    }

    #[test]
    fn lines_are_exported_as_they_are() {
        let log = samples(3).concat();
        let torn = log.clone() + "{\"seq\":4,";
        let (out, found) = exported(&torn, ExportFormat::JsonLines, &ExportFilter::default());
        assert_eq!((out, found), (log, Exported { lines: 3, left_out: 0, torn: 1 }));
    }

    #[test]
    fn filters_take_what_fits_them_all() {
        let (one, other) = (TokenId::from_random([1; 20]), TokenId::from_random([2; 20]));
        // At 1, 2 and 3 seconds.
        let log = [
            line(&AuditEvent { token: Some(&one), ..sample(1) }),
            line(&AuditEvent { token: Some(&other), ..sample(2) }),
            line(&AuditEvent { token: Some(&one), route: "mail", ..sample(3) }),
        ];
        let at = |seconds: u64| Some(Timestamp::from_millis(seconds * 1000));
        let token = Some(one.to_string());
        let none = ExportFilter::default;
        let rows: [(ExportFilter, &[usize]); 7] = [
            (none(), &[0, 1, 2]),
            (ExportFilter { since: at(2), ..none() }, &[1, 2]),
            (ExportFilter { until: at(2), ..none() }, &[0]),
            (ExportFilter { token: token.clone(), ..none() }, &[0, 2]),
            (ExportFilter { route: Some("chat".to_owned()), ..none() }, &[0, 1]),
            (ExportFilter { token, route: Some("mail".to_owned()), ..none() }, &[2]),
            (ExportFilter { since: at(4), ..none() }, &[]),
        ];
        for (filter, kept) in rows {
            let expected: String = kept.iter().map(|n| log[*n].as_str()).collect();
            let (out, found) = exported(&log.concat(), ExportFormat::JsonLines, &filter);
            assert_eq!((out, found.lines + found.left_out), (expected, 3), "{filter:?}");
        }
    }

    #[test]
    fn rows_have_the_columns_of_the_header() {
        let labels: BTreeMap<String, String> = [("team".to_owned(), "a, \"b\"".to_owned())].into();
        let tokens = AuditTokens { input: 6, cached_input: 7, output: 8, reasoning: 9, estimated: true };
        let event = AuditEvent {
            labels: &labels,
            tokens: Some(tokens),
            cost_nanodollars: Some(123_400),
            ..sample(10)
        };
        let line = line(&event);
        let (out, _) = exported(&line, ExportFormat::Csv, &ExportFilter::default());
        let (header, row) = out.split_once("\r\n").unwrap();
        assert!(header.starts_with("seq,node,time,kind,request_id,token,") && header.ends_with(",prev,hash"));
        let value: Value = serde_json::from_str(&line).unwrap();
        let hashes = format!("{},{}", value["prev"].as_str().unwrap(), value["hash"].as_str().unwrap());
        let expected = [
            "1,node-1,1970-01-01T00:00:10.000Z,request,,,,,,,",
            "\"{\"\"team\"\":\"\"a, \\\"\"b\\\"\"\"\"}\",,,chat,,,,",
            "0,passed,,,,0,0,6,7,8,9,true,0.000123400,10,,,",
            &hashes,
            "\r\n",
        ];
        assert_eq!(row, expected.concat());
    }

    #[test]
    fn spreadsheets_run_nothing() {
        for text in ["=1+1", "+1", "-1", "@sum", "\t=1", "\r=1", "\n=1", "＝1"] {
            let event = AuditEvent { model: Some(text), ..sample(1) };
            let (out, _) = exported(&line(&event), ExportFormat::Csv, &ExportFilter::default());
            let shown = format!("'{text}");
            let quoted = format!(",\"{shown}\",");
            assert!(out.contains(&format!(",{shown},")) || out.contains(&quoted), "{out}");
        }
        assert_eq!(field("a=1"), "a=1");
        assert_eq!(field("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
    }

    #[test]
    fn what_is_no_line_ends_the_export() {
        let log = samples(2).concat();
        for (more, expected) in [("[1]\n", "line 3: "), ("{\"a\":1}\n", "line 3: "), ("no\n", "line 3: ")] {
            let mut out = Vec::new();
            let text = log.clone() + more;
            let filter = ExportFilter::default();
            let error = export(text.as_bytes(), &mut out, ExportFormat::JsonLines, &filter).unwrap_err();
            assert!(error.to_string().starts_with(expected), "{error}");
            assert_eq!(out, log.as_bytes());
        }
    }
}
