//! Fetches what the file only points to: environment variables, secret files, the default data folder. Relative
//! paths are taken from the folder of the file that says them.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::base::regular_file;
use crate::base::secret::Secret;
use crate::config::credential::Credential;
use crate::config::diagnostics::Diagnostics;
use crate::config::problem::MISSING;
use crate::config::settings::{
    Aws, Certificate, HeaderRules, ListenTls, Route, Sanitize, Settings, Upgrade, Upstream, region_of,
};
use crate::config::spanned::Spanned;
use crate::config::supplied::{Env, Requirements, SecretSource, Supplied};

/// The environment variables of AWS's own tools: an access key's id and its secret.
const KEYS: [&str; 2] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
/// The token that may belong to them.
const SESSION_TOKEN: &str = "AWS_SESSION_TOKEN";
/// The region.
const REGIONS: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];

/// The largest secret file.
const SECRET: u64 = 64 << 10;

/// Where what is pointed to is looked for, and what of it must be there.
#[derive(Clone, Copy)]
pub(crate) struct ResolveScope<'a> {
    /// Where relative paths begin.
    pub(crate) folder: &'a Path,
    pub(crate) env: &'a dyn Env,
    pub(crate) needs: Requirements,
}

/// What came to light on the way.
#[derive(Default)]
pub(crate) struct Resolved {
    /// The files that were pointed to, there or not.
    pub(crate) files: Vec<PathBuf>,
    /// Where the file itself says what may be secret: byte ranges.
    pub(crate) literals: Vec<Range<usize>>,
}

/// Fetches everything.
pub(crate) fn resolve(
    settings: &mut Settings,
    lookup: ResolveScope<'_>,
    diagnostics: &mut Diagnostics,
) -> Resolved {
    let ResolveScope { folder, env, needs } = lookup;
    let mut fetch = Fetch { folder, env, diagnostics, found: Resolved::default() };
    for listen in &mut settings.listen {
        if let Some(tls) = &mut listen.value_mut().tls {
            fetch.tls(tls, needs);
        }
    }
    if let Some(tls) = settings.admin.as_mut().and_then(|admin| admin.tls.as_mut()) {
        fetch.tls(tls, needs);
    }
    if settings.data.as_os_str().is_empty() {
        *settings.data.value_mut() = data_folder(env);
    } else {
        anchor(settings.data.value_mut(), folder);
    }
    let Upgrade { socket, pid_file } = &mut settings.upgrade;
    let access_file = settings.log.access_file.as_mut().map(Spanned::value_mut);
    let audit_file = settings.audit.as_mut().map(|audit| audit.file.value_mut());
    for path in [socket, pid_file].into_iter().flatten().chain(access_file).chain(audit_file) {
        anchor(path, folder);
    }
    for upstream in settings.upstreams.values_mut() {
        let Upstream { tls, headers, .. } = upstream.value_mut();
        if let Some(ca) = tls.as_mut().and_then(|tls| tls.value_mut().ca.as_mut()) {
            fetch.file(ca, needs.files);
        }
        for credential in headers.values_mut() {
            fetch.credential(credential, needs.serving);
        }
        fetch.aws(upstream.value_mut(), needs.serving);
    }
    for route in &mut settings.routes {
        let Route { jwt, introspection, request_headers, answer_headers, .. } = route.value_mut();
        for rules in [request_headers, answer_headers].into_iter().flatten() {
            let HeaderRules { set, add, .. } = rules.value_mut();
            set.values_mut().chain(add.values_mut()).for_each(|value| fetch.supply(value, needs.serving));
        }
        if let Some(introspection) = introspection {
            fetch.supply(&mut introspection.value_mut().secret, needs.serving);
        }
        let jwt = jwt.as_mut();
        if let Some(keys) = jwt.and_then(|jwt| jwt.value_mut().keys.value_mut().file.as_mut()) {
            fetch.file(keys, needs.files);
        }
    }
    for analyzer in settings.analyzers.values_mut() {
        let headers = &mut analyzer.value_mut().headers;
        headers.values_mut().for_each(|value| fetch.supply(value, needs.serving));
    }
    fetch.sanitize(&mut settings.sanitize, needs);
    if let Some(shared) = &mut settings.limits.shared {
        fetch.supply(&mut shared.value_mut().url, needs.serving);
    }
    let traces = settings.telemetry.otlp.as_mut().map(|otlp| &mut otlp.headers);
    let lines = settings.audit.as_mut().and_then(|audit| audit.otlp.as_mut()).map(|otlp| &mut otlp.headers);
    for headers in [traces, lines].into_iter().flatten() {
        headers.values_mut().for_each(|value| fetch.supply(value, needs.serving));
    }
    if let Some(url) = &mut settings.store.url {
        fetch.supply(url, needs.store);
    }
    if let Some(ca) = &mut settings.store.ca {
        fetch.file(ca, needs.store || needs.files);
    }
    if let Some(s3) = settings.blobs.s3.as_mut().map(Spanned::value_mut) {
        for key in s3.access_key.iter_mut().chain(&mut s3.secret_key) {
            fetch.supply(key, needs.serving);
        }
    }
    let vault = &mut settings.vault;
    for supplied in [&mut vault.master_key, &mut vault.passphrase].into_iter().flatten() {
        fetch.supply(supplied, needs.vault);
    }
    fetch.found
}

