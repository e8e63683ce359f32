//! Each state by itself.

use bytes::Bytes;
use http::StatusCode;
use pingora::http::ResponseHeader;

use crate::api::ApiError;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, has_body};
use crate::gateway::filter::Stage;
use crate::gateway::filter_chain::FilterChain;
use crate::gateway::layer::UnscannedPolicy;
use crate::gateway::plan::{AnswerPlan, RequestPlan};
use crate::gateway::route::{Route, RouteMatch};
use crate::gateway::state::{ActiveRequest, Answering, Received, RequestState, Routed, Streaming};
use crate::gateway::testing::{Act, Journal, exchange, fixed, hiding, recorder, route};
use crate::telemetry::{BodyScan, Unscanned};

const PLAIN: &[(&str, &str)] = &[("content-type", "text/plain")];

fn head(content_type: &str) -> ResponseHeader {
    let mut head = ResponseHeader::build(StatusCode::OK, None).unwrap();
    head.insert_header("content-type", content_type).unwrap();
    head.insert_header("content-length", 9).unwrap();
    head.insert_header("etag", "\"1\"").unwrap();
    head
}

/// A route that hides secrets in answers, and a chain that has entered its filter.
async fn hides(policy: UnscannedPolicy) -> (Exchange, FilterChain) {
    let filters = vec![recorder("hide", Stage::Rewrite, Act::HideAnswer(policy), &Journal::default())];
    let route: Route = route(filters, fixed(), None);
    let mut x = exchange(&route, "GET", &[]);
    let mut chain = FilterChain::new(route.into());
    drop(chain.request(&mut x, &mut RequestPlan::default()).await.unwrap());
    (x, chain)
}

#[test]
fn a_plan_collects_no_more_than_the_route_takes() {
    for (max_body, limit) in [(None, 100), (Some(30), 30), (Some(300), 100)] {
        let x = exchange(&route(Vec::new(), fixed(), max_body), "POST", PLAIN);
        let mut plan = RequestPlan::default();
        assert_eq!(plan.collects(), None);
        plan.collect(&x, 100);
        assert_eq!(plan.collects(), Some(limit));
    }
}

#[test]
fn a_body_of_no_known_kind_passes_only_by_leave_and_is_logged() {
    for (policy, passes) in [(UnscannedPolicy::Refuse, false), (UnscannedPolicy::Pass, true)] {
        let mut x = exchange(&route(Vec::new(), fixed(), None), "POST", &[]);
        let mut plan = RequestPlan::default();
        plan.collect(&x, 100);
        plan.rewrite(hiding());
        plan.require_known_kind(policy);
        let begun = plan.body_begins(&mut x, Bytes::from_static(b"\x89PNG\r\n\x1a\n\0\0"), true);
        assert_eq!(begun.is_ok(), passes);
        if passes {
            assert!(plan.layers().is_empty() && plan.collects().is_none());
            assert_eq!(x.request_scan, BodyScan::NotScanned(Unscanned::ContentType));
            assert_eq!(plan.take_read().len(), 10, "what was read goes on");
        }
    }
}

#[test]
fn an_image_or_sound_passes_where_media_do() {
    use UnscannedPolicy::{Pass, Refuse};
    for (unknown, media, passes) in
        [(Refuse, Pass, true), (Refuse, Refuse, false), (Pass, Refuse, false), (Pass, Pass, true)]
    {
        let mut x = exchange(&route(Vec::new(), fixed(), None), "POST", &[("content-type", "image/png")]);
        let mut plan = RequestPlan::default();
        plan.collect(&x, 100);
        plan.rewrite(hiding());
        plan.require_known_kind(unknown);
        plan.rule_media(media);
        let begun = plan.body_begins(&mut x, Bytes::from_static(b"\x89PNG\r\n\x1a\n\0\0"), true);
        assert_eq!(begun.is_ok(), passes, "{unknown:?} {media:?}");
        if passes {
            assert!(plan.layers().is_empty() && plan.collects().is_none());
            assert_eq!(x.request_scan, BodyScan::NotScanned(Unscanned::ContentType));
        }
        let begun = plan.body_begins(&mut x, Bytes::from_static(b"\x01\x80\0\x7f of Jane"), true);
        assert_eq!(begun.is_ok(), unknown == Pass, "what is no image is no medium");
    }
}

#[test]
fn the_strictest_layer_of_an_answer_counts() {
    use UnscannedPolicy::{Pass, Refuse};
    for (first, second, want) in
        [(Pass, Pass, Pass), (Pass, Refuse, Refuse), (Refuse, Pass, Refuse), (Refuse, Refuse, Refuse)]
    {
        let mut plan = AnswerPlan::default();
        plan.rewrite(hiding(), first);
        plan.rewrite(hiding(), second);
        assert_eq!(plan.policy(), want, "{first:?} {second:?}");
    }
}

