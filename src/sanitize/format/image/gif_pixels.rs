//! [`GifPixels`]: the compressed pixels of a GIF's frame (GIF89a specification, appendix F), read as far as to know where they
//! end and of which colours they are.

/// The longest code, in bits.
const LONGEST: u32 = 12;

/// How many bytes a block holds at most (section 15).
const BLOCK: usize = 255;

/// The compressed pixels of a frame.
pub(super) struct GifPixels {
    /// The blocks, with the empty one that ends them.
    pub(super) blocks: Vec<u8>,
    /// The colours that pixels have, by their numbers; all, if they break off.
    pub(super) colours: Vec<u8>,
}

impl GifPixels {
    /// Of blocks, as many pixels as the frame has: what follows them is gone. `width` is the first byte before them. Blocks that
    /// break off are for the decoder to judge.
    pub(super) fn of(blocks: &[u8], width: u8, pixels: usize) -> Self {
        let data = joined(blocks);
        let mut codes = GifCodes::new(&data, u32::from(width));
        let Some(bits) = codes.pass(pixels) else {
            return Self { blocks: blocks.to_vec(), colours: (0..=u8::MAX).collect() };
        };
        let cut = codes.cut(bits);
        // Encoders leave the code of the end out, or a byte behind it.
        let blocks = if data.len() <= cut.len() { blocks.to_vec() } else { parted(&cut) };
        Self { blocks, colours: codes.colours }
    }
}

/// What blocks hold, one after the other.
fn joined(blocks: &[u8]) -> Vec<u8> {
    let (mut rest, mut data) = (blocks, Vec::with_capacity(blocks.len()));
    while let Some((length, after)) = rest.split_first() {
        let Some((block, next)) = after.split_at_checked(usize::from(*length)) else { break };
        data.extend(block);
        rest = next;
    }
    data
}

/// The same in blocks.
fn parted(data: &[u8]) -> Vec<u8> {
    let mut blocks = Vec::with_capacity(data.len());
    for block in data.chunks(BLOCK) {
        blocks.push(u8::try_from(block.len()).unwrap_or(u8::MAX));
        blocks.extend(block);
    }
    blocks.push(0);
    blocks
}

/// Codes, one after the other, with how many pixels each of them stands for.
struct GifCodes<'d> {
    data: &'d [u8],
    /// How many bits were read.
    at: usize,
    /// The code that has the others begin anew; the next one is the end.
    clear: usize,
    /// How many bits a code has at first, and now.
    first: u32,
    width: u32,
    /// How many pixels each code stands for.
    lengths: Vec<usize>,
    /// Numbers that stand for themselves.
    colours: Vec<u8>,
}

impl<'d> GifCodes<'d> {
    fn new(data: &'d [u8], width: u32) -> Self {
        let width = width.min(LONGEST.saturating_sub(1));
        let first = width.saturating_add(1);
        let clear = 1_usize << width;
        let lengths = vec![1; clear.saturating_add(2)];
        Self { data, at: 0, clear, first, width: first, lengths, colours: Vec::new() }
    }

    fn begin_anew(&mut self) {
        self.width = self.first;
        self.lengths.truncate(self.clear.saturating_add(2));
    }

    /// Passes as many pixels. Where their last code ends, in bits; `None` if they are not all there.
    fn pass(&mut self, pixels: usize) -> Option<usize> {
        let (mut made, mut before) = (0_usize, None);
        while made < pixels {
            let code = self.code()?;
            if code == self.clear {
                self.begin_anew();
                before = None;
                continue;
            }
            if code == self.clear.saturating_add(1) {
                return None;
            }
            if let Some(before) = before {
                self.add(before);
            }
            // A code may be the one that was just added.
            let length = *self.lengths.get(code)?;
            if let Some(colour) = u8::try_from(code).ok().filter(|_| code < self.clear) {
                self.colours.push(colour);
            }
            made = made.saturating_add(length);
            before = Some(length);
        }
        self.colours.sort_unstable();
        self.colours.dedup();
        Some(self.at)
    }

