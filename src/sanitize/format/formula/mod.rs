//! Formulas of workbooks, as Office Open XML and OpenDocument have them: those that fetch or start something, show links that
//! act, or refer to another file.
//!
//! | file | noun |
//! |---|---|
//! | `functions` | what functions are called, and which fetch or call something |
//! | `pieces` | formulas in pieces: code, strings, names |
//! | `call_kind` | what calls become by their arguments |
//! | `made_text` | texts that formulas make |
//! | `links` | where links lead that formulas make |
//! | `references` | which references that formulas make name another book |
//! | `active` | which formulas act, and which refer to another workbook of Office |
//! | `documents` | which refer to another OpenDocument |

mod active;
mod call_kind;
mod documents;
mod functions;
mod links;
mod made_text;
mod pieces;
mod references;

pub(super) use active::{acts, calls, refers_to_workbook};
pub(super) use documents::refers_to_document;
pub(super) use pieces::{FormulaDialect, are_within_strings};
