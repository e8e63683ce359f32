//! [`strip`]: images that stand in content streams themselves (ISO 32000-1, 8.9.7) lose what lies beside the picture: what a JPEG
//! holds besides, and what follows the last pixel of one that is not packed.

use lopdf::{Dictionary, Document, Object, Stream};

use crate::sanitize::format::image::jpeg_segments;
use crate::sanitize::format::pdf::parts;
use crate::sanitize::format::pdf::pictures::in_full;
use crate::sanitize::format::pdf::text::lexer::{PdfLexer, PdfToken};
use crate::sanitize::format::pdf::text::operands::Operand;
use crate::sanitize::format::pdf::text::streams::ContentStreams;
use crate::sanitize::{ChangedObject, ObjectKind, Rejection, Work};

/// More tokens than the entries of an inline image have.
const TOKENS: usize = 1024;

/// Keys of entries (ISO 32000-1, table 93), each in full and in short.
const FILTER: &[&[u8]] = &[b"Filter", b"F"];
const PARAMETERS: &[&[u8]] = &[b"DecodeParms", b"DP"];
const WIDTH: &[&[u8]] = &[b"Width", b"W"];
const HEIGHT: &[&[u8]] = &[b"Height", b"H"];
const BITS: &[&[u8]] = &[b"BitsPerComponent", b"BPC"];
const COLOURS: &[&[u8]] = &[b"ColorSpace", b"CS"];
const LENGTH: &[&[u8]] = &[b"Length", b"L"];
const MASK: &[&[u8]] = &[b"ImageMask", b"IM"];

/// Takes it out of all of them.
///
/// # Errors
/// [`Rejection::OverLimit`].
pub(in crate::sanitize::format) fn strip(doc: &mut Document, work: &mut Work<'_>) -> Result<(), Rejection> {
    let ids = ContentStreams::new(doc).ids();
    for id in ids {
        let Some(Object::Stream(stream)) = doc.objects.get(&id) else { continue };
        let bytes = match parts::unfold(stream, work)? {
            None if stream.dict.has(b"Filter") => continue,
            None => stream.content.clone(),
            Some(bytes) => bytes,
        };
        let Some(clean) = stripped(&bytes, work)? else { continue };
        if let Some(Object::Stream(stream)) = doc.objects.get_mut(&id) {
            stream.set_plain_content(clean);
        }
    }
    Ok(())
}

/// A content stream without that; `None` if nothing changes.
fn stripped(bytes: &[u8], work: &mut Work<'_>) -> Result<Option<Vec<u8>>, Rejection> {
    if memchr::memmem::find(bytes, b"BI").is_none() {
        return Ok(None);
    }
    let (mut lexer, mut out, mut from) = (PdfLexer::new(bytes), Vec::new(), 0);
    let mut begun: Option<InlineImage<'_>> = None;
    while let Some((token, range)) = lexer.next() {
        match token {
            PdfToken::Word(b"BI") => begun = Some(InlineImage { start: range.start, tokens: Vec::new() }),
            PdfToken::Word(b"ID") => {
                lexer.skip_image();
                let data = range.end.saturating_add(1)..lexer.position();
                let data = bytes.get(data).unwrap_or_default();
                let Some(image) = begun.take() else { continue };
                let data = data.strip_suffix(b"EI").unwrap_or(data);
                let Some(new) = image.written(bytes, data, work)? else { continue };
                out.extend(bytes.get(from..image.start).unwrap_or_default());
                out.extend(new);
                from = lexer.position();
            }
            token => {
                if let Some(image) = begun.as_mut() {
                    image.tokens.push((token, range));
                }
                // What has so many is none.
                begun = begun.filter(|image| image.tokens.len() <= TOKENS);
            }
        }
    }
    if from == 0 {
        return Ok(None);
    }
    out.extend(bytes.get(from..).unwrap_or_default());
    Ok(Some(out))
}

/// The entries of an inline image.
struct InlineImage<'b> {
    /// Where its beginning stands.
    start: usize,
    tokens: Vec<Operand<'b>>,
}

/// A key and its value, as they stand in a stream.
type Entry<'e, 'b> = (&'e Operand<'b>, &'e [Operand<'b>]);