/// The data folder of someone who named none (XDG base directory specification; a relative path there is invalid).
pub(crate) fn data_folder(env: &dyn Env) -> PathBuf {
    let absolute = |name| env.var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let share = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
    share.map_or_else(|| PathBuf::from("./data"), |share| share.join("portcullis"))
}

fn anchor(path: &mut PathBuf, folder: &Path) {
    // `join` leaves an absolute path alone.
    *path = folder.join(&*path);
}

/// Why a file cannot be read; the system's own words may be in any language.
pub(crate) fn unreadable(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => MISSING,
        io::ErrorKind::PermissionDenied => "this process may not read the file",
        io::ErrorKind::InvalidData => "the file is not UTF-8 text",
        io::ErrorKind::IsADirectory => "this is a folder, not a file",
        io::ErrorKind::InvalidInput => "this is not a file",
        io::ErrorKind::FileTooLarge => "the file is too large",
        _ => "the file cannot be read",
    }
}

/// Reads a text file of at most `limit` bytes. Whatever else has its name is not waited for.
pub(crate) fn text(path: &Path, limit: u64) -> io::Result<String> {
    let mut text = String::new();
    let file = regular_file::open(path, OpenOptions::new().read(true))?;
    let read = file.take(limit + 1).read_to_string(&mut text)?;
    if read as u64 > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(text) }
}

/// Fetching, and what it comes across.
struct Fetch<'a> {
    folder: &'a Path,
    env: &'a dyn Env,
    diagnostics: &'a mut Diagnostics,
    found: Resolved,
}

