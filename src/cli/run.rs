//! Does what the command line says.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::api::configs::{ConfigError, Configs, Settings as RedactSettings};
use crate::api::openapi;
use crate::api::token::{NewToken, Service, TokenInfo, parse_expiry};
use crate::app::{
    Announce, AppError, OpenStore, Piped, Source, check_files, logged, redact, serve, unredact,
    without_core_dumps,
};
use crate::base::clock::Timestamp;
use crate::base::id::{ConfigId, TokenId};
use crate::cli::args::{
    Args, Command, MethodArg, RedactArgs, ServeArgs, StoreArgs, TokenCommand, UnredactArgs,
};
use crate::cli::failure::Failure;
use crate::cli::settings::{found, here, placed};
use crate::cli::streams::{complaint, input, message, result};
use crate::cli::{detect, health, keys, memory, rules, sanitize, wanted};
use crate::config::{Config, Needs, Options};
use crate::redact::Method;
use crate::sanitize::format::FORMATS;
use crate::sanitize::sandbox::child;

/// What the environment may say in place of the command line.
const VARIABLES: &[&str] =
    &["PORTCULLIS_CONFIG", "PORTCULLIS_LISTEN", "PORTCULLIS_ADMIN", "PORTCULLIS_UPSTREAM", "PORTCULLIS_DATA"];

/// Could not be done.
const FAILED: u8 = 1;

/// The command line is wrong; clap's own code for it.
const USAGE: u8 = 2;

/// The configuration is wrong.
const CONFIG: u8 = 3;

/// Reads the command line. What does not go together may have come from the environment, so its part is named.
///
/// # Errors
/// A command line that is wrong, as it is to be shown; help and the like are among them.
pub fn read() -> Result<Args, clap::Error> {
    Args::try_parse().map_err(|mut error| {
        let set =
            VARIABLES.iter().filter(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
        let set: Vec<&str> = set.copied().collect();
        if error.kind() == ErrorKind::ArgumentConflict && !set.is_empty() {
            let said = format!("set in the environment: {}", set.join(", "));
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![said.into()]));
        }
        error
    })
}

/// Runs one command; the code is the process's.
pub fn run(args: Args) -> ExitCode {
    // Every command may read keys or what is to be redacted.
    let done = without_core_dumps().map_err(Failure::App).and_then(|()| command(args.command));
    match done {
        Ok(()) | Err(Failure::Pipe | Failure::App(AppError::Pipe)) => ExitCode::SUCCESS,
        Err(Failure::App(AppError::Config(problems))) => {
            problems.iter().for_each(|problem| complaint(&problem.to_string()));
            ExitCode::from(CONFIG)
        }
        Err(Failure::App(AppError::Usage(why)) | Failure::Usage(why)) => {
            complaint(&format!("portcullis: {why}"));
            ExitCode::from(USAGE)
        }
        Err(Failure::App(error)) => {
            complaint(&format!("portcullis: {error}"));
            ExitCode::from(FAILED)
        }
    }
}

fn command(command: Command) -> Result<(), Failure> {
    match command {
        Command::Serve(args) => run_serve(args),
        Command::Health { admin } => health::run(admin),
        Command::Check { config, secrets } => run_check(&config, secrets),
        Command::Tokens { place, command } => run_tokens(&place, command),
        Command::Keys { place, command } => keys::run(&place, command),
        Command::Memory { place, command } => memory::run(&place, command),
        Command::Detect(args) => detect::run(&args),
        Command::Rules { command } => rules::run(&command),
        Command::Redact(args) => run_redact(args),
        Command::Unredact(args) => run_unredact(args),
        Command::Sanitize(args) => sanitize::run(&args),
        Command::Parse { memory, seconds } => Ok(child::run(child::Rlimits { memory, seconds }, &FORMATS)?),
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
        Some(_) if args.admin.is_some() && std::env::var_os("PORTCULLIS_ADMIN").is_none() => {
            let why = "`--admin` does not go with a configuration file: write `[admin]` into it";
            return Err(Failure::Usage(why.to_owned()));
        }
        Some(path) => Source::File(path),
        None => {
            let ServeArgs { listen, admin, upstream, data, .. } = args;
            Source::Options(Options { listen, admin, upstream, data })
        }
    };
    Ok(serve(&source, upgrade, announce)?)
}

