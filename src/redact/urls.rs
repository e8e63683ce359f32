//! Which URLs of a text that passes may hold originals, by the hosts that they lead to: an original that is restored there
//! leaves with whoever fetches the URL, and a client that shows a Markdown image fetches it unasked.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;

use crate::redact::url_reader::{Authority, UrlReader};

/// The most hosts of one request.
const HOSTS: usize = 4096;

/// Bytes that are read before the slashes of a URL in a request: a scheme, and what stands before that.
const BEFORE: usize = 20;

/// Bytes of a URL that are read to find its host.
const LONGEST_READ: usize = 600;

/// What a URL in a request is known by: its slashes, as they are or escaped, or its first label.
static BEGINNINGS: LazyLock<[Finder<'static>; 3]> =
    LazyLock::new(|| ["//", r"\/\/", "www."].map(Finder::new));

/// In which URLs originals are restored: a client that shows an answer may fetch them unasked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestoreInUrls {
    /// In none.
    Off,
    /// In those of hosts that URLs in the request lead to.
    SameHost,
    /// In all.
    #[default]
    On,
}

/// Where originals are restored in URLs.
#[derive(Clone, Debug, Default)]
pub struct UrlPolicy {
    /// In texts.
    pub texts: RestoreInUrls,
    /// In arguments of tools.
    pub arguments: RestoreInUrls,
    /// Takes how many originals were not restored.
    pub kept: Arc<AtomicU64>,
}

/// Hosts, each with the port if that is not its scheme's own; and authorities that none can be read from, as they are spelled.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts(HashSet<Box<str>>);

impl Hosts {
    /// Takes the hosts that URLs in `text` lead to, [`HOSTS`] of them at most. One that is spelled otherwise than with `//` or
    /// `www.` is not seen: nothing is restored in more URLs for that.
    pub(super) fn read(&mut self, text: &str) {
        let bytes = text.as_bytes();
        for begin in &*BEGINNINGS {
            let mut done = 0;
            for at in begin.find_iter(bytes) {
                if at >= done {
                    done = self.read_at(text, at, done);
                }
            }
        }
    }

    /// Takes the host of the URL that begins around `at`, and of those that follow while it is read; what stands before
    /// `from` was read. Up to where it was read.
    fn read_at(&mut self, text: &str, at: usize, from: usize) -> usize {
        let mut start = at.saturating_sub(BEFORE).max(from);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        let (mut reader, mut end) = (UrlReader::default(), start);
        let mut take = |read: Option<Authority>| {
            let Some(authority) = read else { return };
            authority.begins_with().into_iter().for_each(|host| self.insert(host));
            authority.spelled().into_iter().for_each(|spelled| self.insert(spelled));
        };
        for byte in text.as_bytes().iter().take(at + LONGEST_READ).skip(start) {
            reader.byte(*byte, &mut take);
            end += 1;
            if end > at + r"\/\/".len() && !reader.in_authority() {
                return end;
            }
        }
        reader.flush(&mut take);
        take(reader.end());
        end
    }

    fn insert(&mut self, host: Box<str>) {
        if self.0.len() < HOSTS {
            self.0.insert(host);
        }
    }

    /// Takes those of `other` too.
    pub(super) fn extend(&mut self, other: &Self) {
        other.0.iter().cloned().for_each(|host| self.insert(host));
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Says of places in a text that passes whether an original may be restored there. It sees the text as it leaves.
#[derive(Clone)]
pub(super) struct UrlGuard {
    reader: UrlReader,
    hosts: Option<Arc<Hosts>>,
    kept: Arc<AtomicU64>,
    /// Whether a URL that goes on leads elsewhere.
    foreign: bool,
    /// Whether one did since this was asked.
    seen: bool,
    /// What was decided of the authority that goes on.
    settled: Option<bool>,
}

impl UrlGuard {
    /// One that lets originals be restored where `hosts` are, or in no URL; `kept` takes how many are not.
    pub(super) fn new(hosts: Option<Arc<Hosts>>, kept: Arc<AtomicU64>) -> Self {
        Self { reader: UrlReader::default(), hosts, kept, foreign: false, seen: false, settled: None }
    }

    /// This is written next.
    pub(super) fn wrote(&mut self, text: &[u8]) {
        let mut read = Vec::new();
        for byte in text {
            self.reader.byte(*byte, &mut |authority| read.extend(authority));
            read.drain(..).for_each(|authority| self.judge(&authority));
            self.foreign &= self.reader.is_within();
            if !self.reader.in_authority() {
                self.settled = None;
            }
        }
    }

    /// What is written next begins anew: no escape goes on there.
    pub(super) fn cut(&mut self) {
        let mut read = Vec::new();
        self.reader.flush(&mut |authority| read.extend(authority));
        read.drain(..).for_each(|authority| self.judge(&authority));
        self.foreign &= self.reader.is_within();
    }

    fn judge(&mut self, authority: &Authority) {
        let known = |host: &str| self.hosts.as_ref().is_some_and(|hosts| hosts.0.contains(host));
        if !authority.host().or_else(|| authority.spelled()).is_some_and(|host| known(&host)) {
            (self.foreign, self.seen) = (true, true);
        }
        self.settled = None;
    }

    /// What is written next is a surrogate, or its original.
    pub(super) fn begin(&mut self) -> RestoreDecision {
        self.cut();
        match (self.foreign, self.settled) {
            (true, _) | (_, Some(false)) => RestoreDecision::No,
            (_, Some(true)) => RestoreDecision::Yes,
            (false, None) => RestoreDecision::If(Box::new(Self { seen: false, ..self.clone() })),
        }
    }

    /// Whether all that was written since [`UrlGuard::begin`] leads to known hosts; `None` while that is not known.
    pub(super) fn leads_home(&self) -> Option<bool> {
        match self.reader.in_authority() {
            _ if self.seen => Some(false),
            true => None,
            false => Some(true),
        }
    }

    /// The same where the text ends here.
    pub(super) fn led_home(mut self) -> bool {
        self.cut();
        if let Some(authority) = self.reader.end() {
            self.judge(&authority);
        }
        !self.seen
    }

    /// It was decided whether an original is restored, and this stands there now.
    pub(super) fn decided(&mut self, restored: bool, text: &[u8]) {
        if !restored {
            self.kept.fetch_add(1, Ordering::Relaxed);
        }
        self.wrote(text);
        self.cut();
        self.settled = self.reader.in_authority().then_some(restored);
    }

    /// Another text begins.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.hosts.take(), Arc::clone(&self.kept));
    }
}

/// Whether an original may be restored.
pub(super) enum RestoreDecision {
    Yes,
    No,
    /// It depends on where the URL leads that this goes on in.
    If(Box<UrlGuard>),
}

#[cfg(test)]
#[path = "urls_tests.rs"]
mod tests;
