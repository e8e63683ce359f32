//! The hashes that addresses of cryptocurrencies are checked with. They prove nothing here but that an address is
//! not a chance string.

/// Round constants of SHA-256 (FIPS 180-4 section 4.2.2).
#[rustfmt::skip]
const K: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

/// The first words (FIPS 180-4 section 5.3.3).
const FIRST: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// SHA-256 of at most 55 bytes, which is one block.
pub(super) fn sha256(data: &[u8]) -> Option<[u8; 32]> {
    let mut block = [0u8; 64];
    block.get_mut(..data.len().min(56))?.copy_from_slice(data.get(..data.len().min(56))?);
    *block.get_mut(data.len()).filter(|_| data.len() < 56)? = 0x80;
    let bits = u64::try_from(data.len()).ok()? * 8;
    block.get_mut(56..)?.copy_from_slice(&bits.to_be_bytes());
    let mut words = [0u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, &byte| word << 8 | u32::from(byte));
    }
    for n in 16..64 {
        let at = |back: usize| words.get(n - back).copied().unwrap_or(0);
        let (a, b) = (at(15), at(2));
        let low = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
        let high = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
        let next = at(16).wrapping_add(low).wrapping_add(at(7)).wrapping_add(high);
        *words.get_mut(n)? = next;
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = FIRST;
    for (&k, &word) in K.iter().zip(&words) {
        let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = e & f ^ !e & g;
        let one = h.wrapping_add(sum).wrapping_add(choice).wrapping_add(k).wrapping_add(word);
        let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let two = sum.wrapping_add(a & b ^ a & c ^ b & c);
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(one), c, b, a, one.wrapping_add(two));
    }
    let mut hash = [0; 32];
    for ((out, first), last) in hash.chunks_exact_mut(4).zip(FIRST).zip([a, b, c, d, e, f, g, h]) {
        out.copy_from_slice(&first.wrapping_add(last).to_be_bytes());
    }
    Some(hash)
}

/// Round constants of `Keccak-f[1600]` (FIPS 202 section 3.2.5).
const ROUNDS: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808a,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808b,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008a,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000a,
    0x0000_0000_8000_808b,
    0x8000_0000_0000_008b,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800a,
    0x8000_0000_8000_000a,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];

/// Where each lane goes and how far it turns (FIPS 202 sections 3.2.2 and 3.2.3), in the order of going.
const LANES: [(usize, u32); 24] = [
    (10, 1),
    (7, 3),
    (11, 6),
    (17, 10),
    (18, 15),
    (3, 21),
    (5, 28),
    (16, 36),
    (8, 45),
    (21, 55),
    (24, 2),
    (4, 14),
    (15, 27),
    (23, 41),
    (19, 56),
    (13, 8),
    (12, 25),
    (2, 43),
    (20, 62),
    (14, 18),
    (22, 39),
    (9, 61),
    (6, 20),
    (1, 44),
];

/// Keccak-256 with the padding it had before it became SHA-3, of at most 135 bytes.
pub(super) fn keccak256(data: &[u8]) -> Option<[u8; 32]> {
    const RATE: usize = 136;
    let mut block = [0u8; RATE];
    block.get_mut(..data.len())?.copy_from_slice(data);
    *block.get_mut(data.len())? ^= 1;
    *block.last_mut()? ^= 0x80;
    let mut state = [0u64; 25];
    for (lane, bytes) in state.iter_mut().zip(block.chunks_exact(8)) {
        *lane = u64::from_le_bytes(bytes.try_into().ok()?);
    }
    for constant in ROUNDS {
        round(&mut state, constant);
    }
    let mut hash = [0; 32];
    for (out, lane) in hash.chunks_exact_mut(8).zip(state) {
        out.copy_from_slice(&lane.to_le_bytes());
    }
    Some(hash)
}

fn round(state: &mut [u64; 25], constant: u64) {
    let mut columns = [0u64; 5];
    for (n, lane) in state.iter().enumerate() {
        if let Some(column) = columns.get_mut(n % 5) {
            *column ^= lane;
        }
    }
    let column = |n: usize| columns.get(n % 5).copied().unwrap_or(0);
    for (n, lane) in state.iter_mut().enumerate() {
        *lane ^= column(n + 4) ^ column(n + 1).rotate_left(1);
    }
    let mut moving = state.get(1).copied().unwrap_or(0);
    for (to, turn) in LANES {
        if let Some(lane) = state.get_mut(to) {
            moving = std::mem::replace(lane, moving.rotate_left(turn));
        }
    }
    for row in state.chunks_exact_mut(5) {
        let mut old = [0u64; 5];
        old.copy_from_slice(row);
        for (n, lane) in row.iter_mut().enumerate() {
            let at = |n: usize| old.get(n % 5).copied().unwrap_or(0);
            *lane ^= !at(n + 1) & at(n + 2);
        }
    }
    if let Some(first) = state.first_mut() {
        *first ^= constant;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn published_digests() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex(&sha256(b"abc").unwrap()), abc);
        assert_eq!(sha256(&[0; 56]), None);
        let empty = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
        assert_eq!(hex(&keccak256(b"").unwrap()), empty);
    }
}
