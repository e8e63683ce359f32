//! [`StoreCopy`]: lines of the audit log in the store, each log under a name of its own, without gaps.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::app::audit_copies::destination::{Copied, Destination};
use crate::app::open_store::OpenStore;
use crate::audit::{FollowedLine, Link};
use crate::base::clock::{SharedClock, Timestamp};
use crate::store::{LogEnd, LogLine, LogLines};

/// How often what is too old is removed.
const SWEEP: Duration = Duration::from_secs(600);

/// Lines in the store.
pub(super) struct StoreCopy {
    lines: Arc<dyn LogLines>,
    clock: SharedClock,
    /// The logs, and where each stands.
    logs: Vec<(String, Link)>,
    /// How long lines stay; `None` for ever, as far as this one goes.
    keep: Option<Duration>,
    swept: Option<Instant>,
}

impl StoreCopy {
    /// In this store.
    pub(super) fn of(opened: &OpenStore) -> Self {
        let (lines, clock) = (Arc::clone(&opened.lines), Arc::clone(&opened.clock));
        Self { lines, clock, logs: Vec::new(), keep: None, swept: None }
    }

    /// The same, where lines stay for so long.
    pub(super) fn keeping(opened: &OpenStore, keep: Duration) -> Self {
        Self { keep: Some(keep), ..Self::of(opened) }
    }
}

impl Destination for StoreCopy {
    async fn ends(&mut self) -> Copied<Vec<Link>> {
        let ends = self.lines.ends().await.map_err(|error| error.to_string())?;
        let place = |end: LogEnd| Some((end.log, Link::of_line(&end.last.text)?));
        self.logs = ends.into_iter().filter_map(place).collect();
        Ok(self.logs.iter().map(|(_, link)| *link).collect())
    }

    /// Lines that follow no log's last one begin another, so that none has a gap.
    async fn take(&mut self, run: &[FollowedLine]) -> Copied<()> {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return Ok(()) };
        let follows = |(_, end): &(String, Link)| end.seq > 0 && *end == first.before;
        let known = self.logs.iter().position(follows);
        let named = known.and_then(|at| self.logs.get(at)).map(|(log, _)| log.clone());
        let log = named.unwrap_or_else(|| format!("{}/{}", first.node, first.this.short_hash()));
        let line =
            |line: &FollowedLine| LogLine { number: line.this.seq, at: line.time, text: line.text.clone() };
        let lines: Vec<LogLine> = run.iter().map(line).collect();
        self.lines.append(&log, &lines).await.map_err(|error| error.to_string())?;
        match known.and_then(|at| self.logs.get_mut(at)) {
            Some((_, end)) => *end = last.this,
            None => self.logs.push((log, last.this)),
        }
        Ok(())
    }

    async fn keep_up(&mut self) -> Copied<()> {
        let now = self.clock.instant();
        let recent = self.swept.is_some_and(|swept| now.saturating_duration_since(swept) < SWEEP);
        let Some(keep) = self.keep.filter(|_| !recent) else { return Ok(()) };
        let keep = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX);
        let before = Timestamp::from_millis(self.clock.now().as_millis().saturating_sub(keep));
        // Those of other gateways too, which may be gone.
        for end in self.lines.ends().await.map_err(|error| error.to_string())? {
            self.lines.remove_before(&end.log, before).await.map_err(|error| error.to_string())?;
        }
        self.swept = Some(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::{Clock, FixedClock};
    use crate::store::EmbeddedRecords;

    fn link(seq: u64, mark: u8) -> Link {
        Link { seq, hash: [mark; 32] }
    }

    /// A line behind another one, as if it had been written; what is read back of it is its link.
    fn line(before: Link, mark: u8) -> FollowedLine {
        let this = link(before.seq + 1, mark);
        let (node, decision) = ("one".to_owned(), "passed".to_owned());
        let hash = |link: Link| link.to_string().split_once(':').unwrap().1.to_owned();
        let text = format!(
            r#"{{"seq":{},"node":"one","prev":"{}","hash":"{}"}}"#,
            this.seq,
            hash(before),
            hash(this)
        );
        FollowedLine { before, this, node, time: Timestamp::from_millis(this.seq), decision, text }
    }

    #[tokio::test]
    async fn each_log_has_no_gap_and_what_came_twice_is_there_once() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(FixedClock::at(Timestamp::from_millis(1000)));
        let shared: SharedClock = Arc::clone(&clock) as SharedClock;
        let records = EmbeddedRecords::open(&folder.path().join("s"), Arc::clone(&shared)).await.unwrap();
        let lines: Arc<dyn LogLines> = Arc::new(records);
        let open = |keep| StoreCopy {
            lines: Arc::clone(&lines),
            clock: Arc::clone(&shared),
            logs: Vec::new(),
            keep,
            swept: None,
        };
        let mut copy = open(None);
        assert_eq!(copy.ends().await.unwrap(), []);
        copy.take(&[line(Link::START, 1)]).await.unwrap();
        copy.take(&[line(link(1, 1), 2)]).await.unwrap();
        // Another process, which does not know whether its last lines came.
        let mut copy = open(None);
        assert_eq!(copy.ends().await.unwrap(), [link(2, 2)]);
        copy.take(&[line(link(2, 2), 3)]).await.unwrap();
        // Lines 4 to 6 are gone, and a log that begins anew.
        copy.take(&[line(link(6, 6), 7), line(link(7, 7), 8)]).await.unwrap();
        copy.take(&[line(Link::START, 9)]).await.unwrap();
        let ends: Vec<(String, u64)> =
            lines.ends().await.unwrap().into_iter().map(|end| (end.log, end.last.number)).collect();
        let named = |mark: u8, last| (format!("one/{}", link(0, mark).short_hash()), last);
        assert_eq!(ends, [named(1, 3), named(7, 8), named(9, 1)]);

        let mut copy = open(Some(Duration::from_millis(998)));
        copy.keep_up().await.unwrap();
        let left = lines.read(&named(1, 0).0, 0, 10).await.unwrap();
        assert_eq!(left.iter().map(|line| line.number).collect::<Vec<_>>(), [2, 3]);
        // Not again before its time.
        clock.advance(Duration::from_secs(60));
        copy.keep_up().await.unwrap();
        assert_eq!(lines.read(&named(1, 0).0, 0, 10).await.unwrap().len(), 2);
        clock.advance(SWEEP);
        copy.keep_up().await.unwrap();
        assert_eq!(lines.read(&named(1, 0).0, 0, 10).await.unwrap().len(), 1, "the last line stays");
        assert_eq!(clock.now(), shared.now());
    }
}