fn announce(told: Announce) {
    if let Some(token) = told.first_token {
        drop(result(token.expose()));
        let more = "It is shown once; `portcullis tokens create` makes more.";
        if !logged(&format!("The first API token is on standard output. {more}"), false) {
            message(&format!("The line above is the first API token. {more}"));
        }
    }
    for address in &told.listen {
        message(&format!("listening on {address}"));
    }
    if let Some(address) = told.admin {
        message(&format!("metrics and health on {address}"));
    }
    message(&format!("data in {}", told.data.display()));
}

fn run_check(path: &Path, secrets: bool) -> Result<(), Failure> {
    let needs = if secrets { Needs::ALL } else { Needs::FILES };
    let config = Source::File(path.to_owned()).load_for(needs)?;
    let name = path.display().to_string();
    check_files(&config, &name)?;
    config.missing.iter().for_each(|problem| message(&format!("{problem} (`serve` needs it)")));
    config.warnings.iter().for_each(|problem| message(&format!("warning: {problem}")));
    result(&format!("{name}: no problems"))
}

fn run_tokens(place: &StoreArgs, command: TokenCommand) -> Result<(), Failure> {
    let config = placed(place, Needs::STORE)?;
    let opened = match command {
        TokenCommand::Create { .. } => OpenStore::at(&config)?,
        TokenCommand::List | TokenCommand::Revoke { .. } => OpenStore::existing(&config)?,
    };
    let outcome = match command {
        TokenCommand::Create { name, services, routes, configs, expires } => {
            if !configs.iter().all(|id| ConfigId::parse(id).is_some()) {
                let why = "a config's id is pci_ and 32 characters; --config-file names a configuration file";
                return Err(Failure::Usage(why.to_owned()));
            }
            known(&opened, &configs)?;
            let services =
                services.iter().map(|service| service_of(service)).collect::<Result<Vec<_>, _>>()?;
            known_routes(&routes, &config, place)?;
            let all = services.is_empty() && routes.is_empty();
            let now = opened.clock.now();
            let expires = expires.as_deref().map(|text| parse_expiry(text, now)).transpose()?;
            let new = NewToken { name, services, routes, configs, expires };
            let (_, token) = opened.io.block_on(opened.tokens.create(new))?;
            if all {
                message(
                    "it covers every service and every route; --service and --route make one that covers less",
                );
            }
            result(token.expose())
        }
        TokenCommand::List => {
            let tokens = opened.io.block_on(opened.tokens.list())?;
            let used = opened.io.block_on(opened.tokens.last_used())?;
            result("ID\tNAME\tSERVICES\tCONFIGS\tROUTES\tCREATED\tEXPIRES\tREVOKED\tLAST USED")?;
            tokens.iter().try_for_each(|token| result(&row(token, used.get(&token.id).copied())))
        }
        TokenCommand::Revoke { id } => {
            let id = TokenId::parse(&id).ok_or_else(|| {
                Failure::Usage("a token's id is pti_ and 32 characters; see `tokens list`".to_owned())
            })?;
            opened.io.block_on(opened.tokens.revoke(&id))?;
            message("revoked");
            Ok(())
        }
    };
    opened.io.block_on(opened.records.close());
    outcome
}

