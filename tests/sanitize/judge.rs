//! A judge without scanners, feeds and detectors, who knows one malicious file.

use portcullis::sanitize::{
    Bounds, Edit, Judge, Kind, Link, Named, Options, Part, Rejection, Stats, Work, format,
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

impl Judge for Lenient {
    fn part(&mut self, part: Part<'_>) -> Result<(), Rejection> {
        self.parts += 1;
        if malicious(part.bytes) { Err(Rejection::Malicious) } else { Ok(()) }
    }

    fn links(&mut self, links: &[Link]) -> Result<Vec<bool>, Rejection> {
        let bad = |link: &Link| {
            let (Link::Url(text) | Link::Domain(text)) = link;
            self.bad.iter().any(|bad| text.contains(bad))
        };
        Ok(links.iter().map(bad).collect())
    }

    fn texts(&mut self, texts: &[Named<&str>]) -> Result<Vec<Vec<Edit>>, Rejection> {
        Ok(vec![Vec::new(); texts.len()])
    }
}

/// Cleans a file.
pub(crate) fn clean(name: &str, file: &[u8], options: Options) -> (Result<Vec<u8>, Rejection>, Stats) {
    let mut judge = Lenient::default();
    let mut work = Work::new(options, Bounds::default(), &mut judge);
    let clean = match work.part(name, file) {
        Ok(()) => format::clean(Kind::of(file, name), file, &mut work),
        Err(rejection) => Err(rejection),
    };
    (clean, work.into_stats())
}
