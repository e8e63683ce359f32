//! [`Discovery`]: where an issuer's keys are, by what it says of itself (OpenID Connect Discovery 1.0 section 4, RFC 8414
//! section 3).

use std::time::Duration;

use serde::Deserialize;

use crate::gateway::key_set::{MAX_SET, TOO_LARGE};
use crate::net::{Allow, AllowEntry, Client, FetchLimits, NetError, Url};

/// The largest document that an issuer may say of itself, in bytes.
const MAX_DOCUMENT: u64 = 256 << 10;

/// For one document.
const TIME: Duration = Duration::from_secs(5);

/// Where issuers say it.
const OPENID: &str = "/.well-known/openid-configuration";
const OAUTH: &str = "/.well-known/oauth-authorization-server";

/// An issuer that says where its keys are.
pub struct Discovery {
    issuer: String,
    url: Url,
    client: Client,
}

/// What an issuer says of itself, as far as it matters here.
#[derive(Deserialize)]
struct DiscoveryDocument {
    issuer: String,
    jwks_uri: String,
}

impl Discovery {
    /// Asks `issuer`, whose own host and port may have any address: whoever writes the configuration names it. Where it leads
    /// from there is others' word, and checked as that is.
    ///
    /// # Errors
    /// What is no issuer, or a client that cannot be made.
    pub fn new(issuer: &str) -> Result<Self, &'static str> {
        let url = parse_issuer(issuer)?;
        let (host, port) =
            (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
        let own: AllowEntry =
            format!("{host}:{port}").parse().map_err(|_| "the issuer's host cannot be asked")?;
        let client = Client::new(Allow::new(vec![own])).map_err(|_| "the HTTP client cannot be set up")?;
        Ok(Self { issuer: issuer.to_owned(), url, client })
    }

