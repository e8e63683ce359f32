//! A gateway to try: with an empty data folder of its own, which is gone once it ends.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use data_encoding::HEXLOWER;
use rustix::process::{Pid, kill_process};
use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::api::token::{NewToken, Service};
use crate::app::error::AppError;
use crate::app::open_store::OpenStore;
use crate::app::serve::ConfigSource;
use crate::base::clock::{Clock, SystemClock};
use crate::base::secret::Secret;
use crate::config::{Options, Requirements};
use crate::crypto::random;

/// The token to sign in with is good for so long.
const LIFE: Duration = Duration::from_secs(12 * 3600);

/// How long the gateway may take until it serves, and until it has ended.
const TIMEOUT: Duration = Duration::from_secs(20);

/// How often it is looked whether it serves.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// What is tried.
pub struct Trial {
    /// Where it listens; `None`: at 127.0.0.1:8080, or another port if that one is taken.
    pub listen: Option<SocketAddr>,
    /// Where the console is; `None`: at 127.0.0.1:9180, or another port if that one is taken.
    pub admin: Option<SocketAddr>,
    /// Where everything but our own endpoints goes.
    pub upstream: Option<String>,
}

/// What to tell whoever tries it.
pub struct TrialLinks {
    /// Opens the playground and signs in: the token stands behind `#`, which browsers send to nobody.
    pub console: Secret<String>,
    /// A page that only this user reads, and that leads there.
    pub page: PathBuf,
    /// Where requests are taken.
    pub listen: SocketAddr,
}

/// A folder that is deleted with all that is in it.
struct TrialFolder(PathBuf);

/// What its name begins with; then come the process, which is looked for later, and random digits.
const NAMED: &str = "portcullis-try-";

impl TrialFolder {
    fn new() -> Result<Self, AppError> {
        let name = random::bytes::<8>().map_err(|error| AppError::Io(error.to_string()))?;
        let name = format!("{NAMED}{}-{}", std::process::id(), HEXLOWER.encode(&name));
        let path = std::env::temp_dir().join(name);
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| AppError::Io(format!("{}: {error}", path.display())))?;
        Ok(Self(path))
    }
}

/// Deletes the folders of trials that were killed. Other users' cannot be deleted, and stay.
fn sweep() {
    let Ok(folders) = std::fs::read_dir(std::env::temp_dir()) else { return };
    for folder in folders.flatten() {
        let name = folder.file_name();
        let process =
            name.to_str().and_then(|name| name.strip_prefix(NAMED)?.split('-').next()?.parse::<u32>().ok());
        let is_gone = |process: u32| {
            Path::new("/proc/self").exists() && !Path::new(&format!("/proc/{process}")).exists()
        };
        if process.is_some_and(is_gone) && folder.file_type().is_ok_and(|kind| kind.is_dir()) {
            drop(std::fs::remove_dir_all(folder.path()));
        }
    }
}

impl Drop for TrialFolder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(target: "portcullis::app", "{} could not be deleted: {error}", self.0.display());
        }
    }
}

/// Runs a gateway until it is told to stop; `announce` is called once it serves.
///
/// # Errors
/// What keeps it from serving.
pub fn try_out(trial: Trial, announce: impl FnOnce(TrialLinks)) -> Result<(), AppError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| AppError::Io(format!("the runtime: {error}")))?;
    // Before there is anything to be left behind.
    let mut ends = {
        let _within = runtime.enter();
        EndSignals::caught()?
    };
    sweep();
    let folder = TrialFolder::new()?;
    let (listen, admin) = (free(trial.listen, 8080)?, free(trial.admin, 9180)?);
    let token = token(&folder.0)?;
    let console = Secret::new(format!("http://{admin}/playground#{}", token.expose()));
    let page = folder.0.join("open.html");
    private_page(&page, &console)?;
    let links = TrialLinks { console, page, listen };
    runtime.block_on(async {
        let mut child = start(&folder.0, listen, admin, trial.upstream.as_deref())?;
        tokio::select! {
            ready = serves(&mut child, admin) => ready?,
            () = ends.any() => return ended(child).await,
        }
        announce(links);
        tokio::select! {
            status = child.wait() => match status {
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(AppError::Io(format!("the gateway ended: {status}"))),
                Err(error) => Err(AppError::Io(format!("the gateway: {error}"))),
            },
            () = ends.any() => ended(child).await,
        }
    })
}

