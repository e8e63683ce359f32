//! [`SessionProof`]: whether whoever opened a session may go on with it. What let its request pass may end while it lasts.

use async_trait::async_trait;

use crate::base::clock::Timestamp;
use crate::gateway::error::GatewayError;

/// Proves again, by what its request has shown, that a caller may be where its session leads.
#[async_trait]
pub trait SessionProof: Send + Sync + 'static {
    /// When what it has shown ends, where that is known.
    ///
    /// # Errors
    /// The caller may be there no more. That nobody can tell now is no error: it is asked again.
    async fn prove(&self) -> Result<Option<Timestamp>, GatewayError>;
}
