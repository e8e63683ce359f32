//! [`FindingsCache`]: what was found in texts before. An LLM client sends its whole history again every turn, of which only the
//! last turn is new.
//!
//! A text is known by a digest under a key that this process drew; what is kept are places, never texts. It counts for the
//! caller that sent it alone: whoever could tell by the time it takes that somebody else had sent a text could try texts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::generations::{Digest, Generations};
use crate::crypto::kdf::MacKey;
use crate::detect::{Finding, Label};
use crate::redact::carrier::CarrierText;
use crate::redact::opaque::StringPart;

/// Shorter texts are looked through sooner than they are looked up, in bytes.
const LEAST: usize = 256;

/// What an entry takes besides its findings, about, in bytes.
const ENTRY: usize = 160;

/// What was found in texts before, by [`Redactor`](super::Redactor)s that [look it up](super::Redactor::with_findings_cache).
pub struct FindingsCache {
    key: MacKey,
    /// The most bytes of one entry.
    largest: usize,
    kept: Mutex<Generations<Arc<[Finding]>>>,
    redactors: AtomicU64,
    counts: Arc<LookUpCounts>,
}

/// What caches were asked, and knew: bytes of texts.
#[derive(Debug, Default)]
pub struct LookUpCounts {
    new: AtomicU64,
    remembered: AtomicU64,
}

/// What caches have been asked since somebody looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LookUpStats {
    /// Bytes of texts that were looked through, to be known the next time.
    pub new: u64,
    /// Bytes of texts of which it was known what is in them.
    pub remembered: u64,
}

impl LookUpCounts {
    /// What was counted since this was asked last.
    pub fn drain(&self) -> LookUpStats {
        let of = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        LookUpStats { new: of(&self.new), remembered: of(&self.remembered) }
    }

    fn add(&self, text: &str, remembered: bool) {
        let count = if remembered { &self.remembered } else { &self.new };
        count.fetch_add(text.len() as u64, Ordering::Relaxed);
    }
}

/// By what a cache tells its callers apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CallerDigest(Digest);

impl FindingsCache {
    /// Of at most so many bytes, about; 0 keeps nothing. `key` is random. What it is asked is counted in `counts`.
    pub fn new(key: &[u8; 32], bytes: usize, counts: Arc<LookUpCounts>) -> Self {
        let half = bytes / 2;
        let kept = Mutex::new(Generations::new(half));
        Self { key: MacKey::new(key), largest: half, kept, redactors: AtomicU64::new(0), counts }
    }

    /// Who sends texts: the parts of a name that is nobody else's.
    pub fn caller(&self, name: &[&[u8]]) -> CallerDigest {
        CallerDigest(self.digest(b"caller", name))
    }

    /// Of parts, in which their borders count.
    fn digest(&self, of: &[u8], parts: &[&[u8]]) -> Digest {
        let lengths: Vec<[u8; 8]> = parts.iter().map(|part| (part.len() as u64).to_le_bytes()).collect();
        let each = lengths.iter().zip(parts).flat_map(|(length, part)| [length.as_slice(), part]);
        self.key.digest(&std::iter::once(of).chain(each).collect::<Vec<_>>())
    }

    fn kept(&self) -> MutexGuard<'_, Generations<Arc<[Finding]>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for FindingsCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FindingsCache(..)")
    }
}

/// What one redactor found before.
#[derive(Clone)]
pub(super) struct CallerFindings {
    cache: Arc<FindingsCache>,
    /// Which redactor it is: others find other things.
    redactor: u64,
    /// For whom; nothing is known for nobody.
    caller: Option<CallerDigest>,
}

impl CallerFindings {
    /// Of another redactor.
    pub(super) fn new(cache: Arc<FindingsCache>) -> Self {
        let redactor = cache.redactors.fetch_add(1, Ordering::Relaxed);
        Self { cache, redactor, caller: None }
    }

    /// The same, for this caller.
    pub(super) fn of(self, caller: Option<CallerDigest>) -> Self {
        Self { caller, ..self }
    }

