//! From a file, or from the command line alone, to a checked [`Config`]: syntax, shape, what is pointed to, what
//! must fit together. Each step goes on with what the one before could make out, so one run shows all problems.

use std::net::SocketAddr;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::check::check;
use crate::config::diagnostics::Diagnostics;
use crate::config::names;
use crate::config::places::ValuePlaces;
use crate::config::problem::{Problem, Problems};
use crate::config::resolve::{self, ResolveScope, resolve};
use crate::config::rules::{self, BaseRules, CompiledRules};
use crate::config::settings::{Admin, Auth, Listen, Peer, Redact, Route, Settings, Upstream};
use crate::config::shape;
use crate::config::spanned::Spanned;
use crate::config::supplied::{Env, Requirements};
use crate::config::syntax;
use crate::detect::{Allow, Catalogue};
use crate::telemetry::LogFormat;

/// The largest configuration file.
const FILE: u64 = 4 << 20;

/// Settings that fit together and point at things that are there. Only loading makes one.
#[derive(Clone, Debug)]
pub struct Config {
    settings: Settings,
    /// The file's text without what may be secret in it; `None` where there is no file.
    pub text: Option<Arc<str>>,
    /// All rules there are with these settings.
    pub catalogue: Catalogue,
    /// What passes though a rule finds it.
    pub allow: Allow,
    /// Those rules for [`reload`].
    pub known: CompiledRules,
    /// The file itself, and all files and folders that it points to.
    pub files: Vec<PathBuf>,
    /// What is pointed to, not there, and was not needed.
    pub missing: Vec<Problem>,
    /// What can be used so, and may not be meant.
    pub warnings: Vec<Problem>,
}

impl Deref for Config {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.settings
    }
}

/// Reads and checks a file. `rules` are those that are there without it.
pub fn load(path: &Path, env: &dyn Env, rules: &Catalogue) -> Result<Config, Problems> {
    load_for(Requirements::ALL, path, env, rules)
}

/// Reads and checks a file for a purpose that does not need all it points to.
pub fn load_for(
    needs: Requirements,
    path: &Path,
    env: &dyn Env,
    rules: &Catalogue,
) -> Result<Config, Problems> {
    read_file(path, env, needs, BaseRules { base: rules, known: None }).outcome
}

/// How a file wants the log to look, as far as that can be made out whatever else is wrong with it.
pub fn log_format(path: &Path) -> Option<LogFormat> {
    let (_, mut text) = text_of(path).ok()?;
    syntax::mend(&mut text, &mut Diagnostics::default());
    let table = syntax::table(&text)?;
    let log = table.get("log")?.get_ref().as_table()?;
    match log.get("format")?.get_ref().as_str()? {
        "json" => Some(LogFormat::Json),
        "text" => Some(LogFormat::Text),
        _ => None,
    }
}

/// The same, while a configuration with the rules `known` runs: where nothing about them has changed, its own compiled
/// rules are used again, and its [`Config::catalogue`] is the same.
pub fn reload(path: &Path, env: &dyn Env, rules: &Catalogue, known: &CompiledRules) -> LoadReport {
    read_file(path, env, Requirements::ALL, BaseRules { base: rules, known: Some(known) })
}

/// What came of reading a file.
#[derive(Debug)]
pub struct LoadReport {
    /// The configuration, or all that is wrong with it.
    pub outcome: Result<Config, Problems>,
    /// The file itself, and what it points to as far as it could be read: once one of these changes, the outcome may.
    pub files: Vec<PathBuf>,
}

fn read_file(path: &Path, env: &dyn Env, needs: Requirements, before: BaseRules<'_>) -> LoadReport {
    let mut files = vec![path.to_owned()];
    let outcome = text_of(path).and_then(|(name, text)| {
        read(ConfigText { text: &text, name: &name, path }, env, needs, before, &mut files)
    });
    LoadReport { outcome, files }
}

fn text_of(path: &Path) -> Result<(String, String), Problems> {
    let name = path.display().to_string();
    let text =
        resolve::text(path, FILE).map_err(|error| Problems::whole(&name, resolve::unreadable(&error)))?;
    Ok((name, text))
}

/// What stands for a value that may be secret, in TOML.
const HIDDEN: &str = "\"(hidden)\"";

/// From this length on, in bytes, a hidden value is hidden wherever else it stands.
const SAID_AGAIN: usize = 6;

/// The text with nothing at these places.
fn hidden(text: &str, mut places: Vec<Range<usize>>) -> String {
    places.sort_by_key(|place| place.start);
    let (mut shown, mut from) = (String::with_capacity(text.len()), 0);
    let literal = |place: &Range<usize>| text.get(place.clone()).unwrap_or_default();
    let said: Vec<&str> = places.iter().map(|place| literal(place).trim_matches(['"', '\''])).collect();
    for place in places.into_iter().filter(|place| !place.is_empty()) {
        shown.push_str(text.get(from..place.start).unwrap_or_default());
        shown.push_str(HIDDEN);
        from = from.max(place.end);
    }
    shown.push_str(text.get(from..).unwrap_or_default());
    // What is said once may stand in a comment, too.
    let said = said.into_iter().filter(|value| value.len() >= SAID_AGAIN);
    said.fold(shown, |shown, value| shown.replace(value, HIDDEN))
}

