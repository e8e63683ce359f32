//! [`EndpointEvents`]: the event by which a server of MCP says where messages to it go (its specification of 2024-11-05, "HTTP
//! with SSE"), so that they come back to the route. It is read before anything is redacted: a client must send there what it
//! says.

use std::sync::{Arc, OnceLock};

use bytes::BytesMut;
use http::Method;
use http::header::CONTENT_TYPE;
use memchr::memmem;
use pingora::http::ResponseHeader;

use crate::gateway::exchange::Exchange;
use crate::gateway::layer::Layer;
use crate::gateway::llm::{is_mcp, resources};
use crate::stream::sse::{Event, EventAction};
use crate::stream::{Rewriter, StreamError};

/// Its name. It is the first event of its stream.
const NAME: &[u8] = b"endpoint";

/// The most that is held for it, in bytes.
const MOST: usize = 8 << 10;

/// The ends of an event.
const ENDS: [&[u8]; 3] = [b"\n\n", b"\r\n\r\n", b"\r\r"];

/// The type of a stream.
const EVENTS: &str = "text/event-stream";

/// Whether one may come in the answer.
pub(super) fn may_come(x: &Exchange) -> bool {
    x.head().method == Method::GET && !x.is_websocket() && x.protocol().is_some_and(is_mcp)
}

/// Whether one may come in this answer.
pub(super) fn may_be_in(x: &Exchange, head: &ResponseHeader) -> bool {
    let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let stream =
        kind.trim_start().get(..EVENTS.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(EVENTS));
    stream && may_come(x)
}

/// The layer that notes what it says, for [`leading`], and names the session of the stream by it.
pub(super) fn noting(x: &mut Exchange) -> Layer {
    let said = Arc::clone(x.facts.endpoint.insert(Arc::default()));
    let session = x.facts.memory.as_ref().and_then(|memory| memory.awaited_session());
    layer(Arc::new(move |target| {
        let _ = said.set(target.to_owned());
        if let (Some(session), Some(id)) = (&session, resources::of_endpoint(target)) {
            let _ = session.set(id);
        }
        None
    }))
}

/// The layer that has it lead where `leads` says, whatever was made of it on the way.
pub(super) fn leading(said: Option<Arc<OnceLock<String>>>, leads: Leads) -> Layer {
    layer(Arc::new(move |came| {
        let said = said.as_ref().and_then(|said| said.get()).map_or(came, String::as_str);
        leads(said).or_else(|| (said != came).then(|| said.to_owned()))
    }))
}

fn layer(leads: Leads) -> Layer {
    Layer::Bytes(Arc::new(move || -> Box<dyn Rewriter> { Box::new(EndpointEvents::new(Arc::clone(&leads))) }))
}

/// Where callers find what a server names; `None`: there.
pub(super) type Leads = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Rewrites the first event of a stream; what follows passes.
struct EndpointEvents {
    leads: Leads,
    held: BytesMut,
    over: bool,
}

impl EndpointEvents {
    /// For one stream.
    fn new(leads: Leads) -> Self {
        Self { leads, held: BytesMut::new(), over: false }
    }

    fn verdict(&self, event: &Event<'_>) -> EventAction {
        let named = Some(event.data()).filter(|_| event.name() == NAME);
        let leads = named.and_then(|data| (self.leads)(std::str::from_utf8(data).ok()?.trim()));
        leads.map_or(EventAction::Keep, |url| EventAction::Data(url.into_bytes()))
    }
}

impl Rewriter for EndpointEvents {
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        self.held.extend_from_slice(chunk);
        while !self.over
            && let Some(length) = first_event(self.held.get(..MOST).unwrap_or(&self.held))
        {
            let block = self.held.split_to(length);
            let event = Event::parse(&block);
            event.write(&self.verdict(&event), out);
            // Comments may stand before it.
            self.over = !event.data().is_empty();
        }
        self.over |= self.held.len() > MOST;
        if self.over {
            out.extend_from_slice(&self.held.split());
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        out.extend_from_slice(&self.held.split());
        Ok(())
    }

    fn held(&self) -> usize {
        self.held.len()
    }
}

/// How long the first event is, its blank line included; `None` while it has no end.
fn first_event(bytes: &[u8]) -> Option<usize> {
    ENDS.iter().filter_map(|end| Some(memmem::find(bytes, end)? + end.len())).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(body: &str, step: usize) -> String {
        let leads: Leads = Arc::new(|url| url.strip_prefix('/').map(|rest| format!("/tools/{rest}")));
        let mut events = EndpointEvents::new(leads);
        let mut out = BytesMut::new();
        for piece in body.as_bytes().chunks(step) {
            events.write(piece, &mut out).unwrap();
        }
        events.finish(&mut out).unwrap();
        assert_eq!(events.held(), 0);
        String::from_utf8(out.to_vec()).unwrap()
    }

    #[test]
    fn only_the_first_event_changes_whatever_the_pieces() {
        let more = "event: message\ndata: {\"a\":1}\n\nevent: endpoint\ndata: /late\n\n";
        for (body, want) in [
            ("event: endpoint\ndata: /m?id=1\n\n", "event: endpoint\ndata: /tools/m?id=1\n\n"),
            (
                ": hi\r\n\r\nevent: endpoint\r\ndata: /m\r\n\r\n",
                ": hi\r\n\r\nevent: endpoint\r\ndata: /tools/m\r\n\r\n",
            ),
            ("data: /m\revent: endpoint\r\r", "data: /tools/m\revent: endpoint\r\r"),
            (
                "event: endpoint\ndata: https://a.example/m\n\n",
                "event: endpoint\ndata: https://a.example/m\n\n",
            ),
            ("event: message\ndata: /m\n\n", "event: message\ndata: /m\n\n"),
            ("event: endpoint\ndata: /m", "event: endpoint\ndata: /m"),
            ("", ""),
        ] {
            for step in [1, 7, 1000] {
                assert_eq!(passed(body, step), want, "{body}");
                if body.ends_with(['\n', '\r']) {
                    assert_eq!(passed(&format!("{body}{more}"), step), format!("{want}{more}"), "{body}");
                }
            }
        }
        let late = format!(": {}\n\nevent: endpoint\ndata: /m\n\n", "x".repeat(MOST));
        for step in [1000, 100_000] {
            assert_eq!(passed(&late, step), late, "no more is held");
        }
    }
}
