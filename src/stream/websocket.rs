//! WebSocket frames (RFC 6455) as they pass: [`FrameReader`] joins what one side sends to messages, and [`write_frame`]
//! writes those that changed. A message that nobody changes leaves in the frames in which it came, byte for byte; a
//! control frame leaves as soon as it is whole, also between the fragments of a message.

mod frame_edge;
mod payload_length;

use bytes::{Bytes, BytesMut};

use crate::base::budget::{Exhausted, MemoryBudget, MemoryCharge};
pub use crate::stream::websocket::frame_edge::FrameEdge;
use crate::stream::websocket::payload_length::PayloadLength;

/// The most bytes that the payload of a control frame has (section 5.5).
pub const MAX_CONTROL: usize = 125;

/// The largest frame head, in bytes.
const MAX_HEAD: usize = 14;

/// Whose frames are read. Those of a client are masked, those of a server are not (section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// Whoever opened the connection.
    Client,
    /// Whoever took it.
    Server,
}

/// What a message holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// UTF-8.
    Text,
    /// Bytes.
    Binary,
}

/// What a control frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlKind {
    /// Nothing follows it.
    Close,
    /// Asks for a pong.
    Ping,
    /// Answers a ping.
    Pong,
}

/// The operation of a frame (section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opcode {
    /// Goes on with a message.
    Continuation,
    /// Begins a message.
    Begin(MessageKind),
    /// Stands for itself.
    Control(ControlKind),
}

impl Opcode {
    const ALL: [(u8, Self); 6] = [
        (0x0, Self::Continuation),
        (0x1, Self::Begin(MessageKind::Text)),
        (0x2, Self::Begin(MessageKind::Binary)),
        (0x8, Self::Control(ControlKind::Close)),
        (0x9, Self::Control(ControlKind::Ping)),
        (0xA, Self::Control(ControlKind::Pong)),
    ];

    fn of(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == number).map(|(_, opcode)| opcode)
    }

    fn number(self) -> u8 {
        Self::ALL.into_iter().find(|(_, opcode)| *opcode == self).map_or(0, |(number, _)| number)
    }
}

/// Why a connection cannot go on. Never holds a byte of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WebSocketError {
    /// The bytes are not frames as they must be; why.
    #[error("{0}")]
    Protocol(&'static str),
    /// A text is not UTF-8.
    #[error("a text is not UTF-8")]
    NotText,
    /// A message is larger than it may be.
    #[error("a message is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// A budget is used up.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
}

impl WebSocketError {
    /// The code of the close frame that says so (section 7.4.1).
    pub fn code(&self) -> u16 {
        match self {
            Self::Protocol(_) => 1002,
            Self::NotText => 1007,
            Self::TooLarge { .. } => 1009,
            Self::Exhausted(_) => 1013,
        }
    }
}

/// What one side has sent.
#[derive(Debug)]
pub enum Incoming {
    /// A whole message.
    Message(WebSocketMessage),
    /// A control frame.
    Control(ControlFrame),
}

/// A whole message.
#[derive(Debug)]
pub struct WebSocketMessage {
    /// What it holds; a text is UTF-8.
    pub kind: MessageKind,
    /// What it says, unmasked.
    pub payload: Vec<u8>,
    /// Its frames as they came.
    pub raw: Bytes,
    charge: MemoryCharge,
}

/// A control frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlFrame {
    /// What it says.
    pub kind: ControlKind,
    /// What stands in it, unmasked; at most [`MAX_CONTROL`] bytes.
    pub payload: Vec<u8>,
    /// As it came.
    pub raw: Bytes,
}

/// A message that has begun.
struct OpenMessage {
    kind: MessageKind,
    payload: Vec<u8>,
    raw: BytesMut,
}

/// Reads what one side sends.
pub struct FrameReader {
    sender: Sender,
    /// The most bytes that a message may have.
    limit: usize,
    budget: MemoryBudget,
    /// Of the frame that is read.
    unread: BytesMut,
    begun: Option<OpenMessage>,
    closed: bool,
    charge: MemoryCharge,
}

impl FrameReader {
    /// Reads the frames of `sender`, whose messages may have `limit` bytes. What is held is charged to `budget`.
    pub fn new(sender: Sender, limit: usize, budget: &MemoryBudget) -> Self {
        let (budget, charge) = (budget.clone(), budget.charge());
        Self { sender, limit, budget, unread: BytesMut::new(), begun: None, closed: false, charge }
    }

