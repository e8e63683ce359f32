//! [`cut`]: what lies behind the data of a stream, and behind the last sample of an image, which no reader shows, is cut off.

use std::collections::BTreeMap;
use std::io::{self, Read};

use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Decompress, FlushDecompress, Status};
use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use crate::sanitize::format::pdf::graph;

/// How deep spaces of colours lie within each other.
const DEPTH: usize = 4;

/// Filters that pack samples as they pack other bytes.
const PACKING: &[&[u8]] = &[FLATE, b"LZWDecode", b"RunLengthDecode", b"ASCII85Decode", b"ASCIIHexDecode"];
const FLATE: &[u8] = b"FlateDecode";

/// The most bytes that are unpacked to see whether something follows the samples.
const MOST_SAMPLES: usize = 64 << 20;

/// From which number on a predictor puts a byte before each row (ISO 32000-2, 7.4.4.4).
const PNG_PREDICTORS: i64 = 10;

/// How many rows of samples an image has, and how many bytes each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ImageRows {
    bytes: usize,
    count: usize,
}

/// The images of a document of which that is known (ISO 32000-2, 8.9.5).
pub(super) fn images(doc: &Document) -> BTreeMap<ObjectId, ImageRows> {
    let streams = doc.objects.iter().filter_map(|(id, object)| Some((*id, object.as_stream().ok()?)));
    streams.filter_map(|(id, stream)| Some((id, ImageRows::of(doc, &stream.dict)?))).collect()
}

impl ImageRows {
    fn of(doc: &Document, dict: &Dictionary) -> Option<Self> {
        (graph::name(doc, dict, b"Subtype") == b"Image").then_some(())?;
        let number = |key: &[u8]| usize::try_from(graph::integer(doc, dict, key)?).ok();
        let mask = matches!(graph::entry(doc, dict, b"ImageMask"), Object::Boolean(true));
        let bits = if mask {
            1
        } else {
            number(b"BitsPerComponent")?.checked_mul(components(
                doc,
                dict.get(b"ColorSpace").ok()?,
                DEPTH,
            )?)?
        };
        let bytes = number(b"Width")?.checked_mul(bits)?.div_ceil(8);
        Some(Self { bytes, count: number(b"Height")? })
    }

    /// How many bytes all of them have, with so many before each.
    fn length(self, before: usize) -> usize {
        self.bytes.saturating_add(before).saturating_mul(self.count)
    }
}

