//! Times as pages show them.

use maud::{Markup, html};

use crate::base::clock::Timestamp;

/// To the minute, in UTC.
pub(super) fn minute(time: Timestamp) -> Markup {
    let shown = time.iso8601();
    let (day, rest) = shown.split_once('T').unwrap_or((&shown, ""));
    let clock: String = rest.chars().take(5).collect();
    html! { time datetime=(shown) { (day) " " (clock) } }
}
