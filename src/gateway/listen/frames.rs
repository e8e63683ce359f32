//! HTTP/2 frames as they pass (RFC 9113 section 4.1), counted: what costs us work and gives nothing is rationed, as its
//! section 10.5 asks. The frames' meaning is the h2 crate's business; only their first nine bytes are looked at.
//!
//! Each ration is a bucket: so many at once, so many more a second, and some earned by work that was done. Whoever empties
//! one is told to calm down and cut off. So is who sends what is no frame, with the error code that says so.

use std::time::Duration;

use tokio::time::Instant;

/// The client's preface (RFC 9113 section 3.4).
pub(super) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes of a frame's head.
const HEAD: usize = 9;

const DATA: u8 = 0x0;
const HEADERS: u8 = 0x1;
const PRIORITY: u8 = 0x2;
const RST_STREAM: u8 = 0x3;
const SETTINGS: u8 = 0x4;
const PING: u8 = 0x6;
const GOAWAY: u8 = 0x7;
const WINDOW_UPDATE: u8 = 0x8;
const CONTINUATION: u8 = 0x9;

const END_STREAM: u8 = 0x1;
const ACK: u8 = 0x1;
const END_HEADERS: u8 = 0x4;

/// Error codes of RFC 9113 section 7.
const PROTOCOL_ERROR: u8 = 0x1;
const FRAME_SIZE_ERROR: u8 = 0x6;
const ENHANCE_YOUR_CALM: u8 = 0xb;

/// Frames that continue one header block: a block that has a place in our head limit needs none or one.
const CONTINUATIONS: u32 = 32;

/// Why a connection is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Abuse {
    /// Streams opened and reset (CVE-2023-44487), or made to be reset by us (CVE-2025-8671).
    Resets,
    /// A header block without an end, or of many pieces (CVE-2024-27316).
    Continuations,
    /// SETTINGS, PING, PRIORITY, frames of no known type and frames of nothing (CVE-2019-9512 and its siblings).
    Control,
    /// Window updates for next to nothing.
    Windows,
    /// A frame that is not as long as those of its type are (RFC 9113 section 6).
    Size,
    /// No SETTINGS after the preface (RFC 9113 section 3.4).
    Preface,
}

impl Abuse {
    /// The word for the log.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Resets => "too many resets",
            Self::Continuations => "too many continuations",
            Self::Control => "too many control frames",
            Self::Windows => "too many window updates",
            Self::Size => "a frame of a size that its type does not have",
            Self::Preface => "no SETTINGS first",
        }
    }

    /// Whether it is one of too many rather than one that is wrong.
    pub(super) const fn is_flood(self) -> bool {
        !matches!(self, Self::Size | Self::Preface)
    }

    const fn code(self) -> u8 {
        match self {
            Self::Size => FRAME_SIZE_ERROR,
            Self::Preface => PROTOCOL_ERROR,
            _ => ENHANCE_YOUR_CALM,
        }
    }
}

/// Splits a stream of bytes at frames.
#[derive(Debug, Default)]
struct Splitter {
    head: [u8; HEAD],
    have: usize,
    left: usize,
}

/// What a frame's head says.
#[derive(Clone, Copy, Debug)]
struct Frame {
    length: usize,
    kind: u8,
    flags: u8,
    stream: u32,
}

impl Splitter {
    /// Whether the bytes so far end where a frame ends.
    fn between(&self) -> bool {
        self.left == 0 && self.have == 0
    }

    /// The next frame head that is whole within `bytes`, which are taken up to there or to their end.
    fn next(&mut self, bytes: &mut &[u8]) -> Option<Frame> {
        let (_, rest) = bytes.split_at_checked(self.left.min(bytes.len()))?;
        self.left -= bytes.len() - rest.len();
        *bytes = rest;
        while self.left == 0 {
            let (first, rest) = bytes.split_first()?;
            *bytes = rest;
            if let Some(place) = self.head.get_mut(self.have) {
                *place = *first;
            }
            self.have += 1;
            if self.have == HEAD {
                self.have = 0;
                let [a, b, c, kind, flags, stream @ ..] = self.head;
                let length = u32::from_be_bytes([0, a, b, c]) as usize;
                let stream = u32::from_be_bytes(stream) & (u32::MAX >> 1);
                self.left = length;
                return Some(Frame { length, kind, flags, stream });
            }
        }
        None
    }
}

impl Frame {
    /// Whether it is as long as frames of its type are. The h2 crate looks too, but names no reason.
    fn fits(self) -> bool {
        match self.kind {
            PRIORITY => self.length == 5,
            RST_STREAM | WINDOW_UPDATE => self.length == 4,
            PING => self.length == 8,
            SETTINGS if self.flags & ACK != 0 => self.length == 0,
            SETTINGS => self.length.is_multiple_of(6),
            _ => true,
        }
    }
}

/// So many at once, so many more a second.
#[derive(Debug)]
struct TokenBucket {
    most: u32,
    each_second: u32,
    left: u32,
    since: Instant,
}

