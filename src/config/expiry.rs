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
    /// Its names, its begin and its end; `None` where it cannot be read.
    pub subject: Option<CertificateSubject>,
    /// Whether it is not shown yet: the one before it is good, and this one is not.
    pub waits: bool,
}

impl ShownCertificate {
    /// What is to be said of one that is not good yet, has ended, or ends soon.
    pub fn doubt(&self, now: Timestamp) -> Option<String> {
        let Self { at, file, subject, waits } = self;
        let CertificateSubject { not_before, not_after, .. } = subject.as_ref()?;
        let outcome = match waits {
            true => "the one before it stays in use until the next reload",
            false => "callers refuse it",
        };
        if now.as_millis() < not_before.as_millis() {
            let begin = not_before.iso8601();
            return Some(format!("the certificate {file} of {at} is not valid yet ({begin}): {outcome}"));
        }
        let end = not_after.iso8601();
        match days(now, *not_after) {
            ..0 => Some(format!("the certificate {file} of {at} has expired ({end}): {outcome}")),
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
        waits: false,
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
    fn what_has_expired_or_will_soon_or_is_not_valid_yet_is_said() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let shown = |begin: i64, end: i64| {
            let at = |days: i64| Timestamp::from_millis((1_800_000_000_000 + days * DAY as i64) as u64);
            let (not_before, not_after) = (at(begin), at(end));
            let (names, algorithm) = (Vec::new(), String::new());
            let subject = Some(CertificateSubject { names, algorithm, not_before, not_after });
            ShownCertificate { at: "[::]:443".to_owned(), file: "a.pem".to_owned(), subject, waits: false }
        };
        let doubt = |days: i64| shown(-100, days).doubt(now);
        assert!(doubt(-1).unwrap().contains("has expired"));
        assert!(doubt(0).unwrap().contains("expires in 0 days"));
        assert!(doubt(SOON - 1).unwrap().contains("expires in 29 days"));
        assert_eq!((doubt(SOON), doubt(365)), (None, None));
        let early = shown(1, 365);
        assert!(
            early
                .doubt(now)
                .unwrap()
                .ends_with("is not valid yet (2027-01-16T08:00:00.000Z): callers refuse it")
        );
        let waits = ShownCertificate { waits: true, ..early };
        assert!(waits.doubt(now).unwrap().contains("the one before it stays"));
        assert_eq!(shown(0, 365).doubt(now), None);
    }
}
