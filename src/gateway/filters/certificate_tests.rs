use super::*;
use crate::gateway::filters::caller_identity::CallerIdentity;
use crate::gateway::testing::{exchange, fixed, route};
use crate::gateway::testing_certificates::{AGENT, EXPIRED, PERSON, der};

const FORGED: &[(&str, &str)] = &[
    ("x-subject", "uri:spiffe://example.com/root"),
    ("X-Subject", "CN=root"),
    ("x_subject", "CN=root"),
    ("x-print", "00"),
    ("x-other", "CN=root"),
    ("x-mine", "kept"),
    ("connection", "close, x-subject"),
];

fn names(subjects: &[&str]) -> Vec<SubjectName> {
    subjects.iter().map(|subject| SubjectName::parse(subject).unwrap()).collect()
}

fn parts(subjects: &[&str]) -> CertificateParts {
    let [subject, print, other] = ["x-subject", "x-print", "x-other"].map(HeaderName::from_static);
    CertificateParts {
        subjects: names(subjects),
        subject_header: Some(subject.clone()),
        fingerprint_header: Some(print.clone()),
        reserved: vec![subject, print, other],
    }
}

/// A request on a connection that has proved this certificate.
fn request(certificate: Option<&str>) -> Exchange {
    let mut x = exchange(&route(Vec::new(), fixed(), None), "GET", FORGED);
    x.connection_certificate = certificate.map(|one| Arc::new(ClientCertificate::read(&der(one)).unwrap()));
    x
}

/// The status with which a filter refuses it; 200: it does not.
async fn status(filter: &dyn Filter, x: &mut Exchange) -> u16 {
    let mut plan = RequestPlan::default();
    match filter.request(x, &mut plan).await {
        Ok(_) => 200,
        Err(error) => x.error_answer(error).status.as_u16(),
    }
}

#[tokio::test]
async fn only_who_is_named_passes() {
    let rows: [(Option<&str>, &[&str], u16); 14] = [
        (None, &[], 401),
        (None, &["CN=agent"], 401),
        (Some(EXPIRED), &[], 401),
        (Some(EXPIRED), &["CN=old"], 401),
        (Some(AGENT), &[], 200),
        (Some(AGENT), &["uri:spiffe://example.com/Agent"], 200),
        (Some(AGENT), &["CN=nobody", "dns:AGENT.example.com."], 200),
        (Some(AGENT), &["email:Jane@example.com"], 200),
        (Some(AGENT), &["CN=agent"], 200),
        (Some(AGENT), &["CN=Agent"], 403),
        (Some(AGENT), &["uri:spiffe://example.com/agent"], 403),
        (Some(AGENT), &["uri:spiffe://example.com/Agent/x"], 403),
        (Some(AGENT), &["dns:agent", "email:jane@example.com"], 403),
        (Some(PERSON), &["CN=Jane"], 403),
    ];
    for (certificate, subjects, wanted) in rows {
        let mut x = request(certificate);
        let filter = CertificateFilter::new(parts(subjects));
        assert_eq!(status(&filter, &mut x).await, wanted, "{subjects:?}");
        assert_eq!(x.facts.certificate.is_some(), wanted != 401, "{subjects:?}");
    }
}

#[tokio::test]
async fn the_upstream_is_told_of_the_certificate_and_never_of_what_the_caller_says() {
    let mut x = request(Some(AGENT));
    assert_eq!(status(&CertificateFilter::new(parts(&[])), &mut x).await, 200);
    let told: Vec<_> =
        x.head().headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    let print = "9f0915d3aabb7118da76cbc28dfc5514efbbb94f4b84abe453ef205bd0375f76";
    let wanted = [("x-mine", "kept"), ("x-subject", "uri:spiffe://example.com/Agent"), ("x-print", print)];
    assert_eq!(told, wanted);
    let mut x = request(Some(AGENT));
    assert_eq!(status(&StripHeadersFilter::new(parts(&[]).reserved), &mut x).await, 200);
    let left: Vec<_> = x.head().headers.keys().map(HeaderName::as_str).collect();
    assert_eq!(left, ["x-mine"]);
}

#[tokio::test]
async fn a_caller_is_known_by_its_certificate_where_the_route_takes_it_for_that() {
    let mut x = request(Some(AGENT));
    assert!(x.caller_by_certificate().is_none() && x.caller() == x.caller_by_address());
    assert_eq!(status(&CertificateFilter::new(parts(&[])), &mut x).await, 200);
    let by_certificate = x.caller_by_certificate().unwrap();
    assert!(x.caller() == by_certificate && by_certificate != x.caller_by_address());
    assert!(
        matches!(CallerIdentity::of(&x), CallerIdentity::Certificate(who) if who == "uri:spiffe://example.com/Agent")
    );
    let mut other = request(Some(PERSON));
    assert_eq!(status(&CertificateFilter::new(parts(&[])), &mut other).await, 200);
    assert!(other.caller() != by_certificate);
}
