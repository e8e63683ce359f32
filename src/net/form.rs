//! Names and values as a form has them (WHATWG URL, "application/x-www-form-urlencoded serializing").

use reqwest::Url;

use crate::base::secret::Secret;

/// A form of these names and values.
pub fn form(pairs: &[(&str, &str)]) -> Secret<String> {
    // Which URL it is does not matter: a query is written as a form is.
    let Ok(mut url) = Url::parse("http://localhost/") else { return Secret::new(String::new()) };
    url.query_pairs_mut().extend_pairs(pairs);
    Secret::new(url.query().unwrap_or_default().to_owned())
}

/// One value as it is written in a form.
pub fn form_value(value: &str) -> Secret<String> {
    let pair = form(&[("", value)]);
    Secret::new(pair.expose().strip_prefix('=').unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_value_is_written_as_an_escape() {
        let written = form(&[("token", "a&b=c d+e/%\u{e9}"), ("hint", "")]);
        assert_eq!(written.expose(), "token=a%26b%3Dc+d%2Be%2F%25%C3%A9&hint=");
        for (value, want) in
            [("", ""), ("plain-1.5_x*", "plain-1.5_x*"), ("a:b@c", "a%3Ab%40c"), ("=", "%3D")]
        {
            assert_eq!(form_value(value).expose(), want, "{value}");
        }
    }
}