/// A token for a config that is not there could do nothing, and its bearer would not learn why.
fn known(opened: &OpenStore, configs: &[String]) -> Result<(), Failure> {
    let stored = Configs::<RedactSettings>::new(opened.records.clone(), opened.clock.clone());
    for (id, n) in configs.iter().filter_map(|id| ConfigId::parse(id)).zip(1..) {
        match opened.io.block_on(stored.get(&id)) {
            Ok(_) | Err(ConfigError::Elsewhere) => {}
            Err(ConfigError::Unknown) => {
                return Err(Failure::Usage(format!("there is no config of the id that --config {n} names")));
            }
            Err(error) => return Err(AppError::Io(format!("the stored configs: {error}")).into()),
        }
    }
    Ok(())
}

fn service_of(name: &str) -> Result<Service, Failure> {
    Service::parse(name).ok_or_else(|| {
        let known: Vec<&str> = Service::ALL.iter().map(|service| service.as_str()).collect();
        Failure::Usage(format!("a service is one of {}", known.join(", ")))
    })
}

/// Routes have names in a configuration file only; a token is made for others where none is given.
fn known_routes(routes: &[String], config: &Config, place: &StoreArgs) -> Result<(), Failure> {
    if routes.is_empty() {
        return Ok(());
    }
    if place.config_file.is_none() {
        message("names of routes are not checked without a configuration file: give the gateway's with -c");
        return Ok(());
    }
    let known = |route: &&str| config.routes.iter().any(|known| known.name.as_str() == *route);
    match routes.iter().map(String::as_str).find(|route| !known(route)) {
        None => Ok(()),
        Some(unknown) => {
            let known: Vec<&str> = config.routes.iter().map(|route| route.name.as_str()).collect();
            let known = if known.is_empty() { "it has none".to_owned() } else { known.join(", ") };
            Err(Failure::Usage(format!("the configuration has no route `{unknown}`, only: {known}")))
        }
    }
}

fn row(token: &TokenInfo, used: Option<Timestamp>) -> String {
    let time = |at: Option<Timestamp>| at.map_or_else(|| "-".to_owned(), Timestamp::iso8601);
    // To the minute, which is all that is known.
    let used = used.map_or_else(|| "-".to_owned(), |at| at.iso8601().replace(":00.000Z", "Z"));
    let listed = |names: Option<Vec<&str>>| match names.as_deref() {
        None => "all".to_owned(),
        Some([]) => "none".to_owned(),
        Some(names) => names.join(","),
    };
    let services = token.services.as_ref().map(|all| all.iter().map(|service| service.as_str()).collect());
    let routes = token.routes.as_ref().map(|all| all.iter().map(String::as_str).collect());
    let (services, routes) = (listed(services), listed(routes));
    let configs = if token.configs.is_empty() { "all".to_owned() } else { token.configs.join(",") };
    let TokenInfo { id, name, created, expires, revoked, .. } = token;
    let created = created.iso8601();
    format!(
        "{id}\t{name}\t{services}\t{configs}\t{routes}\t{created}\t{}\t{}\t{used}",
        time(*expires),
        time(*revoked)
    )
}

fn run_redact(args: RedactArgs) -> Result<(), Failure> {
    let method = match args.method {
        MethodArg::Replace => Method::Replace,
        MethodArg::Mask => Method::Mask,
    };
    let RedactArgs { wanted, data, .. } = &args;
    // Who wants the way back needs the store as well: the file is read once.
    let open = || found(wanted.config.as_deref(), data.as_deref(), Needs::VAULT);
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
    let mut output = std::io::stdout().lock();
    let piped = Piped { input, output: &mut output };
    let counts = match back {
        back if args.json => redact::document(piped, method, detector, &args.jsonp, back)?,
        None => redact::one_way(piped, method, detector)?,
        Some((config, context)) => redact::reversible(piped, config, context, detector)?,
    };
    if std::io::stderr().is_terminal() {
        message(&format!("redacted {counts}"));
    }
    Ok(())
}

fn run_unredact(args: UnredactArgs) -> Result<(), Failure> {
    let input = input(args.file.as_ref())?;
    let mut output = std::io::stdout().lock();
    unredact(Piped { input, output: &mut output }, &here(&args.here, Needs::VAULT)?, &args.context)?;
    Ok(())
}
