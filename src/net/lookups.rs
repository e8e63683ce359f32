//! [`Lookups`]: names that the system looks up, a few at once, on threads of their own. Its resolver blocks a thread until
//! it answers and cannot be stopped, so no name may hold a thread that other work waits for, and none more than one.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// Names that may wait for a thread.
const MOST_WAITING: usize = 1024;

/// What a lookup brings; the error in parts, since many read it.
type LookupAnswer = Result<Vec<IpAddr>, (io::ErrorKind, String)>;

/// Asks a resolver, and blocks until it answers.
type Ask = fn(&str) -> io::Result<Vec<IpAddr>>;

/// Names that are being looked up: each once, whoever asks.
pub(super) struct Lookups {
    ask: Ask,
    at_once: usize,
    queue: Mutex<LookupQueue>,
}

#[derive(Default)]
struct LookupQueue {
    /// Threads that look names up. One without work ends.
    threads: usize,
    waiting: VecDeque<String>,
    /// Where the answer goes, by name: of those that wait and those that are asked.
    answers: HashMap<String, watch::Sender<Option<LookupAnswer>>>,
}

impl Lookups {
    /// At most so many at once.
    pub(super) fn new(at_once: usize, ask: Ask) -> Arc<Self> {
        Arc::new(Self { ask, at_once, queue: Mutex::default() })
    }

    /// The addresses of a name, from the lookup of it that is under way or a new one.
    ///
    /// # Errors
    /// The resolver's; too many names wait, or there is no thread to be had.
    pub(super) async fn find(self: Arc<Self>, name: String) -> io::Result<Vec<IpAddr>> {
        let mut answer = self.begin(name);
        let none = || io::Error::other("names cannot be looked up now");
        let answer = answer.wait_for(Option::is_some).await.map_err(|_| none())?.clone();
        match answer {
            Some(Ok(found)) => Ok(found),
            Some(Err((kind, why))) => Err(io::Error::new(kind, why)),
            None => Err(none()),
        }
    }

    fn begin(self: &Arc<Self>, name: String) -> watch::Receiver<Option<LookupAnswer>> {
        let mut queue = self.lock();
        if let Some(sender) = queue.answers.get(&name) {
            return sender.subscribe();
        }
        let (sender, answer) = watch::channel(None);
        if queue.waiting.len() >= MOST_WAITING && !queue.drop_abandoned() {
            return answer;
        }
        queue.answers.insert(name.clone(), sender);
        queue.waiting.push_back(name);
        if queue.threads < self.at_once {
            let lookups = Arc::clone(self);
            let run = move || lookups.run();
            if std::thread::Builder::new().name("lookup".to_owned()).spawn(run).is_ok() {
                queue.threads += 1;
            } else if queue.threads == 0 {
                // Nobody would come for it.
                queue.waiting.clear();
                queue.answers.clear();
            }
        }
        answer
    }

    /// Looks up what waits, one name after another.
    fn run(&self) {
        while let Some(name) = self.next() {
            let answer = (self.ask)(&name).map_err(|error| (error.kind(), error.to_string()));
            let sender = self.lock().answers.remove(&name);
            if let Some(sender) = sender {
                sender.send_modify(|sent| *sent = Some(answer));
            }
        }
    }

    fn next(&self) -> Option<String> {
        let mut queue = self.lock();
        while let Some(name) = queue.waiting.pop_front() {
            if queue.answers.get(&name).is_some_and(is_awaited) {
                return Some(name);
            }
            queue.answers.remove(&name);
        }
        queue.threads -= 1;
        None
    }

    fn lock(&self) -> MutexGuard<'_, LookupQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LookupQueue {
    /// Forgets waiting names that nobody asks for any more. Whether there was one.
    fn drop_abandoned(&mut self) -> bool {
        let before = self.waiting.len();
        let Self { waiting, answers, .. } = self;
        waiting.retain(|name| {
            let stays = answers.get(name).is_some_and(is_awaited);
            if !stays {
                answers.remove(name);
            }
            stays
        });
        waiting.len() < before
    }
}

fn is_awaited(sender: &watch::Sender<Option<LookupAnswer>>) -> bool {
    sender.receiver_count() > 0
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    /// How often `asked_once` was asked.
    static ASKED: AtomicUsize = AtomicUsize::new(0);

    fn asked_once(_: &str) -> io::Result<Vec<IpAddr>> {
        ASKED.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(300));
        Ok(vec![HERE])
    }

    fn slow(name: &str) -> io::Result<Vec<IpAddr>> {
        match name {
            "slow" => std::thread::sleep(Duration::from_secs(2)),
            "none" => return Err(io::Error::other("no such name")),
            _ => {}
        }
        Ok(vec![HERE])
    }

    #[tokio::test]
    async fn a_name_is_asked_for_once_however_many_wait_for_it() {
        let lookups = Lookups::new(4, asked_once);
        let all: Vec<_> =
            (0..700).map(|_| tokio::spawn(Arc::clone(&lookups).find("one".to_owned()))).collect();
        for one in all {
            assert_eq!(one.await.unwrap().unwrap(), [HERE]);
        }
        assert_eq!(ASKED.load(Ordering::SeqCst), 1);
        assert_eq!(lookups.find("one".to_owned()).await.unwrap(), [HERE]);
        assert_eq!(ASKED.load(Ordering::SeqCst), 2, "what was found is not kept here");
    }

    #[tokio::test]
    async fn a_slow_name_holds_one_thread_and_others_are_found() {
        let lookups = Lookups::new(2, slow);
        let waiting: Vec<_> =
            (0..100).map(|_| tokio::spawn(Arc::clone(&lookups).find("slow".to_owned()))).collect();
        tokio::task::yield_now().await;
        let quick = tokio::time::timeout(Duration::from_secs(1), Arc::clone(&lookups).find("b".to_owned()));
        assert_eq!(quick.await.expect("it waits for the slow one").unwrap(), [HERE]);
        let none = lookups.find("none".to_owned()).await.unwrap_err();
        assert_eq!(none.to_string(), "no such name");
        for one in waiting {
            assert_eq!(one.await.unwrap().unwrap(), [HERE]);
        }
    }

    #[tokio::test]
    async fn what_nobody_waits_for_is_not_asked_and_does_not_fill_the_queue() {
        let lookups = Lookups::new(1, slow);
        let slow = tokio::spawn(Arc::clone(&lookups).find("slow".to_owned()));
        tokio::task::yield_now().await;
        for n in 0..3 * MOST_WAITING {
            drop(lookups.begin(n.to_string()));
        }
        assert!(lookups.lock().waiting.len() <= MOST_WAITING);
        assert_eq!(Arc::clone(&lookups).find("b".to_owned()).await.unwrap(), [HERE]);
        assert!(slow.await.unwrap().is_ok());
        let queue = lookups.lock();
        assert!(queue.waiting.is_empty() && queue.answers.is_empty());
    }
}