impl<'b> InlineImage<'b> {
    /// What takes the place of the image; `None` if it stays as it is.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`].
    fn written(&self, bytes: &[u8], data: &[u8], work: &mut Work<'_>) -> Result<Option<Vec<u8>>, Rejection> {
        let filters = self.filters();
        let (clean, outer) = match filters.split_last() {
            None => (self.pixels(data).map(<[u8]>::to_vec), 0),
            // Where another end stands in it, what follows the image may be in it, too.
            Some((&b"DCTDecode", _)) if has_end(data) => return Ok(None),
            Some((&b"DCTDecode", outer)) => {
                let unpacked = unpacked(outer, data, work)?;
                let Some(clean) = unpacked.and_then(|picture| jpeg_segments(&picture)) else {
                    work.leave_out(ChangedObject::left_out(ObjectKind::Picture));
                    return Ok(Some(b"\n".to_vec()));
                };
                (Some(clean), outer.len())
            }
            Some(_) => (None, 0),
        };
        let Some(clean) = clean else { return Ok(None) };
        let clean = [&clean[..], b"\n"].concat();
        if clean == data {
            return Ok(None);
        }
        let mut out = b"BI".to_vec();
        for (key, value) in self.entries() {
            let packed = is_key(key, FILTER) || is_key(key, PARAMETERS);
            // How long it was is another length now.
            if !is_key(key, LENGTH) && (outer == 0 || !packed) {
                let end = value.last().map_or(key.1.end, |(_, range)| range.end);
                out.push(b' ');
                out.extend(bytes.get(key.1.start..end).unwrap_or_default());
            }
        }
        if outer > 0 {
            out.extend(b" /F /DCT");
        }
        out.extend(b" ID ");
        out.extend(clean);
        out.extend(b"EI");
        Ok(Some(out))
    }

    /// Its entries, as far as they are keys and values.
    fn entries(&self) -> Vec<Entry<'_, 'b>> {
        let (mut rest, mut entries) = (self.tokens.as_slice(), Vec::new());
        while let Some((key, after)) = rest.split_first() {
            let Some((value, next)) = after.split_at_checked(value_length(after)) else { break };
            entries.push((key, value));
            rest = next;
        }
        entries
    }

    /// The value of an entry.
    fn value(&self, keys: &[&[u8]]) -> &[Operand<'b>] {
        let found = self.entries().into_iter().find(|(key, _)| is_key(key, keys));
        found.map(|(_, value)| value).unwrap_or_default()
    }

    /// What it is packed by, the outermost first, in full.
    fn filters(&self) -> Vec<&[u8]> {
        let names = self.value(FILTER).iter().filter_map(|(token, _)| match token {
            PdfToken::Name(name) => Some(in_full(name)),
            _ => None,
        });
        names.collect()
    }

    /// A whole number of an entry.
    fn number(&self, keys: &[&[u8]]) -> Option<usize> {
        match self.value(keys) {
            [(PdfToken::Number(number), _)] if (0.0..1e9).contains(number) && number.fract() == 0.0 => {
                Some(*number as usize)
            }
            _ => None,
        }
    }

    /// The pixels of one that is not packed, without what follows them; `None` if nothing does, or nobody can tell.
    fn pixels<'d>(&self, data: &'d [u8]) -> Option<&'d [u8]> {
        let mask = matches!(self.value(MASK), [(PdfToken::Word(b"true"), _)]);
        let bits = if mask { 1 } else { self.number(BITS)?.checked_mul(self.colours()?)? };
        let row = self.number(WIDTH)?.checked_mul(bits)?.div_ceil(8);
        let (pixels, more) = data.split_at_checked(row.checked_mul(self.number(HEIGHT)?)?)?;
        // Where another end stands in it, it may be what follows the image.
        let ends = memchr::memmem::find(more, b"EI").is_some();
        (!ends && !more.iter().all(u8::is_ascii_whitespace)).then_some(pixels)
    }

    /// How many components a colour has.
    fn colours(&self) -> Option<usize> {
        match self.value(COLOURS) {
            [(PdfToken::Name(name), _)] => match name.as_slice() {
                b"G" | b"DeviceGray" | b"CalGray" => Some(1),
                b"RGB" | b"DeviceRGB" | b"CalRGB" => Some(3),
                b"CMYK" | b"DeviceCMYK" => Some(4),
                _ => None,
            },
            [(PdfToken::Open, _), (PdfToken::Name(name), _), ..] => {
                (name == b"I" || name == b"Indexed").then_some(1)
            }
            _ => None,
        }
    }
}

/// Whether data holds what may be the end of an image, however it is set off from what stands before.
fn has_end(data: &[u8]) -> bool {
    let is_end = |at: usize| data.get(at.saturating_add(2)).is_none_or(u8::is_ascii_whitespace);
    memchr::memmem::find_iter(data, b"EI").any(is_end)
}

/// Whether a token is one of these keys.
fn is_key(token: &Operand<'_>, keys: &[&[u8]]) -> bool {
    matches!(&token.0, PdfToken::Name(name) if keys.contains(&name.as_slice()))
}

