//! [`RecentRequests`]: the last requests, as the access log has them, for whoever looks at the console. What is not in the
//! access log is not here either: no text of a body, no path, no header.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::base::clock::Timestamp;
use crate::base::id::{RequestId, TokenId};
use crate::telemetry::addresses::Addresses;
use crate::telemetry::event::{Access, BodyScan};

/// Requests that are kept.
const KEPT: usize = 300;

/// Rules of which a request's counts are kept; those of the others are added up.
const RULES: usize = 48;

/// The longest name of a model or a route that is kept, in characters.
const NAME: usize = 128;

/// What the gateway did with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Let it pass; nothing was found.
    Passed,
    /// Let it pass; what was found was only counted.
    Reported,
    /// Replaced values in it or in its answer.
    Redacted,
    /// Let a body pass that it could not look at, by the route's policy.
    Unseen,
    /// Stopped it, or its answer, since of what was found.
    Blocked,
    /// Refused it for another reason.
    Refused,
    /// It could not be served.
    Failed,
    /// Its caller left.
    Left,
}

impl Decision {
    /// The word that the console uses.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Reported => "reported",
            Self::Redacted => "redacted",
            Self::Unseen => "unseen",
            Self::Blocked => "blocked",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Left => "left",
        }
    }

    fn of(access: &Access<'_>) -> Self {
        let unseen = |scan| matches!(scan, BodyScan::NotScanned(_));
        match (access.fault, access.status) {
            ("caller_gone", _) | (_, 0) => Self::Left,
            ("blocked_request" | "blocked_answer", _) => Self::Blocked,
            ("-", _) if access.redacted > 0 => Self::Redacted,
            ("-", _) if unseen(access.request_scan) || unseen(access.answer_scan) => Self::Unseen,
            ("-", _) if !access.findings.is_empty() => Self::Reported,
            ("-", _) => Self::Passed,
            (_, 400..=499) => Self::Refused,
            _ => Self::Failed,
        }
    }
}

/// A finished request.
#[derive(Clone, Debug)]
pub struct RecentRequest {
    /// Its place among all that were kept since the process began, from 1 on.
    pub number: u64,
    /// When its head had arrived.
    pub time: Timestamp,
    /// Its id, as the caller got it.
    pub id: RequestId,
    /// The route's name.
    pub route: Box<str>,
    /// The method, if it is a registered one; else `-`.
    pub method: Box<str>,
    /// The LLM protocol that it spoke, where somebody asked.
    pub llm_protocol: Option<&'static str>,
    /// The version of HTTP.
    pub http: &'static str,
    /// The status sent; 0 for none.
    pub status: u16,
    /// What went wrong, as a closed word; `-` when nothing did.
    pub fault: &'static str,
    /// What was done with it.
    pub decision: Decision,
    /// The caller's address, as far as the log may show it.
    pub client: Option<IpAddr>,
    /// The API token's id, when one was proved.
    pub token: Option<TokenId>,
    /// What was found, by rule, both ways together.
    pub findings: Box<[(Box<str>, u64)]>,
    /// Values replaced.
    pub redacted: u64,
    /// Values restored.
    pub restored: u64,
    /// Whether its body was looked at.
    pub request_scan: BodyScan,
    /// Whether the answer's was.
    pub answer_scan: BodyScan,
    /// Strings that hold bytes, and were not looked at, both ways together.
    pub unscanned: u64,
    /// Body bytes received.
    pub bytes_in: u64,
    /// Body bytes sent.
    pub bytes_out: u64,
    /// How long it took.
    pub took: Duration,
    /// How long until the first byte of its answer's body.
    pub first_byte: Option<Duration>,
    /// The upstream's name.
    pub upstream: Option<Box<str>>,
    /// How often it was tried there.
    pub attempts: u32,
    /// What it took of a model, where that is counted.
    pub usage: Option<RecentUsage>,
}

