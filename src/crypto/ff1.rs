//! FF1 (SP 800-38G, algorithms 7 and 8) on numbers whose halves are below 2^127: no allocation, 11 AES blocks a
//! call. [`fpe`](crate::crypto::fpe) chooses between this and the `fpe` crate, which takes strings of any length
//! at 53–160 allocations each and is this file's oracle in the tests.

use aes::Block;
use aes::cipher::consts::U16;
use aes::cipher::{BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser};

/// Which way to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Encrypt,
    Decrypt,
}

/// The two halves of a numeral string, each as a number (steps 1 and 2).
#[derive(Clone, Copy)]
pub(super) struct Halves {
    pub(super) a: u128,
    pub(super) b: u128,
}

/// What depends on radix and length alone.
#[derive(Clone, Copy)]
pub(super) struct RadixTables {
    radix: u32,
    /// Symbols in the first and the second half.
    pub(super) u: u32,
    v: u32,
    /// radix^u and radix^v.
    mod_u: u128,
    pub(super) mod_v: u128,
    /// Bytes of the second half as a number (step 3).
    b: usize,
}

const ROUNDS: u8 = 10;

impl RadixTables {
    /// `None` where a half would not stay below 2^127 (one spare bit makes sums and doublings safe).
    pub(super) fn new(radix: u32, len: usize) -> Option<Self> {
        let len = u32::try_from(len).ok()?;
        let (u, v) = (len / 2, len - len / 2);
        let below = |power: &u128| *power < 1 << 127;
        let mod_v = u128::from(radix).checked_pow(v).filter(below)?;
        let mod_u = u128::from(radix).checked_pow(u)?;
        // ceil(v * log2(radix)) is the bit length of radix^v - 1, without floating point.
        let bits = 128 - (mod_v - 1).leading_zeros();
        Some(Self { radix, u, v, mod_u, mod_v, b: bits.div_ceil(8) as usize })
    }

    /// Steps 5 to 7.
    pub(super) fn run<C>(&self, cipher: &C, tweak: &[u8], mut halves: Halves, direction: Direction) -> Halves
    where
        C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>,
    {
        let halves = &mut halves;
        cipher.encrypt_with_backend(Run { shape: self, tweak, halves, direction });
        *halves
    }

    #[inline(always)]
    fn rounds<B>(&self, cipher: &B, tweak: &[u8], mut halves: Halves, direction: Direction) -> Halves
    where
        B: BlockCipherEncBackend<BlockSize = U16>,
    {
        let mut prf = Prf::new(cipher, self, tweak);
        for step in 0..ROUNDS {
            match direction {
                Direction::Encrypt => {
                    let modulus = self.modulus(step);
                    let y = prf.round(step, halves.b, modulus);
                    halves = Halves { a: halves.b, b: (halves.a + y) % modulus };
                }
                Direction::Decrypt => {
                    let step = ROUNDS - 1 - step;
                    let modulus = self.modulus(step);
                    let y = prf.round(step, halves.a, modulus);
                    halves = Halves { a: (halves.b + modulus - y) % modulus, b: halves.a };
                }
            }
        }
        halves
    }

    fn modulus(&self, step: u8) -> u128 {
        if step.is_multiple_of(2) { self.mod_u } else { self.mod_v }
    }
}

/// All blocks of a call in one visit to the cipher: before each visit it may spread its round keys over wide registers,
/// which costs more than a block.
struct Run<'r> {
    shape: &'r RadixTables,
    tweak: &'r [u8],
    halves: &'r mut Halves,
    direction: Direction,
}

impl BlockSizeUser for Run<'_> {
    type BlockSize = U16;
}

impl BlockCipherEncClosure for Run<'_> {
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        *self.halves = self.shape.rounds(backend, self.tweak, *self.halves, self.direction);
    }
}

/// Steps 5 and 6i–6iv. P and the part of Q before the round's byte are the same in all rounds: their CBC-MAC is
/// computed once.
struct Prf<'c, B> {
    cipher: &'c B,
    before: Block,
    /// The last one or two blocks of Q: the tweak's end and padding, then the round's byte and the number.
    tail: [u8; 32],
    tail_len: usize,
    b: usize,
}

