//! Preflights: by these browsers ask, before they send a request of a page's, whether its server shares with that page
//! (Fetch, "CORS-preflight request").

use http::header::{ACCESS_CONTROL_REQUEST_METHOD, ORIGIN};
use http::{HeaderMap, Method};

/// Whether a request is one.
pub(super) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    *method == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// The method of the request that a preflight asks about. `None`: the request is no preflight, or names none or several.
pub(super) fn method_asked(method: &Method, headers: &HeaderMap) -> Option<Method> {
    if !is_preflight(method, headers) {
        return None;
    }
    let mut all = headers.get_all(ACCESS_CONTROL_REQUEST_METHOD).iter();
    let (one, None) = (all.next()?, all.next()) else { return None };
    Method::from_bytes(one.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn a_preflight_asks_about_one_method() {
        const FROM: (&str, &str) = ("origin", "https://a.test");
        const POST: (&str, &str) = ("access-control-request-method", "POST");
        // The method, the fields, whether it is one, and what it asks about.
        type Row = (&'static str, &'static [(&'static str, &'static str)], bool, Option<&'static str>);
        let rows: &[Row] = &[
            ("OPTIONS", &[FROM, POST], true, Some("POST")),
            ("OPTIONS", &[FROM, ("access-control-request-method", "PROPFIND")], true, Some("PROPFIND")),
            ("OPTIONS", &[FROM, POST, POST], true, None),
            ("OPTIONS", &[FROM, ("access-control-request-method", "P OST")], true, None),
            ("OPTIONS", &[FROM, ("access-control-request-method", "")], true, None),
            ("OPTIONS", &[FROM], false, None),
            ("OPTIONS", &[POST], false, None),
            ("POST", &[FROM, POST], false, None),
        ];
        for (method, fields, is, about) in rows {
            let method: Method = method.parse().unwrap();
            let mut headers = HeaderMap::new();
            for (name, value) in *fields {
                headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            assert_eq!(is_preflight(&method, &headers), *is, "{method} {fields:?}");
            let asked = method_asked(&method, &headers);
            assert_eq!(asked.as_ref().map(Method::as_str), *about, "{method} {fields:?}");
        }
    }
}
