//! The classes of 64 bytes with vector instructions: AVX2 where the processor has it, else what every processor of
//! the architecture has, else plain code.

use super::class::Class;

/// Bytes whose bits are kept together.
pub(super) const WIDTH: usize = 32;

/// Appends the bits of `text` to `of`, a word for each 32 bytes, the last filled up with zeros.
pub(super) fn fill(text: &[u8], of: &mut [Vec<u32>; Class::COUNT]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(
            unsafe_code,
            reason = "the one call into code for a processor that was asked for; see SAFETY"
        )]
        // SAFETY: `avx2::fill` is compiled for AVX2 and uses nothing else beyond the architecture; that the
        // processor has it has just been asked. It takes references and bounds-checked slices, no pointers.
        unsafe {
            avx2::fill(text, of);
        }
        return;
    }
    plain(text, of);
}

fn plain(text: &[u8], of: &mut [Vec<u32>; Class::COUNT]) {
    for part in text.chunks(WIDTH) {
        let mut bits = [0u32; Class::COUNT];
        for (n, &byte) in part.iter().enumerate() {
            let classes = OF_BYTE.get(usize::from(byte)).copied().unwrap_or(0);
            for (class, bits) in bits.iter_mut().enumerate() {
                *bits |= u32::from(classes >> class & 1) << n;
            }
        }
        of.iter_mut().zip(bits).for_each(|(all, bits)| all.push(bits));
    }
}

/// The classes of each byte, a bit for each.
const OF_BYTE: [u8; 256] = {
    const ALL: [Class; Class::COUNT] = [
        Class::Digit,
        Class::Word,
        Class::Letter,
        Class::Upper,
        Class::Base64,
        Class::Link,
        Class::Colon,
        Class::Backslash,
    ];
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut class = 0;
        while class < Class::COUNT {
            if ALL[class].has(byte as u8) {
                table[byte] |= 1 << class;
            }
            class += 1;
        }
        byte += 1;
    }
    table
};

#[cfg(target_arch = "x86_64")]
mod avx2 {
    //! AVX2: 32 bytes at a time.

    use std::arch::x86_64::{
        __m256i, _mm256_add_epi8, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set_epi64x, _mm256_set1_epi8,
    };

    use super::{Class, WIDTH};

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(part: &[u8; WIDTH]) -> __m256i {
        let (words, _) = part.as_chunks::<8>();
        let word = |n: usize| words.get(n).map_or(0, |bytes| i64::from_le_bytes(*bytes));
        _mm256_set_epi64x(word(3), word(2), word(1), word(0))
    }

    /// Lanes from `first` on, `count` of them: moved to the lowest signed numbers, where one comparison tells.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn range(bytes: __m256i, first: u8, count: u8) -> __m256i {
        let moved = _mm256_add_epi8(bytes, _mm256_set1_epi8(0x80u8.wrapping_sub(first) as i8));
        _mm256_cmpgt_epi8(_mm256_set1_epi8((0x80 + count) as i8), moved)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn is(bytes: __m256i, byte: u8) -> __m256i {
        _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn or(one: __m256i, other: __m256i) -> __m256i {
        _mm256_or_si256(one, other)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn fill(text: &[u8], of: &mut [Vec<u32>; Class::COUNT]) {
        let (parts, rest) = text.as_chunks::<WIDTH>();
        let count = parts.len() + usize::from(!rest.is_empty());
        let mut slots = of.each_mut().map(|bits| {
            let known = bits.len();
            bits.resize(known + count, 0);
            bits.get_mut(known..).unwrap_or_default()
        });
        for (n, part) in parts.iter().enumerate() {
            put(load(part), n, &mut slots);
        }
        if !rest.is_empty() {
            let mut padded = [0; WIDTH];
            padded.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            put(load(&padded), parts.len(), &mut slots);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn set(slot: Option<&mut u32>, lanes: __m256i) {
        if let Some(slot) = slot {
            *slot = _mm256_movemask_epi8(lanes) as u32;
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn put(bytes: __m256i, n: usize, slots: &mut [&mut [u32]; Class::COUNT]) {
        let letter = range(or(bytes, _mm256_set1_epi8(0x20)), b'a', 26);
        let digit = range(bytes, b'0', 10);
        let word = or(letter, digit);
        let colon = is(bytes, b':');
        let signs = or(or(is(bytes, b'+'), is(bytes, b'-')), or(is(bytes, b'/'), is(bytes, b'_')));
        let base64 = or(word, signs);
        let pair = or(is(bytes, b'='), is(bytes, b'|'));
        let links = or(or(range(bytes, b'#', 4), is(bytes, b'.')), or(pair, range(bytes, b'?', 2)));
        let [digits, words, letters, uppers, bases, all_links, colons, backslashes] = slots;
        set(digits.get_mut(n), digit);
        set(words.get_mut(n), word);
        // The top bit of a lane is what is taken out: it is set in what is not ASCII.
        set(letters.get_mut(n), or(letter, bytes));
        set(uppers.get_mut(n), range(bytes, b'A', 26));
        set(bases.get_mut(n), base64);
        set(all_links.get_mut(n), or(or(base64, colon), links));
        set(colons.get_mut(n), colon);
        set(backslashes.get_mut(n), is(bytes, b'\\'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_say_what_plain_code_says() {
        for seed in 0..50 {
            let text = super::super::masks::tests::text(seed, 500 + seed as usize);
            let (mut fast, mut slow) = <([Vec<u32>; Class::COUNT], [Vec<u32>; Class::COUNT])>::default();
            fill(&text, &mut fast);
            plain(&text, &mut slow);
            assert_eq!(fast, slow);
        }
        let every: Vec<u8> = (0..=255).collect();
        let (mut fast, mut slow) = <([Vec<u32>; Class::COUNT], [Vec<u32>; Class::COUNT])>::default();
        fill(&every, &mut fast);
        plain(&every, &mut slow);
        assert_eq!(fast, slow);
    }
}
