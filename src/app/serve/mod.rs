//! The running process: it listens, reloads on SIGHUP and when a file changes, hands over to its successor, and drains
//! on SIGTERM and SIGINT.
//!
//! | file | noun |
//! |---|---|
//! | `source` | [`ConfigSource`]: where the configuration comes from |
//! | `start` | [`serve`]: from a configuration to a process that serves, and [`Announce`], what it says then |
//! | `front` | the listeners of the configuration, and what holds at them |
//! | `signals` | what the process is told from outside |
//! | `watch` | what signals and changed files act on |
//! | `watched` | files that are looked at, and whether they changed |
//! | `handover` | listening sockets from one process to the next |
//! | `ending` | the last seconds: requests under way, work that others go on with, the store |
//! | `notify` | what a supervisor is told |

mod ending;
mod front;
mod handover;
mod notify;
mod signals;
mod source;
mod start;
mod watch;
mod watched;

pub(super) use front::gateway;
pub use source::ConfigSource;
pub use start::{Announce, serve};
