//! The console: what the gateway does, as pages for people, on the listener for metrics and health.
//!
//! Pages are written on the server; a little JavaScript moves figures and marks findings. Nothing comes from outside: scripts,
//! styles and pictures are part of the program, and the browser is told to load nothing else.
//!
//! | file | noun |
//! |---|---|
//! | `form` | `Form`: names and values as browsers send them |
//! | `access` | [`Hosts`]: under which names the console may be asked, and from which pages |
//! | `session` | `Sessions`: who has signed in |
//! | `running` | [`RunningConfig`]: the configuration that runs |
//! | `visit` | `Visit` and `PageReply`: what a section is asked, and says |
//! | `address` | where the gateway is reached |
//! | `paging` | `Paging`: the part of a long list that a page shows |
//! | `time`, `amounts` | times and amounts as pages show them |
//! | `layout` | the frame around every page |
//! | `assets` | scripts, styles, pictures |
//! | `compressed` | long JSON as gzip |
//! | `sign_in` | the page for whoever has not signed in |
//! | `live/` | section: figures and requests as they come |
//! | `docs` | section: the documentation |
//! | `configuration/` | section: what runs, and what a change would do |
//! | `routes/` | section: what becomes of what passes, in words |
//! | `rules` | section: what is looked for |
//! | `tokens/` | section: callers' tokens |
//! | `usage` | section: what requests to models took, and what is left of budgets |
//! | `playground/` | section: what is found in a text, and what becomes of it |
//! | `handler` | [`Console`]: from a request to its section |

mod access;
mod address;
mod amounts;
mod assets;
mod compressed;
mod configuration;
mod docs;
mod form;
mod handler;
mod layout;
mod live;
mod paging;
mod playground;
mod routes;
mod rules;
mod running;
mod session;
mod sign_in;
mod time;
mod tokens;
mod usage;
mod visit;

pub use access::Hosts;
pub use handler::{Console, ConsoleParts};
pub use live::{Figures, History, sample};
pub use playground::{CleanFile, Cleaner, FileToClean, NotCleaned, RouteRedactor, RouteRedactors};
pub use running::{Attempt, RunningConfig};
