//! Section: the playground. What is found in a text, why, and what becomes of it, by the code that is behind routes and the API.
//! Nothing of what is sent here is kept, logged or put into a URL.
//!
//! | file | noun |
//! |---|---|
//! | `section` | [`Playground`]: the section |
//! | `request` | [`PlaygroundRequest`](request::PlaygroundRequest): what a script of ours asks |
//! | `engines` | [`Engines`](engines::Engines): rules compiled as somebody chose them |
//! | `route_redactor` | [`RouteRedactors`]: redactors of the configuration's routes |
//! | `redacting` | with what a text is redacted, and what passes there |
//! | `look` | a text or a document: what is found and what becomes of it |
//! | `units` | places as scripts count them |
//! | `marks` | findings, and what is none, as a page shows them |
//! | `explanation` | why something is found, and why not, in words |
//! | `chat` | a chat request, and what a model that plays along makes of it |
//! | `script` | what that model answers |
//! | `file` | [`Cleaner`](file::Cleaner): files, cleaned by whoever has a sandbox |
//! | `route` | the configuration of a route that does the same |
//! | `examples` | what the page begins with |
//! | `page` | the page |

mod chat;
mod engines;
mod examples;
mod explanation;
mod file;
mod look;
mod marks;
mod page;
mod redacting;
mod request;
mod route;
mod route_redactor;
mod script;
mod section;
mod units;

pub use file::{CleanFile, Cleaner, FileToClean, NotCleaned};
pub use route_redactor::{RouteRedactor, RouteRedactors};
pub(super) use section::{Playground, PlaygroundParts};
