//! Every place in a head in which a token may stand: what is found there, what that proves, and what is left of it.

use super::*;

const OURS: &str = "pts_abcdefghijklmnopqrstuvwxyz234567";
const OTHER: &str = "pts_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz";
const THEIRS: &str = "sk-ant-api03-genuine";

type Header<'a> = (&'static str, &'a str);

fn head(target: &str, headers: &[Header<'_>]) -> RequestHeader {
    let mut head = RequestHeader::build("GET", target.as_bytes(), None).unwrap();
    for (name, value) in headers {
        head.append_header(*name, *value).unwrap();
    }
    head
}

/// Texts in which `T` stands for our token, `K` for somebody else's key, `B` for name and password with our token.
fn filled(text: &str) -> String {
    let password = BASE64.encode(format!("user:{OURS}").as_bytes());
    let name = BASE64_NOPAD.encode(format!("{OURS}:").as_bytes());
    let upper = OURS.to_ascii_uppercase();
    let escaped: String = OURS.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let bar = OURS.replace('_', "%5f");
    [
        ("{T}", OURS),
        ("{K}", THEIRS),
        ("{B}", &password),
        ("{N}", &name),
        ("{U}", &upper),
        ("{E}", &escaped),
        ("{F}", &bar),
    ]
    .iter()
    .fold(text.to_owned(), |text, (mark, with)| text.replace(mark, with))
}

struct Row {
    target: &'static str,
    headers: &'static [Header<'static>],
    proves: bool,
    /// What goes on.
    target_left: &'static str,
    headers_left: &'static [Header<'static>],
}

const fn row(headers: &'static [Header<'static>], proves: bool, left: &'static [Header<'static>]) -> Row {
    Row { target: "/v1/x", headers, proves, target_left: "/v1/x", headers_left: left }
}

const fn query(target: &'static str, proves: bool, left: &'static str) -> Row {
    Row { target, headers: &[], proves, target_left: left, headers_left: &[] }
}

const ROWS: &[Row] = &[
    row(&[("authorization", "Bearer {T}")], true, &[]),
    row(&[("authorization", "bEaReR   {T} ")], true, &[]),
    row(&[("authorization", "Bearer\t{T}")], false, &[]),
    row(&[("authorization", "{T}")], false, &[]),
    row(&[("authorization", "Bearer {U}")], false, &[]),
    row(&[("authorization", "Bearer {T}, Bearer {K}")], false, &[]),
    row(&[("authorization", "Bearer {T}"), ("authorization", "Bearer {T}")], true, &[]),
    row(
        &[("authorization", "Bearer {T}"), ("authorization", "Bearer {K}")],
        true,
        &[("authorization", "Bearer {K}")],
    ),
    row(&[("authorization", "Basic {B}")], false, &[]),
    row(&[("authorization", "bAsIc   {N}")], false, &[]),
    row(&[("proxy-authorization", "Basic {B}")], false, &[]),
    row(&[("x-api-key", "{T}")], true, &[]),
    row(&[("api-key", " {T} ")], true, &[]),
    row(&[("x-goog-api-key", "{T}")], true, &[]),
    row(&[("x-api-key", "{K}"), ("authorization", "Bearer {T}")], true, &[("x-api-key", "{K}")]),
    row(&[("x-api-key", "{T}"), ("authorization", "Bearer {K}")], true, &[("authorization", "Bearer {K}")]),
    row(&[("x-api-key", "{T}"), ("authorization", "Bearer {T}"), ("cookie", "k={T}")], true, &[]),
    row(&[("x-auth-token", "{T}"), ("x-other", "1")], false, &[("x-other", "1")]),
    row(&[("referer", "https://a.example/?key={F}")], false, &[]),
    row(&[("sec-websocket-protocol", "realtime, openai-insecure-api-key.{T}")], false, &[]),
    row(&[("x-{T}", "1")], false, &[]),
    row(&[("cookie", "a=1; s={T}; b=2")], false, &[("cookie", "a=1; b=2")]),
    row(&[("cookie", "a=1;b=2"), ("cookie", "s={E}")], false, &[("cookie", "a=1;b=2")]),
    query("/v1/x?key={T}", true, "/v1/x"),
    query("/v1/x?alt=sse&key={T}&n=%20", true, "/v1/x?alt=sse&n=%20"),
    query("/v1/x?key={E}", true, "/v1/x"),
    query("/v1/x?key={F}&key={T}", true, "/v1/x"),
    query("/v1/x?api_key={T}&access_token={T}&a=b", false, "/v1/x?a=b"),
    query("/v1/x?{T}", false, "/v1/x"),
    query("/v1/x?key={U}", false, "/v1/x"),
    query("/v1/x?Key={T}", false, "/v1/x"),
    query("/v1/x?key={T}x", false, "/v1/x"),
];

