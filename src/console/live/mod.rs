//! Figures and requests as they come: the last hour in memory, and nothing behind it.
//!
//! | file | noun |
//! |---|---|
//! | `quantile` | quantiles of what a histogram has observed between two looks |
//! | `group` | [`MetricGroup`](group::MetricGroup): what of all that is counted is drawn |
//! | `reading` | [`MetricsReader`](reading::MetricsReader): figures out of two looks at what is counted |
//! | `track` | [`Tracks`](track::Tracks): the last hour of a bounded number of figures |
//! | `window` | [`Windows`](window::Windows): percentiles over the ranges of time that the page offers |
//! | `history` | [`History`]: all of them, for browsers |
//! | `sampler` | [`sample`]: fills it |
//! | `requests` | the last requests, for browsers |
//! | `page` | the page |
//! | `section` | [`LivePages`]: what is answered |

mod group;
mod history;
mod page;
mod quantile;
mod reading;
mod requests;
mod sampler;
mod section;
mod track;
mod window;

pub use history::History;
pub use sampler::{Figures, sample};
pub(super) use section::LivePages;
