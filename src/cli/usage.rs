//! `portcullis usage`: what requests to models took, from the store.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::app::OpenStore;
use crate::base::calendar::CalendarPeriod;
use crate::base::clock::Timestamp;
use crate::cli::args::InstanceArgs;
use crate::cli::failure::Failure;
use crate::cli::settings::here;
use crate::cli::streams::{message, result};
use crate::cli::style::PLAIN;
use crate::cli::table::Table;
use crate::cli::usage_args::{GroupArg, ReportArgs};
use crate::config::Requirements;
use crate::usage::{UsageKey, UsageReport, UsageRow, UsageTotals};

pub(super) fn run(place: &InstanceArgs, report: &ReportArgs) -> Result<(), Failure> {
    let config = here(place, Requirements::STORE)?;
    let opened = OpenStore::existing(&config)?;
    let since = match &report.since {
        None => CalendarPeriod::Month.around(opened.clock.now()).start,
        Some(day) => {
            let wrong = || Failure::Usage("--since takes a day such as 2027-01-31".to_owned());
            Timestamp::parse_iso8601(&format!("{day}T00:00:00Z")).ok_or_else(wrong)?
        }
    };
    let rows = opened.io.block_on(UsageReport::read(opened.records.as_ref(), since));
    opened.io.block_on(opened.records.close());
    let rows = rows.map_err(|error| Failure::App(crate::app::AppError::Io(format!("the store: {error}"))))?;
    let sums = summed(rows, &report.by);
    if sums.is_empty() {
        message("nothing was counted; [usage] in the configuration says what is");
    }
    if report.json {
        return sums.iter().try_for_each(|(key, totals)| result(&json(key, &report.by, totals)));
    }
    let groups: Vec<String> = report.by.iter().map(|group| name(*group).to_uppercase()).collect();
    let sums_of = ["REQUESTS", "INPUT", "CACHED", "OUTPUT", "REASONING", "ESTIMATED", "USD"];
    let heads: Vec<&str> = groups.iter().map(String::as_str).chain(sums_of).collect();
    let mut table = Table::new(&heads);
    for (key, totals) in &sums {
        let UsageTotals { requests, estimated, tokens, cost } = totals;
        let numbers =
            [*requests, tokens.input, tokens.cached_input, tokens.output, tokens.reasoning, *estimated];
        let numbers = numbers.iter().map(ToString::to_string).chain([cost.to_string()]);
        table.row(key.iter().cloned().chain(numbers).collect(), PLAIN);
    }
    table.print()
}

/// Sums of equal groups.
fn summed(rows: Vec<UsageRow>, by: &[GroupArg]) -> BTreeMap<Vec<String>, UsageTotals> {
    let mut sums: BTreeMap<Vec<String>, UsageTotals> = BTreeMap::new();
    for UsageRow { key, totals } in rows {
        let UsageKey { day, token, route, model } = key;
        let part = |group: &GroupArg| match group {
            GroupArg::Day => day.clone(),
            GroupArg::Token => token.clone(),
            GroupArg::Route => route.clone(),
            GroupArg::Model => model.clone(),
        };
        let shown = |text: String| if text.is_empty() { "-".to_owned() } else { text };
        *sums.entry(by.iter().map(part).map(shown).collect()).or_default() += totals;
    }
    sums
}

fn name(group: GroupArg) -> &'static str {
    match group {
        GroupArg::Day => "day",
        GroupArg::Token => "token",
        GroupArg::Route => "route",
        GroupArg::Model => "model",
    }
}

fn json(key: &[String], by: &[GroupArg], totals: &UsageTotals) -> String {
    let UsageTotals { requests, estimated, tokens, cost } = totals;
    let mut line = Map::new();
    for (group, text) in by.iter().zip(key) {
        line.insert(name(*group).to_owned(), Value::from(text.as_str()));
    }
    for (name, number) in [
        ("requests", *requests),
        ("input_tokens", tokens.input),
        ("cached_input_tokens", tokens.cached_input),
        ("cache_write_tokens", tokens.cache_write),
        ("output_tokens", tokens.output),
        ("reasoning_tokens", tokens.reasoning),
        ("estimated_requests", *estimated),
    ] {
        line.insert(name.to_owned(), Value::from(number));
    }
    line.insert("cost_usd".to_owned(), Value::from(cost.to_string()));
    Value::Object(line).to_string()
}