#[test]
fn a_token_is_found_and_taken_off_wherever_it_stands() {
    for Row { target, headers, proves, target_left, headers_left } in ROWS {
        let target = filled(target);
        let mut one = RequestHeader::build("GET", target.as_bytes(), None).unwrap();
        for (name, value) in *headers {
            let name = HeaderName::try_from(filled(name)).unwrap();
            one.append_header(name, filled(value)).unwrap();
        }
        let said = format!("{target} {headers:?}");
        let found = tokens_in_head(&one).unwrap();
        assert_eq!(found.len(), 1, "{said}");
        assert_eq!((found[0].text.expose().as_str(), found[0].proves), (OURS, *proves), "{said}");
        let unchanged = one.clone();
        take_off(&mut one, &[]).unwrap();
        assert_eq!((one.raw_path(), &one.headers), (unchanged.raw_path(), &unchanged.headers), "{said}");
        take_off(&mut one, &[&found[0].text]).unwrap();
        assert_eq!(String::from_utf8_lossy(one.raw_path()), *target_left, "{said}");
        let left: Vec<_> =
            one.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        let expected: Vec<_> = headers_left.iter().map(|(name, value)| (*name, filled(value))).collect();
        let expected: Vec<_> = expected.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(left, expected, "{said}");
    }
}

#[test]
fn what_has_no_tokens_form_is_not_looked_up() {
    let short = OURS.get(..OURS.len() - 1).unwrap();
    let odd = OURS.replace('7', "1");
    for text in [THEIRS, "pts_", short, &odd, "ptsx", "_", "%", "%5", "Basic", "Basic !", "Bearer pts_\u{fe}"]
    {
        let mut one = head("/", &[("cookie", "a=1")]);
        one.append_header("authorization", format!("Bearer {text}")).unwrap();
        one.append_header("x-api-key", text).unwrap();
        assert!(tokens_in_head(&one).unwrap().is_empty(), "{text}");
    }
}

#[test]
fn tokens_are_told_apart_and_bounded() {
    let two = head("/?key=K", &[("x-api-key", OURS), ("authorization", &format!("Bearer {OTHER}"))]);
    let found: Vec<_> = tokens_in_head(&two).unwrap().into_iter().map(|one| (one.text, one.proves)).collect();
    let token = |text: &str| (Secret::new(text.to_owned()), true);
    assert!(found == [token(OURS), token(OTHER)]);
    // Only what is ours goes.
    let mut kept = two;
    take_off(&mut kept, &[&found[0].0]).unwrap();
    assert_eq!(kept.headers.len(), 1);
    assert_eq!(kept.headers[AUTHORIZATION], format!("Bearer {OTHER}"));
    let many = |count: usize| {
        let cookies: Vec<String> = (0..count)
            .map(|n| {
                format!(
                    "c{n}={}",
                    OURS.replace("xyz", &format!("{}zz", char::from(b'a' + u8::try_from(n).unwrap())))
                )
            })
            .collect();
        head("/", &[("cookie", &cookies.join("; "))])
    };
    assert_eq!(tokens_in_head(&many(MOST)).unwrap().len(), MOST);
    assert!(matches!(tokens_in_head(&many(MOST + 1)), Err(GatewayError::Api(ApiError::BadRequest(_)))));
}

#[test]
fn one_in_the_path_is_refused() {
    for target in ["/bot{T}/send", "/x/{E}", "/x/{F}?a=b"] {
        let mut one = head(&filled(target), &[]);
        let found = tokens_in_head(&one).unwrap();
        assert_eq!((found.len(), found[0].proves), (1, false));
        let refused = take_off(&mut one, &[&found[0].text]);
        assert!(matches!(refused, Err(GatewayError::Api(ApiError::BadRequest(_)))), "{target}");
    }
}
