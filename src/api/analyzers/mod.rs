//! Analyzers: programs beside us that are asked over HTTP what a text holds (the API of Presidio's analyzer: `POST
//! /analyze`), and whose findings go with those of our own detector.
//!
//! | file | noun |
//! |---|---|
//! | `analyzer` | [`Analyzer`]: one of them, and how it is asked about a text |
//! | `answer` | its answer, read and checked |
//! | `ask` | [`Analyzers`]: those that somebody uses, asked about all texts of one request |

mod analyzer;
mod answer;
mod ask;

pub use analyzer::{Analyzer, AnalyzerParts, OnFailure};
pub use answer::AnalyzerFault;
pub use ask::{Analyzers, AnalyzersParts, NotAnalyzed};