    /// Adds a code for a pixel more than the last one.
    fn add(&mut self, before: usize) {
        if self.lengths.len() < 1 << LONGEST {
            self.lengths.push(before.saturating_add(1));
            if self.lengths.len() == 1 << self.width && self.width < LONGEST {
                self.width = self.width.saturating_add(1);
            }
        }
    }

    /// The next code.
    fn code(&mut self) -> Option<usize> {
        let width = usize::try_from(self.width).ok()?;
        let end = self.at.checked_add(width).filter(|end| end.div_ceil(8) <= self.data.len())?;
        // It begins within the first of three bytes, in which there is room for the longest.
        let bytes = self.data.get(self.at / 8..)?.iter().take(3).enumerate();
        let bits = bytes.fold(0_usize, |bits, (n, byte)| bits | usize::from(*byte) << (8 * n));
        let code = bits >> (self.at % 8) & (1_usize << width).saturating_sub(1);
        self.at = end;
        Some(code)
    }

    /// The data up to a bit, and the code of the end.
    fn cut(&self, bits: usize) -> Vec<u8> {
        let mut data = self.data.get(..bits.div_ceil(8)).unwrap_or(self.data).to_vec();
        if let Some(last) = data.last_mut().filter(|_| !bits.is_multiple_of(8)) {
            *last &= u8::MAX >> (8 - bits % 8);
        }
        let (end, mut at) = (self.clear.saturating_add(1), bits);
        for bit in 0..self.width {
            if at.is_multiple_of(8) {
                data.push(0);
            }
            if let Some(last) = data.last_mut() {
                *last |= u8::from(end >> bit & 1 == 1) << (at % 8);
            }
            at = at.saturating_add(1);
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use weezl::BitOrder;
    use weezl::encode::Encoder;

    use super::*;

    fn packed(pixels: &[u8], width: u8) -> Vec<u8> {
        Encoder::new(BitOrder::Lsb, width).encode(pixels).expect("packed")
    }

    #[test]
    fn pixels_end_with_the_last_of_them() {
        let noise = |count: u32, colours: u32| -> Vec<u8> {
            (0..count).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8 % colours as u8).collect()
        };
        for (pixels, width) in [
            (vec![3_u8], 2),
            (vec![0; 5000], 2),
            (noise(1, 4), 2),
            (noise(777, 4), 2),
            (noise(60_000, 200), 8),
            (noise(9000, 16), 4),
        ] {
            let plain = packed(&pixels, width);
            let trailed = [&plain[..], b"SECRETSECRETSECRET"].concat();
            let mut colours = pixels.clone();
            colours.sort_unstable();
            colours.dedup();
            for data in [&plain, &trailed] {
                let read = GifPixels::of(&parted(data), width, pixels.len());
                assert!(joined(&read.blocks) == plain, "{} of {width}", pixels.len());
                assert_eq!(read.colours, colours);
                // Pixels that no reader shows.
                let few = GifPixels::of(&parted(data), width, pixels.len().div_ceil(2));
                let again = GifPixels::of(&few.blocks, width, pixels.len().div_ceil(2));
                assert!(few.blocks == again.blocks, "a fixed point");
                assert!(few.blocks.len() <= read.blocks.len());
            }
            if pixels.len() > 1 {
                let cut = parted(&plain[..plain.len() / 2]);
                assert_eq!(GifPixels::of(&cut, width, pixels.len()).blocks, cut);
            }
        }
    }

    #[test]
    fn any_bytes_are_read() {
        for (data, width) in [(&b""[..], 8), (b"\xff\xff\xff", 2), (b"SECRET", 0), (b"SECRET", 255)] {
            let blocks = parted(data);
            assert_eq!(GifPixels::of(&blocks, width, 100).blocks, blocks);
        }
    }
}
