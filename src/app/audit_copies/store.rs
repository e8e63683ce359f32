//! [`StoreCopy`]: lines of the audit log in the store, each log under a name of its own, without gaps.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::app::audit_copies::destination::{Copied, CopyDestination, TARGET};
use crate::app::open_store::OpenStore;
use crate::audit::{ChainLink, FollowedLine};
use crate::base::clock::{SharedClock, Timestamp};
use crate::store::{Appended, LogEnd, LogLine, LogLines};

/// How often what is too old is removed.
const SWEEP: Duration = Duration::from_secs(600);

/// Lines in the store.
pub(super) struct StoreCopy {
    lines: Arc<dyn LogLines>,
    clock: SharedClock,
    /// The logs, and where each stands.
    logs: Vec<(String, ChainLink)>,
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

impl StoreCopy {
    /// Which log a line goes on, or has it already.
    async fn place(&self, first: &FollowedLine) -> Copied<Option<usize>> {
        let follows = |(_, end): &(String, ChainLink)| end.seq > 0 && *end == first.before;
        if let Some(at) = self.logs.iter().position(follows) {
            return Ok(Some(at));
        }
        for (at, (log, end)) in self.logs.iter().enumerate() {
            if end.seq >= first.this.seq {
                let there =
                    self.lines.read(log, first.before.seq, 1).await.map_err(|error| error.to_string())?;
                if there.first().is_some_and(|line| line.text == first.text) {
                    return Ok(Some(at));
                }
            }
        }
        Ok(None)
    }

    /// A name for a log that begins with this line. A log has it already if that line left it with time.
    fn unused_name(&self, first: &FollowedLine) -> String {
        let mut name = format!("{}/{}", first.node, first.this.short_hash());
        let begun = name.len();
        let mut again = 1;
        while self.logs.iter().any(|(log, _)| *log == name) {
            again += 1;
            name.truncate(begun);
            name.push_str(&format!(".{again}"));
        }
        name
    }
}

async fn append(lines: &dyn LogLines, log: &str, run: &[FollowedLine]) -> Copied<Appended> {
    let line =
        |line: &FollowedLine| LogLine { number: line.this.seq, at: line.time, text: line.text.clone() };
    let run: Vec<LogLine> = run.iter().map(line).collect();
    lines.append(log, &run).await.map_err(|error| error.to_string())
}

impl CopyDestination for StoreCopy {
    async fn ends(&mut self) -> Copied<Vec<ChainLink>> {
        let ends = self.lines.ends().await.map_err(|error| error.to_string())?;
        let place = |end: LogEnd| Some((end.log, ChainLink::of_line(&end.last.text)?));
        self.logs = ends.into_iter().filter_map(place).collect();
        Ok(self.logs.iter().map(|(_, link)| *link).collect())
    }

    /// Lines that follow no log's last one, and are in none, begin another, so that none has a gap. So do those of a second gateway
    /// that went on from a copy of the same file.
    async fn take(&mut self, run: &[FollowedLine]) -> Copied<()> {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return Ok(()) };
        if let Some(at) = self.place(first).await?
            && let Some((log, end)) = self.logs.get_mut(at)
        {
            if append(&*self.lines, log, run).await? == Appended::Whole {
                if last.this.seq > end.seq {
                    *end = last.this;
                }
                return Ok(());
            }
            tracing::warn!(
                target: TARGET, log = log.as_str(), line = first.this.seq,
                "another gateway has gone on from the same line of the audit log: what this one writes is a log of its own in \
                 the store"
            );
        }
        let log = self.unused_name(first);
        if append(&*self.lines, &log, run).await? == Appended::Diverged {
            return Err(format!("the store has other lines than these in the log {log}"));
        }
        self.logs.push((log, last.this));
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

    fn link(seq: u64, mark: u8) -> ChainLink {
        ChainLink { seq, hash: [mark; 32] }
    }

    /// A line behind another one, as if it had been written; what is read back of it is its link.
    fn line(before: ChainLink, mark: u8) -> FollowedLine {
        let this = link(before.seq + 1, mark);
        let (node, decision) = ("one".to_owned(), "passed".to_owned());
        let hash = |link: ChainLink| link.to_string().split_once(':').unwrap().1.to_owned();
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
        copy.take(&[line(ChainLink::START, 1)]).await.unwrap();
        copy.take(&[line(link(1, 1), 2)]).await.unwrap();
        // Another process, which does not know whether its last lines came.
        let mut copy = open(None);
        assert_eq!(copy.ends().await.unwrap(), [link(2, 2)]);
        copy.take(&[line(link(2, 2), 3)]).await.unwrap();
        // Lines 4 to 6 are gone, and a log that begins anew.
        copy.take(&[line(link(6, 6), 7), line(link(7, 7), 8)]).await.unwrap();
        copy.take(&[line(ChainLink::START, 9)]).await.unwrap();
        let ends = async || -> Vec<(String, u64)> {
            lines.ends().await.unwrap().into_iter().map(|end| (end.log, end.last.number)).collect()
        };
        let marks = async |(log, _): (String, u64)| -> Vec<u8> {
            let kept = lines.read(&log, 0, 10).await.unwrap();
            kept.iter().map(|line| ChainLink::of_line(&line.text).unwrap().hash[0]).collect()
        };
        let named = |mark: u8, last| (format!("one/{}", link(0, mark).short_hash()), last);
        assert_eq!(ends().await, [named(1, 3), named(7, 8), named(9, 1)]);

        // A part of a log that is there whole, and one that goes on further.
        let mut copy = open(None);
        copy.ends().await.unwrap();
        copy.take(&[line(link(6, 6), 7)]).await.unwrap();
        copy.take(&[line(link(7, 7), 8), line(link(8, 8), 10)]).await.unwrap();
        assert_eq!(ends().await, [named(1, 3), named(7, 9), named(9, 1)]);

        // Two that go on from one line: each keeps all of its lines.
        let (mut one, mut two) = (open(None), open(None));
        one.ends().await.unwrap();
        two.ends().await.unwrap();
        one.take(&[line(link(3, 3), 20)]).await.unwrap();
        two.take(&[line(link(3, 3), 30), line(link(4, 30), 31)]).await.unwrap();
        one.take(&[line(link(4, 20), 21)]).await.unwrap();
        two.take(&[line(link(5, 31), 32)]).await.unwrap();
        assert_eq!(ends().await, [named(1, 5), named(7, 9), named(9, 1), named(30, 6)]);
        assert_eq!(marks(named(1, 0)).await, [1, 2, 3, 20, 21]);
        assert_eq!(marks(named(30, 0)).await, [30, 31, 32]);

        let mut copy = open(Some(Duration::from_millis(998)));
        copy.keep_up().await.unwrap();
        assert_eq!(marks(named(1, 0)).await, [2, 3, 20, 21]);
        // Not again before its time.
        clock.advance(Duration::from_secs(60));
        copy.keep_up().await.unwrap();
        assert_eq!(marks(named(1, 0)).await.len(), 4);
        clock.advance(SWEEP);
        copy.keep_up().await.unwrap();
        assert_eq!(marks(named(1, 0)).await, [21], "the last line stays");

        // A log that begins as one does whose beginning is gone.
        copy.ends().await.unwrap();
        copy.take(&[line(ChainLink::START, 1), line(link(1, 1), 2)]).await.unwrap();
        let again = (format!("{}.2", named(1, 0).0), 2);
        assert!(ends().await.contains(&again));
        assert_eq!(marks(again).await, [1, 2]);
        assert_eq!(clock.now(), shared.now());
    }
}
