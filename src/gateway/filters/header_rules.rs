//! Headers that a route's settings set, add and remove: in what goes to the upstream, and in what callers get.

use async_trait::async_trait;
use http::{HeaderMap, HeaderName, HeaderValue};
use pingora::http::{RequestHeader, ResponseHeader};

use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::filters::spoofed::{end_hop, remove_spoofed};
use crate::gateway::head_fields::HeadFields;
use crate::gateway::plan::{AnswerPlan, RequestPlan};

/// What becomes of the headers of one direction. Each name is in one place.
#[derive(Clone, Debug, Default)]
pub struct HeaderRules {
    /// Taken out.
    pub remove: Vec<HeaderName>,
    /// Put in the place of all that are there.
    pub set: Vec<(HeaderName, HeaderValue)>,
    /// Put beside those that are there.
    pub add: Vec<(HeaderName, HeaderValue)>,
}

impl HeaderRules {
    /// Values may be secrets: nobody shows them, or keeps them in the tables of a connection (RFC 7541 section 7.1.3).
    fn hidden(mut self) -> Self {
        self.set.iter_mut().chain(&mut self.add).for_each(|(_, value)| value.set_sensitive(true));
        self
    }
}

/// Changes the headers of requests on their way out.
pub struct RequestHeaderFilter(HeaderRules);

impl RequestHeaderFilter {
    /// By these rules.
    pub fn new(rules: HeaderRules) -> Self {
        Self(rules.hidden())
    }

    fn apply(&self, head: &mut RequestHeader) {
        let HeaderRules { remove, set, add } = &self.0;
        end_hop(head);
        remove.iter().for_each(|name| remove_spoofed(head, name));
        for (name, value) in set {
            remove_spoofed(head, name);
            drop(head.insert_header(name, value.clone()));
        }
        for (name, value) in add {
            drop(head.append_header(name, value.clone()));
        }
    }
}

#[async_trait]
impl Filter for RequestHeaderFilter {
    fn name(&self) -> &'static str {
        "request_headers"
    }

    fn stage(&self) -> Stage {
        Stage::Sign
    }

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        self.apply(x.head_mut());
        Ok(Flow::Next)
    }
}

/// Changes the headers of answers, errors of ours among them, once all other filters have.
pub struct AnswerHeaderFilter(HeaderRules);

impl AnswerHeaderFilter {
    /// By these rules.
    pub fn new(rules: HeaderRules) -> Self {
        Self(rules.hidden())
    }

    fn apply(&self, head: &mut impl HeadFields) {
        let HeaderRules { remove, set, add } = &self.0;
        remove.iter().for_each(|name| head.take(name));
        set.iter().for_each(|(name, value)| head.put(name, value.clone()));
        add.iter().for_each(|(name, value)| head.add(name, value.clone()));
    }
}

#[async_trait]
impl Filter for AnswerHeaderFilter {
    fn name(&self) -> &'static str {
        "answer_headers"
    }

    // Among the first to be entered, so among the last to see an answer.
    fn stage(&self) -> Stage {
        Stage::Preflight
    }

    async fn response(
        &self,
        _: &mut Exchange,
        head: &mut ResponseHeader,
        _: &mut AnswerPlan,
    ) -> Result<(), GatewayError> {
        self.apply(head);
        Ok(())
    }

    fn error(&self, _: &Exchange, headers: &mut HeaderMap) {
        self.apply(headers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::upstream::strip_hop_by_hop;

    fn rules() -> HeaderRules {
        let name = HeaderName::from_static;
        let field = |field: &'static str, value: &'static str| (name(field), HeaderValue::from_static(value));
        HeaderRules {
            remove: vec![name("x-gone"), name("origin")],
            set: vec![field("x-set", "ours"), field("authorization", "Bearer ours")],
            add: vec![field("x-more", "ours"), field("via", "ours")],
        }
    }

    fn shown(headers: &HeaderMap) -> Vec<String> {
        let line =
            |(name, value): (&HeaderName, &HeaderValue)| format!("{name}: {}", value.to_str().unwrap());
        let mut lines: Vec<String> = headers.iter().map(line).collect();
        lines.sort_unstable();
        lines
    }

    #[test]
    fn what_a_caller_says_has_no_part_in_what_is_set() {
        // Headers, and what is left of them beside what is set.
        type Row = (&'static [(&'static str, &'static str)], &'static [&'static str]);
        let rows: [Row; 6] = [
            (&[], &[]),
            (
                &[("X-Gone", "1"), ("x-gone", "2"), ("X-GONE", "3"), ("x_gone", "4"), ("x-gone-not", "5")],
                &["x-gone-not: 5"],
            ),
            (&[("X-Set", "1"), ("x_set", "2"), ("Authorization", "Bearer theirs")], &[]),
            (&[("X-More", "1"), ("VIA", "theirs")], &["via: theirs", "x-more: 1"]),
            (&[("Connection", "close, X-Set, x-more, via, x-mine"), ("x-mine", "1")], &[]),
            (&[("Connection", "upgrade"), ("upgrade", "websocket"), ("Origin", "https://a.test")], &[]),
        ];
        for (fields, left) in rows {
            let mut head = RequestHeader::build("GET", b"/", None).unwrap();
            for (name, value) in fields {
                head.append_header(*name, *value).unwrap();
            }
            let mut want: Vec<String> =
                ["authorization: Bearer ours", "via: ours", "x-more: ours", "x-set: ours"]
                    .map(str::to_owned)
                    .into();
            want.extend(left.iter().map(|line| (*line).to_owned()));
            want.sort_unstable();
            RequestHeaderFilter::new(rules()).apply(&mut head);
            assert_eq!(shown(&head.headers), want, "{fields:?}");
            // Nothing of it is taken away on its last step.
            assert!(strip_hop_by_hop(&head.headers).is_empty(), "{fields:?}");
            assert!(head.headers["authorization"].is_sensitive(), "{fields:?}");
        }
    }

    #[test]
    fn an_answer_and_an_error_are_changed_alike() {
        let mut head = ResponseHeader::build(200, None).unwrap();
        for (name, value) in [
            ("X-Gone", "1"),
            ("x-gone", "2"),
            ("X-Set", "1"),
            ("x-set", "2"),
            ("x-more", "1"),
            ("server", "s"),
        ] {
            head.append_header(name, value).unwrap();
        }
        let mut of_error = head.headers.clone();
        let filter = AnswerHeaderFilter::new(rules());
        filter.apply(&mut head);
        filter.apply(&mut of_error);
        let want = [
            "authorization: Bearer ours",
            "server: s",
            "via: ours",
            "x-more: 1",
            "x-more: ours",
            "x-set: ours",
        ];
        assert_eq!(shown(&head.headers), want);
        assert_eq!(shown(&of_error), want);
    }
}
