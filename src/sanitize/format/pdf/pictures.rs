//! Pictures in JPEG and JPEG 2000 within a document lose what lies beside the picture: EXIF, XMP, comments, thumbnails, what
//! comes before them and trails them. One that cannot be told from that does not stay.

use lopdf::{Dictionary, Document, Object, Stream, dictionary};

use crate::sanitize::format::image::{jpeg_segments, jpeg2000_boxes};
use crate::sanitize::format::pdf::graph;
use crate::sanitize::format::pdf::parts::unfold;
use crate::sanitize::{ChangedObject, ObjectKind, Rejection, Work};

/// Takes it out of all of them.
///
/// # Errors
/// [`Rejection::OverLimit`].
pub(super) fn strip(doc: &mut Document, work: &mut Work<'_>) -> Result<(), Rejection> {
    tell_filters(doc);
    for object in doc.objects.values_mut() {
        let Object::Stream(stream) = object else { continue };
        let coded = around_picture(&stream.dict).filter(|_| !stream.content.is_empty());
        let Some((coding, outer)) = coded else { continue };
        let unpacked = match outer {
            0 => None,
            outer => unfold(&Stream::new(outermost(&stream.dict, outer), stream.content.clone()), work)?,
        };
        let clean = match &unpacked {
            // What lies around the picture is not read here.
            None if outer > 0 => Err(Rejection::Unsupported),
            unpacked => coding.written(unpacked.as_ref().unwrap_or(&stream.content)),
        };
        let clean = match clean {
            Ok(clean) => clean,
            Err(rejection) => {
                if leave_out(&stream.content, rejection, work)? {
                    *stream = nothing();
                }
                continue;
            }
        };
        if clean == *unpacked.as_ref().unwrap_or(&stream.content) {
            continue;
        }
        if outer > 0 {
            let parameters = parameters(&stream.dict, outer).cloned();
            stream.dict.set("Filter", Object::Name(coding.filter().to_vec()));
            stream.dict.remove(b"DecodeParms");
            stream.dict.remove(b"DP");
            if let Some(parameters) = parameters {
                stream.dict.set("DecodeParms", parameters);
            }
        }
        stream.set_content(clean);
    }
    Ok(())
}

/// Whether a picture that was not cleaned for this reason does not stay: one that nobody here reads passes where such files may.
///
/// # Errors
/// [`Rejection::OverLimit`].
fn leave_out(picture: &[u8], rejection: Rejection, work: &mut Work<'_>) -> Result<bool, Rejection> {
    let left_out = ChangedObject::left_out(ObjectKind::Picture);
    let left_out = match rejection {
        Rejection::Malformed => left_out,
        Rejection::Unsupported if work.pass(picture).is_ok() => return Ok(false),
        Rejection::Unsupported => left_out.because(rejection),
        rejection => return Err(rejection),
    };
    work.leave_out(left_out);
    Ok(true)
}

/// Stands where a picture was that does not stay: a dot in a colour that is not painted (ISO 32000-1, 8.9.6.4).
fn nothing() -> Stream {
    let dict = dictionary! {
        "Type" => "XObject",
        "Subtype" => "Image",
        "Width" => 1,
        "Height" => 1,
        "ColorSpace" => "DeviceGray",
        "BitsPerComponent" => 8,
        "Mask" => vec![Object::Integer(255), Object::Integer(255)],
    };
    Stream::new(dict, vec![255])
}

/// Has streams say themselves by what they are packed, where they refer to it.
fn tell_filters(doc: &mut Document) {
    let mut told = Vec::new();
    for (id, object) in &doc.objects {
        let Object::Stream(stream) = object else { continue };
        for key in [b"Filter".as_slice(), b"DecodeParms"] {
            let Ok(value) = stream.dict.get(key) else { continue };
            let direct = match graph::resolve(doc, value) {
                Object::Array(items) => {
                    Object::Array(items.iter().map(|item| graph::resolve(doc, item).clone()).collect())
                }
                direct => direct.clone(),
            };
            if direct != *value {
                told.push((*id, key, direct));
            }
        }
    }
    for (id, key, value) in told {
        if let Some(Object::Stream(stream)) = doc.objects.get_mut(&id) {
            stream.dict.set(key, value);
        }
    }
}

/// How a picture is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PictureCoding {
    Jpeg,
    Jpeg2000,
}

impl PictureCoding {
    /// By the name of a filter.
    fn of(filter: &Object) -> Option<Self> {
        match filter.as_name() {
            Ok(b"DCTDecode" | b"DCT") => Some(Self::Jpeg),
            Ok(b"JPXDecode") => Some(Self::Jpeg2000),
            _ => None,
        }
    }

    /// Its filter's name.
    fn filter(self) -> &'static [u8] {
        match self {
            Self::Jpeg => b"DCTDecode",
            Self::Jpeg2000 => b"JPXDecode",
        }
    }

    /// The picture alone.
    ///
    /// # Errors
    /// [`Rejection::Malformed`] and [`Rejection::Unsupported`] if it cannot be told from what lies beside it;
    /// [`Rejection::OverLimit`].
    fn written(self, picture: &[u8]) -> Result<Vec<u8>, Rejection> {
        match self {
            Self::Jpeg => jpeg_segments(picture).ok_or(Rejection::Malformed),
            Self::Jpeg2000 => jpeg2000_boxes(picture),
        }
    }
}

