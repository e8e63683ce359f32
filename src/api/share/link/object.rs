//! [`Link`]: what is shared with whoever has its URL and its password, and for how long.

use serde::{Deserialize, Serialize};

use crate::api::share::bucket::BUCKET;
use crate::api::share::link::address::LinkAddresses;
use crate::api::share::link::password::Password;
use crate::base::clock::Timestamp;
use crate::base::id::{ShareId, ShareLinkId, TokenId};

/// What whoever follows the link may do with its targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkType {
    /// Put files into them, which are folders, and see nothing of what is there.
    Upload,
    /// Get them.
    Download,
    /// Both, and rename and delete what is there.
    Editor,
}

impl LinkType {
    /// All, by the names that callers have for them.
    pub(super) const WORDS: [(&'static str, Self); 3] =
        [("upload", Self::Upload), ("download", Self::Download), ("editor", Self::Editor)];

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Upload => "upload",
            Self::Download => "download",
            Self::Editor => "editor",
        }
    }

    /// Whether files may be seen and read.
    pub fn reads(self) -> bool {
        self != Self::Upload
    }

    /// Whether files may be added.
    pub fn adds(self) -> bool {
        self != Self::Download
    }

    /// Whether what is there may be renamed and deleted.
    pub fn changes(self) -> bool {
        self == Self::Editor
    }
}

/// To whom it was sent last, and from whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastSent {
    /// The recipient's address.
    pub recipient_email: String,
    /// The sender's.
    pub sender_email: String,
    /// What the sender is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_name: Option<String>,
}

/// What a link is to be.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkTerms {
    /// Files and folders, by their ids.
    pub(super) targets: Vec<String>,
    pub(super) link_type: LinkType,
    pub(super) title: Option<String>,
    pub(super) message: Option<String>,
    pub(super) tags: Vec<String>,
    /// How often somebody may come in; `None` for any number.
    pub(super) max_access_count: Option<u32>,
    /// Milliseconds since the epoch.
    pub(super) expires_at: u64,
}

/// A link's row. Neither its URL nor its password can be made from it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredLink {
    /// Whose targets they are.
    pub(super) tenant: String,
    /// The token that made it.
    pub(super) by: String,
    pub(super) terms: LinkTerms,
    pub(super) password: Password,
    pub(super) access_count: u32,
    /// Times are milliseconds since the epoch.
    pub(super) created_at: u64,
    pub(super) last_accessed_at: Option<u64>,
    pub(super) sent: Option<LastSent>,
}

/// A link.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its id, which alone opens nothing.
    pub id: ShareLinkId,
    /// The row's version.
    pub(super) version: u64,
    pub(super) stored: StoredLink,
}

impl Link {
    /// Whose targets they are.
    pub fn tenant(&self) -> &str {
        &self.stored.tenant
    }

    /// The token that made it; `None` in a row that says none.
    pub fn by(&self) -> Option<TokenId> {
        TokenId::parse(&self.stored.by)
    }

    /// What it is.
    pub fn terms(&self) -> &LinkTerms {
        &self.stored.terms
    }

    /// The files and folders.
    pub fn targets(&self) -> impl Iterator<Item = ShareId> + '_ {
        self.stored.terms.targets.iter().filter_map(|id| ShareId::parse(id))
    }

    /// Whether nobody more may come in.
    pub fn is_used_up(&self) -> bool {
        self.terms().max_access_count.is_some_and(|most| self.stored.access_count >= most)
    }

    /// When it ceases to be there.
    pub fn expires(&self) -> Timestamp {
        Timestamp::from_millis(self.terms().expires_at)
    }
}

/// Who is let in, without what that takes.
#[derive(Debug, Serialize)]
struct Authenticator {
    auth_type: &'static str,
    auth_context: &'static str,
}

/// A link as callers see it.
#[derive(Debug, Serialize)]
pub(super) struct ShownLink {
    id: String,
    bucket_id: &'static str,
    targets: Vec<String>,
    link_type: LinkType,
    access_count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_access_count: Option<u32>,
    created_at: String,
    expires_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_accessed_at: Option<String>,
    authenticators: [Authenticator; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    link: String,
    #[serde(flatten)]
    sent: Option<LastSent>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
}

impl ShownLink {
    /// How a link is shown to whoever may make links.
    pub(super) fn of(link: Link, addresses: &LinkAddresses) -> Self {
        let expires_at = link.expires().iso8601();
        let url = addresses.url(&link.id);
        let StoredLink { terms, access_count, created_at, last_accessed_at, sent, .. } = link.stored;
        let shown = |millis| Timestamp::from_millis(millis).iso8601();
        Self {
            id: link.id.to_string(),
            bucket_id: BUCKET,
            targets: terms.targets,
            link_type: terms.link_type,
            access_count,
            max_access_count: terms.max_access_count,
            created_at: shown(created_at),
            expires_at,
            last_accessed_at: last_accessed_at.map(shown),
            // A password is not kept, so none is shown; clients want the member.
            authenticators: [Authenticator { auth_type: "password", auth_context: "" }],
            title: terms.title,
            message: terms.message,
            link: url,
            sent,
            tags: terms.tags,
        }
    }
}
