//! [`ScanSession`]: answers what formats ask about one file. It asks scanners, feeds and the detector, and keeps what
//! they said for the report.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::base::secret::Secret;
use crate::detect::{Family, Finding, Label};
use crate::edit::spliced_text;
use crate::redact::{FileText, Keys, RedactError, Redactor, Replacement, Report};
use crate::sanitize::intel::{Canonical, Reputation, Score, ThreatLevel};
use crate::sanitize::scan::{ScanItem, Scanner, Verdict};
use crate::sanitize::{
    Edit, HostRequest, Link, NamedText, NewText, RedactionMode, Rejection, Response, Threat,
};

/// Links remembered for the counts, of each sort.
const MAX_LINKS: usize = 100_000;

/// Texts that are read where they arrive, all of a question together, in bytes.
const SHORT: usize = 2048;

/// What stands between names that are read together.
const APART: &str = "\n\n";

/// What a session asks, and what follows from the answers.
pub struct ScanProviders {
    /// Looks at the file and its parts.
    pub scanner: Arc<dyn Scanner>,
    /// Whether what cannot be scanned is refused.
    pub block_unable: bool,
    /// Knows URLs, if they are looked up.
    pub urls: Option<Arc<dyn Reputation>>,
    /// Knows domains, if they are looked up.
    pub domains: Option<Arc<dyn Reputation>>,
    /// Whether links are defanged at all (`defang.enabled`), or only looked up.
    pub defang: bool,
    /// From which score on links are defanged.
    pub threshold: u8,
    /// Finds values, if they are looked for.
    pub redactor: Option<(Redactor, Keys)>,
    /// What becomes of them.
    pub redaction: RedactionMode,
    /// What opens the file, or files in it, where they are encrypted. A process that reads a file has it only if it asks.
    pub password: Option<Secret<String>>,
}

/// Links by canonical form, and what is known of them where they were looked up.
pub type Scores = BTreeMap<String, Option<Score>>;

/// What was said of a file.
#[derive(Default)]
pub struct ScanRecord {
    /// Distinct URLs by canonical form, and their scores where they were looked up.
    pub urls: Scores,
    /// Distinct domains, and their scores where they were looked up.
    pub domains: Scores,
    /// Findings, one report for each batch of texts.
    pub reports: Vec<Report>,
    /// Parts that could not be scanned.
    pub unscanned: u64,
    /// What is known to be malicious.
    pub threat: Option<Threat>,
}

/// Answers for one file.
pub struct ScanSession {
    providers: ScanProviders,
    record: Mutex<ScanRecord>,
}

impl ScanSession {
    /// Opens it.
    pub fn new(providers: ScanProviders) -> Self {
        Self { providers, record: Mutex::default() }
    }

