//! Office Open XML (ECMA-376, ISO/IEC 29500), transitional and strict: documents, workbooks and presentations.
//! Macros, controls, embedded and linked files go, with the relationships that name them and the elements that refer
//! to those; the rest keeps its bytes.
//!
//! What is counted:
//!
//! * `attachments`: each part that is a file of its own: embedded objects and packages (a chart's workbook; the chart
//!   stays), pages that are merged on opening (`altChunk`), parts of a kind that no document needs.
//! * `interactive`: each thing that acts, once: a macro project, a macro or dialog sheet, a control, a customised
//!   ribbon, toolbar or keyboard, an add-in, a link to another workbook, a relationship that leads out of the package
//!   (templates, pictures and objects elsewhere), a link to a program or a share, a field, formula or name that
//!   fetches or starts something, an assigned macro, a data connection.
//!
//! What belongs to a part that goes (its binary, its signature, its own relationships) is not counted again. Documents
//! with macros become documents without.
//!
//! | file | noun |
//! |---|---|
//! | `role` | what a part is to the document: by type, path, relationship |
//! | `relations` | relationships and content types |
//! | `plan` | which parts and relationships go |
//! | `active` | elements that act, or refer to what is gone |
//! | `fields` | fields of a text document |
//! | `sheets` | where formulas of a workbook stand; its names and connections |
//! | `heads` | what the columns of its sheets are called |
//! | `headers` | headers and footers of its sheets, with codes in them |
//! | `escapes` | escapes of characters in its texts |
//! | `fonts` | fonts that come with a document |
//! | `names` | names that programs give |
//! | `labels` | what values are called in data of anybody |
//! | `silent` | attributes that hold nobody's words |
//! | `attributes` | all other attributes |
//! | `text` | everything that is written in a part |
//! | `clean` | one package's way through all of this |

mod active;
mod attributes;
mod clean;
mod escapes;
mod fields;
mod fonts;
mod headers;
mod heads;
mod labels;
#[cfg(test)]
mod link_tests;
mod names;
mod plan;
#[cfg(test)]
mod redaction_tests;
mod relations;
mod role;
mod sheets;
mod silent;
#[cfg(test)]
mod tests;
mod text;

pub(super) use clean::clean;