#[test]
fn a_streamed_body_is_bounded_and_each_attempt_begins_anew() {
    let mut x = exchange(&route(Vec::new(), fixed(), Some(8)), "POST", PLAIN);
    let mut plan = RequestPlan::default();
    plan.rewrite(hiding());
    let mut streaming = Streaming::new(plan, None);
    for _ in 0..2 {
        assert!(streaming.begin_attempt(&x).unwrap());
        let mut piece = Some(Bytes::from_static(b"a SEC"));
        streaming.request_chunk(&mut x, &mut piece, false).unwrap();
        assert_eq!(piece.unwrap(), "a ", "the rest may become a secret");
        let mut piece = Some(Bytes::from_static(b"RET"));
        streaming.request_chunk(&mut x, &mut piece, true).unwrap();
        assert_eq!(piece.unwrap(), "<\">");
    }
    let error = streaming.request_chunk(&mut x, &mut Some(Bytes::from_static(b"!")), true).unwrap_err();
    assert!(matches!(error, GatewayError::Api(ApiError::TooLarge(8))), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_passes_as_its_route_says() {
    use UnscannedPolicy::{Pass, Refuse};
    // A content type, a policy, and whether the body is rewritten; `None`: it is refused.
    let rows = [
        ("text/plain", Refuse, Some(true)),
        ("application/json", Pass, Some(true)),
        ("image/png", Refuse, None),
        ("image/png", Pass, Some(false)),
    ];
    for (content_type, policy, want) in rows {
        let (mut x, chain) = hides(policy).await;
        let mut head = head(content_type);
        let begun = Answering::begin(&mut x, &chain, &mut head).await;
        assert_eq!(begun.map(|mut answering| answering.rewrites()).ok(), want, "{content_type} {policy:?}");
        let stays = want == Some(false);
        assert!(want.is_none() || head.headers.contains_key("etag") == stays, "{content_type}");
        assert!(want.is_none() || head.headers.contains_key("content-length") == stays, "{content_type}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_last_event_nothing_follows() {
    let (mut x, chain) = hides(UnscannedPolicy::Refuse).await;
    let mut answering = Answering::begin(&mut x, &chain, &mut head("text/event-stream")).await.unwrap();
    let mut piece = Some(Bytes::from_static(b"data: SEC\n\n"));
    answering.chunk(&mut x, &mut piece, false).unwrap();
    let event = answering.last_event(&mut x, &GatewayError::UNKNOWN_ANSWER).unwrap();
    assert!(event.ends_with(b"\n\n") && event.windows(12).any(|part| part == b"event: error"), "{event:?}");
    assert!(x.delivery.is_cut_short());
    assert_eq!(x.error_word, Some("unscannable_answer"));
    let mut piece = Some(Bytes::from_static(b"data: SECRET\n\n"));
    answering.chunk(&mut x, &mut piece, false).unwrap();
    assert_eq!(piece, None);
    assert!(answering.last_event(&mut x, &GatewayError::Gone).is_err(), "once");
    // Of a text nobody could tell an error from what it says.
    let (mut x, chain) = hides(UnscannedPolicy::Refuse).await;
    let mut answering = Answering::begin(&mut x, &chain, &mut head("text/plain")).await.unwrap();
    assert!(matches!(answering.last_event(&mut x, &GatewayError::Gone), Err(GatewayError::Gone)));
}

#[tokio::test]
async fn a_step_has_its_state_and_no_other() {
    let route = route(Vec::new(), fixed(), None);
    let x = exchange(&route, "POST", PLAIN);
    let received = Received::new(RouteMatch::Nothing);
    let mut request = ActiveRequest::new(x, FilterChain::new(route.into()), received);
    assert!(request.routed().is_err() && request.streaming().is_err() && request.answering().is_err());
    request.state = RequestState::Routed(Routed { plan: RequestPlan::default(), read: None });
    assert!(request.routed().is_ok());
    assert!(request.routed().is_err(), "it was taken");
    request.state = RequestState::Streaming(Box::new(Streaming::new(RequestPlan::default(), None)));
    assert!(request.streaming().is_ok() && request.answering().is_err());
    assert!(request.answer(&mut head("text/plain")).await.is_ok());
    assert!(request.streaming().is_ok(), "an upstream may answer before it has all of the body");
    assert!(request.answering().is_ok());
    assert!(!request.has_pending());
    drop(request.carry(GatewayError::Left));
    assert!(request.has_pending() && matches!(request.take_pending(), Some(GatewayError::Left)));
    assert!(!request.has_pending());
}

#[test]
fn a_caller_that_leaves_had_all_or_not() {
    for (answered, complete, word) in
        [(true, true, None), (true, false, Some("caller_gone")), (false, true, Some("caller_gone"))]
    {
        let mut x = exchange(&route(Vec::new(), fixed(), None), "POST", PLAIN);
        x.delivery.sent(b"data: x\n\n", false);
        if complete {
            x.delivery.sent(b"", true);
        }
        x.caller_left(answered);
        assert_eq!(x.error_word, word, "{answered} {complete}");
    }
}

#[test]
fn some_answers_have_no_body() {
    let get = http::Method::GET;
    for (method, status, has) in [
        (&get, StatusCode::OK, true),
        (&http::Method::HEAD, StatusCode::OK, false),
        (&get, StatusCode::NO_CONTENT, false),
        (&get, StatusCode::NOT_MODIFIED, false),
        (&get, StatusCode::SWITCHING_PROTOCOLS, false),
    ] {
        assert_eq!(has_body(method, status), has, "{method} {status}");
    }
}
