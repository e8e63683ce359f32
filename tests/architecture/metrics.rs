//! The metrics that `src/telemetry/metrics` registers, and the reference that is made of them.

use crate::source::code;

/// Where metrics are registered: the methods of `Families`, each with what Prometheus calls what it makes.
const KINDS: [(&str, &str); 9] = [
    ("counter", "counter"),
    ("counters", "counter"),
    ("amounts", "counter"),
    ("gauge", "gauge"),
    ("gauges", "gauge"),
    ("histogram", "histogram"),
    ("histograms", "histogram"),
    ("foreign_counter", "counter"),
    ("foreign", "gauge"),
];

/// One metric.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Metric {
    pub(crate) name: String,
    kind: &'static str,
    labels: Vec<String>,
    help: String,
}

/// The metrics that a file registers. What is registered otherwise than with words in its place is a complaint.
pub(crate) fn metrics(text: &str) -> Result<Vec<Metric>, String> {
    let mut found = Vec::new();
    for rest in text.split("families").skip(1) {
        let Some(call) = rest.trim_start().strip_prefix('.') else { continue };
        let Some((method, rest)) = call.split_once('(') else { continue };
        let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == method) else { continue };
        let (name, rest) = string(rest).ok_or_else(|| format!("a {method} whose name is not a string"))?;
        let (help, rest) = string(rest).ok_or_else(|| format!("{name}: its help is not a string"))?;
        let labels = match rest.trim_start().strip_prefix("&[") {
            Some(list) if list.trim_start().starts_with('"') => list.split(']').next().unwrap_or_default(),
            _ => "",
        };
        let labels = labels.split('"').skip(1).step_by(2).map(str::to_owned).collect();
        let prefix = if method.starts_with("foreign") { "" } else { "portcullis_" };
        found.push(Metric { name: format!("{prefix}{name}"), kind, labels, help });
    }
    Ok(found)
}

/// The string that a list of arguments begins with, and what follows its comma.
fn string(arguments: &str) -> Option<(String, &str)> {
    let (text, rest) = arguments.trim_start().strip_prefix('"')?.split_once('"')?;
    let rest = rest.trim_start();
    Some((text.to_owned(), rest.strip_prefix(',').unwrap_or(rest)))
}

/// The reference of these metrics.
pub(crate) fn page(metrics: &[Metric]) -> String {
    let mut out = "| metric | kind | labels | what it counts |\n|---|---|---|---|\n".to_owned();
    for Metric { name, kind, labels, help } in metrics {
        let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        out.push_str(&format!("| `{name}` | {kind} | {} | {help} |\n", labels.join(" ")));
    }
    out
}

/// As [`code`], in which strings are left out: how often a method is called that registers one.
pub(crate) fn registrations(text: &str) -> usize {
    let code = code(text);
    let calls = code.split("families").skip(1).filter(|rest| {
        let call = rest.trim_start().strip_prefix('.').and_then(|call| call.split_once('('));
        call.is_some_and(|(method, _)| KINDS.iter().any(|(known, _)| *known == method))
    });
    calls.count()
}

#[test]
fn metrics_are_read_as_they_are_registered() {
    let text = r#"a: families.counter("a_total", "As.")?, b: families
        .histograms("b_seconds", "Bs.", &["x", "y"], SECONDS)?, c: families.foreign("c", "Cs.")?,
        d: families.histogram("d", "Ds.", &[0.0, 1.0])?, e: families.iter()"#;
    let metric = |name: &str, kind, labels: &[&str], help: &str| Metric {
        name: name.to_owned(),
        kind,
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        help: help.to_owned(),
    };
    let expected = vec![
        metric("portcullis_a_total", "counter", &[], "As."),
        metric("portcullis_b_seconds", "histogram", &["x", "y"], "Bs."),
        metric("c", "gauge", &[], "Cs."),
        metric("portcullis_d", "histogram", &[], "Ds."),
    ];
    assert_eq!(metrics(text), Ok(expected));
    assert_eq!(registrations(text), 4);
    assert!(metrics("families.counter(name, \"As.\")").is_err());
    assert!(
        page(&metrics(text).unwrap_or_default())
            .contains("| `portcullis_b_seconds` | histogram | `x` `y` | Bs. |\n")
    );
}
