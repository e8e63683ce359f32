//! What can be said on the command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::cli::audit_args::AuditCommand;
use crate::cli::keys_args::KeyCommand;
use crate::cli::memory_args::MemoryCommand;
use crate::cli::style::{ColorArg, styles};
use crate::cli::threads_arg::ThreadsArg;
use crate::cli::tokens_args::TokenCommand;
use crate::cli::usage_args::ReportArgs;
use crate::sanitize::{ScriptPolicy, UnreadPolicy};

/// A gateway that keeps secrets in: it redacts what goes to an LLM or any other HTTP service, and restores the
/// answers.
#[derive(Debug, Parser)]
#[command(name = "portcullis", version, after_help = EXIT_CODES, styles = styles())]
pub struct Args {
    #[command(flatten)]
    pub(super) spoken: SpokenArgs,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// How much is said to people, and how it looks.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of every command")]
pub(super) struct SpokenArgs {
    /// Say only what went wrong: no remarks, and no line that shows how far long work has come.
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
    /// Whether there are colours: auto, always, never; `auto` goes by NO_COLOR, CLICOLOR_FORCE and the terminal.
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub(super) color: ColorArg,
}

const EXIT_CODES: &str =
    "Exit codes: 0 done, 1 could not be done, 2 wrong command line, 3 wrong configuration.";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the gateway.
    Serve(ServeArgs),
    /// Run a gateway to try, and open its console: with an empty data folder, which is deleted when it ends.
    #[cfg(feature = "console")]
    Try(TryArgs),
    /// Request a running gateway whether it takes traffic; exit code 0 if it does.
    Health {
        /// Its listener for metrics and health.
        #[arg(
            long,
            value_name = "ADDR",
            env = "PORTCULLIS_ADMIN",
            default_value = "127.0.0.1:9180",
            value_parser = address
        )]
        admin: SocketAddr,
    },
    /// Check a configuration file and report every problem in it.
    ///
    /// Secrets that are not here, in the environment or in files of their own, are told and are no problem: a
    /// configuration is checked where it is written, and used elsewhere.
    Check {
        /// The file.
        #[arg(short, long, default_value = "conf/portcullis.toml", env = "PORTCULLIS_CONFIG")]
        config: PathBuf,
        /// Secrets that are not here are problems too, as they are to `serve`.
        #[arg(long)]
        secrets: bool,
    },
    /// Create, list, change, rotate and revoke API tokens; the server may be running.
    Tokens {
        #[command(flatten)]
        place: StoreArgs,
        #[command(subcommand)]
        command: TokenCommand,
    },
    /// Keys of the vault: make, rotate, retire, print public keys, replace the master key; the server may be running.
    Keys {
        #[command(flatten)]
        place: StoreArgs,
        #[command(subcommand)]
        command: KeyCommand,
    },
    /// What gateways remember of the surrogates that callers have had: forget it; the server may be running.
    Memory {
        #[command(flatten)]
        place: StoreArgs,
        #[command(subcommand)]
        command: MemoryCommand,
    },
    /// What requests to models took: tokens and money by day, token, route or model; the server may be running.
    Usage {
        #[command(flatten)]
        here: InstanceArgs,
        #[command(flatten)]
        report: ReportArgs,
    },
    /// The audit log: whether it is what was written, and parts of it for others to read.
    Audit {
        #[command(flatten)]
        place: StoreArgs,
        #[command(subcommand)]
        command: AuditCommand,
    },
    /// Find values in files or standard input and say where they are.
    ///
    /// On a terminal the text is shown with findings coloured. Elsewhere each finding is a JSON object on a line of
    /// its own, with file, line and column (in characters) but without the value, unless `--show` asks for it.
    Detect(DetectArgs),
    /// List the rules there are, show one, test rules of your own.
    Rules {
        #[command(subcommand)]
        command: RulesCommand,
    },
    /// Redact text from a file or standard input, as it comes.
    Redact(RedactArgs),
    /// Put back what `redact --context` replaced.
    Unredact(UnredactArgs),
    /// Clean files: take out what acts, defang links, redact values if asked to.
    ///
    /// One file becomes another: `portcullis sanitize letter.pdf clean.pdf`. Of a folder, or of several files and folders,
    /// the clean ones come to lie in the folder that is named last, each under the name that fits what it is.
    Sanitize(SanitizeArgs),
    /// Print a script that completes commands and options in a shell.
    ///
    /// For bash, put `source <(portcullis completions bash)` into ~/.bashrc; for zsh, write it to `_portcullis` in a folder of
    /// `fpath`; for fish, to ~/.config/fish/completions/portcullis.fish.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page of the program, or of one of its commands.
    ///
    /// `portcullis man tokens create | man -l -` shows one; `--dir` writes all of them for `man` to find.
    Man {
        /// The command, such as `tokens create`.
        #[arg(value_name = "COMMAND", conflicts_with = "dir")]
        page: Vec<String>,
        /// Write a page for each command into this folder, such as ~/.local/share/man/man1.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Print the version.
    Version,
    /// Print the description of the API (OpenAPI 3.1).
    Openapi,
    /// Clean one file that comes through standard input: what the sanitizer starts for each file.
    #[command(hide = true)]
    Parse {
        /// Address space, in bytes.
        memory: u64,
        /// Processor time, in seconds.
        seconds: u64,
        /// Read nothing unless Landlock and seccomp hold.
        #[arg(long)]
        confined: bool,
    },
}