/// How many components a colour has (ISO 32000-2, 8.6).
fn components(doc: &Document, space: &Object, depth: usize) -> Option<usize> {
    match graph::resolve(doc, space) {
        Object::Name(name) => match name.as_slice() {
            b"DeviceGray" | b"G" | b"CalGray" | b"Indexed" | b"I" | b"Separation" => Some(1),
            b"DeviceRGB" | b"RGB" | b"CalRGB" | b"Lab" => Some(3),
            b"DeviceCMYK" | b"CMYK" => Some(4),
            _ => None,
        },
        Object::Array(items) => {
            let (first, rest) = items.split_first()?;
            let second = || rest.first().map(|second| graph::resolve(doc, second));
            match graph::resolve(doc, first) {
                Object::Name(name) if name == b"ICCBased" => {
                    let profile = graph::dict(second()?)?;
                    usize::try_from(graph::integer(doc, profile, b"N")?).ok()
                }
                Object::Name(name) if name == b"DeviceN" => second()?.as_array().ok().map(Vec::len),
                first if depth > 0 => components(doc, first, depth - 1),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Cuts it off: behind compressed data, and, if the stream is an image of these rows, behind the last of them.
pub(super) fn cut(stream: &mut Stream, rows: Option<ImageRows>) {
    let filters: Vec<&[u8]> = match stream.dict.get(b"Filter") {
        Ok(Object::Array(filters)) => {
            filters.iter().map(|filter| filter.as_name().unwrap_or_default()).collect()
        }
        Ok(filter) => vec![filter.as_name().unwrap_or_default()],
        Err(_) => Vec::new(),
    };
    match (filters.as_slice(), rows) {
        ([], Some(rows)) => stream.content.truncate(rows.length(0)),
        ([FLATE | b"Fl", ..], rows) => {
            let alone = filters.len() == 1;
            let Some((length, made)) = packed_length(&stream.content) else { return };
            stream.content.truncate(length);
            let wanted = rows.filter(|_| alone).and_then(|rows| predicted(&stream.dict, rows));
            if let Some(anew) = wanted.filter(|wanted| *wanted < made).and_then(|wanted| anew(stream, wanted))
            {
                stream.set_content(anew);
            }
        }
        (filters, Some(rows)) if filters.iter().all(|filter| PACKING.contains(filter)) => {
            let wanted = rows.length(0);
            // Bytes that are packed may be a thousand times as many.
            let limit = stream.content.len().saturating_mul(1 << 10).clamp(wanted, wanted.max(MOST_SAMPLES));
            let unpacked = stream.decompressed_content_with_limit(limit).ok();
            if let Some(mut samples) = unpacked.filter(|samples| samples.len() >= wanted) {
                samples.truncate(wanted);
                stream.set_plain_content(samples);
            }
        }
        _ => {}
    }
}

/// How many bytes rows have as a predictor leaves them (ISO 32000-2, 7.4.4.4); `None` if it goes by others.
fn predicted(dict: &Dictionary, rows: ImageRows) -> Option<usize> {
    let parameters = match dict.get(b"DecodeParms") {
        Ok(Object::Array(items)) => items.first().and_then(|item| item.as_dict().ok()),
        Ok(parameters) => parameters.as_dict().ok(),
        Err(_) => None,
    };
    let Some(parameters) = parameters else { return Some(rows.length(0)) };
    let number = |key: &[u8], other: i64| parameters.get(key).and_then(Object::as_i64).unwrap_or(other);
    if number(b"Predictor", 1) < PNG_PREDICTORS {
        return Some(rows.length(0));
    }
    let bits = number(b"Columns", 1)
        .checked_mul(number(b"Colors", 1))
        .and_then(|samples| samples.checked_mul(number(b"BitsPerComponent", 8)))?;
    (usize::try_from(bits).ok()?.div_ceil(8) == rows.bytes).then(|| rows.length(1))
}

/// So many bytes of a compressed stream, compressed anew.
fn anew(stream: &Stream, wanted: usize) -> Option<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    io::copy(&mut ZlibDecoder::new(stream.content.as_slice()).take(wanted as u64), &mut encoder).ok()?;
    encoder.finish().ok()
}

/// How many bytes of packed data there are (RFC 1950, 2.2): two that say how they are packed, the data, and a checksum of four,
/// at which not every reader looks; and to how many they unfold. `None` if they cannot be read to their end.
fn packed_length(content: &[u8]) -> Option<(usize, usize)> {
    let [method, flags, packed @ ..] = content else { return None };
    let head = u16::from_be_bytes([*method, *flags]);
    (method & 15 == 8 && flags & 32 == 0 && head.is_multiple_of(31)).then_some(())?;
    let mut inflate = Decompress::new(false);
    let mut scratch = vec![0; 64 << 10];
    loop {
        let (read, made) = (inflate.total_in(), inflate.total_out());
        let rest = packed.get(usize::try_from(read).ok()?..)?;
        let status = inflate.decompress(rest, &mut scratch, FlushDecompress::None).ok()?;
        if status == Status::StreamEnd {
            let length = usize::try_from(inflate.total_in()).ok()?.checked_add(6)?;
            return Some((length, usize::try_from(inflate.total_out()).ok()?));
        }
        if inflate.total_in() == read && inflate.total_out() == made {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use lopdf::dictionary;

    use super::*;

    fn name(name: &str) -> Object {
        Object::Name(name.into())
    }

    fn deflated(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("packed")
    }

    #[test]
    fn what_lies_behind_packed_data_is_cut_off() {
        // Two blocks as they are, and a checksum.
        let packed: &[u8] = b"\x78\x9c\0\x02\0\xfd\xffab\x01\x01\0\xfe\xffc\x02\x4d\x01\x27";
        let trailed = [packed, b"SECRET"].concat();
        let trailed = trailed.as_slice();
        for (filter, content, want) in [
            (name("FlateDecode"), trailed, packed),
            (vec![name("FlateDecode"), name("DCTDecode")].into(), trailed, packed),
            (name("FlateDecode"), packed, packed),
            // Without its checksum, broken, and packed otherwise.
            (name("FlateDecode"), &packed[..packed.len() - 2], &packed[..packed.len() - 2]),
            (name("FlateDecode"), &trailed[..9], &trailed[..9]),
            (name("FlateDecode"), b"SECRET", b"SECRET"),
            (vec![name("ASCII85Decode"), name("FlateDecode")].into(), trailed, trailed),
        ] {
            let mut stream = Stream::new(dictionary! { "Filter" => filter }, content.to_vec());
            cut(&mut stream, None);
            assert_eq!(stream.content, want, "{:?}", stream.dict);
        }
    }

    #[test]
    fn rows_are_counted_by_colours() {
        let mut doc = Document::with_version("1.7");
        let profile = doc.add_object(Stream::new(dictionary! { "N" => 4 }, Vec::new()));
        let inks = vec![name("A"), name("B")];
        for (space, bits, want) in [
            (name("DeviceGray"), 8, Some(3)),
            (name("DeviceRGB"), 4, Some(5)),
            (vec![name("ICCBased"), profile.into()].into(), 8, Some(12)),
            (vec![name("Indexed"), name("DeviceRGB"), 1.into(), Object::Null].into(), 1, Some(1)),
            (vec![name("DeviceN"), inks.into(), name("DeviceGray"), Object::Null].into(), 16, Some(12)),
            (vec![name("Lab"), Object::Null].into(), 8, Some(9)),
            (name("Own"), 8, None),
        ] {
            let image = dictionary! {
                "Subtype" => "Image",
                "Width" => 3,
                "Height" => 2,
                "BitsPerComponent" => bits,
                "ColorSpace" => space,
            };
            let rows = want.map(|bytes| ImageRows { bytes, count: 2 });
            assert_eq!(ImageRows::of(&doc, &image), rows, "{image:?}");
        }
        let mask = dictionary! { "Subtype" => "Image", "Width" => 9, "Height" => 2, "ImageMask" => true };
        assert_eq!(ImageRows::of(&doc, &mask), Some(ImageRows { bytes: 2, count: 2 }));
        assert_eq!(
            ImageRows::of(&doc, &dictionary! { "Width" => 9, "Height" => 2, "ImageMask" => true }),
            None
        );
    }

    #[test]
    fn what_lies_behind_the_last_sample_is_cut_off() {
        let rows = Some(ImageRows { bytes: 2, count: 2 });
        let predictor = |columns: i64| dictionary! { "Predictor" => 15, "Columns" => columns };
        for (filter, parameters, told, want) in [
            (Object::Null, None, b"abcdSECRET".to_vec(), b"abcd".to_vec()),
            (name("FlateDecode"), None, deflated(b"abcdSECRET"), deflated(b"abcd")),
            (name("FlateDecode"), None, deflated(b"abcd"), deflated(b"abcd")),
            (name("FlateDecode"), Some(predictor(2)), deflated(b"\0ab\0cdSECRET"), deflated(b"\0ab\0cd")),
            // Rows of another length are not told apart.
            (name("FlateDecode"), Some(predictor(3)), deflated(b"\0abc\0def"), deflated(b"\0abc\0def")),
            (name("RunLengthDecode"), None, b"\x03abcd\x80SECRET".to_vec(), b"abcd".to_vec()),
            (name("ASCIIHexDecode"), None, b"61626364>SECRET".to_vec(), b"abcd".to_vec()),
            (name("CCITTFaxDecode"), None, b"abcdSECRET".to_vec(), b"abcdSECRET".to_vec()),
        ] {
            let mut stream = Stream::new(Dictionary::new(), told);
            if filter != Object::Null {
                stream.dict.set("Filter", filter);
            }
            if let Some(parameters) = parameters {
                stream.dict.set("DecodeParms", parameters);
            }
            cut(&mut stream, rows);
            assert_eq!(stream.content, want, "{:?}", stream.dict);
        }
    }
}
