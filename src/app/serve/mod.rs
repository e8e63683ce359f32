//! The running process: it listens, reloads on SIGHUP and when a file changes, hands over to its successor, and drains
//! on SIGTERM and SIGINT.
//!
//! | file | noun |
//! |---|---|
//! | `source` | [`ConfigSource`]: where the configuration comes from |
//! | `start` | [`serve`]: from a configuration to a process that serves, and [`Announce`], what it says then |
//! | `front` | the listeners of the configuration, and what holds at them |
//! | `signals` | what the process is told from outside |
//! | `watch` | what signals act on |
//! | `reload` | another configuration, in place of the one that runs |
//! | `own_thread` | work that may take for ever, and is not waited for so long |
//! | `watched` | files that are looked at, and whether they changed |
//! | `handover` | listening sockets from one process to the next |
//! | `data_lock` | of several processes, the one that serves from a data folder |
//! | `ending` | the last seconds: requests under way, work that others go on with, the store |
//! | `notify` | what a supervisor is told |

mod data_lock;
mod ending;
mod front;
mod handover;
mod notify;
mod own_thread;
mod reload;
mod signals;
mod source;
mod start;
mod watch;
mod watched;

pub(super) use front::gateway;
pub use source::ConfigSource;
pub use start::{Announce, serve};
