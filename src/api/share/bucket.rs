//! `POST /v1/buckets`: where files are kept. Source: the public clients' `BucketsResult`.

use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::ApiError;
use crate::api::fields::ObjectFields;
use crate::api::token::Service;

/// The one bucket that there is: clients want objects and links to say in which they are.
pub(super) const BUCKET: &str = "psb_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// How files come into it.
const TRANSFERS: [&str; 4] = ["multipart", "post-url", "put-url", "source-url"];

/// `POST /v1/buckets`.
pub struct ListBuckets;

/// A bucket.
#[derive(Serialize)]
struct Bucket {
    id: &'static str,
    default: bool,
    name: &'static str,
    transfer_methods: [&'static str; 4],
}

/// All there are.
#[derive(Serialize)]
pub struct BucketsResponse {
    buckets: [Bucket; 1],
}

impl Endpoint for ListBuckets {
    const PATH: &'static str = "/v1/buckets";
    const SERVICE: Service = Service::Share;
    const BARE: bool = false;
    type Request = ();
    type Response = BucketsResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<(), ApiError> {
        fields.nulls_are_absent();
        // Clients that have a config send it to whatever service.
        fields.text("config_id");
        fields.close()
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        (): (),
    ) -> BoxFuture<'a, Result<Success<BucketsResponse>, ApiError>> {
        let bucket = Bucket { id: BUCKET, default: true, name: "default", transfer_methods: TRANSFERS };
        let result = BucketsResponse { buckets: [bucket] };
        Box::pin(std::future::ready(Ok(Success { summary: "Found 1 bucket".to_owned(), result })))
    }
}
