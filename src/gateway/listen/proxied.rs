//! The PROXY protocol, versions 1 and 2 (haproxy's `proxy-protocol.txt`, 2020): a proxy that passes bytes on says first
//! whose they are. Not a byte more is read than that.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::io::{AsyncRead, AsyncReadExt};

/// What version 2 begins with.
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";

/// The longest line of version 1, its end included.
const LINE: usize = 107;

/// The longest rest of version 2: addresses and extensions that we skip.
const REST: usize = 2 << 10;

/// Reads what a proxy says. `None`: the connection is its own, as health checks are.
///
/// # Errors
/// The stream's; [`io::ErrorKind::InvalidData`] for anything else than the protocol.
pub(super) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<SocketAddr>> {
    let mut begin = [0; SIGNATURE.len()];
    stream.read_exact(&mut begin).await?;
    if begin == *SIGNATURE {
        return second(stream).await;
    }
    let mut line = begin.to_vec();
    while !line.ends_with(b"\r\n") && line.len() < LINE {
        line.push(stream.read_u8().await?);
    }
    first(&line).ok_or_else(bad)
}

fn bad() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

/// `PROXY TCP4 source destination port port`, or `PROXY UNKNOWN` and anything.
fn first(line: &[u8]) -> Option<Option<SocketAddr>> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix("\r\n")?;
    let mut words = line.split(' ');
    let (proxy, family) = (words.next()?, words.next()?);
    match (proxy, family) {
        ("PROXY", "UNKNOWN") => return Some(None),
        ("PROXY", "TCP4" | "TCP6") => {}
        _ => return None,
    }
    let source: IpAddr = words.next()?.parse().ok()?;
    let destination: IpAddr = words.next()?.parse().ok()?;
    let port: u16 = words.next()?.parse().ok()?;
    let _: u16 = words.next()?.parse().ok()?;
    let four = family == "TCP4";
    let fits = source.is_ipv4() == four && destination.is_ipv4() == four && words.next().is_none();
    fits.then_some(Some(SocketAddr::new(source, port)))
}

async fn second(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<SocketAddr>> {
    let mut head = [0; 4];
    stream.read_exact(&mut head).await?;
    let [command, family, high, low] = head;
    let length = usize::from(u16::from_be_bytes([high, low]));
    if length > REST {
        return Err(bad());
    }
    let mut rest = vec![0; length];
    stream.read_exact(&mut rest).await?;
    match (command, family) {
        // LOCAL: whatever follows means nothing.
        (0x20, _) => Ok(None),
        (0x21, 0x11) => match rest.first_chunk() {
            Some(&[a, b, c, d, _, _, _, _, high, low, _, _]) => {
                let source = Ipv4Addr::new(a, b, c, d);
                Ok(Some(SocketAddr::new(source.into(), u16::from_be_bytes([high, low]))))
            }
            None => Err(bad()),
        },
        (0x21, 0x21) => {
            let source: [u8; 16] = *rest.first_chunk().ok_or_else(bad)?;
            let port: [u8; 2] = *rest.get(32..).and_then(<[u8]>::first_chunk).ok_or_else(bad)?;
            if rest.len() < 36 {
                return Err(bad());
            }
            Ok(Some(SocketAddr::new(Ipv6Addr::from(source).into(), u16::from_be_bytes(port))))
        }
        // Other families have no addresses that mean anything here.
        (0x21, _) => Ok(None),
        _ => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn told(mut bytes: &[u8]) -> (io::Result<Option<SocketAddr>>, usize) {
        let told = read(&mut bytes).await;
        (told, bytes.len())
    }

    #[tokio::test]
    async fn both_versions_say_who_is_behind() {
        let one = b"PROXY TCP4 192.0.2.1 192.0.2.2 51000 443\r\nGET";
        let (told_one, left) = told(one).await;
        assert_eq!((told_one.unwrap(), left), (Some("192.0.2.1:51000".parse().unwrap()), 3));
        let mut two = SIGNATURE.to_vec();
        two.extend([0x21, 0x11, 0, 15, 192, 0, 2, 1, 192, 0, 2, 2, 0xc7, 0x38, 1, 0xbb, 4, 0, 0]);
        two.extend(b"GET");
        let (told_two, left) = told(&two).await;
        assert_eq!((told_two.unwrap(), left), (Some("192.0.2.1:51000".parse().unwrap()), 3));
        let mut six = SIGNATURE.to_vec();
        six.extend([0x21, 0x21, 0, 36]);
        six.extend("2001:db8::1".parse::<Ipv6Addr>().unwrap().octets());
        six.extend([0; 16]);
        six.extend([0xc7, 0x38, 1, 0xbb]);
        assert_eq!(told(&six).await.0.unwrap(), Some("[2001:db8::1]:51000".parse().unwrap()));
    }

    #[tokio::test]
    async fn a_proxy_may_speak_for_itself() {
        assert_eq!(told(b"PROXY UNKNOWN\r\n").await.0.unwrap(), None);
        let mut local = SIGNATURE.to_vec();
        local.extend([0x20, 0, 0, 0]);
        assert_eq!(told(&local).await.0.unwrap(), None);
    }

    #[tokio::test]
    async fn anything_else_is_refused() {
        let long = [b"PROXY UNKNOWN ".as_slice(), &[b'x'; 200], b"\r\n"].concat();
        let mut short = SIGNATURE.to_vec();
        short.extend([0x21, 0x11, 0, 4, 1, 2, 3, 4]);
        let mut version = SIGNATURE.to_vec();
        version.extend([0x31, 0x11, 0, 0]);
        let bad: [&[u8]; 8] = [
            b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            b"PROXY TCP4 192.0.2.1 192.0.2.2 51000\r\n",
            b"PROXY TCP4 2001:db8::1 192.0.2.2 51000 443\r\n",
            b"PROXY TCP4 192.0.2.1 192.0.2.2 51000 99999\r\n",
            b"PROXY TCP4 192.0.2.1 192.0.2.2 51000 443 x\r\n",
            &long,
            &short,
            &version,
        ];
        for bytes in bad {
            assert!(told(bytes).await.0.is_err(), "{bytes:?}");
        }
    }
}
