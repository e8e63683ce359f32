//! [`Failure`]: why a command ends without having done its work.

use crate::api::token::TokenError;
use crate::app::AppError;

/// Why a command ends without having done its work.
pub(super) enum Failure {
    App(AppError),
    Usage(String),
    /// Whoever reads our output has had enough.
    Pipe,
}

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        Self::App(error)
    }
}

impl From<TokenError> for Failure {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::Name
            | TokenError::Route
            | TokenError::Label
            | TokenError::Bounds
            | TokenError::Past
            | TokenError::Expiry => Self::Usage(error.to_string()),
            other => Self::App(other.into()),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::Pipe,
            _ => Self::App(AppError::Io(error.to_string())),
        }
    }
}
