//! [`Config`]: settings with what the service knows of them; [`ConfigSettings`]: what settings of a service must be for
//! that.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::api::token::Service;
use crate::base::clock::Timestamp;
use crate::base::id::ConfigId;

/// What the owners of one service's configs set. This is the stored form and, beside id and times, the one on the
/// wire.
pub trait ConfigSettings: Serialize + DeserializeOwned + Clone + PartialEq + Send + Sync + 'static {
    /// The kind of their rows.
    const ROWS: &'static str;
    /// The service.
    const SERVICE: Service;
    /// Whether their endpoints are reachable without the service's name: they are at the same paths for each.
    const BARE: bool;
    /// The version of the object's schema that clients expect in the place of a count, if they do.
    const SCHEMA: Option<&'static str>;

    /// The ids of the vault's items that they name: who may use the config has the use of these.
    fn vault_items(&self) -> Vec<&str> {
        Vec::new()
    }
    /// Members that are objects with members of their own, which an update changes one by one.
    const PARTS: &'static [&'static str];
    /// Members, at whatever depth, that may be absent: an update that says `null` takes them away. For all others `null`
    /// says nothing, since clients write out what they do not set.
    const OPTIONAL: &'static [&'static str];
}

/// A stored config.
#[derive(Clone, Debug, PartialEq)]
pub struct Config<S> {
    /// Given when it was made, and kept.
    pub id: ConfigId,
    /// 1 when it was made, one more with each update.
    pub version: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last written; differs from that of each of its other versions.
    pub updated_at: Timestamp,
    /// What its owner set.
    pub settings: S,
}
