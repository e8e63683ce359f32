//! Pictures in JPEG within a document lose what lies beside the picture: EXIF, comments, thumbnails, what trails them.

use lopdf::{Dictionary, Document, Object, Stream};

use crate::sanitize::format::image::jpeg_segments;
use crate::sanitize::format::pdf::parts::unfold;
use crate::sanitize::{Rejection, Work};

/// Takes it out of all of them.
///
/// # Errors
/// [`Rejection::OverLimit`].
pub(super) fn strip(doc: &mut Document, work: &mut Work<'_>) -> Result<(), Rejection> {
    for object in doc.objects.values_mut() {
        let Object::Stream(stream) = object else { continue };
        let Some(outer) = around_jpeg(&stream.dict) else { continue };
        let unpacked = match outer {
            0 => None,
            outer => unfold(&Stream::new(outermost(&stream.dict, outer), stream.content.clone()), work)?,
        };
        let jpeg = unpacked.as_ref().unwrap_or(&stream.content);
        let Some(clean) = jpeg_segments(jpeg).filter(|clean| clean != jpeg) else { continue };
        if outer > 0 {
            let parameters = parameters(&stream.dict, outer).cloned();
            stream.dict.set("Filter", Object::Name(b"DCTDecode".to_vec()));
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

/// How many filters lie around the JPEG in a stream (ISO 32000-1, 7.3.8.2); `None` where it holds none.
fn around_jpeg(dict: &Dictionary) -> Option<usize> {
    let jpeg = |filter: &Object| matches!(filter.as_name(), Ok(b"DCTDecode" | b"DCT"));
    match dict.get(b"Filter").ok()? {
        Object::Array(filters) => {
            filters.split_last().filter(|(last, _)| jpeg(last)).map(|(_, outer)| outer.len())
        }
        filter => jpeg(filter).then_some(0),
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
