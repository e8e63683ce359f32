//! [`Client`]: its settings, and calls to our own providers.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Method, Url};

use crate::base::secret::Secret;
use crate::net::NetError;
use crate::net::allow::Allow;
use crate::net::dns_resolver::{CheckedResolver, DnsResolver, SystemResolver};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);

/// How long an idle connection is kept.
const IDLE: Duration = Duration::from_secs(30);

/// The one HTTP client: no proxies from the environment, no cookies, no redirects by itself, no decoding of bodies.
#[derive(Clone, Debug)]
pub struct Client {
    /// For names whose addresses are checked.
    pub(super) checked: reqwest::Client,
    /// For names that the configuration names.
    pub(super) named: reqwest::Client,
    pub(super) allow: Allow,
}

/// A call to a provider that the configuration names.
#[derive(Clone, Debug)]
pub struct OutboundCall<'a> {
    /// Where.
    pub url: &'a Url,
    /// Fields of the head; a value is never logged.
    pub headers: &'a [(String, Secret<String>)],
    /// A body for a `POST`; without one it is a `GET`.
    pub body: Option<CallBody>,
    /// For all of it.
    pub timeout: Duration,
    /// The largest body of an answer, in bytes.
    pub most: usize,
}

/// What a call brings.
#[derive(Clone, Debug)]
pub enum CallBody {
    /// JSON.
    Json(String),
    /// A form as [`form`](crate::net::form) writes it, which may hold a secret.
    Form(Secret<String>),
}

/// What a provider answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderAnswer {
    /// The status code.
    pub status: u16,
    /// The whole body.
    pub body: Bytes,
}

impl Client {
    /// Over the system's resolver.
    ///
    /// # Errors
    /// [`NetError::Setup`].
    pub fn new(allow: Allow) -> Result<Self, NetError> {
        Self::over(allow, Arc::new(SystemResolver::Callers), Arc::new(SystemResolver::Configured))
    }

    /// Over another resolver.
    ///
    /// # Errors
    /// [`NetError::Setup`].
    pub fn with(allow: Allow, lookup: Arc<dyn DnsResolver>) -> Result<Self, NetError> {
        Self::over(allow, Arc::clone(&lookup), lookup)
    }

    /// Over one for names that callers choose, and one for those of the configuration.
    fn over(
        allow: Allow,
        callers: Arc<dyn DnsResolver>,
        configured: Arc<dyn DnsResolver>,
    ) -> Result<Self, NetError> {
        // For programs that have not chosen a provider yet, such as tests: the client cannot be built without.
        drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
        let checked = built(&Arc::new(CheckedResolver { lookup: callers, allow: Some(allow.clone()) }))?;
        let named = built(&Arc::new(CheckedResolver { lookup: configured, allow: None }))?;
        Ok(Self { checked, named, allow })
    }

    /// Calls a provider. Addresses are not checked: whoever writes the configuration may name any. Redirects are not
    /// followed.
    ///
    /// # Errors
    /// [`NetError::Inaccessible`] where no whole answer came in time, [`NetError::TooLarge`].
    pub async fn call(&self, call: OutboundCall<'_>) -> Result<ProviderAnswer, NetError> {
        let OutboundCall { url, headers, body, timeout, most } = call;
        let whole = async {
            let method = if body.is_some() { Method::POST } else { Method::GET };
            let request = self.named.request(method, url.clone()).headers(fields(headers)?);
            let request = match body {
                None => request,
                Some(CallBody::Json(json)) => request.header(CONTENT_TYPE, "application/json").body(json),
                Some(CallBody::Form(form)) => request
                    .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                    .body(form.expose().clone()),
            };
            let mut answer = request.send().await.map_err(|_| NetError::Inaccessible)?;
            let mut body = Vec::new();
            while let Some(chunk) = answer.chunk().await.map_err(|_| NetError::Inaccessible)? {
                if body.len() + chunk.len() > most {
                    return Err(NetError::TooLarge);
                }
                body.extend_from_slice(&chunk);
            }
            Ok(ProviderAnswer { status: answer.status().as_u16(), body: body.into() })
        };
        tokio::time::timeout(timeout, whole).await.unwrap_or(Err(NetError::Inaccessible))
    }
}

fn fields(headers: &[(String, Secret<String>)]) -> Result<HeaderMap, NetError> {
    let mut fields = HeaderMap::new();
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| NetError::Setup)?;
        let mut value = HeaderValue::from_str(value.expose()).map_err(|_| NetError::Setup)?;
        value.set_sensitive(true);
        fields.append(name, value);
    }
    Ok(fields)
}

fn built(checked: &Arc<CheckedResolver>) -> Result<reqwest::Client, NetError> {
    let builder = || {
        reqwest::Client::builder()
            .user_agent(concat!("portcullis/", env!("CARGO_PKG_VERSION")))
            .no_proxy()
            .redirect(Policy::none())
            .referer(false)
            .http1_only()
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(4)
            .dns_resolver(Arc::clone(checked))
    };
    // A machine without certificates of authorities can still speak plain HTTP.
    let client = builder().build().or_else(|_| builder().tls_certs_only([]).build());
    client.map_err(|_| NetError::Setup)
}