    /// What was said, at the end.
    pub fn close(self) -> ScanRecord {
        self.record.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn note<T>(&self, note: impl FnOnce(&mut ScanRecord) -> T) -> T {
        note(&mut self.record.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Answers a request of the formats.
    ///
    /// # Errors
    /// See [`Host::ask`](crate::sanitize::Host::ask).
    pub async fn answer(&self, request: HostRequest<'static>) -> Result<Response, Rejection> {
        match request {
            HostRequest::Part { name, bytes } => {
                let part = ScanItem { name: &name, bytes: Bytes::from(bytes.into_owned()) };
                self.scan(part).await.map(|()| Response::Part)
            }
            HostRequest::Links(links) => self.lookup(&links).await.map(Response::Links),
            HostRequest::Texts(texts) => self.look(texts).await.map(Response::Texts),
            HostRequest::Password => {
                let password = self.providers.password.as_ref();
                Ok(Response::Password(password.map(|password| password.expose().clone())))
            }
        }
    }

    /// What is known to be malicious, if anything is.
    pub fn threat(&self) -> Option<Threat> {
        self.note(|record| record.threat.clone())
    }

    /// Names of a file as they are told, without what is found in them.
    pub fn without_values<'n>(&self, names: impl Iterator<Item = &'n mut String>) {
        let Some((redactor, _)) = &self.providers.redactor else { return };
        let names: Vec<&mut String> = names.collect();
        let known: BTreeSet<&str> = names.iter().map(|name| name.as_str()).collect();
        // All at once, each a paragraph.
        let text = known.iter().flat_map(|name| [*name, APART]).collect::<String>();
        let found = redactor.find(None, &text).ok();
        let mut told = BTreeMap::new();
        let mut from = 0_usize;
        for name in known {
            let range = from..from.saturating_add(name.len());
            from = range.end.saturating_add(APART.len());
            let within = |finding: &Finding| finding.span.start < range.end && range.start < finding.span.end;
            let edit = |finding: &Finding| crate::edit::Edit {
                range: finding.span.start.max(range.start) - range.start
                    ..finding.span.end.min(range.end) - range.start,
                with: format!("<{}>", redactor.rule_name(finding.rule)),
            };
            // Of names that were not read, nothing is told.
            let edits =
                found.as_ref().map(|all| all.iter().filter(|one| within(one)).map(edit).collect::<Vec<_>>());
            told.insert(name.to_owned(), edits.map(|edits| spliced_text(name, &edits)).unwrap_or_default());
        }
        for name in names {
            *name = told.get(name.as_str()).cloned().unwrap_or_default();
        }
    }

    /// Has a file, or a part of one, scanned.
    ///
    /// # Errors
    /// [`Rejection::Malicious`], [`Rejection::NotScanned`], or [`Rejection::Provider`].
    pub async fn scan(&self, part: ScanItem<'_>) -> Result<(), Rejection> {
        let name = part.name.to_owned();
        match self.providers.scanner.scan(part).await {
            Verdict::Clean => Ok(()),
            Verdict::Malicious { rule } => {
                let threat = Threat { rule, scanner: self.providers.scanner.name(), part: name };
                self.note(|record| record.threat = Some(threat));
                Err(Rejection::Malicious)
            }
            Verdict::Down(_) => Err(Rejection::Provider),
            Verdict::Unable(_) if self.providers.block_unable => Err(Rejection::NotScanned),
            Verdict::Unable(_) => {
                self.note(|record| record.unscanned = record.unscanned.saturating_add(1));
                Ok(())
            }
        }
    }

    async fn lookup(&self, links: &[Link]) -> Result<Vec<bool>, Rejection> {
        let known: Vec<Option<Canonical>> = links.iter().map(Canonical::of).collect();
        let is_url = |at: usize| matches!(links.get(at), Some(Link::Url(_)));
        let mut urls: BTreeMap<String, Canonical> = BTreeMap::new();
        let mut domains: BTreeMap<String, Canonical> = BTreeMap::new();
        for (at, link) in known.iter().enumerate() {
            let Some(link) = link else { continue };
            if is_url(at) {
                urls.insert(link.as_str().to_owned(), link.clone());
            }
            let domain = link.to_domain();
            domains.insert(domain.as_str().to_owned(), domain);
        }
        let urls = scores(self.providers.urls.as_deref(), urls).await?;
        let domains = scores(self.providers.domains.as_deref(), domains).await?;
        let looked_up = self.providers.urls.is_some() || self.providers.domains.is_some();
        let verdicts = known.iter().map(|link| {
            let Some(link) = link else { return false };
            let score = |of: &Scores, key: &str| of.get(key).copied().flatten().map_or(0, Score::get);
            let score = score(&urls, link.as_str()).max(score(&domains, link.to_domain().as_str()));
            self.providers.defang && (!looked_up || score >= self.providers.threshold)
        });
        let verdicts = verdicts.collect();
        self.note(|record| {
            remember(&mut record.urls, urls);
            remember(&mut record.domains, domains);
        });
        Ok(verdicts)
    }

    async fn look(&self, texts: Vec<NamedText<Cow<'static, str>>>) -> Result<Vec<Vec<Edit>>, Rejection> {
        let nothing = || texts.iter().map(|_| Vec::new()).collect();
        let Some((redactor, keys)) = self.providers.redactor.clone() else { return Ok(nothing()) };
        let finder = redactor.clone();
        let (count, bytes) = (texts.len(), texts.iter().map(|named| named.text.len()).sum::<usize>());
        let find = move || {
            let labels: Vec<Option<Label>> =
                texts.iter().map(|named| Label::of([named.name.as_ref()])).collect();
            let texts = texts.iter().zip(&labels);
            let texts: Vec<FileText<'_>> =
                texts.map(|(named, label)| FileText { label: label.as_ref(), text: &named.text }).collect();
            finder.pieces(&texts, &keys)
        };
        // Threads that move bytes do not wait for long texts; for short ones, waking another takes longer.
        let found = if bytes <= SHORT {
            find()
        } else {
            tokio::task::spawn_blocking(find).await.map_err(|_| Rejection::Provider)?
        };
        let (changes, report) = found.map_err(|error| match error {
            RedactError::Spent(spent) => Rejection::Spent(spent.after),
            _ => Rejection::Provider,
        })?;
        self.note(|record| record.reports.push(report));
        if self.providers.redaction != RedactionMode::Apply {
            return Ok(vec![Vec::new(); count]);
        }
        let mut known = BTreeMap::new();
        let mut edit = |change: crate::edit::Edit<Replacement>| {
            let Replacement { text, rule } = change.with;
            let family = || redactor.rule(&rule).map(|rule| redactor.family(rule));
            let any_case = *known.entry(rule.clone()).or_insert_with(|| family().is_some_and(is_in_any_case));
            Edit { range: change.range, with: NewText { text, rule: Some(rule.to_string()), any_case } }
        };
        Ok(changes.into_iter().map(|changes| changes.into_iter().map(&mut edit).collect()).collect())
    }
}

/// Whether values of a family mean the same in another letter case: secrets and base 58 do not, and words of a language are
/// other words in capitals.
fn is_in_any_case(family: Family) -> bool {
    match family {
        Family::Email
        | Family::Phone
        | Family::Card
        | Family::Bank
        | Family::Iban
        | Family::Ssn
        | Family::NationalId
        | Family::Health
        | Family::Network
        | Family::Ip
        | Family::Person
        | Family::Location => true,
        Family::Crypto
        | Family::Url
        | Family::Secret
        | Family::Organization
        | Family::Nrp
        | Family::DateTime
        | Family::Money
        | Family::Profanity
        | Family::Other => false,
    }
}

/// The scores of these, or that nobody was asked.
async fn scores(
    intel: Option<&dyn Reputation>,
    of: BTreeMap<String, Canonical>,
) -> Result<Scores, Rejection> {
    let Some(intel) = intel else { return Ok(of.into_keys().map(|key| (key, None)).collect()) };
    let (keys, canonical): (Vec<String>, Vec<Canonical>) = of.into_iter().unzip();
    let scores = intel.lookup(&canonical).await?;
    Ok(keys.into_iter().zip(scores.into_iter().map(Some)).collect())
}

fn remember(kept: &mut Scores, more: Scores) {
    let room = MAX_LINKS.saturating_sub(kept.len());
    kept.extend(more.into_iter().take(room));
}

impl ScanRecord {
    /// `Processed N URLs: …`, of those that were looked up (`what`: `URLs` or `domains`).
    pub fn summary(what: &str, scores: &Scores) -> String {
        let (mut all, mut malicious, mut suspicious) = (0_usize, 0_usize, 0_usize);
        for score in scores.values().flatten() {
            all += 1;
            malicious += usize::from(score.level() == ThreatLevel::Malicious);
            suspicious += usize::from(score.level() == ThreatLevel::Suspicious);
        }
        let unknown = all - malicious - suspicious;
        format!(
            "Processed {all} {what}: {malicious} are malicious, {suspicious} are suspicious, {unknown} are unknown."
        )
    }
}

impl std::fmt::Debug for ScanSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ScanSession")
    }
}
