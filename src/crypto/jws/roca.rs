//! RSA moduli that some chips made from too few primes (CVE-2017-15361): they can be factored. Such a modulus is a power
//! of 65537 modulo every small prime; of others, one in some billions is.

/// Primes up to 167, except 2.
const PRIMES: [u32; 38] = [
    3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103,
    107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
];

/// Whether a modulus, most significant byte first, is of that kind.
pub(super) fn is_weak(n: &[u8]) -> bool {
    PRIMES.into_iter().all(|prime| {
        let remainder = n.iter().fold(0, |rest, byte| (rest << 8 | u32::from(*byte)) % prime);
        let mut power = 1;
        (0..prime).any(|_| {
            let met = power == remainder;
            power = power * 65537 % prime;
            met
        })
    })
}
