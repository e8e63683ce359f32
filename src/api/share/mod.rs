//! The share service: files in folders, kept until they are deleted or their time is over. Paths are under `/share` or
//! on a host `share.…`; sources are the public clients' request and answer fields.
//!
//! | file | noun |
//! |---|---|
//! | `object` | [`Object`]: a file or folder, and how it is shown |
//! | `folder` | [`Folder`]: a path of names |
//! | `rows` | [`Shares`]: objects as rows, their bytes as blobs |
//! | `store` | what is done with them |
//! | `request` | what several calls say in the same way |
//! | `put` | [`PutShare`]: `/v1/put`, at once or by a granted upload |
//! | `fetched` | [`Fetcher`]: files at a URL that a call names |
//! | `bucket` | [`ListBuckets`] |
//! | `get` | [`GetShare`]: `/v1/get` and `/v1/get_archive`, as a URL or a form |
//! | `archive` | several as one archive |
//! | `list` | [`ListShares`]: `/v1/list` |
//! | `filter` | what lists have in common |
//! | [`link`] | links to what is here, for whoever has no token |
//! | `change` | [`UpdateShare`], [`DeleteShare`], [`CreateShareFolder`] |

mod archive;
mod bucket;
mod change;
mod fetched;
mod filter;
mod folder;
mod get;
pub mod link;
mod list;
mod object;
mod put;
mod request;
mod rows;
mod store;

pub use bucket::{BucketsResponse, ListBuckets};
pub use change::{CountResponse, CreateShareFolder, DeleteShare, ObjectResponse, UpdateShare};
pub use fetched::Fetcher;
pub use folder::Folder;
pub use get::{GetParts, GetShare};
pub use list::{ListObjectsRequest, ListObjectsResponse, ListShares};
pub use object::{Object, ObjectView, ShareObjectKind};
pub use put::{PutShare, PutWork};
pub use rows::{NewObject, Parent, ShareError, Shares};
pub use store::{ObjectChange, StoredFile};
