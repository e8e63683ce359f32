//! Which certificate a caller is shown, by the name that it asks for (SNI, RFC 6066 section 3).

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::base::clock::Timestamp;
use crate::gateway::listen::certificate::{CertificateFiles, CertificateSubject};
use crate::gateway::listen::error::ListenError;

/// A certificate, and the files that it was read from.
#[derive(Clone, Debug)]
struct LoadedCertificate {
    files: CertificateFiles,
    certified: Arc<CertifiedKey>,
    subject: CertificateSubject,
    /// Whether the files hold another by now, which was not good when they were read.
    kept: bool,
}

/// The certificates that are shown, and what time it is.
#[derive(Clone, Copy)]
pub(super) struct CertificatesBefore<'a> {
    pub(super) shown: &'a ShownCertificates,
    pub(super) now: Timestamp,
}

impl CertificatesBefore<'_> {
    /// The one of the same files, or for the same names, that stays since it is good and `next` is not.
    fn in_place_of(self, files: &CertificateFiles, next: &CertificateSubject) -> Option<LoadedCertificate> {
        if next.is_good(self.now) {
            return None;
        }
        let mut good = self.shown.loaded.iter().filter(|one| one.subject.is_good(self.now));
        let known = good.find(|one| one.files == *files || one.subject.is_like(next))?;
        Some(LoadedCertificate { files: files.clone(), kept: true, ..known.clone() })
    }
}

/// A listener's certificates.
#[derive(Debug)]
pub(super) struct ShownCertificates {
    /// For whoever asks for no name, or for one that no certificate has.
    first: Arc<CertifiedKey>,
    by_name: ByName<Arc<CertifiedKey>>,
    loaded: Vec<LoadedCertificate>,
}

impl ShownCertificates {
    /// Reads them. One that is shown already stays where it is good, and what its files hold now is not.
    ///
    /// # Errors
    /// The first that cannot be used.
    pub(super) fn read(
        first: &CertificateFiles,
        named: &[CertificateFiles],
        before: Option<CertificatesBefore<'_>>,
    ) -> Result<Self, ListenError> {
        let (mut by_name, mut loaded) = (ByName::default(), Vec::new());
        let mut add = |files: &CertificateFiles| {
            let (certified, subject) = files.read()?;
            let kept = before.and_then(|before| before.in_place_of(files, &subject));
            let one = kept.unwrap_or_else(|| LoadedCertificate {
                files: files.clone(),
                certified: Arc::new(certified),
                subject,
                kept: false,
            });
            let certified = Arc::clone(&one.certified);
            one.subject.names.iter().for_each(|name| by_name.insert(name, Arc::clone(&certified)));
            loaded.push(one);
            Ok::<_, ListenError>(certified)
        };
        let first = add(first)?;
        named.iter().try_for_each(|files| add(files).map(drop))?;
        Ok(Self { first, by_name, loaded })
    }

    /// The files whose certificates of before are shown still.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Path> {
        self.loaded.iter().filter(|one| one.kept).map(|one| one.files.chain.as_path())
    }
}

impl ResolvesServerCert for ShownCertificates {
    /// Of several for one name, the first whose kind of key the caller can verify.
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let named = hello.server_name().map(|name| self.by_name.find(name)).unwrap_or_default();
        let schemes = hello.signature_schemes();
        let verifiable = named.iter().find(|certified| certified.key.choose_scheme(schemes).is_some());
        Some(Arc::clone(verifiable.or(named.first()).unwrap_or(&self.first)))
    }
}

/// Values by DNS name; a `*` as the first label stands for any one label (RFC 9525 section 6.3).
#[derive(Debug)]
struct ByName<T> {
    exact: HashMap<String, Vec<T>>,
    /// By what follows the `*.`.
    below: HashMap<String, Vec<T>>,
}

impl<T> Default for ByName<T> {
    fn default() -> Self {
        Self { exact: HashMap::new(), below: HashMap::new() }
    }
}

impl<T> ByName<T> {
    fn insert(&mut self, name: &str, value: T) {
        let (map, name) = match name.strip_prefix("*.") {
            Some(parent) => (&mut self.below, parent),
            None => (&mut self.exact, name),
        };
        map.entry(name.to_owned()).or_default().push(value);
    }

    /// All that have the name, in order: those that have it whole, else those with a `*` in the place of its first label.
    fn find(&self, name: &str) -> &[T] {
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        let exact = self.exact.get(&name);
        let below = || self.below.get(name.split_once('.')?.1);
        exact.or_else(below).map(Vec::as_slice).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_whole_or_below_one_label() {
        let mut by_name = ByName::default();
        let names = ["a.test", "*.a.test", "x.a.test", "*.a.test", "*.b.test", "x.a.test"];
        names.iter().enumerate().for_each(|(n, name)| by_name.insert(name, n));
        let rows: &[(&str, &[usize])] = &[
            ("a.test", &[0]),
            ("A.Test", &[0]),
            ("a.test.", &[0]),
            ("x.a.test", &[2, 5]),
            ("y.a.test", &[1, 3]),
            ("Y.A.TEST.", &[1, 3]),
            ("y.x.a.test", &[]),
            ("b.test", &[]),
            ("*.b.test", &[4]),
            ("test", &[]),
            ("127.0.0.1", &[]),
            ("", &[]),
            (".", &[]),
            ("..", &[]),
            (".a.test", &[1, 3]),
        ];
        for (name, found) in rows {
            assert_eq!(by_name.find(name), *found, "{name}");
        }
    }
}
