//! PDF (ISO 32000): opened leniently, disarmed, its forms written into their pages, and saved as one fresh revision.
//!
//! What is counted:
//!
//! * `attachments`: file specifications with `/EF`, each once, however many places refer to it.
//! * `interactive`: each thing that acts, once: actions besides going to a place in the file, the four standard
//!   named actions and links to the web; entries of `/AA` whose action would otherwise stay; terminal fields (and
//!   widgets of no field); an XFA form; media annotations; streams whose data lie outside of the file; PostScript.
//!   A script in the tree of names is an action, counted as that and not again for its name.
//!
//! | file | noun |
//! |---|---|
//! | `open` | the document in a file, read leniently |
//! | `graph` | looking things up among objects that refer to each other |
//! | `pages` | the pages of the page tree, which is rebuilt where readers could see different ones |
//! | `parts` | what of a document is shown to scanners, and attachments that stay |
//! | `action` | whether a dictionary is an action, and one that may stay |
//! | `census` | everything that has to go, and how much of it there is |
//! | `fields` | the fields of a form |
//! | `flatten` | what widgets show, written into their pages |
//! | `appearance` | what a field shows that brings no appearance |
//! | `strip` | taking out what the census found |
//! | `pictures` | what lies beside the picture in a JPEG |
//! | `profile` | the texts of colour profiles |
//! | `strings` | text strings: titles, notes, values, metadata, link targets |
//! | `text` | the text that pages show |
//! | `tail` | what lies behind the data of a stream |
//! | `write` | the fresh revision, and the proof of it |
//! | `clean` | one file's way through all of this |

mod action;
mod appearance;
mod census;
mod clean;
mod fields;
mod flatten;
mod graph;
mod open;
mod pages;
mod parts;
mod pictures;
mod profile;
mod strings;
mod strip;
mod tail;
mod text;
mod write;

pub(super) use clean::clean;
