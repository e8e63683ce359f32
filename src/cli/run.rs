//! Does what the command line says.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, ValueEnum};

use crate::api::openapi;
use crate::app::{
    Announce, AppError, ConfigSource, PipeEnds, check_files, colour_log, file_doubts, flush_log, logged,
    redact, serve, unredact, without_core_dumps,
};
use crate::cli::args::{Args, Command, MethodArg, RedactArgs, ServeArgs, SpokenArgs, UnredactArgs};
use crate::cli::escape::escaped;
use crate::cli::failure::Failure;
use crate::cli::meant::advised;
use crate::cli::progress::{Progress, be_quiet};
use crate::cli::settings::{found, here};
use crate::cli::streams::{complaint, input, last_words, message, result, warning};
use crate::cli::style::{self, ColorArg, GOOD, errors_coloured, output_coloured, painted};
#[cfg(feature = "console")]
use crate::cli::try_out;
use crate::cli::{
    audit, detect, health, keys, manual, memory, problem, rules, sanitize, tokens, usage, wanted,
};
use crate::config::{Options, Requirements};
use crate::redact::Method;
use crate::sanitize::format::FORMATS;
use crate::sanitize::sandbox::child;

/// Could not be done.
const FAILED: u8 = 1;

/// The command line is wrong; clap's own code for it.
const USAGE: u8 = 2;

/// The configuration is wrong.
const CONFIG: u8 = 3;

/// Reads the command line.
///
/// # Errors
/// A command line that is wrong, as it is to be shown; help and the like are among them.
pub fn read() -> Result<Args, clap::Error> {
    // Before anything is shown, also what is wrong with it.
    style::choose(color(std::env::args_os().skip(1)));
    let said = without_empty(Args::command()).try_get_matches();
    said.and_then(|mut said| Args::from_arg_matches_mut(&mut said)).map_err(advised)
}