impl TokenBucket {
    fn new(most: u32, each_second: u32) -> Self {
        Self { most, each_second, left: most, since: Instant::now() }
    }

    fn earn(&mut self, more: u32) {
        self.left = self.left.saturating_add(more).min(self.most);
    }

    fn take(&mut self) -> bool {
        if self.left == 0 {
            let whole = self.since.elapsed().as_millis().saturating_mul(u128::from(self.each_second)) / 1000;
            let more = u32::try_from(whole).unwrap_or(u32::MAX);
            if more > 0 {
                self.earn(more);
                self.since = Instant::now();
            }
        }
        let some = self.left > 0;
        self.left = self.left.saturating_sub(1);
        some
    }
}

/// Both directions of one HTTP/2 connection.
#[derive(Debug)]
pub(super) struct Frames {
    preface: usize,
    /// The first frame came.
    greeted: bool,
    incoming: Splitter,
    outgoing: Splitter,
    last: u32,
    resets: TokenBucket,
    control: TokenBucket,
    windows: TokenBucket,
    /// A header block that has begun: when, and with how many continuations.
    block: Option<(Instant, u32)>,
    head_time: Duration,
    provoked: bool,
}

impl Frames {
    /// A connection whose preface is still to come; a header block may take `head_time`.
    pub(super) fn new(head_time: Duration) -> Self {
        Self {
            preface: PREFACE.len(),
            greeted: false,
            incoming: Splitter::default(),
            outgoing: Splitter::default(),
            last: 0,
            // A chat user interface cancels some of what it asks, a crawler some pages; both also get answers.
            resets: TokenBucket::new(200, 20),
            control: TokenBucket::new(1000, 100),
            // Downloads earn theirs.
            windows: TokenBucket::new(2000, 200),
            block: None,
            head_time,
            provoked: false,
        }
    }

    /// Bytes that came.
    pub(super) fn came(&mut self, mut bytes: &[u8]) -> Result<(), Abuse> {
        let (_, rest) = bytes.split_at_checked(self.preface.min(bytes.len())).unwrap_or((bytes, b""));
        self.preface -= bytes.len() - rest.len();
        bytes = rest;
        while let Some(frame) = self.incoming.next(&mut bytes) {
            self.judge(frame)?;
        }
        match self.block {
            _ if self.provoked => Err(Abuse::Resets),
            Some((begun, _)) if begun.elapsed() > self.head_time => Err(Abuse::Continuations),
            _ => Ok(()),
        }
    }

    fn judge(&mut self, frame: Frame) -> Result<(), Abuse> {
        let enough = |some: bool, abuse: Abuse| if some { Ok(()) } else { Err(abuse) };
        let greeting = frame.kind == SETTINGS && frame.flags & ACK == 0;
        enough(self.greeted || greeting, Abuse::Preface)?;
        self.greeted = true;
        enough(frame.fits(), Abuse::Size)?;
        match frame.kind {
            HEADERS => {
                self.last = self.last.max(frame.stream);
                self.windows.earn(2);
                self.block = (frame.flags & END_HEADERS == 0).then(|| (Instant::now(), 0));
                // A block of nothing is no request.
                enough(frame.length > 0 || self.control.take(), Abuse::Control)
            }
            CONTINUATION => {
                let done = frame.flags & END_HEADERS != 0;
                let Some((_, count)) = &mut self.block else { return Ok(()) };
                *count += 1;
                enough(*count <= CONTINUATIONS, Abuse::Continuations)?;
                if done {
                    self.block = None;
                }
                Ok(())
            }
            DATA if frame.length > 0 || frame.flags & END_STREAM != 0 => Ok(()),
            RST_STREAM => enough(self.resets.take(), Abuse::Resets),
            WINDOW_UPDATE => enough(self.windows.take(), Abuse::Windows),
            GOAWAY => Ok(()),
            _ => enough(self.control.take(), Abuse::Control),
        }
    }

    /// Bytes that went.
    pub(super) fn went(&mut self, mut bytes: &[u8]) {
        while let Some(frame) = self.outgoing.next(&mut bytes) {
            match frame.kind {
                DATA => {
                    self.windows.earn(2);
                    self.control.earn(1);
                }
                // What the caller made us reset counts like what it reset itself.
                RST_STREAM => self.provoked |= !self.resets.take(),
                _ => {}
            }
            if matches!(frame.kind, DATA | HEADERS) && frame.flags & END_STREAM != 0 {
                self.resets.earn(1);
            }
        }
    }

    /// Whether the caller sent anything that counts as its preface.
    pub(super) fn begun(&self) -> bool {
        self.preface == 0
    }

    /// Whether a frame of ours may be put in now.
    pub(super) fn between(&self) -> bool {
        self.outgoing.between()
    }

