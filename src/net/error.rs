//! [`NetError`]: why nothing came.

/// Why nothing came. That a place is forbidden, does not exist, or does not answer is one error, so that nobody can
/// map a network by asking us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// Not an `http` or `https` URL with a host.
    #[error("not an http or https URL")]
    Url,
    /// It cannot be had from there.
    #[error("the address cannot be read")]
    Inaccessible,
    /// It is larger than it may be.
    #[error("what is at the address is too large")]
    TooLarge,
    /// The client could not be made.
    #[error("this machine's HTTP client cannot be set up")]
    Setup,
}
