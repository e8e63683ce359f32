//! The one source of randomness: the cryptographic library's generator, seeded by the system.

use aws_lc_rs::rand;

/// The system gave no randomness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system's random generator failed")]
pub struct RandomError;

/// Seeds the generator, which measures the processor's jitter for some 20 ms where nobody has done so. Who is first to
/// need randomness waits for that; a process that has other things to do at its start lets a thread call this.
pub fn seed() {
    // Whoever needs bytes is told that there are none.
    let _ = bytes::<1>();
}

/// Fills `out` with random bytes.
pub fn fill(out: &mut [u8]) -> Result<(), RandomError> {
    rand::fill(out).map_err(|_| RandomError)
}

/// `N` random bytes.
pub fn bytes<const N: usize>() -> Result<[u8; N], RandomError> {
    let mut out = [0; N];
    fill(&mut out)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn does_not_repeat() {
        assert_ne!(bytes::<16>(), bytes::<16>());
    }
}