/// The signals that end it.
struct EndSignals([Signal; 4]);

impl EndSignals {
    fn caught() -> Result<Self, AppError> {
        let caught = |kind| signal(kind).map_err(|error| AppError::Io(format!("signals: {error}")));
        Ok(Self([
            caught(SignalKind::interrupt())?,
            caught(SignalKind::terminate())?,
            caught(SignalKind::hangup())?,
            caught(SignalKind::quit())?,
        ]))
    }

    async fn any(&mut self) {
        let [interrupt, terminate, hangup, quit] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
            _ = quit.recv() => {}
        }
    }
}

/// A page that leads to the link: what a browser is started with, everybody may read.
fn private_page(page: &Path, link: &Secret<String>) -> Result<(), AppError> {
    let text = format!("<!DOCTYPE html><meta http-equiv=\"refresh\" content=\"0; url={}\">", link.expose());
    let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(page);
    let written = written.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| AppError::Io(format!("{}: {error}", page.display())))
}

/// The address that was asked for, if it is free; else a free one of this machine.
fn free(wanted: Option<SocketAddr>, port: u16) -> Result<SocketAddr, AppError> {
    let bound = match wanted {
        Some(wanted) => TcpListener::bind(wanted),
        None => TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))),
    };
    let address = bound.and_then(|bound| bound.local_addr());
    address.map_err(|error| match wanted {
        Some(wanted) => AppError::Io(format!("{wanted}: {error}")),
        None => AppError::Io(format!("a port of this machine: {error}")),
    })
}

/// Makes the token to sign in with. There is one then, so the gateway makes none of its own.
fn token(folder: &Path) -> Result<Secret<String>, AppError> {
    let options = Options { data: Some(folder.to_owned()), ..Options::default() };
    let config = ConfigSource::Options(options).load_for(Requirements::STORE)?;
    let opened = OpenStore::at(&config)?;
    let new = NewToken {
        name: "try".to_owned(),
        services: [Service::ALL.as_slice(), &[Service::Admin]].concat(),
        expires: Some(SystemClock.now().plus(LIFE)),
        ..NewToken::default()
    };
    let made = opened.io.block_on(opened.tokens.create(new));
    opened.io.block_on(opened.records.close());
    Ok(made?.1)
}

fn start(
    folder: &Path,
    listen: SocketAddr,
    admin: SocketAddr,
    upstream: Option<&str>,
) -> Result<Child, AppError> {
    let program = std::env::current_exe().map_err(|error| AppError::Io(format!("this program: {error}")))?;
    let mut command = Command::new(program);
    command.arg("serve").arg("--data").arg(folder);
    command.args(["--listen", &listen.to_string(), "--admin", &admin.to_string()]);
    command.args(upstream.map(|upstream| ["--upstream", upstream]).into_iter().flatten());
    command.env_remove("PORTCULLIS_CONFIG").stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
    command.spawn().map_err(|error| AppError::Io(format!("the gateway: {error}")))
}

/// Waits until somebody listens there.
async fn serves(child: &mut Child, admin: SocketAddr) -> Result<(), AppError> {
    let tries = TIMEOUT.as_millis() / POLL_INTERVAL.as_millis();
    for _ in 0..tries {
        if let Ok(Some(status)) = child.try_wait() {
            return Err(AppError::Io(format!("the gateway ended: {status}")));
        }
        if TcpStream::connect_timeout(&admin, POLL_INTERVAL).is_ok() {
            return Ok(());
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    Err(AppError::Io("the gateway does not answer".to_owned()))
}

/// Has it end, by itself if it can.
async fn ended(mut child: Child) -> Result<(), AppError> {
    let process = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
    if let Some(process) = process {
        // It is gone already, or has had the signal from the terminal.
        let _sent = kill_process(process, rustix::process::Signal::TERM);
    }
    match tokio::time::timeout(TIMEOUT, child.wait()).await {
        Ok(_) => Ok(()),
        Err(_) => child.kill().await.map_err(|error| AppError::Io(format!("the gateway: {error}"))),
    }
}