/// An address and a port.
fn address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse()
        .map_err(|_| "write an IP address and a port, such as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080")
}

#[derive(Debug, clap::Args)]
pub(super) struct ServeArgs {
    /// The configuration file; without one, the embedded default serves 127.0.0.1:8080.
    #[arg(short, long, env = "PORTCULLIS_CONFIG", conflicts_with_all = ["listen", "upstream", "data"])]
    pub(super) config: Option<PathBuf>,
    /// Where to listen.
    #[arg(long, value_name = "ADDR", env = "PORTCULLIS_LISTEN", value_parser = address)]
    pub(super) listen: Option<SocketAddr>,
    /// Where metrics and health are served [default: 127.0.0.1:9180]; a configuration file has `[admin]` for it.
    #[arg(long, value_name = "ADDR", env = "PORTCULLIS_ADMIN", value_parser = address)]
    pub(super) admin: Option<SocketAddr>,
    /// Forward everything but our own endpoints to this URL: redacted on the way, restored on the way back.
    #[arg(long, value_name = "URL", env = "PORTCULLIS_UPSTREAM")]
    pub(super) upstream: Option<String>,
    /// The folder for the database and the master key.
    #[arg(long, value_name = "DIR", env = "PORTCULLIS_DATA")]
    pub(super) data: Option<PathBuf>,
    /// Take over from the process that serves from the same data folder: it drains once this one accepts connections.
    #[arg(long)]
    pub(super) upgrade: bool,
}

/// What is tried.
#[cfg(feature = "console")]
#[derive(Debug, clap::Args)]
pub(super) struct TryArgs {
    /// Where to listen [default: 127.0.0.1:8080, or another port if that one is taken].
    #[arg(long, value_name = "ADDR")]
    pub(super) listen: Option<SocketAddr>,
    /// Where the console is [default: 127.0.0.1:9180, or another port if that one is taken].
    #[arg(long, value_name = "ADDR")]
    pub(super) admin: Option<SocketAddr>,
    /// Forward everything but our own endpoints to this URL: redacted on the way, restored on the way back.
    #[arg(long, value_name = "URL")]
    pub(super) upstream: Option<String>,
    /// Print the link, and start no browser.
    #[arg(long)]
    pub(super) no_open: bool,
}

/// Which configuration and data folder are meant.
#[derive(Debug, clap::Args)]
pub(super) struct InstanceArgs {
    /// The configuration file: it names the data folder, and has rules, thresholds and allow-lists.
    #[arg(
        short,
        long,
        visible_alias = "config-file",
        value_name = "FILE",
        env = "PORTCULLIS_CONFIG",
        conflicts_with = "data"
    )]
    pub(super) config: Option<PathBuf>,
    /// The data folder.
    #[arg(long, value_name = "DIR", env = "PORTCULLIS_DATA")]
    pub(super) data: Option<PathBuf>,
}

