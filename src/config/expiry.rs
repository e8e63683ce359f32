//! The certificates that listeners show, and how long they last.

use std::path::Path;

use crate::base::clock::Timestamp;
use crate::config::settings::Settings;
use crate::gateway::listen::CertificateSubject;

const DAY: u64 = 24 * 3600 * 1000;

/// What has fewer days left wants a look.
pub const SOON: i64 = 30;

/// Whole days from one time to another; negative where it has passed.
pub fn days(from: Timestamp, to: Timestamp) -> i64 {
    let (from, to) = (from.as_millis(), to.as_millis());
    let whole = |millis: u64| i64::try_from(millis / DAY).unwrap_or(i64::MAX);
    if to >= from { whole(to - from) } else { -whole(from - to) - 1 }
}

/// A certificate of a listener's.
#[derive(Debug)]
pub struct ShownCertificate {
    /// The listener's address.
    pub at: String,
    /// Its file.
    pub file: String,
    /// Its names and its end; `None` where it cannot be read.
    pub subject: Option<CertificateSubject>,
}

impl ShownCertificate {
    /// What is to be said of one that has ended, or ends soon.
    pub fn doubt(&self, now: Timestamp) -> Option<String> {
        let Self { at, file, subject } = self;
        let until = subject.as_ref()?.not_after;
        let end = until.iso8601();
        match days(now, until) {
            ..0 => Some(format!("the certificate {file} of {at} has expired ({end}): callers refuse it")),
            left if left < SOON => {
                Some(format!("the certificate {file} of {at} expires in {left} days ({end})"))
            }
            _ => None,
        }
    }
}

/// The certificates that listeners show, as the files are now. Reads them.
pub fn shown_certificates(settings: &Settings) -> Vec<ShownCertificate> {
    let of = |at: &str, file: &Path| ShownCertificate {
        at: at.to_owned(),
        file: file.display().to_string(),
        subject: CertificateSubject::read(file).ok(),
    };
    let all = settings.tls().flat_map(|(address, tls)| {
        let files = std::iter::once(&tls.certificate).chain(tls.sni.iter().map(|one| &one.certificate));
        files.map(move |file| of(&address.to_string(), file))
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_whole() {
        let at = Timestamp::from_millis;
        for (from, to, expected) in
            [(0, DAY, 1), (0, DAY - 1, 0), (0, 0, 0), (1, 0, -1), (DAY, 0, -2), (0, 400 * DAY, 400)]
        {
            assert_eq!(days(at(from), at(to)), expected, "{from} {to}");
        }
    }

    #[test]
    fn what_has_expired_or_will_soon_is_said() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let doubt = |days: i64| {
            let not_after = Timestamp::from_millis((1_800_000_000_000 + days * DAY as i64) as u64);
            let subject = CertificateSubject { names: Vec::new(), algorithm: String::new(), not_after };
            let (at, file) = ("[::]:443".to_owned(), "a.pem".to_owned());
            ShownCertificate { at, file, subject: Some(subject) }.doubt(now)
        };
        assert!(doubt(-1).unwrap().contains("has expired"));
        assert!(doubt(0).unwrap().contains("expires in 0 days"));
        assert!(doubt(SOON - 1).unwrap().contains("expires in 29 days"));
        assert_eq!((doubt(SOON), doubt(365)), (None, None));
    }
}
