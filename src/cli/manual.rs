//! `portcullis completions` and `portcullis man`: what shells and `man` want to know of the command line.

use std::io::Write;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::cli::args::Args;
use crate::cli::failure::Failure;
use crate::cli::streams::{at, message};

/// The program's name.
const NAME: &str = "portcullis";

/// Writes a script that completes commands and options.
pub(super) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible(), NAME, &mut script);
    Ok(std::io::stdout().lock().write_all(&script)?)
}

/// Writes the page of a command; of the program, if none is named.
pub(super) fn page(path: &[String]) -> Result<(), Failure> {
    let mut command = visible();
    command.build();
    let mut page = &command;
    for name in path {
        let found = page.find_subcommand(name).filter(|found| !found.is_hide_set());
        page = found.ok_or_else(|| {
            Failure::Usage(format!("there is no command `{}`; see `portcullis --help`", path.join(" ")))
        })?;
    }
    Ok(std::io::stdout().lock().write_all(text(page)?.as_bytes())?)
}

/// Writes a page for each command into a folder, which is made if it is not there.
pub(super) fn pages(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
    let mut command = visible();
    command.build();
    let mut count = 0;
    let mut open = vec![&command];
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands().filter(|below| !below.is_hide_set()));
        let file = folder.join(format!("{}.1", title(command)));
        std::fs::write(&file, text(command)?).map_err(|error| at(&file, &error))?;
        count += 1;
    }
    message(&format!("{count} pages in {}", folder.display()));
    Ok(())
}

/// The command line without what only this program itself starts.
fn visible() -> Command {
    let all = Args::command();
    let about = all.get_about().cloned().unwrap_or_default();
    let after = all.get_after_help().cloned().unwrap_or_default();
    let below = all.get_subcommands().filter(|below| !below.is_hide_set()).cloned();
    let below = below.map(|below| below.disable_help_subcommand(true));
    Command::new(NAME)
        .version(env!("CARGO_PKG_VERSION"))
        .about(about)
        .after_help(after)
        .args(all.get_arguments())
        .subcommands(below)
        .subcommand_required(true)
        .disable_help_subcommand(true)
}

/// What the page of a command is called: `portcullis-tokens-create`.
fn title(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// The page of a command, in roff.
fn text(command: &Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    let page = String::from_utf8_lossy(&page);
    // The head, without a date: what is left empty would be left out, and the next words be taken for it.
    let version = env!("CARGO_PKG_VERSION");
    let head =
        format!(".TH \"{}\" 1 \"\" \"portcullis {version}\" \"Portcullis\"", title(command).to_uppercase());
    let lines = page.lines().map(|line| if line.starts_with(".TH ") { head.as_str() } else { line });
    Ok(lines.flat_map(|line| [line, "\n"]).collect())
}
