//! Who does the cryptography of TLS.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;

/// The process's provider, or ours where it has chosen none.
pub(super) fn provider() -> Arc<CryptoProvider> {
    let active = CryptoProvider::get_default().cloned();
    active.unwrap_or_else(|| Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
}
