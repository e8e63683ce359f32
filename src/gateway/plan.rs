//! What filters decide for the bodies of an exchange: a [`RequestPlan`] while they see the request's head, an
//! [`AnswerPlan`] while they see that of the answer.

use bytes::Bytes;

use crate::gateway::body::{BodyFormat, BodyKind};
use crate::gateway::compression::Compression;
use crate::gateway::content_coding::beginning;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::layer::{Layer, TextLayer, UnscannedPolicy};
use crate::gateway::llm::Protocol;
use crate::gateway::media_type::is_media;
use crate::telemetry::{Direction, Unscanned};

/// What is said of an image, sound or a film where a route refuses it.
pub const REFUSED_MEDIA: &str =
    "is an image, sound or a film, which this route refuses; `media = \"pass\"` lets it through unread";

/// What is to be done with the request's body.
#[derive(Clone, Default)]
pub struct RequestPlan {
    /// How much of it is collected before it is sent on, in bytes; `None`: it is sent on as it comes.
    collect: Option<usize>,
    layers: Vec<Layer>,
    policy: UnscannedPolicy,
    must_show_kind: bool,
    /// What happens to a body that is an image, sound or a film, where that is another question.
    media: Option<UnscannedPolicy>,
    /// The beginning of the body, once it was read.
    read: Bytes,
}

impl RequestPlan {
    /// Asks for the body to be read whole, up to `limit` bytes or the route's own limit, before it is sent on.
    pub fn collect(&mut self, x: &Exchange, limit: usize) {
        self.collect = Some(x.route().max_body.map_or(limit, |max| max.min(limit)));
    }

    /// The same, if no filter has asked.
    pub fn collect_anyway(&mut self, x: &Exchange, limit: usize) {
        if self.collect.is_none() {
            self.collect(x, limit);
        }
    }

    /// How much of the body to collect, if a filter asked.
    pub fn collects(&self) -> Option<usize> {
        self.collect
    }

    /// Installs a layer on the body as it passes.
    pub fn rewrite(&mut self, layer: Layer) {
        self.layers.push(layer);
    }

    /// Has the body show what it is before it is sent on, since its head does not say; `policy` is what happens if that
    /// cannot be told.
    pub fn require_known_kind(&mut self, policy: UnscannedPolicy) {
        (self.must_show_kind, self.policy) = (true, policy);
    }

    /// Of bodies that must show what they are, `policy` rules those that are an image, sound or a film.
    pub fn rule_media(&mut self, policy: UnscannedPolicy) {
        self.media = Some(policy);
    }

    /// Whether the body must show what it is.
    pub fn must_show_kind(&self) -> bool {
        self.must_show_kind
    }

    /// What is installed on the body.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// What happens to a body that cannot be scanned.
    pub fn policy(&self) -> UnscannedPolicy {
        self.policy
    }

    /// Takes the beginning of the body; `ended` when that is all of it. What it is may take more to tell, and is told
    /// as it passes then.
    ///
    /// # Errors
    /// A body of no known kind, on a route that passes none of those; an image, sound or a film, where it passes no such.
    pub fn body_begins(&mut self, x: &mut Exchange, body: Bytes, ended: bool) -> Result<(), GatewayError> {
        let format = BodyFormat::of(&x.head().headers, false).map_err(|_| GatewayError::UNKNOWN_TYPE)?;
        let head = beginning(&body, &format.codings, &x.budget).map_err(GatewayError::of_request)?;
        self.read = body;
        let media = self.media.filter(|_| is_media(&x.head().headers, &head));
        match format.kind(&head, ended, Direction::Request) {
            BodyKind::Unknown if media == Some(UnscannedPolicy::Refuse) => {
                Err(GatewayError::UnreadFile(format!("the body {REFUSED_MEDIA}")))
            }
            BodyKind::Unknown if media.is_some() || self.policy == UnscannedPolicy::Pass => {
                self.layers.clear();
                self.collect = None;
                x.passes_unscanned(Direction::Request, Unscanned::ContentType);
                Ok(())
            }
            BodyKind::Unknown if !head.is_empty() => Err(GatewayError::UNKNOWN_TYPE),
            _ => Ok(()),
        }
    }

    /// The same of a body that was read whole, and is not sent on as it comes.
    ///
    /// # Errors
    /// As of [`body_begins`](Self::body_begins).
    pub fn has_begun(&mut self, x: &mut Exchange, body: Bytes) -> Result<(), GatewayError> {
        let collect = self.collect;
        if self.must_show_kind {
            self.body_begins(x, body, true)?;
        }
        (self.collect, self.read) = (collect, Bytes::new());
        Ok(())
    }

    /// What of the body has been read already.
    pub fn take_read(&mut self) -> Bytes {
        std::mem::take(&mut self.read)
    }
}

/// What is to be done with the answer's body.
#[derive(Default)]
pub struct AnswerPlan {
    layers: Vec<Layer>,
    policy: UnscannedPolicy,
    usage: Option<&'static Protocol>,
    compression: Option<Compression>,
}

impl AnswerPlan {
    /// Installs a layer on the body; `policy` is what happens if that cannot be scanned. Of several layers' the
    /// strictest counts.
    pub fn rewrite(&mut self, layer: Layer, policy: UnscannedPolicy) {
        self.layers.push(layer);
        if policy == UnscannedPolicy::Refuse || self.layers.len() == 1 {
            self.policy = policy;
        }
    }

    /// Has the tokens read that the answer says it took, as this protocol has it.
    pub fn read_usage(&mut self, protocol: &'static Protocol) {
        self.usage = Some(protocol);
    }

    /// By what protocol tokens are read, if they are.
    pub fn usage(&self) -> Option<&'static Protocol> {
        self.usage
    }

    /// Has the body compressed as it leaves, where that suits it.
    pub fn compress(&mut self, compression: Compression) {
        self.compression = Some(compression);
    }

    /// How the body is compressed, if it is.
    pub fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// What is installed on the body.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// What happens to a body that cannot be scanned.
    pub fn policy(&self) -> UnscannedPolicy {
        self.policy
    }

    /// Whether a layer knows the protocol of the body.
    pub fn knows_protocol(&self) -> bool {
        let known = |layer: &Layer| matches!(layer, Layer::Text(TextLayer { protocol: Some(_), .. }));
        self.layers.iter().any(known)
    }

    /// Whether the body may be the results of a batch, in a file that is said to be bytes.
    pub fn may_have_results(&self) -> bool {
        let results = |layer: &Layer| matches!(layer, Layer::Text(TextLayer { fields: Some(_), .. }));
        self.layers.iter().any(results)
    }
}
