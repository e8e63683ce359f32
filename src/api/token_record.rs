//! [`Stored`]: a token as its row keeps it, and who may do more under a row that says more than this version knows:
//! nobody.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::token_info::{Service, TokenError, TokenInfo};
use crate::base::clock::Timestamp;
use crate::base::id::TokenId;
use crate::store::{Entry, Row};

/// The rows of tokens.
pub(super) const KIND: &str = "api.token";

/// The form that this version writes. Rows without one are of form 1, in which tokens had no routes.
const FORM: u32 = 2;

fn first() -> u32 {
    1
}

/// A row's JSON. Fields are only ever added, and those that a version does not know it passes on as they are, since
/// two versions of the program may share the store. Times are milliseconds since the epoch.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    /// A form that is not known grants nothing.
    #[serde(default = "first")]
    form: u32,
    pub(super) id: String,
    name: String,
    /// `None` for all. A name that is not known grants nothing: it must not turn the list into an empty one that
    /// means all.
    services: Option<Vec<String>>,
    /// `None` for all. In form 1 a token that names services has none.
    #[serde(default)]
    routes: Option<Vec<String>>,
    configs: Vec<String>,
    created: u64,
    expires: Option<u64>,
    pub(super) revoked: Option<u64>,
    #[serde(flatten)]
    later: Later,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// What a later version may narrow a token by, each in that version's own form. Nothing holds callers to it yet, so a
/// token that has any of it may do nothing.
#[derive(Default, Serialize, Deserialize)]
struct Later {
    /// Whose data the caller works on; absent for the store's only tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tenant: Option<Value>,
    /// The models it may ask; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    models: Option<Value>,
    /// What it may spend; absent for no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    budget: Option<Value>,
    /// Notes, by name; they narrow nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    labels: Option<Value>,
}

impl Stored {
    pub(super) fn new(info: &TokenInfo) -> Self {
        let services = info.services.as_ref();
        Self {
            form: FORM,
            id: info.id.to_string(),
            name: info.name.clone(),
            services: services.map(|some| some.iter().map(ToString::to_string).collect()),
            routes: info.routes.clone(),
            configs: info.configs.clone(),
            created: info.created.as_millis(),
            expires: info.expires.map(Timestamp::as_millis),
            revoked: info.revoked.map(Timestamp::as_millis),
            later: Later::default(),
            rest: Map::new(),
        }
    }

    pub(super) fn read(row: &Row) -> Result<Self, TokenError> {
        serde_json::from_slice(&row.entry.value).map_err(|_| TokenError::Row)
    }

    pub(super) fn entry(&self) -> Result<Entry, TokenError> {
        serde_json::to_vec(self).map(Entry::lasting).map_err(|_| TokenError::Row)
    }

    /// Whether the row narrows the token in a way that this version cannot hold it to.
    fn is_beyond(&self) -> bool {
        let Later { tenant, models, budget, .. } = &self.later;
        self.form > FORM || tenant.is_some() || models.is_some() || budget.is_some()
    }

    pub(super) fn info(self) -> Result<TokenInfo, TokenError> {
        let beyond = self.is_beyond();
        let known = |names: Vec<String>| names.iter().filter_map(|name| Service::parse(name)).collect();
        let services = self.services.map(known);
        let routes = match (self.form, &services) {
            (1, Some(_)) => Some(Vec::new()),
            (1, None) => None,
            _ => self.routes,
        };
        Ok(TokenInfo {
            id: TokenId::parse(&self.id).ok_or(TokenError::Row)?,
            name: self.name,
            services: if beyond { Some(Vec::new()) } else { services },
            routes: if beyond { Some(Vec::new()) } else { routes },
            configs: self.configs,
            created: Timestamp::from_millis(self.created),
            expires: self.expires.map(Timestamp::from_millis),
            revoked: self.revoked.map(Timestamp::from_millis),
        })
    }
}
