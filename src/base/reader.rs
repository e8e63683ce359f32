//! [`ByteReader`]: reads binary forms of our own from bytes that may be anything: what is not there is `None`, and a length
//! never reaches beyond the end.

/// Bytes still to be read. After a `None` what was asked for is still there.
#[derive(Clone, Copy, Debug)]
pub struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    /// Reads from the beginning of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether all was read.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was not read yet.
    pub const fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// The next `length` bytes.
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    /// A number of two bytes, big-endian.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// A number of two bytes, little-endian.
    pub fn u16_le(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// A number of four bytes, little-endian.
    pub fn u32_le(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number of four bytes, big-endian.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// A number of eight bytes, big-endian.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// Bytes behind their length, which is one byte.
    pub fn short(&mut self) -> Option<&'a [u8]> {
        let mut ahead = *self;
        let length = usize::from(ahead.byte()?);
        self.all(ahead, length)
    }

    /// Bytes behind their length, which is four bytes, big-endian.
    pub fn long(&mut self) -> Option<&'a [u8]> {
        let mut ahead = *self;
        let length = usize::try_from(ahead.u32()?).ok()?;
        self.all(ahead, length)
    }

    /// Takes what `ahead` has next, if it has so much.
    fn all(&mut self, mut ahead: Self, length: usize) -> Option<&'a [u8]> {
        let taken = ahead.take(length)?;
        *self = ahead;
        Some(taken)
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One read, as bytes.
    fn read(reader: &mut ByteReader<'_>, how: u8, length: usize) -> Option<Vec<u8>> {
        match how {
            0 => reader.byte().map(|byte| vec![byte]),
            1 => reader.u32().map(|number| number.to_be_bytes().to_vec()),
            2 => reader.u64().map(|number| number.to_be_bytes().to_vec()),
            3 => reader.short().map(|bytes| [&[bytes.len() as u8], bytes].concat()),
            4 => reader.u16().map(|number| number.to_be_bytes().to_vec()),
            5 => reader.u16_le().map(|number| number.to_le_bytes().to_vec()),
            6 => reader.u32_le().map(|number| number.to_le_bytes().to_vec()),
            7 => reader.long().map(|bytes| [&(bytes.len() as u32).to_be_bytes(), bytes].concat()),
            _ => reader.take(length).map(<[u8]>::to_vec),
        }
    }

    proptest! {
        #[test]
        fn what_is_read_and_the_rest_are_the_whole(
            bytes in proptest::collection::vec(prop_oneof![Just(0), Just(1), any::<u8>()], 0..64),
            reads in proptest::collection::vec((0..9_u8, 0..80_usize), 0..20),
        ) {
            let mut reader = ByteReader::new(&bytes);
            let mut seen = Vec::new();
            for (how, length) in reads {
                let before = reader.rest();
                match read(&mut reader, how, length) {
                    Some(read) => seen.extend(read),
                    None => prop_assert_eq!(before, reader.rest(), "a failed read takes nothing"),
                }
                prop_assert_eq!([seen.as_slice(), reader.rest()].concat(), bytes.as_slice());
            }
            prop_assert_eq!(reader.is_empty(), seen.len() == bytes.len());
        }

        #[test]
        fn pieces_read_back(short in proptest::collection::vec(any::<u8>(), 0..256), long in any::<Vec<u8>>(), n: u64) {
            let mut bytes = vec![short.len() as u8];
            bytes.extend_from_slice(&short);
            bytes.extend_from_slice(&(long.len() as u32).to_be_bytes());
            bytes.extend_from_slice(&long);
            bytes.extend_from_slice(&n.to_be_bytes());
            let mut reader = ByteReader::new(&bytes);
            prop_assert_eq!(reader.short(), Some(short.as_slice()));
            prop_assert_eq!(reader.long(), Some(long.as_slice()));
            prop_assert_eq!(reader.u64(), Some(n));
            prop_assert!(reader.is_empty() && reader.byte().is_none());
        }
    }
}