impl<'c, B> Prf<'c, B>
where
    B: BlockCipherEncBackend<BlockSize = U16>,
{
    fn new(cipher: &'c B, shape: &RadixTables, tweak: &[u8]) -> Self {
        let [_, r1, r2, r3] = shape.radix.to_be_bytes();
        let [n0, n1, n2, n3] = (shape.u + shape.v).to_be_bytes();
        // A tweak of 4 GiB does not exist here: `fpe` caps it.
        let [t0, t1, t2, t3] = (tweak.len() as u32).to_be_bytes();
        let u = shape.u.to_be_bytes()[3];
        let mut before = Block::from([1, 2, 1, r1, r2, r3, 10, u, n0, n1, n2, n3, t0, t1, t2, t3]);
        cipher.encrypt_block((&mut before).into());

        let number = 1 + shape.b;
        let len = (tweak.len() + number).next_multiple_of(16);
        let tail_len = number.next_multiple_of(16);
        let mut padded = tweak.iter().copied().chain(std::iter::repeat(0));
        for _ in 0..(len - tail_len) / 16 {
            for (byte, with) in before.iter_mut().zip(&mut padded) {
                *byte ^= with;
            }
            cipher.encrypt_block((&mut before).into());
        }
        let mut tail = [0; 32];
        for (byte, with) in tail.iter_mut().zip(padded).take(tail_len - number) {
            *byte = with;
        }
        Self { cipher, before, tail, tail_len, b: shape.b }
    }

    /// y of one round, reduced.
    fn round(&mut self, step: u8, number: u128, modulus: u128) -> u128 {
        let bytes = number.to_be_bytes();
        let end = self.tail_len;
        self.tail[end - self.b - 1] = step;
        self.tail[end - self.b..end].copy_from_slice(&bytes[16 - self.b..]);
        let mut r = self.before;
        for block in self.tail[..end].chunks_exact(16) {
            for (byte, with) in r.iter_mut().zip(block) {
                *byte ^= with;
            }
            self.cipher.encrypt_block((&mut r).into());
        }
        // Step 4: d is 4 * ceil(b / 4) + 4, so y is the first 8, 12, 16 or 20 bytes of S.
        let first = u128::from_be_bytes(r.into());
        match self.b.div_ceil(4) {
            0 | 1 => reduce_small((first >> 64) as u64, modulus),
            2 => (first >> 32) % modulus,
            3 => first % modulus,
            _ => {
                let mut next = r;
                next[15] ^= 1;
                self.cipher.encrypt_block((&mut next).into());
                let word = (u128::from_be_bytes(next.into()) >> 96) as u32;
                shift_in(first % modulus, word, modulus)
            }
        }
    }
}

/// For b ≤ 4 the modulus fits 64 bits, where division is several times cheaper.
fn reduce_small(y: u64, modulus: u128) -> u128 {
    match u64::try_from(modulus) {
        Ok(modulus) => u128::from(y % modulus),
        Err(_) => u128::from(y),
    }
}

/// `(value * 2^32 + word) mod modulus`, bit by bit: the product would not fit 128 bits.
fn shift_in(mut value: u128, word: u32, modulus: u128) -> u128 {
    for bit in (0..32).rev() {
        value = value * 2 + u128::from(word >> bit & 1);
        if value >= modulus {
            value -= modulus;
        }
    }
    value
}

/// NUM (algorithm 1) of a half.
pub(super) fn number(symbols: &[u16], radix: u32) -> u128 {
    symbols.iter().fold(0, |sum, &symbol| sum * u128::from(radix) + u128::from(symbol))
}

/// STR (algorithm 3) into a half.
pub(super) fn numerals(mut number: u128, radix: u32, symbols: &mut [u16]) {
    for symbol in symbols.iter_mut().rev() {
        (number, *symbol) = match u64::try_from(number) {
            Ok(small) => (u128::from(small / u64::from(radix)), (small % u64::from(radix)) as u16),
            Err(_) => (number / u128::from(radix), (number % u128::from(radix)) as u16),
        };
    }
}
