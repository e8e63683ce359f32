//! Listening sockets from one process to the next, over a Unix socket (`SCM_RIGHTS` of unix(7)).
//!
//! The process that serves waits at [`HandoverPaths`]. A successor connects, gets a line of text and a descriptor for each
//! listening socket, and says `ready` once it accepts connections: then the one before drains. Both accept from the same
//! queues in between, so no connection is refused. A successor that leaves without that word has changed nothing.

use std::fs::Permissions;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use tokio::net::UnixListener;
use tokio::sync::mpsc;

use crate::app::error::AppError;
use crate::config::settings::Settings;
use crate::gateway::listen::Sockets;

const TARGET: &str = "portcullis::app";

/// What speaks here, and its version.
const GREETING: &str = "portcullis 1\n";

/// The end of the list.
const END: &str = "\n";

/// What a successor says when it accepts connections.
const READY: &[u8] = b"ready\n";

/// How long one side waits for the other.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How long a process that serves may take to greet.
const GREETING_TIMEOUT: Duration = Duration::from_secs(2);

/// The longest list of sockets, in bytes.
const LONGEST: usize = 64 << 10;

/// Descriptors that may come with one line: there is one.
const EACH: usize = 4;

/// Where successors come to, and where the serving process writes down its number.
#[derive(Clone, Debug)]
pub(super) struct HandoverPaths {
    socket: PathBuf,
    pid: PathBuf,
}

impl HandoverPaths {
    pub(super) fn of(settings: &Settings) -> Self {
        let upgrade = &settings.upgrade;
        let or = |said: &Option<PathBuf>, name| said.clone().unwrap_or_else(|| settings.data.join(name));
        Self { socket: or(&upgrade.socket, "upgrade.sock"), pid: or(&upgrade.pid_file, "serve.pid") }
    }

    /// That nobody else serves from here: whoever did could not hand over any more.
    ///
    /// # Errors
    /// A process does, and is not draining.
    pub(super) fn ensure_free(&self) -> Result<(), AppError> {
        let Ok(mut other) = UnixStream::connect(&self.socket) else { return Ok(()) };
        let mut greeting = [0; GREETING.len()];
        let heard =
            other.set_read_timeout(Some(GREETING_TIMEOUT)).and_then(|()| other.read_exact(&mut greeting));
        // One that hands over to another just now lets this one wait.
        let busy =
            |error: &io::Error| matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
        let serves = match heard {
            Ok(()) => greeting == GREETING.as_bytes(),
            Err(error) => busy(&error),
        };
        if !serves {
            return Ok(());
        }
        Err(AppError::Io(format!(
            "{}: a process serves from here already; name another data folder, or take over with `--upgrade`",
            self.socket.display()
        )))
    }

    /// Writes down that this process serves now, in the place of whichever did.
    pub(super) fn sign(&self) {
        let draft = self.pid.with_extension(format!("{}", std::process::id()));
        let line = format!("{}\n", std::process::id());
        let written = std::fs::write(&draft, line)
            // Whoever looks after processes may be somebody else.
            .and_then(|()| std::fs::set_permissions(&draft, Permissions::from_mode(0o644)))
            .and_then(|()| std::fs::rename(&draft, &self.pid));
        if let Err(error) = written {
            tracing::warn!(target: TARGET, file = %self.pid.display(), "cannot be written: {error}");
        }
    }

    /// Binds the socket in the place of whatever was there.
    fn bind(&self) -> io::Result<UnixListener> {
        let draft = self.socket.with_extension(format!("{}", std::process::id()));
        let listener = UnixListener::bind(&draft)?;
        std::fs::rename(&draft, &self.socket)?;
        Ok(listener)
    }
}

/// Waits for successors, one after the other, until one of them is ready or the process drains. Where that is not
/// possible the process can be restarted all the same.
pub(super) async fn offer(place: HandoverPaths, sockets: Sockets, takes: mpsc::Sender<()>) {
    let listener = match place.bind() {
        Ok(listener) => listener,
        Err(error) => {
            let socket = place.socket.display();
            return tracing::warn!(target: TARGET, %socket, "no successor can take over: {error}");
        }
    };
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_secs(1)).await;
            continue;
        };
        if takes.is_closed() {
            return;
        }
        let ours = rustix::process::geteuid().as_raw();
        if !stream.peer_cred().is_ok_and(|peer| peer.uid() == ours || peer.uid() == 0) {
            tracing::warn!(target: TARGET, "somebody else's process asked for the sockets, and got nothing");
            continue;
        }
        let sockets = sockets.clone();
        let handed = tokio::task::spawn_blocking(move || hand_out(stream.into_std()?, &sockets)).await;
        match handed.unwrap_or_else(|_| Err(io::ErrorKind::Other.into())) {
            Ok(()) => {
                // A process that drains already does so.
                let _taken = takes.send(()).await;
                return;
            }
            Err(error) => {
                tracing::warn!(target: TARGET, "a successor left before it was ready, this process goes on: {error}");
            }
        }
    }
}

