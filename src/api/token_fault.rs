//! What it is to a caller that tokens cannot be read: no fault of the call's.

use crate::api::error::ApiError;
use crate::api::token::TokenError;

/// How it is answered that a token, or whether it was revoked, cannot be read.
pub(crate) fn unread(error: &TokenError) -> ApiError {
    match error {
        TokenError::Store(error) => ApiError::store(error, "tokens"),
        _ => ApiError::Internal("tokens"),
    }
}
