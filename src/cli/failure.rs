//! [`Failure`]: why a command ends without having done its work.

use crate::api::token::TokenError;
use crate::app::AppError;
use crate::base::ordered_pool::JobPanic;

/// Why a command ends without having done its work.
pub(super) enum Failure {
    App(AppError),
    /// The same, with what can be done next.
    Advised(AppError, String),
    Usage(String),
    /// Whoever reads our output has had enough.
    Pipe,
}

impl Failure {
    /// The same, with what can be done next: whoever failed knows it better than the error.
    pub(super) fn advised(self, tip: &str) -> Self {
        match self {
            Self::App(error) | Self::Advised(error, _) => Self::Advised(error, tip.to_owned()),
            other => other,
        }
    }
}

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        match error {
            AppError::Pipe => Self::Pipe,
            AppError::Usage(why) => Self::Usage(why),
            error => Self::App(error),
        }
    }
}

impl From<JobPanic> for Failure {
    fn from(panic: JobPanic) -> Self {
        Self::App(panic.into())
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
            | TokenError::Expiry
            | TokenError::Far => Self::Usage(error.to_string()),
            other => Self::App(other.into()),
        }
    }
}

/// Of standard output; who reads a file says its name.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::Pipe,
            std::io::ErrorKind::StorageFull => {
                Self::App(AppError::Io("standard output: there is no room left on the disk".to_owned()))
            }
            _ => Self::App(AppError::Io(format!("standard output: {error}"))),
        }
    }
}
