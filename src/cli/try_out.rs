//! `portcullis try`: a gateway with an empty data folder, and its console in a browser.

use std::io::IsTerminal;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::app::{Trial, TrialLinks, try_out};
use crate::cli::args::TryArgs;
use crate::cli::failure::Failure;
use crate::cli::streams::{message, result};

pub(super) fn run(args: TryArgs) -> Result<(), Failure> {
    let TryArgs { listen, admin, upstream, no_open } = args;
    if admin.is_some_and(|admin| !admin.ip().is_loopback()) {
        return Err(Failure::Usage(
            "`try` has its console on this machine alone: --admin takes 127.0.0.1 or ::1".to_owned(),
        ));
    }
    let opens = !no_open && std::io::stdout().is_terminal();
    let announce = |links: TrialLinks| {
        message(&format!(
            "the gateway listens at http://{}; Ctrl-C ends it and deletes its data",
            links.listen
        ));
        message("the console, with a link that signs in:");
        // Whoever reads it can go on without a browser.
        let shown = result(links.console.expose());
        if opens && shown.is_ok() {
            open(&links.page);
        }
    };
    try_out(Trial { listen, admin, upstream }, announce).map_err(Failure::App)
}

/// Shows a page in the person's browser, if there is one.
fn open(page: &Path) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Without one, the link on the terminal is enough.
    drop(command.spawn());
}