    /// The issuer as the configuration names it.
    pub(super) fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Asks the issuer where its keys are, and fetches them there.
    pub(super) async fn fetch(&self) -> Result<Vec<u8>, &'static str> {
        let uri = self.jwks_uri(&self.document().await?)?;
        let limit = MAX_SET as u64;
        self.get(&uri, limit).await.map_err(|error| match error {
            NetError::TooLarge => TOO_LARGE,
            _ => "the issuer's `jwks_uri` does not answer 200, or leads where nothing may be fetched from",
        })
    }

    /// What it says of itself, in the first place where it says anything.
    async fn document(&self) -> Result<Vec<u8>, &'static str> {
        let [openid, oauth] = self.places();
        let found = match self.get(&openid, MAX_DOCUMENT).await {
            Err(NetError::Inaccessible) => self.get(&oauth, MAX_DOCUMENT).await,
            found => found,
        };
        found.map_err(|error| match error {
            NetError::TooLarge => "what the issuer says of itself is too large",
            _ => "the issuer does not say where its keys are",
        })
    }

    /// Where it may say it: behind its path, and before it.
    fn places(&self) -> [String; 2] {
        let path = self.url.path().trim_end_matches('/');
        let at = |path: String| {
            let mut url = self.url.clone();
            url.set_path(&path);
            url.to_string()
        };
        [at(format!("{path}{OPENID}")), at(format!("{OAUTH}{path}"))]
    }

    /// Where it says that its keys are, if it says that of itself.
    fn jwks_uri(&self, document: &[u8]) -> Result<String, &'static str> {
        let read = serde_json::from_slice(document);
        let DiscoveryDocument { issuer, jwks_uri } =
            read.map_err(|_| "the issuer does not say where its keys are")?;
        // Character by character (OpenID Connect Discovery 1.0 section 4.3): else one issuer could speak for another.
        if issuer != self.issuer {
            return Err("the issuer says that it is another one");
        }
        let uri = Url::parse(&jwks_uri).map_err(|_| "the issuer's `jwks_uri` is no URL")?;
        match uri.scheme() {
            "https" => Ok(jwks_uri),
            "http" if self.url.scheme() == "http" => Ok(jwks_uri),
            _ => Err("the issuer's `jwks_uri` is not https"),
        }
    }

    async fn get(&self, url: &str, size: u64) -> Result<Vec<u8>, NetError> {
        let mut fetched = self.client.fetch(url, FetchLimits { time: TIME, size }).await?;
        let mut body = Vec::new();
        while let Some(chunk) = fetched.chunk().await? {
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

/// Reads an issuer as the configuration names it.
///
/// # Errors
/// What is none, in words for the operator.
pub fn parse_issuer(text: &str) -> Result<Url, &'static str> {
    const NONE: &str =
        "not an issuer, write it as its tokens have it in `iss`, such as \"https://id.example.com\"";
    let url = Url::parse(text).map_err(|_| NONE)?;
    let plain = url.username().is_empty() && url.password().is_none();
    let bare = url.query().is_none() && url.fragment().is_none();
    match url.scheme() {
        "https" | "http" if plain && bare && url.has_host() => Ok(url),
        _ => Err(NONE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_is_asked_where_the_standards_say() {
        let rows = [
            ("https://id.test", "https://id.test", ""),
            ("https://id.test/", "https://id.test", ""),
            ("https://id.test:8443", "https://id.test:8443", ""),
            ("https://id.test/realms/a", "https://id.test", "/realms/a"),
            ("https://id.test/realms/a/", "https://id.test", "/realms/a"),
            ("http://127.0.0.1:9000/a", "http://127.0.0.1:9000", "/a"),
        ];
        for (issuer, origin, path) in rows {
            let want = [format!("{origin}{path}{OPENID}"), format!("{origin}{OAUTH}{path}")];
            assert_eq!(Discovery::new(issuer).unwrap().places(), want, "{issuer}");
        }
        for wrong in
            ["", "id.test", "ftp://id.test", "https://u@id.test", "https://id.test?a", "https://id.test#a"]
        {
            assert!(Discovery::new(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_issuer_speaks_for_itself_only_and_not_in_plain_text() {
        const TLS: &str = "https://id.test/a";
        const PLAIN: &str = "http://127.0.0.1:9000";
        // The issuer, what the document calls it, where it says its keys are, and whether that is taken.
        let rows = [
            (TLS, "https://id.test/a", "https://keys.test/jwks", true),
            (TLS, "https://id.test/a/", "https://keys.test/jwks", false),
            (TLS, "https://ID.test/a", "https://keys.test/jwks", false),
            (TLS, "https://id.test:443/a", "https://keys.test/jwks", false),
            (TLS, "https://other.test/a", "https://keys.test/jwks", false),
            (TLS, "https://id.test/a", "http://id.test/jwks", false),
            (TLS, "https://id.test/a", "file:///etc/passwd", false),
            (TLS, "https://id.test/a", "/jwks", false),
            (PLAIN, PLAIN, "http://127.0.0.1:9000/jwks", true),
            (PLAIN, PLAIN, "https://127.0.0.1:9001/jwks", true),
        ];
        for (issuer, named, uri, taken) in rows {
            let document = serde_json::json!({"issuer": named, "jwks_uri": uri, "more": [1]}).to_string();
            let discovery = Discovery::new(issuer).unwrap();
            assert_eq!(discovery.jwks_uri(document.as_bytes()).is_ok(), taken, "{document}");
        }
        let discovery = Discovery::new(TLS).unwrap();
        for document in [
            "{}",
            "[]",
            r#"{"issuer":"https://id.test/a"}"#,
            r#"{"issuer":"https://id.test/a","jwks_uri":["https://id.test/jwks"]}"#,
            r#"{"issuer":"https://other.test","issuer":"https://id.test/a","jwks_uri":"https://id.test/jwks"}"#,
        ] {
            assert!(discovery.jwks_uri(document.as_bytes()).is_err(), "{document}");
        }
    }
}