/// What a request took of a model.
#[derive(Clone, Debug)]
pub struct RecentUsage {
    /// The model's name, as far as it is one.
    pub model: Option<Box<str>>,
    /// Tokens that were read, those from the provider's cache among them.
    pub input: u64,
    /// Tokens that were written.
    pub output: u64,
    /// Whether nobody reported them.
    pub estimated: bool,
    /// What they cost in US dollars, where the price is known.
    pub cost: Option<Box<str>>,
}

fn short(name: &str) -> Box<str> {
    match name.char_indices().nth(NAME) {
        Some((end, _)) => name.get(..end).unwrap_or_default().into(),
        None => name.into(),
    }
}

impl RecentRequest {
    fn of(access: &Access<'_>, addresses: Addresses) -> Self {
        let mut findings: Vec<(Box<str>, u64)> =
            access.findings.iter().take(RULES).map(|(rule, count)| (short(rule), *count)).collect();
        let others: u64 = access.findings.values().skip(RULES).sum();
        if others > 0 {
            findings.push(("others".into(), others));
        }
        let usage = access.usage.as_ref().map(|usage| RecentUsage {
            model: usage.model.map(short),
            input: usage.input_tokens,
            output: usage.output_tokens,
            estimated: usage.estimated,
            cost: usage.cost.as_deref().map(Into::into),
        });
        Self {
            number: 0,
            time: access.time,
            id: access.id.clone(),
            route: short(access.route),
            method: access.method.into(),
            llm_protocol: access.llm_protocol,
            http: access.protocol,
            status: access.status,
            fault: access.fault,
            decision: Decision::of(access),
            client: addresses.shown(access.client),
            token: access.token.cloned(),
            findings: findings.into(),
            redacted: access.redacted,
            restored: access.restored,
            request_scan: access.request_scan,
            answer_scan: access.answer_scan,
            unscanned: access.request_unscanned.saturating_add(access.answer_unscanned),
            bytes_in: access.bytes_in,
            bytes_out: access.bytes_out,
            took: access.took,
            first_byte: access.first_byte,
            upstream: access.upstream.map(short),
            attempts: access.attempts,
            usage,
        }
    }
}

#[derive(Default)]
struct Ring {
    last: u64,
    kept: VecDeque<Arc<RecentRequest>>,
}

impl Ring {
    /// So many requests, up to the one at `end`.
    fn part(&self, end: usize, count: usize) -> RecentPart {
        let requests = self.kept.iter().take(end).skip(end.saturating_sub(count)).cloned().collect();
        RecentPart { requests, kept: self.kept.len() }
    }
}

/// Some of the last requests.
#[derive(Debug)]
pub struct RecentPart {
    /// They, the oldest first.
    pub requests: Vec<Arc<RecentRequest>>,
    /// How many are kept in all.
    pub kept: usize,
}

/// The last requests; none, until somebody wants them kept.
#[derive(Default)]
pub struct RecentRequests {
    wanted: AtomicBool,
    ring: Mutex<Ring>,
}

impl RecentRequests {
    /// Keeps requests from now on.
    pub fn keep(&self) {
        self.wanted.store(true, Ordering::Relaxed);
    }

    pub(super) fn add(&self, access: &Access<'_>, addresses: Addresses) {
        if !self.wanted.load(Ordering::Relaxed) {
            return;
        }
        let mut request = RecentRequest::of(access, addresses);
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        ring.last += 1;
        request.number = ring.last;
        ring.kept.push_back(Arc::new(request));
        let oldest = if ring.kept.len() > KEPT { ring.kept.pop_front() } else { None };
        drop(ring);
        // Freed without the lock.
        drop(oldest);
    }

    /// The newest of the requests behind the one of this number that are still here, so many at the most, the oldest first.
    /// Of a number that was never given all are: it is from another process.
    pub fn after(&self, number: u64, most: usize) -> RecentPart {
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = if number > ring.last { ring.last } else { ring.last - number };
        let wanted = usize::try_from(wanted).unwrap_or(KEPT).min(ring.kept.len());
        ring.part(ring.kept.len(), wanted.min(most))
    }

