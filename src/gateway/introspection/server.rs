//! [`AuthorizationServer`]: where a server is asked about tokens, and how it is told who asks (RFC 7662 section 2.1, RFC 6749
//! section 2.3.1).

use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE64;
use zeroize::Zeroizing;

use crate::base::secret::Secret;
use crate::net::{CallBody, Client, NetError, OutboundCall, ProviderAnswer, Url, form, form_value};
use crate::vault::jwt::Introspected;

/// The longest answer, in bytes.
const LONGEST_ANSWER: usize = 64 << 10;

/// A server that knows its tokens.
pub struct AuthorizationServer {
    client: Client,
    endpoint: Url,
    headers: Vec<(String, Secret<String>)>,
    timeout: Duration,
}

/// What an [`AuthorizationServer`] is made from.
pub struct ServerParts<'a> {
    /// Goes there.
    pub client: Client,
    /// Where it is asked.
    pub endpoint: Url,
    /// What it knows us as.
    pub id: &'a str,
    /// How we prove that.
    pub secret: &'a Secret<String>,
    /// How long an answer may take.
    pub timeout: Duration,
}

/// What a server says of a token.
#[derive(Clone, Debug)]
pub enum TokenStatus {
    /// It is one, and says this.
    Active(Arc<Introspected>),
    /// It is none, or no more.
    Inactive,
}

/// Nothing is known of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IntrospectionError {
    /// No whole answer in time.
    #[error("it cannot be reached, or not in time")]
    Gone,
    /// It does not know us.
    #[error("it refuses our `client` and `secret`")]
    Refused,
    /// An answer with another status than 200.
    #[error("it answers {0}")]
    Status(u16),
    /// A larger answer than is read.
    #[error("its answer is larger than {LONGEST_ANSWER} bytes")]
    TooLarge,
    /// An answer that is none (RFC 7662 section 2.2).
    #[error("its answer does not say whether the token is active")]
    Unreadable,
}

impl AuthorizationServer {
    /// Makes one from these.
    pub fn new(parts: ServerParts<'_>) -> Self {
        let ServerParts { client, endpoint, id, secret, timeout } = parts;
        // Both are written as in a form before they are joined (RFC 6749 section 2.3.1).
        let (id, secret) = (form_value(id), form_value(secret.expose()));
        let pair = Zeroizing::new(format!("{}:{}", id.expose(), secret.expose()));
        let basic = Secret::new(format!("Basic {}", BASE64.encode(pair.as_bytes())));
        let accept = Secret::new("application/json".to_owned());
        let headers = vec![("authorization".to_owned(), basic), ("accept".to_owned(), accept)];
        Self { client, endpoint, headers, timeout }
    }

    /// Where it is, for the log.
    pub fn name(&self) -> &str {
        self.endpoint.host_str().unwrap_or_default()
    }

    /// Asks it about a token. Returns what it says, and in how many bytes.
    ///
    /// # Errors
    /// It says nothing that can be used.
    pub async fn introspect(&self, token: &str) -> Result<(TokenStatus, usize), IntrospectionError> {
        let form = form(&[("token", token), ("token_type_hint", "access_token")]);
        let twice = async {
            match self.call(&form).await {
                // A connection that was kept may have been closed just now, and asking again changes nothing.
                Err(NetError::Inaccessible) => self.call(&form).await,
                first => first,
            }
        };
        let answer = tokio::time::timeout(self.timeout, twice).await.unwrap_or(Err(NetError::Inaccessible));
        let answer = answer.map_err(|error| match error {
            NetError::TooLarge => IntrospectionError::TooLarge,
            _ => IntrospectionError::Gone,
        })?;
        match answer.status {
            200 => {}
            401 | 403 => return Err(IntrospectionError::Refused),
            other => return Err(IntrospectionError::Status(other)),
        }
        let said = Introspected::parse(&answer.body).map_err(|_| IntrospectionError::Unreadable)?;
        let standing = said.map_or(TokenStatus::Inactive, |said| TokenStatus::Active(Arc::new(said)));
        Ok((standing, answer.body.len()))
    }

    async fn call(&self, form: &Secret<String>) -> Result<ProviderAnswer, NetError> {
        let call = OutboundCall {
            url: &self.endpoint,
            headers: &self.headers,
            body: Some(CallBody::Form(form.clone())),
            timeout: self.timeout,
            most: LONGEST_ANSWER,
        };
        self.client.call(call).await
    }
}
