//! Colours and the like: what is said is said without them too.

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use clap::builder::styling::{AnsiColor, Style, Styles};

/// Whether there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorArg {
    /// Where a terminal shows them, and the environment does not say otherwise.
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// What ended a command.
pub(super) const ERROR: Style = AnsiColor::Red.on_default().bold();

/// What may not be meant.
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// What can be done next, and what is well.
pub(super) const GOOD: Style = AnsiColor::Green.on_default().bold();

/// A place in a file, and the head of a table.
pub(super) const STRONG: Style = Style::new().bold();

/// What counts no more.
pub(super) const FAINT: Style = Style::new().dimmed();

/// What is neither.
pub(super) const PLAIN: Style = Style::new();

/// How help and errors of the command line itself look.
pub(super) const fn styles() -> Styles {
    Styles::styled()
        .header(STRONG)
        .usage(STRONG)
        .literal(AnsiColor::Cyan.on_default().bold())
        .placeholder(AnsiColor::Cyan.on_default())
        .error(ERROR)
        .valid(GOOD)
        .invalid(WARNING)
}

/// Sets whether there are colours, for both streams; without a choice they go by `NO_COLOR`, `CLICOLOR_FORCE`, `CLICOLOR`,
/// `TERM` and whether the stream is a terminal.
pub(super) fn choose(choice: ColorArg) {
    let choice = match choice {
        ColorArg::Auto => ColorChoice::Auto,
        ColorArg::Always => ColorChoice::Always,
        ColorArg::Never => ColorChoice::Never,
    };
    choice.write_global();
}

/// Whether standard output has colours.
pub(super) fn output_coloured() -> bool {
    AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// Whether standard error has colours.
pub(super) fn errors_coloured() -> bool {
    AutoStream::choice(&std::io::stderr()) != ColorChoice::Never
}

/// Text in a style, where there are any.
pub(super) fn painted(text: &str, style: Style, coloured: bool) -> String {
    if coloured && !text.is_empty() && style != PLAIN {
        format!("{style}{text}{style:#}")
    } else {
        text.to_owned()
    }
}