impl Fetch<'_> {
    fn path(&mut self, path: &mut PathBuf) {
        anchor(path, self.folder);
        self.found.files.push(path.clone());
    }

    /// What is wrong with what is pointed to: a mistake, if it is needed.
    fn wrong(&mut self, at: usize, message: impl Into<String>, needed: bool) {
        if needed { self.diagnostics.say(at, message) } else { self.diagnostics.miss(at, message) }
    }

    fn file(&mut self, path: &mut Spanned<PathBuf>, needed: bool) {
        self.path(path.value_mut());
        let place = path.span().start;
        if let Err(error) = regular_file::open(path, OpenOptions::new().read(true)) {
            self.wrong(place, unreadable(&error), needed);
        }
    }

    fn tls(&mut self, tls: &mut ListenTls, needs: Requirements) {
        let ListenTls { certificate, key, sni, client_ca, client_crl, client_certificates: _ } = tls;
        self.file(certificate, needs.files);
        self.file(key, needs.serving);
        for Certificate { certificate, key } in sni.iter_mut().map(Spanned::value_mut) {
            self.file(certificate, needs.files);
            self.file(key, needs.serving);
        }
        for file in [client_ca, client_crl].into_iter().flatten() {
            self.file(file, needs.files);
        }
    }

    fn sanitize(&mut self, sanitize: &mut Sanitize, needs: Requirements) {
        let Sanitize { scan, intel, .. } = sanitize;
        for path in scan.rules.iter_mut().chain(&mut intel.feeds).chain(&mut intel.common) {
            self.path(path.value_mut());
            if let Err(error) = fs::metadata(&**path) {
                self.wrong(path.span().start, unreadable(&error), needs.sanitize || needs.files);
            }
        }
        for remote in intel.remote.values_mut() {
            for supplied in remote.value_mut().headers.values_mut() {
                self.supply(supplied, needs.sanitize);
            }
        }
    }

    /// Keys of AWS, where the file names none: those of the environment.
    fn aws(&mut self, upstream: &mut Upstream, needed: bool) {
        let is_key = |value: &str| !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_graphic());
        let found = |name| self.env.var(name).map(trimmed);
        let has = |name| found(name).is_some_and(|value| is_key(&value));
        let (both, token) = (KEYS.iter().all(|name| has(name)), has(SESSION_TOKEN));
        if upstream.aws.is_none() && both {
            upstream.aws = Some(Spanned::new(Aws { implied: true, ..Aws::default() }));
        }
        let Some(table) = &mut upstream.aws else { return };
        if table.access_key.is_none() && table.secret_key.is_none() && table.session_token.is_none() {
            let of_env = |name| Some(table.with(Credential::Supplied(Supplied::of_env(name))));
            let [access, secret] = KEYS.map(of_env);
            let token = token.then_some(SESSION_TOKEN).and_then(of_env);
            let aws = table.value_mut();
            (aws.access_key, aws.secret_key, aws.session_token) = (access, secret, token);
        }
        let region = upstream.peers.first().and_then(|peer| region_of(peer.host())).map(str::to_owned);
        let of_env =
            || REGIONS.iter().find_map(|name| self.env.var(name).filter(|region| !region.is_empty()));
        let of_env = || of_env().filter(|_| !table.implied);
        let region = region.or_else(of_env).map(|region| table.with(region));
        let aws = table.value_mut();
        aws.region = aws.region.take().or(region);
        for key in [&mut aws.access_key, &mut aws.secret_key, &mut aws.session_token].into_iter().flatten() {
            self.credential(key, needed);
        }
    }

    /// What is in the vault is asked for there, while the gateway runs.
    fn credential(&mut self, credential: &mut Spanned<Credential>, needed: bool) {
        let at = credential.span();
        if let Credential::Supplied(supplied) = credential.value_mut() {
            self.supply_at(at, supplied, needed);
        }
    }

    fn supply(&mut self, supplied: &mut Spanned<Supplied>, needed: bool) {
        let at = supplied.span();
        self.supply_at(at, supplied.value_mut(), needed);
    }

    fn supply_at(&mut self, place: Range<usize>, supplied: &mut Supplied, needed: bool) {
        let at = place.start;
        let fetched = match &mut supplied.source {
            SecretSource::Literal => return self.found.literals.push(place),
            SecretSource::Env(name) => match self.env.var(name) {
                Some(value) => Ok(value),
                None => Err(format!("the environment variable `{name}` is not set")),
            },
            SecretSource::File(path) => {
                self.path(path);
                text(path, SECRET).map_err(|error| unreadable(&error).to_owned())
            }
        };
        match fetched {
            Ok(value) if value.trim().is_empty() => self.wrong(at, "the value is empty", needed),
            Ok(mut value) => {
                trim_edges(&mut value);
                supplied.value = Secret::new(value);
            }
            Err(message) => self.wrong(at, message, needed),
        }
    }
}

/// A value without what editors put around it: the line break that may end it, the byte order mark that may begin it.
fn trimmed(mut value: String) -> String {
    trim_edges(&mut value);
    value
}

fn trim_edges(value: &mut String) {
    if value.starts_with('\u{feff}') {
        value.remove(0);
    }
    if value.ends_with('\n') {
        value.pop();
        if value.ends_with('\r') {
            value.pop();
        }
    }
}