    /// Takes the next bytes. What stands behind a close frame counts for nothing.
    ///
    /// # Errors
    /// The budget is used up.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), WebSocketError> {
        if !self.closed {
            self.unread.extend_from_slice(bytes);
        }
        self.charge()
    }

    /// The next message or control frame that is whole.
    ///
    /// # Errors
    /// Why the connection cannot go on; nothing is read afterwards.
    pub fn read(&mut self) -> Result<Option<Incoming>, WebSocketError> {
        let read = self.frames();
        if read.is_err() {
            self.closed = true;
            self.begun = None;
            self.unread.clear();
        }
        self.charge()?;
        read
    }

    /// Whether a close frame has come, or the connection cannot go on.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Bytes taken in and not yet given out.
    pub fn held(&self) -> usize {
        self.unread.len() + self.begun.as_ref().map_or(0, |begun| begun.raw.len() + begun.payload.len())
    }

    fn charge(&mut self) -> Result<(), WebSocketError> {
        Ok(self.charge.set(self.held())?)
    }

    fn frames(&mut self) -> Result<Option<Incoming>, WebSocketError> {
        while !self.closed {
            let Some(head) = FrameHead::parse(&self.unread, self.sender)? else { return Ok(None) };
            self.admit(&head)?;
            let Some(size) = head.size.checked_add(head.length) else {
                return Err(WebSocketError::TooLarge { limit: self.limit });
            };
            if self.unread.len() < size {
                return Ok(None);
            }
            let raw = self.unread.split_to(size);
            let mut payload = raw.get(head.size..).unwrap_or_default().to_vec();
            if let Some(mask) = head.mask {
                apply_mask(mask, &mut payload);
            }
            let incoming = match head.opcode {
                Opcode::Control(kind) => Some(self.control(kind, payload, raw.freeze())?),
                Opcode::Begin(_) | Opcode::Continuation => self.data(&head, payload, raw)?,
            };
            if incoming.is_some() {
                return Ok(incoming);
            }
        }
        self.unread.clear();
        Ok(None)
    }

    /// Whether a frame may come now, and be so long.
    fn admit(&self, head: &FrameHead) -> Result<(), WebSocketError> {
        let begun = match (head.opcode, &self.begun) {
            (Opcode::Control(_), _) => return Ok(()),
            (Opcode::Continuation, None) => {
                return Err(WebSocketError::Protocol("a fragment continues no message"));
            }
            (Opcode::Begin(_), Some(_)) => {
                return Err(WebSocketError::Protocol("a message begins within another"));
            }
            (Opcode::Continuation, Some(begun)) => begun.payload.len(),
            (Opcode::Begin(_), None) => 0,
        };
        if head.length > self.limit.saturating_sub(begun) {
            return Err(WebSocketError::TooLarge { limit: self.limit });
        }
        Ok(())
    }

    fn data(
        &mut self,
        head: &FrameHead,
        payload: Vec<u8>,
        raw: BytesMut,
    ) -> Result<Option<Incoming>, WebSocketError> {
        let begun = match (self.begun.take(), head.opcode) {
            (Some(mut begun), _) => {
                begun.payload.extend_from_slice(&payload);
                begun.raw.extend_from_slice(&raw);
                // Frames without a byte of payload cost their heads.
                if begun.raw.len() > begun.payload.len().saturating_add(self.limit) {
                    return Err(WebSocketError::TooLarge { limit: self.limit });
                }
                begun
            }
            (None, Opcode::Begin(kind)) => OpenMessage { kind, payload, raw },
            (None, _) => return Err(WebSocketError::Protocol("a fragment continues no message")),
        };
        if !head.last {
            self.begun = Some(begun);
            return Ok(None);
        }
        let OpenMessage { kind, payload, raw } = begun;
        if kind == MessageKind::Text && std::str::from_utf8(&payload).is_err() {
            return Err(WebSocketError::NotText);
        }
        let mut charge = self.budget.charge();
        charge.set(payload.len() + raw.len())?;
        Ok(Some(Incoming::Message(WebSocketMessage { kind, payload, raw: raw.freeze(), charge })))
    }

    fn control(
        &mut self,
        kind: ControlKind,
        payload: Vec<u8>,
        raw: Bytes,
    ) -> Result<Incoming, WebSocketError> {
        if kind == ControlKind::Close {
            check_close(&payload)?;
            self.closed = true;
            self.begun = None;
        }
        Ok(Incoming::Control(ControlFrame { kind, payload, raw }))
    }
}

impl WebSocketMessage {
    /// The payload, the frames as they came, and what is charged for both.
    pub fn into_parts(self) -> (Vec<u8>, Bytes, MemoryCharge) {
        (self.payload, self.raw, self.charge)
    }
}

