//! What HTML, SVG and XML share.
//!
//! | file | noun |
//! |---|---|
//! | `entity` | character references |
//! | `uri` | addresses that may stay |
//! | `css` | style sheets without what they load and run |
//! | `allow` | elements and attributes that may stay |
//! | `data` | what addresses hold themselves |
//! | `tag` | a start tag |
//! | `value` | a value while it is being asked about |

pub(super) mod allow;
pub(super) mod css;
pub(super) mod data;
pub(super) mod entity;
pub(super) mod tag;
pub(super) mod uri;
pub(super) mod value;