    /// What a text is known by; `None` where it is not worth it.
    pub(super) fn known(&self, shown: CarrierText<'_>) -> Option<Digest> {
        let CallerDigest(caller) = self.caller?;
        let CarrierText { label, part: StringPart { text, .. }, .. } = shown;
        // What is called a secret is short, and how it is called counts in more ways than one.
        if text.len() < LEAST || self.cache.largest == 0 || label.is_some_and(Label::is_secret) {
            return None;
        }
        let how = [u8::from(shown.opens), shown.part.look as u8, u8::from(label.is_some())];
        let label = label.map_or("", Label::text);
        let redactor = self.redactor.to_le_bytes();
        let parts = [caller.as_slice(), &redactor, &how, label.as_bytes(), text.as_bytes()];
        Some(self.cache.digest(b"text", &parts))
    }

    /// What was found in this text, which is known so.
    pub(super) fn get(&self, known: &Digest, text: &str) -> Option<Arc<[Finding]>> {
        let found = self.cache.kept().get(known);
        self.cache.counts.add(text, found.is_some());
        found
    }

    /// This was.
    pub(super) fn put(&self, known: Digest, findings: &[Finding]) {
        let charge = ENTRY + size_of_val(findings);
        if charge <= self.cache.largest {
            self.cache.kept().put(known, findings.into(), charge);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::Allow;
    use crate::redact::opaque::ScanMode;
    use crate::redact::surrogate_map::FindingLimits;
    use crate::redact::{Method, Redactor, fixture};
    use crate::stream::json::PathSet;

    fn cache(bytes: usize) -> Arc<FindingsCache> {
        Arc::new(FindingsCache::new(&[7; 32], bytes, Arc::default()))
    }

    /// A long text with a card number.
    fn text() -> String {
        format!("{} card 4012-8888-8888-1881 ", "The order was shipped to the harbour on Monday. ".repeat(9))
    }

    fn shown(text: &str) -> CarrierText<'_> {
        CarrierText::of(StringPart::text(text))
    }

    #[test]
    fn a_text_is_known_where_all_that_counts_is_the_same() {
        let cache = cache(1 << 20);
        let [ann, ben] = [b"ann".as_slice(), b"ben"].map(|name| cache.caller(&[name]));
        let recent = |caller| CallerFindings::new(Arc::clone(&cache)).of(caller);
        let (one, other) = (recent(Some(ann)), recent(Some(ann)));
        let (text, longer) = (text(), text() + ".");
        let [phone, mail] = ["phone", "mail"].map(|name| Label::of([name]).unwrap());
        let all = [
            one.known(shown(&text)),
            one.clone().of(Some(ben)).known(shown(&text)),
            other.known(shown(&text)),
            one.known(shown(&longer)),
            one.known(CarrierText { opens: true, ..shown(&text) }),
            one.known(CarrierText { label: Some(&phone), ..shown(&text) }),
            one.known(CarrierText { label: Some(&mail), ..shown(&text) }),
            one.known(CarrierText::of(StringPart { look: ScanMode::Whole, ..StringPart::text(&text) })),
        ];
        for (n, known) in all.iter().enumerate() {
            assert!(known.is_some(), "{n}");
            assert_eq!(all.iter().filter(|other| *other == known).count(), 1, "{n}");
        }
        assert_eq!(one.known(shown(&text)), all[0]);
        // Of parts with other borders somebody else is named.
        assert!(cache.caller(&[b"an", b"n"]) != ann && cache.caller(&[b"ann", b""]) != ann);
    }

    #[test]
    fn what_is_short_a_secret_or_nobodys_is_not_kept() {
        let cache = cache(1 << 20);
        let one = CallerFindings::new(Arc::clone(&cache)).of(Some(cache.caller(&[b"ann"])));
        let text = text();
        assert_eq!(one.clone().of(None).known(shown(&text)), None);
        assert_eq!(one.known(shown("4012-8888-8888-1881")), None);
        let secret = Label::of(["password"]).unwrap();
        assert_eq!(one.known(CarrierText { label: Some(&secret), ..shown(&text) }), None);
        let nothing = self::cache(0);
        let off = CallerFindings::new(Arc::clone(&nothing)).of(Some(nothing.caller(&[b"ann"])));
        assert_eq!(off.known(shown(&text)), None);
    }

    /// What is kept is used, by its redactor and for its caller alone: here something wrong is.
    #[test]
    fn what_is_kept_serves_its_redactor_and_caller_alone() {
        let cache = cache(1 << 20);
        let [ann, ben] = [b"ann".as_slice(), b"ben"].map(|name| Some(cache.caller(&[name])));
        let masking = fixture::redactor(Method::Mask).with_findings_cache(Arc::clone(&cache));
        let text = text();
        let passes = |redactor: &Redactor| {
            let done = redactor.plain(text.as_bytes(), &fixture::keys(), FindingLimits::default()).unwrap();
            String::from_utf8(done.0.into_value()).unwrap().contains("4012-8888-8888-1881")
        };
        let for_ann = masking.clone().for_caller(ann);
        assert!(!passes(&for_ann));
        let recent = for_ann.recent().unwrap();
        let known = recent.known(shown(&text)).unwrap();
        cache.counts.drain();
        assert_eq!(recent.get(&known, &text).map(|found| found.len()), Some(1));
        assert_eq!(cache.counts.drain(), LookUpStats { new: 0, remembered: text.len() as u64 });
        assert!(recent.get(&recent.known(shown(&text.repeat(2))).unwrap(), "other").is_none());
        assert_eq!(cache.counts.drain(), LookUpStats { new: 5, remembered: 0 });
        recent.put(known, &[]);
        assert!(passes(&for_ann));
        assert!(!passes(&masking.clone().for_caller(ben)) && !passes(&masking));
        let another = fixture::redactor(Method::Mask).with_findings_cache(Arc::clone(&cache)).for_caller(ann);
        assert!(!passes(&another));
        // Whoever looks for other things looks anew.
        let mut allow = Allow::default();
        allow.extend(Allow::default());
        assert!(!passes(&for_ann.also_allowing(allow)));
    }

    #[test]
    fn a_document_that_grows_is_redacted_as_by_somebody_who_forgets() {
        let cache = cache(1 << 20);
        let plain = fixture::redactor(Method::Mask);
        let recent =
            plain.clone().with_findings_cache(Arc::clone(&cache)).for_caller(Some(cache.caller(&[b"ann"])));
        let mut turns: Vec<serde_json::Value> = Vec::new();
        for n in 0..6 {
            let mail = format!("mail{n}@harbour-post.com");
            turns.push(serde_json::json!({ "content": format!("{} {mail}", text()), "phone": text() }));
            turns.push(
                serde_json::json!({ "content": "a,ssn\n1,536-22-8741\n".repeat(40), "note": "536-22-8741" }),
            );
            let doc = serde_json::to_vec(&turns).unwrap();
            let redacted = |redactor: &Redactor| {
                let which = PathSet::everything();
                let done =
                    redactor.document(&doc, &which, &fixture::keys(), FindingLimits::default()).unwrap();
                let found = done.0.report().findings().to_vec();
                (done.0.into_value(), found.len())
            };
            assert_eq!(redacted(&recent), redacted(&plain), "{n}");
        }
    }

    #[test]
    fn what_is_kept_has_its_bound() {
        let cache = cache(64 << 10);
        let one = CallerFindings::new(Arc::clone(&cache)).of(Some(cache.caller(&[b"ann"])));
        let detector = fixture::detector();
        let found = detector.find(&text());
        let known: Vec<Digest> =
            (0..2000).filter_map(|n| one.known(shown(&format!("{n}{}", text())))).collect();
        known.iter().for_each(|known| one.put(*known, &found));
        let kept = known.iter().filter(|known| one.get(known, "").is_some()).count();
        assert!(kept > 100 && kept * ENTRY <= 64 << 10, "{kept}");
        // What is larger than all others together is not kept.
        let many = found.repeat(1000);
        one.put(known[0], &many);
        assert!(one.get(&known[0], "").is_none_or(|kept| kept.len() < many.len()));
    }
}
