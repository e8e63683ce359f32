//! One suite that both stores run.

use crate::base::clock::Timestamp;
use crate::store::{Appended, LogEnd, LogLine, LogLines};

fn line(number: u64) -> LogLine {
    // What a line may have: any text but a line break, and more than one byte for a character.
    let text = format!(r#"{{"seq":{number},"name":"ä\u0000 'x' \\"}}"#);
    LogLine { number, at: Timestamp::from_millis(1000 * number), text }
}

fn lines(numbers: std::ops::RangeInclusive<u64>) -> Vec<LogLine> {
    numbers.map(line).collect()
}

/// Runs every case, on a store without lines.
pub(crate) async fn check(logs: &dyn LogLines) {
    assert_eq!(logs.ends().await.unwrap(), []);
    assert_eq!(logs.read("a/1", 0, 10).await.unwrap(), []);
    for (log, given) in
        [("a/1", vec![]), ("a/1", lines(1..=700)), ("b/1", lines(5..=6)), ("B/1", lines(1..=1))]
    {
        assert_eq!(logs.append(log, &given).await.unwrap(), Appended::Whole);
    }

    // Those that are there stay as they are, and with others of their numbers nothing is added.
    assert_eq!(logs.append("a/1", &lines(699..=701)).await.unwrap(), Appended::Whole);
    let other = |number| LogLine { text: "{}".to_owned(), ..line(number) };
    for given in [vec![other(1)], vec![line(701), line(702), other(700)], vec![other(701), line(702)]] {
        assert_eq!(logs.append("a/1", &given).await.unwrap(), Appended::Diverged);
    }
    assert_eq!(logs.read("a/1", 0, 10_000).await.unwrap(), lines(1..=701));
    assert_eq!(logs.read("a/1", 3, 2).await.unwrap(), lines(4..=5));
    let end = |log: &str, number| LogEnd { log: log.to_owned(), last: line(number) };
    assert_eq!(logs.ends().await.unwrap(), [end("B/1", 1), end("a/1", 701), end("b/1", 6)]);

    // A later line behind an older one keeps both.
    let late = LogLine { at: Timestamp::from_millis(0), ..line(702) };
    assert_eq!(logs.append("a/1", std::slice::from_ref(&late)).await.unwrap(), Appended::Whole);
    assert_eq!(logs.remove_before("a/1", Timestamp::from_millis(700_000)).await.unwrap(), 699);
    let kept = [lines(700..=701), vec![late.clone()]].concat();
    assert_eq!(logs.read("a/1", 0, 10).await.unwrap(), kept);
    assert_eq!(logs.remove_before("a/1", Timestamp::from_millis(u64::MAX)).await.unwrap(), 2);
    assert_eq!(logs.read("a/1", 0, 10).await.unwrap(), [late], "the last stays");
    assert_eq!(logs.read("b/1", 0, 10).await.unwrap(), lines(5..=6), "of that log only");
}
