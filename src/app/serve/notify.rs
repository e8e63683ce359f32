//! What a supervisor is told, by the protocol of sd_notify(3): a datagram to the socket that it named.

use std::os::unix::net::UnixDatagram;

/// Tells a state, such as `READY=1`. Without a supervisor that asked for it nothing happens, and one that cannot be told
/// finds out by itself.
pub(super) fn tell(state: &str) {
    let Some(place) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let Ok(socket) = UnixDatagram::unbound() else { return };
    let told = match place.as_encoded_bytes() {
        [b'@', name @ ..] => to_name(&socket, name, state),
        _ => socket.send_to(state.as_bytes(), &place),
    };
    if let Err(error) = told {
        tracing::warn!(target: "portcullis::app", "the supervisor cannot be told: {error}");
    }
}

/// To a name that no file system has: Linux alone has such.
#[cfg(target_os = "linux")]
fn to_name(socket: &UnixDatagram, name: &[u8], state: &str) -> std::io::Result<usize> {
    use std::os::linux::net::SocketAddrExt;
    socket.send_to_addr(state.as_bytes(), &std::os::unix::net::SocketAddr::from_abstract_name(name)?)
}

#[cfg(not(target_os = "linux"))]
fn to_name(_: &UnixDatagram, _: &[u8], _: &str) -> std::io::Result<usize> {
    Err(std::io::ErrorKind::Unsupported.into())
}
