//! Stored configs of services: of redaction, each a choice of rules and what becomes of their findings; other services
//! have settings of their own.
//!
//! | file | noun |
//! |---|---|
//! | `config` | [`Config`], of settings that are [`ConfigSettings`] |
//! | `object` | [`Settings`] of a [`RedactConfig`] |
//! | `method` | [`MethodSpec`]: a redaction method as data, in configs and calls |
//! | `read` | [`ConfigDraft`]: redact settings read from a request, all faults at once |
//! | `change` | what settings become by an update |
//! | `store` | [`Configs`]: configs as rows |
//! | `list` | [`ListConfigsRequest`] and [`Page`]: filters, order, pages |
//! | `endpoints` | the five endpoints |

mod change;
mod config;
mod endpoints;
mod list;
mod method;
mod object;
mod read;
mod store;

pub use config::{Config, ConfigSettings};
pub use endpoints::{
    ConfigResponse, CreateConfig, DeleteConfig, Drafts, GetConfig, IdRequest, ListConfigs,
    ListConfigsResponse, RedactDrafts, UpdateConfig, UpdateConfigRequest,
};
pub use list::{ConfigFilter, Cursor, ListConfigsRequest, OrderBy, Page};
pub use method::{FpeTweak, HashSpec, HashType, MaskingType, MethodPlace, MethodSpec, PartialMasking};
pub use object::{Allowed, CustomRule, CustomSet, MatchType, Matcher, Matchers, RedactConfig, Settings};
pub use read::{ConfigDraft, Extent, foreign, version};
pub use store::{ConfigError, Configs, MAX_BYTES, MAX_CONFIGS};
