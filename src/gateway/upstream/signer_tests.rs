use super::*;
use crate::base::secret::Secret;
use crate::crypto::sigv4::SigningKey;

const NOW: Timestamp = Timestamp::from_millis(1_440_938_160_000);
const CALLER: &str = "AWS4-HMAC-SHA256 Credential=AKIDCALLER/20150829/eu-west-1/bedrock/aws4_request, \
                      SignedHeaders=host;x-amz-date, Signature=00ff";
const CONVERSE: &str = "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.claude/converse";

fn signer(unsigned: bool, region: Option<&str>) -> AwsSigner {
    AwsSigner::new(AwsSignerParts {
        service: "bedrock".to_owned(),
        region: region.map(str::to_owned),
        unsigned,
        collected: 1 << 20,
    })
}

fn key() -> AwsKey {
    let secret = Secret::new("hunter2".to_owned());
    AwsKey {
        key: SigningKey { id: "AKIDEXAMPLE".to_owned(), secret },
        session_token: Some(HeaderValue::from_static("session/token==")),
    }
}

fn head(target: &str, fields: &[(&'static str, &str)]) -> RequestHeader {
    let mut head = RequestHeader::build("POST", target.as_bytes(), None).unwrap();
    head.insert_header(HOST, "bedrock-runtime.us-east-1.amazonaws.com").unwrap();
    for (name, value) in fields {
        head.append_header(*name, *value).unwrap();
    }
    head
}

/// Which requests are signed, and for which region: by a signer of the configuration's, by one of the environment that
/// knows its region, and by one that does not.
#[test]
fn what_is_signed_depends_on_who_has_the_keys_and_on_the_caller() {
    let of_s3 = CALLER.replace("/bedrock/", "/s3/");
    let v4a = "AWS4-ECDSA-P256-SHA256 Credential=AKIDCALLER/20150829/bedrock/aws4_request, SignedHeaders=host, Signature=00";
    let query =
        |credential| format!("{CONVERSE}?X-Amz-Algorithm=AWS4-HMAC-SHA256&{credential}&X-Amz-Signature=00");
    let presigned = query("X-Amz-Credential=AKID%2F20150829%2Feu-west-1%2fbedrock%2Faws4_request");
    let (east, west) = (Some("us-east-1"), Some("eu-west-1"));
    let rows = [
        ("nothing", head(CONVERSE, &[]), [east, None, None]),
        ("signed", head(CONVERSE, &[("authorization", CALLER)]), [east, east, west]),
        ("presigned", head(&presigned, &[]), [east, east, west]),
        ("for another service", head(CONVERSE, &[("authorization", &of_s3)]), [east, None, None]),
        ("by version 4a", head(CONVERSE, &[("authorization", v4a)]), [east, None, None]),
        ("unreadable", head(CONVERSE, &[("authorization", "AWS4-HMAC-SHA256 ?")]), [east, None, None]),
        ("bearer", head(CONVERSE, &[("authorization", "Bearer bedrock-api-key-x")]), [None; 3]),
        ("two", head(CONVERSE, &[("authorization", CALLER), ("authorization", "Bearer x")]), [None; 3]),
        (
            "signed piece by piece",
            head(
                CONVERSE,
                &[("authorization", CALLER), ("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-EVENTS")],
            ),
            [None; 3],
        ),
    ];
    let signers = [signer(true, east), signer(false, east), signer(false, None)];
    for (what, head, wanted) in rows {
        let regions = signers.each_ref().map(|signer| signer.scope(&head).map(|signed| signed.region));
        assert_eq!(regions.each_ref().map(Option::as_deref), wanted, "{what}");
    }
}

#[test]
fn a_signature_is_for_the_service_of_models_that_the_caller_has_signed_for() {
    let signed = |service: &str| {
        let authorization = CALLER.replace("/bedrock/", &format!("/{service}/"));
        let head = head("/endpoints/m/invocations", &[("authorization", &authorization)]);
        [true, false].map(|unsigned| signer(unsigned, None).scope(&head).map(|signed| signed.service))
    };
    let of = |service: &str| Some(service.to_owned());
    assert_eq!(signed("sagemaker"), [of("sagemaker"), None]);
    assert_eq!(signed("bedrock-agentcore"), [of("bedrock-agentcore"), None]);
    assert_eq!(signed("bedrock"), [of("bedrock"), of("bedrock")]);
    // Another one is signed for as the configuration says.
    assert_eq!(signed("iam"), [of("bedrock"), None]);
    let authorization = CALLER.replace("/bedrock/", "/sagemaker/");
    let fields = [("authorization", authorization.as_str()), ("x-amzn-sagemaker-target-model", "m")];
    let mut head = head("/endpoints/m/invocations", &fields);
    signer(true, None).sign(&mut head, b"{}", &key(), NOW).unwrap();
    let ours = head.headers.get("authorization").unwrap().to_str().unwrap();
    assert!(ours.contains("/20150830/eu-west-1/sagemaker/aws4_request"), "{ours}");
    assert!(ours.contains(";x-amzn-sagemaker-target-model,"), "{ours}");
}

#[test]
fn the_callers_signature_goes_and_ours_comes() {
    let target =
        format!("{CONVERSE}?a=1&X-Amz-Credential=A%2F20150829%2Fx%2Fbedrock%2Faws4_request&x-amz-expires=5");
    let mut head = head(
        &target,
        &[
            ("authorization", CALLER),
            ("x-amz-date", "20150829T000000Z"),
            ("x-amz-content-sha256", "00"),
            ("x-amz-security-token", "the caller's"),
            ("x-amz-region-set", "*"),
            ("content-type", "application/json"),
            ("x-amzn-bedrock-trace", "ENABLED"),
            ("x-amzn-trace-id", "Root=1"),
            ("user-agent", "x"),
        ],
    );
    signer(true, Some("us-east-1")).sign(&mut head, b"{}", &key(), NOW).unwrap();
    let text = |name: &str| {
        let mut all = head.headers.get_all(name).iter().map(|value| value.to_str().unwrap());
        let first = all.next();
        assert_eq!(all.next(), None, "{name}");
        first
    };
    assert_eq!(head.raw_path(), format!("{CONVERSE}?a=1").as_bytes());
    assert_eq!(text("x-amz-date"), Some("20150830T123600Z"));
    assert_eq!(
        text("x-amz-content-sha256"),
        Some("44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a")
    );
    assert_eq!((text("x-amz-security-token"), text("x-amz-region-set")), (Some("session/token=="), None));
    let begin = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/bedrock/aws4_request, SignedHeaders=\
                 content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token;x-amzn-bedrock-trace, Signature=";
    assert!(text("authorization").unwrap().starts_with(begin), "{:?}", text("authorization"));
    assert_eq!(text("x-amzn-trace-id"), Some("Root=1"));
}

#[test]
fn what_is_not_signed_stays() {
    let mut bearer = head(CONVERSE, &[("authorization", "Bearer x"), ("x-amz-date", "d")]);
    let before = bearer.headers.clone();
    signer(true, Some("us-east-1")).sign(&mut bearer, b"{}", &key(), NOW).unwrap();
    assert_eq!((&bearer.headers, bearer.raw_path()), (&before, CONVERSE.as_bytes()));
}

#[test]
fn only_a_credential_of_aws_is_read() {
    let rows = [
        ("AKID/20150830/us-east-1/bedrock/aws4_request", true),
        ("AKID/with/slashes/20150830/us-east-1/bedrock/aws4_request", true),
        ("AKID/20150830/us-east-1/bedrock/aws5_request", false),
        ("AKID/2015083/us-east-1/bedrock/aws4_request", false),
        ("AKID/20150830/us east/bedrock/aws4_request", false),
        ("AKID/20150830//bedrock/aws4_request", false),
        ("20150830/us-east-1/bedrock/aws4_request", true),
        ("us-east-1/bedrock/aws4_request", false),
        ("", false),
    ];
    for (credential, good) in rows {
        assert_eq!(Signed::of(credential).is_some(), good, "{credential}");
    }
}
