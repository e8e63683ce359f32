//! [`Paging`]: the part of a long list that a page shows, and the ways to the others.

use maud::{Markup, html};

use crate::console::amounts::number;
use crate::console::form::Form;

/// Entries on a page.
const PAGE: usize = 100;

/// The part of a long list that a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Paging {
    from: usize,
    found: usize,
}

impl Paging {
    /// The part of so many entries that a query asks for; of a list that has become shorter since, its end.
    pub(super) fn read(query: &Form, found: usize) -> Self {
        let from: usize = query.text("from").parse().unwrap_or(0);
        let last = found.saturating_sub(1) / PAGE * PAGE;
        Self { from: from.min(last), found }
    }

    /// The entries of that part.
    pub(super) fn part<T>(self, all: Vec<T>) -> Vec<T> {
        all.into_iter().skip(self.from).take(PAGE).collect()
    }

    /// The ways to the pages before and behind it, where there are any; `link` says where the page is that begins there.
    pub(super) fn links(self, link: impl Fn(usize) -> String) -> Markup {
        let end = self.found.min(self.from + PAGE);
        let shown = |entry: usize| number(entry as u64);
        html! {
            @if self.found > PAGE {
                nav aria-label="Pages" {
                    div.row {
                        @if self.from > 0 { a.button rel="prev" href=(link(self.from.saturating_sub(PAGE))) { "Previous" } }
                        span.quiet { (shown(self.from + 1)) " to " (shown(end)) " of " (shown(self.found)) }
                        @if end < self.found { a.button rel="next" href=(link(end)) { "Next" } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paging(query: &str, found: usize) -> Paging {
        Paging::read(&Form::read(query.as_bytes()).unwrap(), found)
    }

    #[test]
    fn every_entry_is_on_one_page_and_pages_lead_to_each_other() {
        let mut seen = Vec::new();
        let mut from = Some(0);
        while let Some(at) = from {
            let one = paging(&format!("from={at}"), 250);
            seen.extend(one.part((0..250).collect::<Vec<usize>>()));
            let links = one.links(|entry| format!("/x?from={entry}")).into_string();
            let next = links.split("rel=\"next\" href=\"/x?from=").nth(1);
            from = next.and_then(|rest| rest.split('"').next()).map(|entry| entry.parse().unwrap());
            assert_eq!(links.contains("rel=\"prev\""), at > 0, "{at}");
        }
        assert_eq!(seen, (0..250).collect::<Vec<usize>>());
    }

    #[test]
    fn a_page_that_is_none_is_the_last_or_the_first_one() {
        for (query, found, from) in [
            ("", 250, 0),
            ("from=x", 250, 0),
            ("from=-1", 250, 0),
            ("from=250", 250, 200),
            ("from=18446744073709551615", 250, 200),
            ("from=100", 0, 0),
            ("from=100", 100, 0),
        ] {
            assert_eq!(paging(query, found).from, from, "{query} of {found}");
        }
        assert_eq!(paging("", 100).links(|_| String::new()).into_string(), "");
    }
}