/// A variable that is set to nothing says nothing, as one that is not set.
fn without_empty(command: clap::Command) -> clap::Command {
    let is_empty = |name: &OsStr| std::env::var_os(name).is_some_and(|set| set.is_empty());
    let told = command.mut_args(|arg| match arg.get_env() {
        Some(name) if is_empty(name) => arg.env(None::<&'static str>),
        _ => arg,
    });
    told.mut_subcommands(without_empty)
}

/// The last `--color` of a command line, whatever is wrong with the rest of it.
fn color(args: impl Iterator<Item = OsString>) -> ColorArg {
    let args: Vec<OsString> = args.take_while(|arg| arg != "--").collect();
    let mut said = args.iter().enumerate().filter_map(|(n, arg)| match arg.to_str()? {
        "--color" => args.get(n + 1)?.to_str(),
        arg => arg.strip_prefix("--color="),
    });
    said.next_back().and_then(|when| ColorArg::from_str(when, false).ok()).unwrap_or(ColorArg::Auto)
}

/// Runs one command; the code is the process's.
pub fn run(args: Args) -> ExitCode {
    let code = done(args);
    flush_log();
    code
}

fn done(args: Args) -> ExitCode {
    let Args { spoken: SpokenArgs { quiet, .. }, command } = args;
    if quiet {
        be_quiet();
    }
    colour_log(errors_coloured());
    // Every command may read keys or what is to be redacted.
    let done = without_core_dumps().map_err(Failure::App).and_then(|()| self::command(command));
    let (error, tip) = match done {
        Ok(()) | Err(Failure::Pipe) => return ExitCode::SUCCESS,
        Err(Failure::Usage(why)) => {
            last_words(&why, None);
            return ExitCode::from(USAGE);
        }
        Err(Failure::App(error)) => {
            let tip = error.tip();
            (error, tip)
        }
        Err(Failure::Advised(error, tip)) => (error, Some(tip)),
    };
    match error {
        AppError::Config(problems) => {
            problem::show(&problems, tip.as_deref());
            ExitCode::from(CONFIG)
        }
        error => {
            last_words(&error.to_string(), tip.as_deref());
            ExitCode::from(FAILED)
        }
    }
}

fn command(command: Command) -> Result<(), Failure> {
    match command {
        Command::Serve(args) => run_serve(args),
        #[cfg(feature = "console")]
        Command::Try(args) => try_out::run(args),
        Command::Health { admin } => health::run(admin),
        Command::Check { config, secrets } => run_check(&config, secrets),
        Command::Tokens { place, command } => tokens::run(&place, command),
        Command::Usage { here, report } => usage::run(&here, &report),
        Command::Audit { place, command } => audit::run(&place, command),
        Command::Keys { place, command } => keys::run(&place, command),
        Command::Memory { place, command } => memory::run(&place, command),
        Command::Detect(args) => detect::run(&args),
        Command::Rules { command } => rules::run(&command),
        Command::Redact(args) => run_redact(args),
        Command::Unredact(args) => run_unredact(args),
        Command::Sanitize(args) => sanitize::run(&args),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { dir: Some(folder), .. } => manual::pages(&folder),
        Command::Man { page, .. } => manual::page(&page),
        Command::Parse { memory, seconds, confined } => {
            Ok(child::run(child::Rlimits { memory, seconds, confined }, &FORMATS)?)
        }
        Command::Openapi => {
            let document = openapi::document(|_| true).map_err(AppError::from)?;
            result(&format!("{document:#}"))
        }
        Command::Version => result(concat!("portcullis ", env!("CARGO_PKG_VERSION"))),
    }
}

fn run_serve(args: ServeArgs) -> Result<(), Failure> {
    let upgrade = args.upgrade;
    let source = match args.config {
        // The variable is for `health` as well, which reads no file.
        Some(_)
            if args.admin.is_some()
                && std::env::var_os("PORTCULLIS_ADMIN").is_none_or(|set| set.is_empty()) =>
        {
            let why = "`--admin` does not go with a configuration file: write `[admin]` into it";
            return Err(Failure::Usage(why.to_owned()));
        }
        Some(path) => ConfigSource::File(path),
        None => {
            let ServeArgs { listen, admin, upstream, data, .. } = args;
            ConfigSource::Options(Options { listen, admin, upstream, data })
        }
    };
    Ok(serve(&source, upgrade, announce)?)
}

fn announce(told: Announce) {
    if let Some(token) = told.first_token {
        let more = "It is shown once; `portcullis tokens create` makes more.";
        if result(token.expose()).is_err() {
            complaint(
                "the first API token could not be written to standard output; `portcullis tokens create` makes another",
            );
        } else if !logged(&format!("The first API token is on standard output. {more}"), false) {
            message(&format!("The line above is the first API token. {more}"));
        }
    }
    for address in &told.listen {
        message(&format!("listening on {address}"));
    }
    if let Some(address) = told.admin {
        message(&format!("metrics and health on {address}"));
    }
    if let Some(url) = told.console {
        message(&format!("the console is at {url}"));
    }
    message(&format!("data in {}", told.data.display()));
}

fn run_check(path: &Path, secrets: bool) -> Result<(), Failure> {
    let needs = if secrets { Requirements::ALL } else { Requirements::FILES };
    let config = ConfigSource::File(path.to_owned()).load_for(needs)?;
    let name = path.display().to_string();
    check_files(&config, &name)?;
    config.missing.iter().for_each(|problem| message(&format!("{problem} (`serve` needs it)")));
    config.warnings.iter().for_each(|problem| warning(&problem.to_string()));
    file_doubts(&config).iter().for_each(|doubt| warning(doubt));
    result(&format!("{}: {}", escaped(&name), painted("no problems", GOOD, output_coloured())))
}

fn run_redact(args: RedactArgs) -> Result<(), Failure> {
    let method = match args.method {
        MethodArg::Replace => Method::Replace,
        MethodArg::Mask => Method::Mask,
    };
    let RedactArgs { wanted, data, .. } = &args;
    // Who wants the way back needs the store as well: the file is read once.
    let open = || found(wanted.config.as_deref(), data.as_deref(), Requirements::VAULT);
    let config = args.context.is_some().then(open).transpose()?;
    let detector = match &config {
        Some(config) => {
            let catalogue = wanted::reading_names(config.catalogue.clone(), &args.names_model)?;
            wanted::detector_among(wanted, &catalogue, config.allow.clone())?
        }
        None => wanted::detector(wanted, &args.names_model)?,
    };
    let back = config.as_ref().zip(args.context.as_deref());
    let input = input(args.file.as_ref())?;
    let progress = Progress::bytes(args.file.as_deref());
    let mut output = std::io::stdout().lock();
    let threads = args.threads.count();
    let piped = PipeEnds { input: progress.counting(input), output: &mut output, threads };
    let counts = match back {
        back if args.json => redact::document(piped, method, detector, &args.jsonp, back)?,
        None => redact::one_way(piped, method, detector)?,
        Some((config, context)) => redact::reversible(piped, config, context, detector)?,
    };
    drop(progress);
    if std::io::stderr().is_terminal() {
        message(&format!("redacted {counts}"));
    }
    Ok(())
}

fn run_unredact(args: UnredactArgs) -> Result<(), Failure> {
    let input = input(args.file.as_ref())?;
    let config = here(&args.here, Requirements::VAULT)?;
    let progress = Progress::bytes(args.file.as_deref());
    let mut output = std::io::stdout().lock();
    let piped = PipeEnds { input: progress.counting(input), output: &mut output, threads: 1 };
    unredact(piped, &config, &args.context).map_err(|error| match error {
        AppError::Redact(_) | AppError::Store { .. } if !args.context.exists() => {
            Failure::from(error).advised("`portcullis redact --context FILE` writes what this needs")
        }
        AppError::Redact(_) => Failure::from(error).advised(
            "name the store that it was made with, by --data or -c, and the file that --context wrote there",
        ),
        error => error.into(),
    })
}
