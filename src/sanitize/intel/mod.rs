//! What is known of URLs and domains: feeds in memory, and providers elsewhere.
//!
//! | file | noun |
//! |---|---|
//! | `canonical` | [`Canonical`]: one spelling for all spellings of a URL or domain |

mod canonical;

pub use canonical::Canonical;