    /// GOAWAY (RFC 9113 section 6.8).
    pub(super) fn goodbye(&self, abuse: Abuse) -> [u8; HEAD + 8] {
        let [a, b, c, d] = self.last.to_be_bytes();
        [0, 0, 8, GOAWAY, 0, 0, 0, 0, 0, a, b, c, d, 0, 0, 0, abuse.code()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u32, payload: usize) -> Vec<u8> {
        let [_, a, b, c] = u32::try_from(payload).unwrap().to_be_bytes();
        let mut bytes = vec![a, b, c, kind, flags];
        bytes.extend(stream.to_be_bytes());
        bytes.resize(HEAD + payload, 0);
        bytes
    }

    fn begun() -> Frames {
        let mut frames = Frames::new(Duration::from_secs(10));
        frames.came(PREFACE).unwrap();
        frames.came(&frame(SETTINGS, 0, 0, 0)).unwrap();
        frames
    }

    /// How many of `bytes` in a row pass.
    fn passes(frames: &mut Frames, bytes: &[u8]) -> (usize, Option<Abuse>) {
        let found = (0..100_000).find_map(|n| frames.came(bytes).err().map(|abuse| (n, Some(abuse))));
        found.unwrap_or((100_000, None))
    }

    #[tokio::test(start_paused = true)]
    async fn floods_end_and_say_what_they_are() {
        let reset = [frame(HEADERS, 5, 1, 3), frame(RST_STREAM, 0, 1, 4)].concat();
        assert_eq!(passes(&mut begun(), &reset), (200, Some(Abuse::Resets)));
        assert_eq!(passes(&mut begun(), &frame(PING, 0, 0, 8)), (999, Some(Abuse::Control)));
        assert_eq!(passes(&mut begun(), &frame(SETTINGS, 0, 0, 0)), (999, Some(Abuse::Control)));
        assert_eq!(passes(&mut begun(), &frame(0xfa, 0, 0, 1)), (999, Some(Abuse::Control)));
        assert_eq!(passes(&mut begun(), &frame(DATA, 0, 1, 0)), (999, Some(Abuse::Control)));
        assert_eq!(passes(&mut begun(), &frame(WINDOW_UPDATE, 0, 0, 4)), (2000, Some(Abuse::Windows)));
        let mut frames = begun();
        frames.came(&frame(HEADERS, 0, 1, 3)).unwrap();
        assert_eq!(passes(&mut frames, &frame(CONTINUATION, 0, 1, 0)).1, Some(Abuse::Continuations));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_no_frame_of_its_type_ends_it() {
        for (kind, flags, length) in [
            (PRIORITY, 0, 4),
            (RST_STREAM, 0, 3),
            (SETTINGS, ACK, 6),
            (SETTINGS, 0, 5),
            (PING, 0, 6),
            (WINDOW_UPDATE, 0, 3),
        ] {
            assert_eq!(begun().came(&frame(kind, flags, 1, length)), Err(Abuse::Size), "{kind}");
        }
        let mut frames = Frames::new(Duration::from_secs(10));
        frames.came(PREFACE).unwrap();
        assert_eq!(frames.came(&frame(PING, 0, 0, 8)), Err(Abuse::Preface));
        assert_eq!(begun().goodbye(Abuse::Size).last(), Some(&FRAME_SIZE_ERROR));
    }

    #[tokio::test(start_paused = true)]
    async fn a_header_block_must_end_in_time() {
        let mut frames = begun();
        frames.came(&frame(HEADERS, 0, 1, 3)).unwrap();
        tokio::time::advance(Duration::from_secs(11)).await;
        assert_eq!(frames.came(&frame(CONTINUATION, 0, 1, 1)), Err(Abuse::Continuations));
    }

    #[tokio::test(start_paused = true)]
    async fn answers_earn_what_resets_cost() {
        let mut frames = begun();
        for stream in 0..2000 {
            frames.came(&frame(HEADERS, 5, stream * 2 + 1, 3)).unwrap();
            frames.went(&frame(HEADERS, 5, stream * 2 + 1, 3));
            frames.came(&frame(RST_STREAM, 0, stream * 2 + 1, 4)).unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn resets_that_a_caller_provokes_count() {
        let mut frames = begun();
        (0..200).for_each(|_| frames.went(&frame(RST_STREAM, 0, 1, 4)));
        frames.came(&frame(DATA, 0, 1, 1)).unwrap();
        frames.went(&frame(RST_STREAM, 0, 1, 4));
        assert_eq!(frames.came(&frame(DATA, 0, 1, 1)), Err(Abuse::Resets));
    }

    #[test]
    fn frames_are_split_wherever_bytes_are() {
        let bytes = [frame(HEADERS, 5, 7, 3), frame(DATA, 0, 7, 20), frame(RST_STREAM, 0, 9, 4)].concat();
        for cut in 0..bytes.len() {
            let mut splitter = Splitter::default();
            let (first, second) = bytes.split_at(cut);
            let mut kinds = Vec::new();
            for mut piece in [first, second] {
                while let Some(frame) = splitter.next(&mut piece) {
                    kinds.push((frame.kind, frame.length, frame.stream));
                }
            }
            assert_eq!(kinds, [(HEADERS, 3, 7), (DATA, 20, 7), (RST_STREAM, 4, 9)], "{cut}");
            assert!(splitter.between());
        }
    }
}