/// Of how many tokens a value consists.
fn value_length(tokens: &[Operand<'_>]) -> usize {
    let mut depth = 0_usize;
    for (before, (token, _)) in tokens.iter().enumerate() {
        match token {
            PdfToken::Open | PdfToken::Begin => depth = depth.saturating_add(1),
            PdfToken::Close | PdfToken::End => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return before.saturating_add(1);
        }
    }
    tokens.len()
}

/// What these filters unfold data to; `None` if they cannot be undone.
///
/// # Errors
/// [`Rejection::OverLimit`].
fn unpacked(filters: &[&[u8]], data: &[u8], work: &mut Work<'_>) -> Result<Option<Vec<u8>>, Rejection> {
    if filters.is_empty() {
        return Ok(Some(data.to_vec()));
    }
    let mut dict = Dictionary::new();
    let filters = filters.iter().map(|filter| Object::Name(filter.to_vec()));
    dict.set("Filter", Object::Array(filters.collect()));
    parts::unfold(&Stream::new(dict, data.to_vec()), work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::Note;
    use crate::sanitize::bench::Bench;

    /// What becomes of a content stream, and how many pictures are left out.
    fn of(bytes: &[u8]) -> (Vec<u8>, u64) {
        let mut bench = Bench::disarming();
        let mut work = bench.work();
        let clean = stripped(bytes, &mut work).expect("no limit is met").unwrap_or_else(|| bytes.to_vec());
        assert_eq!(stripped(&clean, &mut work).expect("no limit is met"), None, "a fixed point");
        (clean, work.into_stats().notes.get(&Note::Dropped).copied().unwrap_or_default())
    }

    /// A content stream with an inline image.
    fn image(entries: &str, data: &[u8]) -> Vec<u8> {
        [&b"q BI "[..], entries.as_bytes(), b" ID ", data, b"EI Q (some more text) Tj"].concat()
    }

    #[test]
    fn jpegs_lose_what_lies_beside_them() {
        let jpeg = |more: &[u8]| [b"\xff\xd8", more, b"\xff\xda\0\x02\x01\xff\xd9"].concat();
        let (plain, told) = ([&jpeg(b"")[..], b"\n"].concat(), jpeg(b"\xff\xfe\0\x08SECRET"));
        let entries = "/W 1 /H 1 /CS /G /BPC 8 /F /DCT";
        let want = (image(entries, &plain), 0);
        for told in [plain.clone(), [&told[..], b"\n"].concat(), [b"\n", &told[..], b" SECRET\n"].concat()] {
            assert_eq!(of(&image(entries, &told)), want);
        }
        // Within another filter.
        let hex: String = told.iter().map(|byte| format!("{byte:02x}")).collect();
        let entries = "/F [/AHx /DCT] /DP [null <</A [1]>>] /W 1 /H 1 /CS /G /BPC 8";
        let want = image("/W 1 /H 1 /CS /G /BPC 8 /F /DCT", &plain);
        assert_eq!(of(&image(entries, format!("{hex}>\n").as_bytes())), (want, 0));
        // Where its end is not set off, what follows stays.
        for (entries, end) in [("/F /DCT", &b""[..]), ("/F [/AHx /DCT]", b">")] {
            let page =
                [&image(entries, &[&told[..], end].concat())[..], b"\nBT (second) Tj ET EI Q"].concat();
            assert_eq!(of(&page), (page, 0), "{entries}");
        }
        // None at all.
        let want = b"q \n Q (some more text) Tj".to_vec();
        assert_eq!(of(&image("/W 1 /H 1 /F /DCT", b"SECRET\n")), (want, 1));
    }

    #[test]
    fn pixels_that_are_not_packed_end_with_the_last() {
        for (entries, plain) in [
            ("/W 1 /H 1 /CS /G /BPC 8", &b"x\n"[..]),
            ("/W 2 /H 2 /CS /RGB /BPC 8", b"abcabcabcabc\n"),
            ("/W 9 /H 2 /IM true", b"abcd\n"),
            ("/W 3 /H 1 /CS [/I /RGB 1 <000000ffffff>] /BPC 4", b"ab\n"),
        ] {
            assert_eq!(of(&image(entries, plain)), (image(entries, plain), 0), "{entries}");
            let told = [plain.trim_ascii_end(), b"SECRET\n"].concat();
            assert_eq!(of(&image(entries, &told)), (image(entries, plain), 0), "{entries}");
        }
        // In colours of the page, packed, and with another end in what follows.
        for (entries, data) in [
            ("/W 1 /H 1 /CS /Own /BPC 8", &b"xMARLOWE\n"[..]),
            ("/W 1 /H 1 /CS /G /BPC 8 /F /RL", b"\0xMARLOWE\n"),
            ("/W 1 /H 1 /CS /G /BPC 8", b"x\nEI \xff EI\n"),
        ] {
            assert_eq!(of(&image(entries, data)), (image(entries, data), 0), "{entries}");
        }
    }
}