/// What stands in a close frame: nothing, or a code and a reason (section 5.5.1).
fn check_close(payload: &[u8]) -> Result<(), WebSocketError> {
    match payload {
        [] => Ok(()),
        [high, low, reason @ ..] => {
            let code = u16::from_be_bytes([*high, *low]);
            // Section 7.4 and the registry of close codes.
            if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
                return Err(WebSocketError::Protocol("a close frame has a code that none may have"));
            }
            std::str::from_utf8(reason).map(drop).map_err(|_| WebSocketError::NotText)
        }
        [_] => Err(WebSocketError::Protocol("a close frame has half a code")),
    }
}

/// The head of a frame (section 5.2).
#[derive(Debug, PartialEq, Eq)]
struct FrameHead {
    last: bool,
    opcode: Opcode,
    mask: Option<[u8; 4]>,
    /// Bytes of payload.
    length: usize,
    /// Bytes of the head itself.
    size: usize,
}

impl FrameHead {
    /// Reads the head that `bytes` begin with; `None` while it is not whole.
    fn parse(bytes: &[u8], sender: Sender) -> Result<Option<Self>, WebSocketError> {
        let Some(&first) = bytes.first() else { return Ok(None) };
        if first & 0x70 != 0 {
            return Err(WebSocketError::Protocol("a frame uses an extension that was not agreed on"));
        }
        let last = first & 0x80 != 0;
        let opcode =
            Opcode::of(first & 0x0F).ok_or(WebSocketError::Protocol("a frame has an unknown operation"))?;
        let Some(&second) = bytes.get(1) else { return Ok(None) };
        let is_masked = second & 0x80 != 0;
        if is_masked != (sender == Sender::Client) {
            return Err(WebSocketError::Protocol("a client masks its frames, and a server does not"));
        }
        let short = second & 0x7F;
        if matches!(opcode, Opcode::Control(_)) && (!last || usize::from(short) > MAX_CONTROL) {
            return Err(WebSocketError::Protocol("a control frame is in fragments or too long"));
        }
        let Some((length, at)) = payload_length(bytes)? else { return Ok(None) };
        let mut head = Self { last, opcode, mask: None, length, size: at };
        if is_masked {
            let Some(mask) = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()) else {
                return Ok(None);
            };
            (head.mask, head.size) = (Some(*mask), at + 4);
        }
        Ok(Some(head))
    }
}

/// The length of a payload, and where the bytes end that say it; they must be as few as possible.
fn payload_length(bytes: &[u8]) -> Result<Option<(usize, usize)>, WebSocketError> {
    match PayloadLength::parse(bytes) {
        None => Ok(None),
        Some(PayloadLength { is_shortest: false, .. }) => {
            Err(WebSocketError::Protocol("the length of a frame is not written as short as it could be"))
        }
        Some(PayloadLength { bytes: 0x8000_0000_0000_0000.., .. }) => {
            Err(WebSocketError::Protocol("the length of a frame is negative"))
        }
        Some(PayloadLength { bytes, end, .. }) => {
            Ok(Some((usize::try_from(bytes).unwrap_or(usize::MAX), end)))
        }
    }
}

/// Masks, or unmasks (section 5.3).
fn apply_mask(mask: [u8; 4], payload: &mut [u8]) {
    for four in payload.chunks_mut(4) {
        four.iter_mut().zip(mask).for_each(|(byte, key)| *byte ^= key);
    }
}

/// Appends a whole frame. A client's has a `mask`, fresh and unpredictable for each (section 5.3); a server's has none.
pub fn write_frame(opcode: Opcode, payload: &[u8], mask: Option<[u8; 4]>, out: &mut BytesMut) {
    out.reserve(payload.len() + MAX_HEAD);
    let masked = if mask.is_some() { 0x80 } else { 0 };
    let mut head = vec![0x80 | opcode.number()];
    match payload.len() {
        length @ ..126 => head.push(masked | length as u8),
        length @ 126..0x1_0000 => {
            head.push(masked | 126);
            head.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            head.push(masked | 127);
            head.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    head.extend_from_slice(mask.as_ref().map_or(&[], |mask| mask.as_slice()));
    out.extend_from_slice(&head);
    let from = out.len();
    out.extend_from_slice(payload);
    if let (Some(mask), Some(written)) = (mask, out.get_mut(from..)) {
        apply_mask(mask, written);
    }
}

/// What stands in a close frame with this code and as much of the reason as it has room for.
pub fn close_payload(code: u16, reason: &str) -> Vec<u8> {
    let mut payload = code.to_be_bytes().to_vec();
    payload.extend_from_slice(cut(reason, MAX_CONTROL - payload.len()).as_bytes());
    payload
}

/// As much of a text as fits into so many bytes.
pub fn cut(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}

#[cfg(test)]
#[path = "websocket_tests.rs"]
mod tests;