/// How the picture in a stream is coded, and how many filters lie around that (ISO 32000-1, 7.3.8.2); `None` where it holds none.
fn around_picture(dict: &Dictionary) -> Option<(PictureCoding, usize)> {
    match dict.get(b"Filter").ok()? {
        Object::Array(filters) => {
            let (last, outer) = filters.split_last()?;
            Some((PictureCoding::of(last)?, outer.len()))
        }
        filter => Some((PictureCoding::of(filter)?, 0)),
    }
}

/// A stream's dictionary with only the first of its filters.
fn outermost(dict: &Dictionary, outer: usize) -> Dictionary {
    let mut first = Dictionary::new();
    for key in [b"Filter".as_slice(), b"DecodeParms"] {
        if let Ok(Object::Array(items)) = dict.get(key) {
            let items = items.iter().take(outer).map(|item| match item {
                Object::Name(name) => Object::Name(in_full(name).to_vec()),
                item => item.clone(),
            });
            first.set(key, Object::Array(items.collect()));
        }
    }
    first
}

/// What a filter is called that is named in short (ISO 32000-1, table 94), which readers know everywhere.
pub(super) fn in_full(filter: &[u8]) -> &[u8] {
    match filter {
        b"AHx" => b"ASCIIHexDecode",
        b"A85" => b"ASCII85Decode",
        b"LZW" => b"LZWDecode",
        b"Fl" => b"FlateDecode",
        b"RL" => b"RunLengthDecode",
        b"CCF" => b"CCITTFaxDecode",
        b"DCT" => b"DCTDecode",
        filter => filter,
    }
}

/// What a filter is told.
fn parameters(dict: &Dictionary, at: usize) -> Option<&Object> {
    let Ok(Object::Array(items)) = dict.get(b"DecodeParms") else { return None };
    items.get(at).filter(|item| !matches!(item, Object::Null))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::Note;
    use crate::sanitize::bench::Bench;

    /// A scan of nothing, in a frame of nothing.
    fn jpeg(more: &[u8]) -> Vec<u8> {
        [b"\xff\xd8", more, b"\xff\xda\0\x02\x01\xff\xd9"].concat()
    }

    /// What becomes of a stream, and how many pictures were left out.
    fn stripped(told: Object, content: Vec<u8>) -> (Stream, u64) {
        let mut doc = Document::with_version("1.7");
        let image = doc.add_object(Stream::new(dictionary! { "Filter" => told }, content));
        let mut bench = Bench::disarming();
        let mut work = bench.work();
        strip(&mut doc, &mut work).expect("no limit is met");
        let left_out = work.into_stats().notes.get(&Note::Dropped).copied().unwrap_or_default();
        (doc.get_object(image).and_then(Object::as_stream).cloned().expect("a stream"), left_out)
    }

    #[test]
    fn pictures_lose_what_lies_beside_them() {
        let file = |more: &[u8]| {
            let stream =
                b"\xff\x4f\xff\x51\0\x04\0\0\xff\x90\0\x0a\0\0\0\0\0\x10\0\x01\xff\x93\x01\x02\xff\xd9";
            let boxes = [b"\0\0\0\x0cjP  \r\n\x87\n\0\0\0\x08jp2h", more, b"\0\0\0\x22jp2c", stream];
            boxes.concat()
        };
        let words = b"\0\0\0\x0exml SECRET";
        let comment = b"\xff\xfe\0\x08SECRET";
        for (filter, told, want) in [
            ("JPXDecode", file(words), file(b"")),
            ("DCTDecode", jpeg(comment), jpeg(b"")),
            // Something before the picture, and between its parts.
            ("DCTDecode", [b"\n", &jpeg(comment)[..]].concat(), jpeg(b"")),
            ("DCTDecode", [b"\r\nSECRET", &jpeg(comment)[..]].concat(), jpeg(b"")),
            ("DCTDecode", jpeg(&[b"SECRET", &comment[..]].concat()), jpeg(b"")),
            // Nothing is nothing.
            ("DCTDecode", Vec::new(), Vec::new()),
        ] {
            let (stream, left_out) = stripped(Object::Name(filter.into()), told);
            assert_eq!((stream.content, left_out), (want, 0), "{filter}");
        }
    }

    #[test]
    fn a_picture_that_cannot_be_told_apart_does_not_stay() {
        let name = |name: &str| Object::Name(name.into());
        for (filter, content) in [
            (name("JPXDecode"), b"SECRET".to_vec()),
            (name("DCTDecode"), b"SECRET".to_vec()),
            (name("DCTDecode"), b"\xff\xd8\xff\xfe\x40\0SECRET".to_vec()),
            // Packed by what nobody reads.
            (vec![name("Own"), name("DCTDecode")].into(), b"SECRET".to_vec()),
        ] {
            let (stream, left_out) = stripped(filter, content);
            assert_eq!((stream, left_out), (nothing(), 1));
        }
    }

    #[test]
    fn filters_are_found_where_they_are_referred_to() {
        let mut doc = Document::with_version("1.7");
        let filter = doc.add_object(Object::Name(b"DCTDecode".to_vec()));
        let content = jpeg(b"\xff\xfe\0\x08SECRET");
        for told in [filter.into(), Object::Array(vec![filter.into()])] {
            let image = doc.add_object(Stream::new(dictionary! { "Filter" => told }, content.clone()));
            strip(&mut doc, &mut Bench::disarming().work()).expect("no limit is met");
            let stream = doc.get_object(image).and_then(Object::as_stream).expect("a stream");
            assert_eq!(stream.content, jpeg(b""));
        }
    }
}
