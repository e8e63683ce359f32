//! Content codings (RFC 9110 section 8.4): gzip, deflate, br and zstd, both ways, capped.
//!
//! The only place where raw decoders may appear. A [`Decoder`] refuses bombs; an [`Encoder`] flushes after each
//! write, so that an event leaves when it is written.

mod coding;
mod decode;
mod encode;

pub use coding::{Coding, CodingError};
pub use decode::{Decoder, Ratio};
pub use encode::Encoder;

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use proptest::prelude::*;

    use super::coding::BLOCK;
    use super::*;
    use crate::base::budget::MemoryBudget;
    use crate::stream::{Rewriter, StreamError};

    const ALL: [Coding; 4] = [Coding::Gzip, Coding::Deflate, Coding::Br, Coding::Zstd];

    fn encode(coding: Coding, pieces: &[&[u8]]) -> Vec<u8> {
        let mut encoder = Encoder::new(coding, &MemoryBudget::unlimited()).unwrap();
        let mut out = BytesMut::new();
        for piece in pieces {
            encoder.write(piece, &mut out).unwrap();
        }
        encoder.finish(&mut out).unwrap();
        out.to_vec()
    }

    fn decode(coding: Coding, bytes: &[u8], step: usize) -> Result<Vec<u8>, StreamError> {
        let mut decoder = Decoder::new(coding, Ratio::default(), &MemoryBudget::unlimited())?;
        let mut out = BytesMut::new();
        for piece in bytes.chunks(step.max(1)) {
            decoder.write(piece, &mut out)?;
        }
        decoder.finish(&mut out)?;
        Ok(out.to_vec())
    }

    #[test]
    fn parses_header_values() {
        use Coding::{Br, Gzip};
        let cases: &[(&str, Result<Vec<Coding>, CodingError>)] = &[
            ("", Ok(vec![])),
            ("identity", Ok(vec![])),
            ("X-GZip", Ok(vec![Gzip])),
            ("br, identity ,, gzip", Ok(vec![Br, Gzip])),
            ("gzip, gzip, gzip", Err(CodingError::TooMany)),
            ("compress", Err(CodingError::Unknown)),
        ];
        for (value, expected) in cases {
            assert_eq!(Coding::parse(value), *expected, "{value}");
        }
        assert_eq!(ALL.map(Coding::name), ["gzip", "deflate", "br", "zstd"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn what_is_encoded_is_decoded(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3000), 0..5),
            step in 1_usize..5000,
        ) {
            let slices: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            for coding in ALL {
                let bytes = encode(coding, &slices);
                prop_assert_eq!(&decode(coding, &bytes, step).unwrap(), &pieces.concat());
            }
        }
    }

    #[test]
    fn every_split_of_the_encoding_decodes_alike() {
        let text = b"data: one\n\ndata: two, and one, and two\n\n";
        for coding in ALL {
            let bytes = encode(coding, &[text]);
            for step in 1..=bytes.len() {
                assert_eq!(decode(coding, &bytes, step).unwrap(), text, "{coding:?} by {step}");
            }
        }
    }

    #[test]
    fn an_event_leaves_when_it_is_written() {
        for coding in ALL {
            let mut encoder = Encoder::new(coding, &MemoryBudget::unlimited()).unwrap();
            let mut decoder = Decoder::new(coding, Ratio::default(), &MemoryBudget::unlimited()).unwrap();
            for event in ["data: first\n\n", "data: second\n\n"] {
                let (mut wire, mut back) = (BytesMut::new(), BytesMut::new());
                encoder.write(event.as_bytes(), &mut wire).unwrap();
                decoder.write(&wire, &mut back).unwrap();
                assert_eq!(&back[..], event.as_bytes(), "{coding:?}");
            }
        }
    }

    #[test]
    fn a_cut_body_is_truncated_and_a_spoilt_one_is_refused() {
        for coding in ALL {
            let name = coding.name();
            let bytes = encode(coding, &[b"a body of some length, of some length"]);
            for cut in 1..bytes.len() {
                let error = decode(coding, &bytes[..cut], 7).unwrap_err();
                assert_eq!(error, StreamError::Truncated { coding: name }, "{name} cut at {cut}");
            }
            let trailing = [bytes.as_slice(), b"garbage, much of it"].concat();
            assert_eq!(decode(coding, &trailing, 7), Err(StreamError::BadCoding { coding: name }), "{name}");
            assert_eq!(
                decode(coding, &[0xFF; 64], 64),
                Err(StreamError::BadCoding { coding: name }),
                "{name}"
            );
            assert_eq!(decode(coding, b"", 1), Ok(vec![]), "{name}");
        }
    }

    #[test]
    fn members_and_frames_may_follow_each_other() {
        for coding in [Coding::Gzip, Coding::Zstd] {
            let bytes = [encode(coding, &[b"one "]), encode(coding, &[]), encode(coding, &[b"two"])].concat();
            for step in [1, 5, bytes.len()] {
                assert_eq!(decode(coding, &bytes, step).unwrap(), b"one two", "{coding:?}");
            }
        }
    }

    #[test]
    fn raw_deflate_is_taken_for_deflate() {
        use std::io::Write;
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        raw.write_all(b"raw but welcome").unwrap();
        let bytes = raw.finish().unwrap();
        for step in 1..=bytes.len() {
            assert_eq!(decode(Coding::Deflate, &bytes, step).unwrap(), b"raw but welcome");
        }
    }

    #[test]
    fn bombs_are_refused_before_they_go_off() {
        for coding in ALL {
            let bomb = encode(coding, &[&vec![0; 32 << 20]]);
            let mut decoder = Decoder::new(coding, Ratio::default(), &MemoryBudget::unlimited()).unwrap();
            let mut out = BytesMut::new();
            assert_eq!(decoder.write(&bomb, &mut out), Err(StreamError::Ratio { limit: 100 }), "{coding:?}");
            assert!(out.len() <= (1 << 20) + 100 * bomb.len() + BLOCK, "{coding:?} gave {}", out.len());
        }
    }

    #[test]
    fn memory_is_charged_and_given_back() {
        let budget = MemoryBudget::process(64 << 20);
        for coding in ALL {
            let decoder = Decoder::new(coding, Ratio::default(), &budget).unwrap();
            let encoder = Encoder::new(coding, &budget).unwrap();
            assert!(budget.used() > 0);
            drop((decoder, encoder));
            assert_eq!(budget.used(), 0, "{coding:?}");
            assert!(matches!(
                Encoder::new(coding, &MemoryBudget::process(10)),
                Err(StreamError::Exhausted(_))
            ));
        }
    }
}