/// The same for commands with commands of their own, where `--config` is another thing.
#[derive(Debug, clap::Args)]
pub(super) struct StoreArgs {
    /// The configuration file: it names the data folder, and has rules, thresholds and allow-lists.
    #[arg(
        short,
        long = "config-file",
        value_name = "FILE",
        env = "PORTCULLIS_CONFIG",
        global = true,
        conflicts_with = "data"
    )]
    pub(super) config_file: Option<PathBuf>,
    /// The data folder.
    #[arg(long, value_name = "DIR", env = "PORTCULLIS_DATA", global = true)]
    pub(super) data: Option<PathBuf>,
}

/// Which rules are asked for.
#[derive(Debug, clap::Args)]
pub(super) struct RuleArgs {
    /// Only these rules, by name, separated by commas; may be repeated.
    #[arg(long, visible_alias = "rule", value_name = "RULES", value_delimiter = ',')]
    pub(super) rules: Vec<String>,
    /// Only the rules of these sets: all, pii, identity, finance, health, network, secrets, us, uk, eu and others.
    #[arg(long, value_name = "SETS", value_delimiter = ',')]
    pub(super) rulesets: Vec<String>,
    /// A configuration file, for its rules, thresholds and allow-lists.
    #[arg(short, long, visible_alias = "config-file", value_name = "FILE", env = "PORTCULLIS_CONFIG")]
    pub(super) config: Option<PathBuf>,
}

/// The model that finds names.
#[derive(Debug, clap::Args)]
pub(super) struct NamesModelArg {
    /// Find persons and places by the model of this folder (or file in it) too, which examples/names-model brings there;
    /// text is then read to its end first.
    #[arg(long = "names-model", value_name = "DIR", env = "PORTCULLIS_NAMES_MODEL")]
    pub(super) path: Option<PathBuf>,
}

/// What findings are called.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum NameArg {
    /// By the rule that found them.
    Rule,
    /// By the rule's family, which is coarser.
    Family,
}

#[derive(Debug, clap::Args)]
pub(super) struct DetectArgs {
    /// The files; standard input, if none is named.
    pub(super) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) wanted: RuleArgs,
    #[command(flatten)]
    pub(super) names_model: NamesModelArg,
    /// Read JSON objects with `id` and `text`, one a line; write one with `id` and `spans` for each, in code points.
    #[arg(long)]
    pub(super) jsonl: bool,
    /// What findings are called.
    #[arg(long = "as", value_enum, value_name = "NAMES", default_value = "rule")]
    pub(super) names: NameArg,
    /// Report what scores at least this, from 0 to 1, in place of the rules' own thresholds.
    #[arg(long, value_name = "SCORE")]
    pub(super) min_score: Option<f32>,
    /// Report each rule's view, also where findings overlap.
    #[arg(long)]
    pub(super) candidates: bool,
    /// Report the values too.
    #[arg(long, conflicts_with = "jsonl")]
    pub(super) show: bool,
    #[command(flatten)]
    pub(super) threads: ThreadsArg,
}

#[derive(Debug, Subcommand)]
pub(super) enum RulesCommand {
    /// List rules, the default set if nothing is asked for, and what they hold back of a stream.
    List {
        #[command(flatten)]
        wanted: RuleArgs,
        #[command(flatten)]
        names_model: NamesModelArg,
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Show all that a rule says.
    Show {
        /// Its name.
        name: String,
    },
    /// Run every rule's own examples: of the built-in rules, a configuration's and those of rule files.
    Test {
        /// A configuration file, for its rules.
        #[arg(short, long, visible_alias = "config-file", value_name = "FILE", env = "PORTCULLIS_CONFIG")]
        config: Option<PathBuf>,
        /// The files.
        files: Vec<PathBuf>,
    },
    /// Print the reference page of the built-in rules, as Markdown.
    Page,
}

/// What becomes of a found value.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum MethodArg {
    /// The rule's name in angle brackets.
    Replace,
    /// One asterisk for each character.
    Mask,
}

