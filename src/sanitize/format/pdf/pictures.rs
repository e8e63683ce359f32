//! Pictures in JPEG and JPEG 2000 within a document lose what lies beside the picture: EXIF, XMP, comments, thumbnails, what
//! trails them.

use lopdf::{Dictionary, Document, Object, Stream};

use crate::sanitize::format::image::{jpeg_segments, jpeg2000_boxes};
use crate::sanitize::format::pdf::parts::unfold;
use crate::sanitize::{Rejection, Work};

/// Takes it out of all of them.
///
/// # Errors
/// [`Rejection::OverLimit`].
pub(super) fn strip(doc: &mut Document, work: &mut Work<'_>) -> Result<(), Rejection> {
    for object in doc.objects.values_mut() {
        let Object::Stream(stream) = object else { continue };
        let Some((coding, outer)) = around_picture(&stream.dict) else { continue };
        let unpacked = match outer {
            0 => None,
            outer => unfold(&Stream::new(outermost(&stream.dict, outer), stream.content.clone()), work)?,
        };
        let picture = unpacked.as_ref().unwrap_or(&stream.content);
        let Some(clean) = coding.written(picture).filter(|clean| clean != picture) else { continue };
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

    /// The picture alone; `None` if it cannot be told from what lies beside it.
    fn written(self, picture: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Jpeg => jpeg_segments(picture),
            Self::Jpeg2000 => jpeg2000_boxes(picture).ok(),
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
            first.set(key, Object::Array(items.iter().take(outer).cloned().collect()));
        }
    }
    first
}

/// What a filter is told.
fn parameters(dict: &Dictionary, at: usize) -> Option<&Object> {
    let Ok(Object::Array(items)) = dict.get(b"DecodeParms") else { return None };
    items.get(at).filter(|item| !matches!(item, Object::Null))
}

#[cfg(test)]
mod tests {
    use lopdf::dictionary;

    use super::*;
    use crate::sanitize::bench::Bench;

    #[test]
    fn pictures_lose_what_lies_beside_them() {
        let file = |more: &[u8]| {
            let stream =
                b"\xff\x4f\xff\x51\0\x04\0\0\xff\x90\0\x0a\0\0\0\0\0\x10\0\x01\xff\x93\x01\x02\xff\xd9";
            let boxes = [b"\0\0\0\x0cjP  \r\n\x87\n\0\0\0\x08jp2h", more, b"\0\0\0\x22jp2c", stream];
            boxes.concat()
        };
        let words = b"\0\0\0\x0exml SECRET";
        let jpeg = |more: &[u8]| [b"\xff\xd8", more, b"\xff\xda\0\x02\x01\xff\xd9"].concat();
        let comment = b"\xff\xfe\0\x08SECRET";
        for (filter, told, want) in [
            ("JPXDecode", file(words), file(b"")),
            ("DCTDecode", jpeg(comment), jpeg(b"")),
            // What is no picture stays as it is.
            ("JPXDecode", b"SECRET".to_vec(), b"SECRET".to_vec()),
        ] {
            let mut doc = Document::with_version("1.7");
            let image = Stream::new(dictionary! { "Filter" => Object::Name(filter.into()) }, told);
            let image = doc.add_object(image);
            strip(&mut doc, &mut Bench::disarming().work()).expect("no limit is met");
            let stream = doc.get_object(image).and_then(Object::as_stream).expect("a stream");
            assert_eq!(stream.content, want, "{filter}");
        }
    }
}
