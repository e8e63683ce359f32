//! Keys with which requests to AWS are signed.

use serde::Deserialize;

use crate::config::{Credential, Spanned};

/// `[upstreams.NAME.aws]`: requests to it are signed with these keys (AWS Signature Version 4), unless they have a bearer
/// token.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Aws {
    /// The service that signatures are for. Default `bedrock`.
    pub service: Spanned<String>,
    /// Its region, such as `us-east-1`. Loading fills in that of the first peer's name, else `AWS_REGION`, else
    /// `AWS_DEFAULT_REGION`.
    pub region: Option<Spanned<String>>,
    /// The access key's id. Without keys: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
    pub access_key: Option<Spanned<Credential>>,
    /// The access key's secret.
    pub secret_key: Option<Spanned<Credential>>,
    /// The token that belongs to keys that are good for a while.
    pub session_token: Option<Spanned<Credential>>,
    /// Whether only what callers have signed is signed: the file does not have the table, but the environment the keys.
    #[serde(skip)]
    pub implied: bool,
}

impl Default for Aws {
    fn default() -> Self {
        Self {
            service: Spanned::new("bedrock".to_owned()),
            region: None,
            access_key: None,
            secret_key: None,
            session_token: None,
            implied: false,
        }
    }
}

/// The region that the name of one of AWS's hosts has in it, such as `bedrock-runtime.us-east-1.amazonaws.com`.
pub(crate) fn region_of(host: &str) -> Option<&str> {
    let ends = [".amazonaws.com", ".amazonaws.com.cn", ".api.aws"];
    let name = ends.iter().find_map(|end| host.strip_suffix(end))?;
    name.rsplit('.').find(|label| is_region(label))
}

/// Whether this looks like `us-east-1` or `us-gov-west-1`.
pub(crate) fn is_region(label: &str) -> bool {
    let parts: Vec<&str> = label.split('-').collect();
    let [first, middle @ .., last] = parts.as_slice() else { return false };
    let letters = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase());
    letters(first)
        && !middle.is_empty()
        && middle.iter().all(letters)
        && !last.is_empty()
        && last.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::region_of;

    #[test]
    fn hosts_say_their_region() {
        let rows = [
            ("bedrock-runtime.us-east-1.amazonaws.com", Some("us-east-1")),
            ("bedrock-runtime-fips.us-gov-west-1.amazonaws.com", Some("us-gov-west-1")),
            ("bedrock-runtime.cn-north-1.amazonaws.com.cn", Some("cn-north-1")),
            ("bedrock-runtime.eu-central-1.api.aws", Some("eu-central-1")),
            ("vpce-0a1-b2c.bedrock-runtime.ap-southeast-2.vpce.amazonaws.com", Some("ap-southeast-2")),
            ("bedrock-runtime.amazonaws.com", None),
            ("us-east-1.example.com", None),
            ("bedrock-runtime.us-east-1.amazonaws.com.example.com", None),
            ("amazonaws.com", None),
            ("127.0.0.1", None),
        ];
        for (host, region) in rows {
            assert_eq!(region_of(host), region, "{host}");
        }
    }
}