#[derive(Debug, clap::Args)]
pub(super) struct RedactArgs {
    /// The file; standard input, if none is named.
    pub(super) file: Option<PathBuf>,
    /// What becomes of a found value.
    #[arg(long, value_enum, default_value = "replace", conflicts_with = "context")]
    pub(super) method: MethodArg,
    #[command(flatten)]
    pub(super) wanted: RuleArgs,
    #[command(flatten)]
    pub(super) names_model: NamesModelArg,
    /// The data folder, for the key of `--context`.
    #[arg(long, value_name = "DIR", env = "PORTCULLIS_DATA", conflicts_with = "config")]
    pub(super) data: Option<PathBuf>,
    /// The input is one JSON document: what is not redacted comes out as it is written.
    #[arg(long)]
    pub(super) json: bool,
    /// Only what this JSONPath query (RFC 9535) finds in the document, such as '$.users[*].email'; may be repeated.
    #[arg(long, value_name = "PATH", requires = "json")]
    pub(super) jsonp: Vec<String>,
    /// Replace by values of the same format, and write what `unredact` needs to this new file, sealed.
    #[arg(long, value_name = "FILE")]
    pub(super) context: Option<PathBuf>,
    #[command(flatten)]
    pub(super) threads: ThreadsArg,
}

#[derive(Debug, clap::Args)]
pub(super) struct UnredactArgs {
    /// The file; standard input, if none is named.
    pub(super) file: Option<PathBuf>,
    /// What `redact --context` wrote.
    #[arg(long, value_name = "FILE")]
    pub(super) context: PathBuf,
    #[command(flatten)]
    pub(super) here: InstanceArgs,
}

/// What becomes of scripts.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ScriptsArg {
    /// They are not released; in an archive or a mail they are left out.
    Refuse,
    /// They are released as texts, whose names should end in `.txt`.
    Text,
    /// They are released as they are.
    Pass,
}

impl ScriptsArg {
    /// The same for formats.
    pub(super) fn scripts(self) -> ScriptPolicy {
        match self {
            Self::Refuse => ScriptPolicy::Refuse,
            Self::Text => ScriptPolicy::Text,
            Self::Pass => ScriptPolicy::Pass,
        }
    }
}

/// What becomes of a redacted file that could not be read whole.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum UnreadArg {
    /// It is released, and the summary says what was not read.
    Note,
    /// It is not released.
    Refuse,
}

impl UnreadArg {
    /// The same for formats.
    pub(super) fn unread(self) -> UnreadPolicy {
        match self {
            Self::Note => UnreadPolicy::Note,
            Self::Refuse => UnreadPolicy::Refuse,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct SanitizeArgs {
    /// The file; or files and folders.
    #[arg(required = true, value_name = "IN")]
    pub(super) inputs: Vec<PathBuf>,
    /// Where the clean file goes, which is not written if the file is not released; of several, the folder for them.
    #[arg(value_name = "OUT")]
    pub(super) output: PathBuf,
    /// Print what was found and done, as JSON; of several files one object a line.
    #[arg(long)]
    pub(super) report: bool,
    /// Redact what the rules that are on by default find.
    #[arg(long)]
    pub(super) redact: bool,
    /// Only tell what the rules find.
    #[arg(long)]
    pub(super) detect_only: bool,
    /// From which score on links are defanged, 0 to 100; without feeds no link has any.
    #[arg(long, value_name = "SCORE", default_value = "30", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(super) threshold: u8,
    /// Leave links as they are.
    #[arg(long)]
    pub(super) keep_links: bool,
    /// Leave file attachments in; each is cleaned like a file of its own.
    #[arg(long)]
    pub(super) keep_attachments: bool,
    /// Leave scripts, actions and forms in.
    #[arg(long)]
    pub(super) keep_interactive: bool,
    /// Let files of a kind that cannot be rewritten pass as they are, once they are scanned, whatever the configuration's
    /// `sanitize.unknown` says.
    #[arg(long)]
    pub(super) pass_unknown: bool,
    /// What becomes of scripts, shortcuts and the like, in place of the configuration's `sanitize.scripts`.
    #[arg(long, value_enum, value_name = "MODE")]
    pub(super) scripts: Option<ScriptsArg>,
    /// What becomes of a redacted file with images, or characters without a meaning, that were not read, in place of the
    /// configuration's `sanitize.on_unread`.
    #[arg(long, value_enum, value_name = "MODE")]
    pub(super) on_unread: Option<UnreadArg>,
    /// Refuse what cannot be scanned.
    #[arg(long)]
    pub(super) block_unable: bool,
    /// A file with the password of encrypted PDFs and zip archives, on one line; what is released is not encrypted.
    #[arg(long, value_name = "FILE")]
    pub(super) password_file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) here: InstanceArgs,
}