/// Checks a text that may become a configuration elsewhere or later: secrets need not be here.
pub fn check_text(text: &str, name: &str, env: &dyn Env, rules: &Catalogue) -> Result<Config, Problems> {
    let text = ConfigText { text, name, path: Path::new(name) };
    read(text, env, Requirements::FILES, BaseRules { base: rules, known: None }, &mut Vec::new())
}

/// Checks a text. `name` is the file it came from: problems show it, and relative paths begin at its folder.
pub fn parse(text: &str, name: &str, env: &dyn Env, rules: &Catalogue) -> Result<Config, Problems> {
    let text = ConfigText { text, name, path: Path::new(name) };
    read(text, env, Requirements::ALL, BaseRules { base: rules, known: None }, &mut Vec::new())
}

/// A configuration's text, and the file that it came from.
struct ConfigText<'a> {
    text: &'a str,
    /// As it is shown.
    name: &'a str,
    path: &'a Path,
}

fn read(
    text: ConfigText<'_>,
    env: &dyn Env,
    needs: Requirements,
    before: BaseRules<'_>,
    files: &mut Vec<PathBuf>,
) -> Result<Config, Problems> {
    let ConfigText { text, name, path } = text;
    let mut diagnostics = Diagnostics::default();
    let mut mended = text.to_owned();
    let wrong = syntax::mend(&mut mended, &mut diagnostics);
    let mut table = syntax::table(&mended);
    let settings = table.as_mut().and_then(|table| shape::settings(table, &mut diagnostics));
    let Some(mut settings) = settings else {
        let problems = diagnostics.settle(name, text, wrong);
        return Err(problems.unwrap_or_else(|| Problems::whole(name, "this is not a configuration")));
    };
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    let resolved = resolve(&mut settings, ResolveScope { folder, env, needs }, &mut diagnostics);
    files.extend(resolved.files);
    files.extend(settings.detect.rule_files.iter().map(|path| folder.join(&**path)));
    files.extend(names::files(&settings.detect.names, folder));
    let built = rules::build(&settings, before, folder, &mut diagnostics);
    // Where rules are at fault, those that routes name may be among them.
    let names: Vec<&str> = built.iter().flat_map(|(known, _)| known.catalogue().names()).collect();
    let places = table.as_ref().map_or_else(ValuePlaces::none, ValuePlaces::of);
    check(&settings, &places, &names, &mut diagnostics);
    let missing = diagnostics.missing(name, text);
    let warnings = diagnostics.doubts(name, text);
    match (diagnostics.settle(name, text, wrong), built) {
        (None, Some((known, allow))) => {
            let (catalogue, files) = (known.catalogue().clone(), files.clone());
            let text = Some(hidden(text, resolved.literals).into());
            Ok(Config { settings, text, catalogue, allow, known, files, missing, warnings })
        }
        (problems, _) => Err(problems.unwrap_or_else(|| Problems::whole(name, "the rules cannot be used"))),
    }
}

/// What the command line can say where there is no file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where to listen; default 127.0.0.1:8080.
    pub listen: Option<SocketAddr>,
    /// Where metrics and health are served; default 127.0.0.1:9180.
    pub admin: Option<SocketAddr>,
    /// An `http` or `https` URL, path allowed: everything but our own endpoints goes there, redacted on the way
    /// and restored on the way back, with the caller's own credentials.
    pub upstream: Option<String>,
    /// Data folder; see [`Settings::data`] for the default.
    pub data: Option<PathBuf>,
}

/// Name of the one upstream and the one route that the command line makes.
const NAME: &str = "default";

/// The configuration of a gateway that has no file: one listener, the admin listener, our own endpoints,
/// and one route if there is an upstream.
pub fn embedded(options: &Options, env: &dyn Env, rules: &Catalogue) -> Result<Config, Problems> {
    let mut settings = Settings { admin: Some(Admin::default()), ..Settings::default() };
    if let Some(address) = options.listen {
        settings.listen = vec![Spanned::new(Listen { address: Spanned::new(address), ..Listen::default() })];
    }
    if let Some(address) = options.admin {
        settings.admin = Some(Admin { address: Spanned::new(address), ..Admin::default() });
    }
    if let Some(data) = &options.data {
        settings.data = Spanned::new(data.clone());
    }
    if let Some(url) = &options.upstream {
        let (peer, base) =
            Peer::with_base(url).map_err(|error| Problems::whole("--upstream", error.to_string()))?;
        let upstream = Upstream { base: base.map(Spanned::new), ..Upstream::to(peer) };
        settings.upstreams.insert(Spanned::new(NAME.to_owned()), Spanned::new(upstream));
        settings.routes.push(Spanned::new(Route {
            name: Spanned::new(NAME.to_owned()),
            upstream: Some(Spanned::new(NAME.to_owned())),
            auth: Some(Spanned::new(Auth::None)),
            redact: Some(Spanned::new(Redact::default())),
            ..Route::default()
        }));
    }
    let mut diagnostics = Diagnostics::default();
    let lookup = ResolveScope { folder: Path::new(""), env, needs: Requirements::ALL };
    let files = resolve(&mut settings, lookup, &mut diagnostics).files;
    check(&settings, &ValuePlaces::none(), &[], &mut diagnostics);
    match diagnostics.settle("command line", "", Vec::new()) {
        Some(problems) => Err(problems),
        None => {
            let known = CompiledRules::unchanged(rules.clone());
            let (catalogue, allow) = (rules.clone(), Allow::default());
            let (missing, warnings) = (Vec::new(), Vec::new());
            Ok(Config { settings, text: None, catalogue, allow, known, files, missing, warnings })
        }
    }
}
