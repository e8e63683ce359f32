//! A host without scanners, feeds and detectors, which knows one malicious file.

use portcullis::sanitize::format::FORMATS;
use portcullis::sanitize::{
    Host, HostRequest, Link, Options, Rejection, Response, Stats, UnfoldBounds, Work, identify,
};

/// The test file that scanners agree to call malicious, but for its first letter.
const EICAR: &[u8] = b"5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*";

/// Finds nothing to redact and no bad link.
#[derive(Debug, Default)]
pub(crate) struct Lenient {
    /// Words that are links to defang.
    pub(crate) bad: Vec<&'static str>,
    /// How many parts were shown.
    pub(crate) parts: usize,
}

/// Whether this is, or holds, the test file.
pub(crate) fn malicious(bytes: &[u8]) -> bool {
    bytes.windows(EICAR.len()).any(|window| window == EICAR)
}

impl Host for Lenient {
    fn ask(&mut self, request: HostRequest<'_>) -> Result<Response, Rejection> {
        match request {
            HostRequest::Part { bytes, .. } => {
                self.parts += 1;
                if malicious(&bytes) { Err(Rejection::Malicious) } else { Ok(Response::Part) }
            }
            HostRequest::Links(links) => {
                let bad = |link: &Link| {
                    let (Link::Url(text) | Link::Domain(text)) = link;
                    self.bad.iter().any(|bad| text.contains(bad))
                };
                Ok(Response::Links(links.iter().map(bad).collect()))
            }
            HostRequest::Password => Ok(Response::Password(None)),
            HostRequest::Texts(texts) => Ok(Response::Texts(vec![Vec::new(); texts.len()])),
        }
    }
}

/// Cleans a file.
pub(crate) fn clean(name: &str, file: &[u8], options: Options) -> (Result<Vec<u8>, Rejection>, Stats) {
    let mut host = Lenient::default();
    let mut work = Work::new(&FORMATS, options, UnfoldBounds::default(), &mut host);
    let clean = match work.part(name, file) {
        Ok(()) => work.clean(identify(file, name), file),
        Err(rejection) => Err(rejection),
    };
    (clean, work.into_stats())
}
