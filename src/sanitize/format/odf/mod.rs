//! OpenDocument packages (OASIS ODF 1.3, ISO/IEC 26300): scripts, event listeners, embedded and linked objects, DDE
//! and forms go; the rest keeps its bytes.
//!
//! What is counted:
//!
//! * `attachments`: embedded objects that are no OpenDocument themselves, old versions, entries of a kind that no
//!   document needs, or that are not what they are said to be.
//! * `interactive`: each module of a script, event listener, script element, plug-in, applet, frame with another
//!   document, DDE connection, control of a form, customised toolbar or menu, link to another file that is followed on
//!   opening, link to a program or a share, formula that fetches or refers to another document.
//!
//! | file | noun |
//! |---|---|
//! | `entries` | which entries of a package go |
//! | `active` | elements that act |
//! | `text` | everything that is written |
//! | `clean` | one package's way through all of this |

mod active;
mod clean;
mod entries;
#[cfg(test)]
mod tests;
mod text;

pub(super) use clean::clean;