    /// The same of those before the one of this number.
    pub fn before(&self, number: u64, most: usize) -> RecentPart {
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let end = ring.kept.partition_point(|request| request.number < number);
        ring.part(end, end.min(most))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::telemetry::event::Unscanned;

    fn numbers(recent: &RecentRequests, after: u64) -> Vec<u64> {
        recent.after(after, KEPT).requests.iter().map(|request| request.number).collect()
    }

    #[test]
    fn the_last_ones_are_kept_once_they_are_wanted() {
        let (recent, id) = (RecentRequests::default(), RequestId::from_random([1; 20]));
        recent.add(&Access::of(&id), Addresses::Whole);
        assert!(numbers(&recent, 0).is_empty());
        recent.keep();
        (0..1000).for_each(|_| recent.add(&Access::of(&id), Addresses::Whole));
        assert_eq!(numbers(&recent, 0), (701..=1000).collect::<Vec<_>>());
        assert_eq!(numbers(&recent, 997), [998, 999, 1000]);
        assert!(numbers(&recent, 1000).is_empty());
        assert_eq!(numbers(&recent, 1001).len(), KEPT);
        assert_eq!(numbers(&recent, u64::MAX).len(), KEPT);
        let some = |part: RecentPart| -> (Vec<u64>, usize) {
            (part.requests.iter().map(|request| request.number).collect(), part.kept)
        };
        assert_eq!(some(recent.after(0, 3)), (vec![998, 999, 1000], KEPT));
        assert_eq!(some(recent.after(999, 3)), (vec![1000], KEPT));
        assert_eq!(some(recent.before(998, 2)), (vec![996, 997], KEPT));
        assert_eq!(some(recent.before(703, 100)), (vec![701, 702], KEPT));
        assert_eq!(some(recent.before(701, 100)), (vec![], KEPT));
        assert_eq!(some(recent.before(u64::MAX, 1)), (vec![1000], KEPT));
    }

    #[test]
    fn one_request_takes_a_bounded_room_and_hides_what_the_log_hides() {
        let (recent, id) = (RecentRequests::default(), RequestId::from_random([1; 20]));
        recent.keep();
        let findings: BTreeMap<String, u64> = (0..1000).map(|n| (format!("RULE_{n:04}"), 2)).collect();
        let client = Some("192.0.2.77".parse().unwrap());
        let route = "é".repeat(5000);
        let access = Access { findings: &findings, route: &route, client, ..Access::of(&id) };
        recent.add(&access, Addresses::Network);
        recent.add(&access, Addresses::Off);
        let kept = recent.after(0, KEPT).requests;
        assert_eq!(kept[0].findings.len(), RULES + 1);
        assert_eq!(kept[0].findings.iter().map(|(_, count)| count).sum::<u64>(), 2000);
        assert_eq!(kept[0].route.chars().count(), NAME);
        assert_eq!(kept[0].client, Some("192.0.2.0".parse().unwrap()));
        assert_eq!(kept[1].client, None);
    }

    #[test]
    fn what_was_done_is_said_in_one_word() {
        let id = RequestId::from_random([1; 20]);
        let findings = BTreeMap::from([("EMAIL_ADDRESS".to_owned(), 2)]);
        let one = |status, fault| Access { status, fault, ..Access::of(&id) };
        let rows = [
            (one(200, "-"), "passed"),
            (Access { findings: &findings, ..one(200, "-") }, "reported"),
            (Access { findings: &findings, redacted: 2, ..one(200, "-") }, "redacted"),
            (Access { answer_scan: BodyScan::NotScanned(Unscanned::Budget), ..one(200, "-") }, "unseen"),
            (one(502, "blocked_answer"), "blocked"),
            (one(400, "blocked_request"), "blocked"),
            (one(429, "rate_limited"), "refused"),
            (one(502, "connect"), "failed"),
            (one(200, "unscannable_answer"), "failed"),
            (one(0, "-"), "left"),
            (Access { redacted: 2, ..one(200, "caller_gone") }, "left"),
            // An upstream's own error passes as any answer.
            (one(500, "-"), "passed"),
        ];
        for (access, expected) in rows {
            assert_eq!(Decision::of(&access).word(), expected, "{access:?}");
        }
    }
}