/// Gives a successor every socket; returns once it is ready.
fn hand_out(mut stream: UnixStream, sockets: &Sockets) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    send(&stream, GREETING, &[])?;
    for (address, socket) in sockets.hand_out()? {
        send(&stream, &format!("{address}\n"), &[socket.as_fd()])?;
    }
    send(&stream, END, &[])?;
    let mut word = [0; READY.len()];
    stream.read_exact(&mut word)?;
    match word == READY {
        true => Ok(()),
        false => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn send(stream: &UnixStream, line: &str, sockets: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(EACH))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !sockets.is_empty() && !control.push(SendAncillaryMessage::ScmRights(sockets)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let sent = sendmsg(stream, &[IoSlice::new(line.as_bytes())], &mut control, SendFlags::NOSIGNAL)?;
    // Some bytes into an empty buffer: all or nothing.
    if sent == line.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

/// The process that serves, as its successor sees it.
pub(super) struct Predecessor(UnixStream);

impl Predecessor {
    /// Gets its sockets. It goes on serving until it is told otherwise.
    ///
    /// # Errors
    /// Nobody serves there, or somebody who does not hand out sockets.
    pub(super) fn meet(place: &HandoverPaths) -> Result<(Self, Sockets), AppError> {
        let socket = place.socket.display();
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => AppError::Upgrade(format!(
                "{socket}: no process serves from here, so start without `--upgrade`"
            )),
            _ => AppError::Upgrade(format!("{socket}: no sockets came: {error}")),
        };
        let stream = UnixStream::connect(&place.socket).map_err(failed)?;
        let sockets = receive(&stream).map_err(failed)?;
        Ok((Self(stream), Sockets::adopt(sockets)))
    }

    /// Tells it that this process accepts connections now, so that it drains.
    pub(super) fn relieve(mut self) {
        if let Err(error) = self.0.write_all(READY) {
            tracing::warn!(target: TARGET, "the process before left by itself: {error}");
        }
    }
}

#[cfg(target_os = "linux")]
const RECEIVE: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const RECEIVE: RecvFlags = RecvFlags::empty();

fn receive(stream: &UnixStream) -> io::Result<Vec<(SocketAddr, OwnedFd)>> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    stream.set_read_timeout(Some(TIMEOUT))?;
    let (mut text, mut sockets): (Vec<u8>, Vec<OwnedFd>) = (Vec::new(), Vec::new());
    while !text.ends_with(b"\n\n") {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(EACH))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut piece = [0; 1024];
        let got = recvmsg(stream, &mut [IoSliceMut::new(&mut piece)], &mut control, RECEIVE)?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(more) = message {
                sockets.extend(more);
            }
        }
        text.extend_from_slice(piece.get(..got.bytes).unwrap_or_default());
        if got.bytes == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if text.len() > LONGEST {
            return Err(invalid());
        }
    }
    let text = String::from_utf8(text).map_err(|_| invalid())?;
    let lines = text.strip_prefix(GREETING).ok_or_else(invalid)?;
    let addresses: Result<Vec<SocketAddr>, _> =
        lines.lines().filter(|line| !line.is_empty()).map(str::parse).collect();
    let addresses = addresses.map_err(|_| invalid())?;
    if addresses.len() != sockets.len() {
        return Err(invalid());
    }
    Ok(addresses.into_iter().zip(sockets).collect())
}

#[cfg(test)]
mod tests {
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::timeout;

    use super::*;

    const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

    fn place(folder: &std::path::Path) -> HandoverPaths {
        HandoverPaths { socket: folder.join("upgrade.sock"), pid: folder.join("serve.pid") }
    }

    /// A process that serves, and who is told when another has taken over.
    fn serving(place: &HandoverPaths) -> (SocketAddr, mpsc::Receiver<()>) {
        let sockets = Sockets::default();
        sockets.open(&[ANY]).unwrap();
        let (takes, taken) = mpsc::channel(1);
        let real = sockets.local(ANY).unwrap();
        tokio::spawn(offer(place.clone(), sockets, takes));
        (real, taken)
    }

    async fn met(place: &HandoverPaths) -> (Predecessor, Sockets) {
        let place = place.clone();
        tokio::task::spawn_blocking(move || {
            for _ in 0..200 {
                if let Ok(met) = Predecessor::meet(&place) {
                    return met;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            panic!("nobody there");
        })
        .await
        .unwrap()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_successor_gets_the_sockets_and_relieves_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let (address, mut taken) = serving(&place);
        let (predecessor, sockets) = met(&place).await;
        let [(configured, fd)] = <[_; 1]>::try_from(sockets.hand_out().unwrap()).unwrap();
        assert_eq!(configured, ANY);
        let listener = std::net::TcpListener::from(fd);
        listener.set_nonblocking(true).unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        assert_eq!(listener.local_addr().unwrap(), address);
        let (_ours, _theirs) = tokio::join!(TcpStream::connect(address), listener.accept());
        assert!(taken.try_recv().is_err(), "not before it is ready");
        predecessor.relieve();
        timeout(TIMEOUT, taken.recv()).await.unwrap().unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_successor_that_fails_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let (_, mut taken) = serving(&place);
        for _ in 0..3 {
            drop(met(&place).await);
        }
        let other = place.clone();
        let free = tokio::task::spawn_blocking(move || other.ensure_free()).await.unwrap();
        assert!(free.unwrap_err().to_string().contains("a process serves from here already"));
        assert!(taken.try_recv().is_err());
        met(&place).await.0.relieve();
        timeout(TIMEOUT, taken.recv()).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn where_nobody_serves_it_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let said = Predecessor::meet(&place).err().unwrap().to_string();
        assert!(said.ends_with("no process serves from here, so start without `--upgrade`"), "{said}");
        assert!(place.ensure_free().is_ok());
        // The socket of a process that is gone.
        drop(place.bind().unwrap());
        assert!(Predecessor::meet(&place).err().unwrap().to_string().contains("no process serves"));
        assert!(place.ensure_free().is_ok());
        // Somebody who speaks otherwise.
        let listener = place.bind().unwrap();
        let other = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            stream.writable().await.unwrap();
            stream.try_write(b"HTTP/1.1 200 OK\n\n").unwrap();
            stream
        });
        let asked = place.clone();
        let met = tokio::task::spawn_blocking(move || Predecessor::meet(&asked).err().unwrap().to_string());
        assert!(met.await.unwrap().contains("no sockets came"));
        drop(other.await.unwrap());
    }
}
