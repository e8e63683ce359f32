//! Pictures, in and out.

use std::io::{Cursor, Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use image::codecs::gif::{GifEncoder, Repeat};
use image::{Delay, DynamicImage, Frame, ImageFormat, RgbaImage, load_from_memory};

use crate::sanitize::bench::Bench;
use crate::sanitize::{FileKind, Note, Rejection};

fn picture() -> DynamicImage {
    DynamicImage::ImageRgba8(RgbaImage::from_fn(40, 20, |x, y| image::Rgba([x as u8, y as u8, 90, 255])))
}

fn encoded(format: ImageFormat) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    let picture = if format == ImageFormat::Jpeg { picture().into_rgb8().into() } else { picture() };
    picture.write_to(&mut out, format).expect("a picture");
    out.into_inner()
}

/// Cleaned twice: the same, with the same pixels, and without the mark.
fn cleaned(file: &[u8], mark: &[u8]) -> Vec<u8> {
    assert!(memchr::memmem::find(file, mark).is_some());
    let mut bench = Bench::redacting("x");
    let (clean, stats) = bench.clean(FileKind::Image, file).expect("a clean picture");
    let (again, _) = bench.clean(FileKind::Image, &clean).expect("a clean picture");
    assert!(clean == again, "no fixed point");
    assert_eq!(stats.notes.get(&Note::Images), Some(&1));
    assert!(memchr::memmem::find(&clean, mark).is_none());
    let (before, after) =
        (load_from_memory(file).expect("pixels"), load_from_memory(&clean).expect("pixels"));
    assert_eq!(before.into_rgba8(), after.into_rgba8());
    clean
}

fn chunk(name: &[u8], data: &[u8]) -> Vec<u8> {
    let mut crc = flate2::Crc::new();
    crc.update(&[name, data].concat());
    [&(data.len() as u32).to_be_bytes(), name, data, &crc.sum().to_be_bytes()].concat()
}

#[test]
fn a_png_is_its_picture() {
    let plain = encoded(ImageFormat::Png);
    let (head, tail) = plain.split_at(33);
    let text = chunk(b"tEXt", b"Author\0SECRET");
    let file =
        [head, &text, &chunk(b"eXIf", b"SECRET"), &chunk(b"prVt", b"SECRET"), tail, b"PK SECRET"].concat();
    assert_eq!(cleaned(&file, b"SECRET"), plain);
}

#[test]
fn chunks_of_a_png_are_there_once_and_move_what_moves() {
    let plain = encoded(ImageFormat::Png);
    let (head, tail) = plain.split_at(33);
    let dots = chunk(b"pHYs", b"\0\0\x0b\x13\0\0\x0b\x13\x01");
    let more = [chunk(b"pHYs", b"SECRETSEC"), chunk(b"fcTL", &[0; 26]), chunk(b"fdAT", b"\0\0\0\0SECRET")];
    let file = [head, &dots, &more.concat(), tail].concat();
    let (clean, _) = Bench::disarming().clean(FileKind::Image, &file).expect("a clean picture");
    assert_eq!(clean, [head, &dots, tail].concat());
}

#[test]
fn a_png_that_moves_has_no_more_than_its_frames() {
    let plain = encoded(ImageFormat::Png);
    let (head, tail) = plain.split_at(33);
    let (pixels, end) = tail.split_at(tail.len() - 12);
    let frame = pixels.get(8..pixels.len() - 4).expect("pixels");
    let control = |number: u8| {
        let sides = [&[0, 0, 0, number][..], &[0, 0, 0, 40, 0, 0, 0, 20], &[0; 8]].concat();
        chunk(b"fcTL", &[&sides[..], &[0, 1, 0, 10, 0, 0]].concat())
    };
    let begin = [head, &chunk(b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0]), &control(0), pixels, &control(1)].concat();
    let file = |more: &[u8]| {
        let data = [&[0_u8, 0, 0, 2][..], frame, more].concat();
        [begin.as_slice(), &chunk(b"fdAT", &data), end].concat()
    };
    assert_eq!(cleaned(&file(b"SECRET"), b"SECRET"), file(b""));
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("packed")
}

fn inflated(packed: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    ZlibDecoder::new(packed).read_to_end(&mut out).expect("unpacked");
    out
}

/// What the first chunk of this name holds.
fn chunk_of<'f>(file: &'f [u8], name: &[u8]) -> &'f [u8] {
    let at = memchr::memmem::find(file, name).expect("a chunk");
    let length = u32::from_be_bytes(file[at - 4..at].try_into().expect("a length"));
    &file[at + 4..at + 4 + length as usize]
}

#[test]
fn rows_that_a_png_does_not_show_are_gone() {
    let plain = encoded(ImageFormat::Png);
    let (head, end) = (&plain[..33], &plain[plain.len() - 12..]);
    let rows = inflated(chunk_of(&plain, b"IDAT"));
    let more = deflated(&[&rows[..], b"SECRET SECRET SECRET"].concat());
    // In one chunk, and in some.
    let (first, rest) = more.split_at(10);
    for pixels in [chunk(b"IDAT", &more), [chunk(b"IDAT", first), chunk(b"IDAT", rest)].concat()] {
        let clean = cleaned(&[head, &pixels, end].concat(), &more[more.len() - 4..]);
        assert_eq!(inflated(chunk_of(&clean, b"IDAT")), rows);
    }
    // Of a frame that comes later, with numbers that are none.
    let control = |number: u32| {
        let sides = [&number.to_be_bytes()[..], &[0, 0, 0, 40, 0, 0, 0, 20], &[0; 8]].concat();
        chunk(b"fcTL", &[&sides[..], &[0, 1, 0, 10, 0, 0]].concat())
    };
    let begin = [head, &chunk(b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0]), &control(0)].concat();
    let frame = chunk(b"fdAT", &[&b"SECR"[..], &more].concat());
    let file = [&begin[..], &chunk(b"IDAT", &more), &control(9), &frame, end].concat();
    let (clean, _) = Bench::disarming().clean(FileKind::Image, &file).expect("a clean picture");
    assert_eq!(inflated(&chunk_of(&clean, b"fdAT")[4..]), rows);
    assert_eq!(Bench::disarming().clean(FileKind::Image, &clean).map(|(clean, _)| clean), Ok(clean));
}

#[test]
fn colours_that_a_png_does_not_show_are_gone() {
    let header = chunk(b"IHDR", &[0, 0, 0, 3, 0, 0, 0, 1, 8, 3, 0, 0, 0]);
    let pixels = chunk(b"IDAT", &deflated(&[0, 0, 2, 0]));
    let file = |colours: &[u8], seen: &[u8]| {
        let (colours, seen) = (chunk(b"PLTE", colours), chunk(b"tRNS", seen));
        [&b"\x89PNG\r\n\x1a\n"[..], &header, &colours, &seen, &pixels, &chunk(b"IEND", b"")].concat()
    };
    let clean = cleaned(&file(b"abcSECghiRET", b"\xffS\x80E"), b"SEC");
    assert_eq!(clean, file(b"abc\0\0\0ghi\0\0\0", b"\xff\0\x80\0"));
    // Palettes of pictures that say their colours themselves, and transparency that is none.
    let plain = encoded(ImageFormat::Png);
    let (head, tail) = plain.split_at(33);
    let more =
        [chunk(b"PLTE", b"SECRETSEC"), chunk(b"tRNS", b"SECRET"), chunk(b"cHRM", &b"SECRET12".repeat(4))];
    let file = [head, &more.concat(), tail].concat();
    let (clean, _) = Bench::disarming().clean(FileKind::Image, &file).expect("a clean picture");
    assert_eq!(clean, plain);
}

#[test]
fn a_jpeg_keeps_its_pixels_and_how_it_is_turned() {
    let plain = encoded(ImageFormat::Jpeg);
    let (head, tail) = plain.split_at(2);
    let exif = b"Exif\0\0II*\0\x08\0\0\0\x02\0\x0f\x01\x02\0\x07\0\0\0\x26\0\0\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0SECRET\0";
    let segment = |marker: u8, data: &[u8]| {
        [&[0xff, marker], &(data.len() as u16 + 2).to_be_bytes()[..], data].concat()
    };
    let file = [
        head,
        &segment(0xe1, exif),
        &segment(0xfe, b"SECRET"),
        &segment(0xe2, b"ICC_PROFILE\0SECRET"),
        tail,
        b"SECRET",
    ]
    .concat();
    let clean = cleaned(&file, b"SECRET");
    let turning = memchr::memmem::find(&clean, b"Exif\0\0MM").expect("a turn");
    assert_eq!(clean.get(turning + 25), Some(&6));
    assert_eq!(clean.len(), plain.len() + 36);
    let cut = plain.get(..plain.len() / 4).expect("a part");
    assert_eq!(Bench::disarming().clean(FileKind::Image, cut).err(), Some(Rejection::Malformed));
}

#[test]
fn a_gif_keeps_moving() {
    let mut file = Vec::new();
    {
        let mut encoder = GifEncoder::new(&mut file);
        encoder.set_repeat(Repeat::Infinite).expect("a loop");
        let frame = || Frame::from_parts(picture().into_rgba8(), 0, 0, Delay::from_numer_denom_ms(100, 1));
        encoder.encode_frames([frame(), frame(), frame()]).expect("frames");
    }
    let plain = file.clone();
    file.pop();
    file.extend(b"\x21\xfe\x06SECRET\0\x21\xff\x0bXMP DataXMP\x06SECRET\0;SECRET");
    let clean = cleaned(&file, b"SECRET");
    assert_eq!(clean.len(), plain.len());
}

#[test]
fn a_gif_has_the_pixels_and_colours_that_it_shows() {
    // Four pixels of three colours of eight, of which the last is the one behind the frame.
    let packed = weezl::encode::Encoder::new(weezl::BitOrder::Lsb, 3).encode(&[0, 3, 3, 0]).expect("packed");
    let file = |colours: &[u8], more: &[u8]| {
        let screen = [b"GIF89a\x02\0\x02\0\x82\x07\0", colours].concat();
        let frame = [&b",\0\0\0\0\x02\0\x02\0\0\x03"[..], &[packed.len() as u8], &packed].concat();
        [&screen[..], &frame, more, b"\0;"].concat()
    };
    let told = file(b"abcSECRETdefSECRETSECghi", b"\x06SECRET");
    let want = file(b"abc\0\0\0\0\0\0def\0\0\0\0\0\0\0\0\0ghi", b"");
    assert_eq!(cleaned(&told, b"SECRET"), want);
    // In a table of the frame's own, and with words within the last block.
    let parts = want.split_at(want.len() - 2 - packed.len() - 2);
    let (screen, frame) = (&parts.0[..37], &parts.0[37..]);
    let own = |colours: &[u8], data: &[u8]| {
        let place = [&frame[..9], &[0x82], colours, &[3, data.len() as u8], data].concat();
        [screen, &place, b"\0;"].concat()
    };
    let told = own(b"abcSECRETdefSECRETSECRET", &[&packed[..], b"SECRET"].concat());
    let clean = cleaned(&told, b"SECRET");
    assert!(clean.ends_with(&own(b"abc\0\0\0\0\0\0def\0\0\0\0\0\0\0\0\0\0\0\0", &packed)[37..]));
}

#[test]
fn a_jpeg_has_the_tables_that_it_uses() {
    let plain = encoded(ImageFormat::Jpeg);
    let (head, tail) = plain.split_at(2);
    let segment = |marker: u8, data: &[u8]| {
        [&[0xff, marker], &(data.len() as u16 + 2).to_be_bytes()[..], data].concat()
    };
    let words = b"SECRET".repeat(12);
    let codes = [&[0x13][..], &[0, 0, 0, 0, 0, 0, 0, 36, 0, 0, 0, 0, 0, 0, 0, 0], &words[..36]].concat();
    for more in [
        segment(0xdb, &[&[3][..], &words[..64]].concat()),
        // Before the one of the same name that is used.
        segment(0xdb, &[&[0][..], &words[..64]].concat()),
        segment(0xc4, &codes),
    ] {
        assert_eq!(cleaned(&[head, &more, tail].concat(), b"SECRET"), plain);
    }
    // What arithmetic coding does not go by.
    let file = [head, &segment(0xcc, b"SECRET"), tail].concat();
    let (clean, _) = Bench::disarming().clean(FileKind::Image, &file).expect("a clean picture");
    assert_eq!(clean, plain);
}

/// A WebP with metadata: extended (RFC 9649, 2.7), with something behind it.
fn webp(exif: &[u8]) -> Vec<u8> {
    let plain = encoded(ImageFormat::WebP);
    let body = plain.get(12..).expect("chunks");
    let length = (exif.len() as u32).to_le_bytes();
    let head = &b"VP8X\x0a\0\0\0\x18\0\0\0\x27\0\0\x13\0\0"[..];
    let mut extended = [head, body, b"EXIF", &length, exif].concat();
    extended.extend(vec![0; exif.len() % 2]);
    let mut file = [b"RIFF\0\0\0\0WEBP", extended.as_slice()].concat();
    let length = (file.len() as u32 - 8).to_le_bytes();
    file.get_mut(4..8).expect("a length").copy_from_slice(&length);
    file.extend(b"SECRET");
    file
}

#[test]
fn a_webp_has_one_picture() {
    let (plain, file) = (encoded(ImageFormat::WebP), webp(b"SECRET"));
    let clean = cleaned(&file, b"SECRET");
    for (file, want) in [(plain.clone(), plain), (clean.clone(), clean)] {
        for name in [b"VP8L", b"VP8 ", b"VP8X"] {
            let mut more = [file.as_slice(), name, b"\x0a\0\0\0SECRETSECR"].concat();
            let length = (more.len() as u32 - 8).to_le_bytes();
            more.get_mut(4..8).expect("a length").copy_from_slice(&length);
            let (clean, _) = Bench::disarming().clean(FileKind::Image, &more).expect("a clean picture");
            assert_eq!(clean, want);
        }
    }
}

#[test]
fn a_webp_is_its_picture() {
    let clean = cleaned(&webp(b"SECRET"), b"SECRET");
    assert_eq!(clean.len(), encoded(ImageFormat::WebP).len() + 18);
}

#[test]
fn a_png_and_a_webp_keep_how_they_are_turned() {
    let exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0SECRET";
    let kept = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let plain = encoded(ImageFormat::Png);
    // Right behind the header, and behind the picture.
    for place in [33, plain.len() - 12] {
        let (head, tail) = plain.split_at(place);
        let clean = cleaned(&[head, &chunk(b"eXIf", exif), tail].concat(), b"SECRET");
        assert_eq!(clean, [&plain[..33], &chunk(b"eXIf", kept), &plain[33..]].concat());
    }
    for exif in [exif.to_vec(), [&b"Exif\0\0"[..], exif].concat()] {
        let clean = cleaned(&webp(&exif), b"SECRET");
        assert!(clean.ends_with(&[&b"EXIF\x1a\0\0\0"[..], kept].concat()));
        assert_eq!(clean.get(20), Some(&0x18));
    }
}

#[test]
fn pages_of_a_tiff_stay_and_small_copies_go() {
    let page = encoded(ImageFormat::Tiff);
    let at =
        |bytes: &[u8], place: usize| u32::from_le_bytes(bytes[place..place + 4].try_into().unwrap()) as usize;
    // The same page twice and a small copy of it, whose directory says so, behind what was one page.
    let directory = at(&page, 4);
    let entries = usize::from(u16::from_le_bytes(page[directory..directory + 2].try_into().unwrap()));
    let end = directory + 2 + entries * 12;
    let mut file = page.clone();
    let mut link = end;
    for kind in [2_u32, 1] {
        let place = file.len() as u32;
        file[link..link + 4].copy_from_slice(&place.to_le_bytes());
        file.extend((entries as u16 + 1).to_le_bytes());
        file.extend([254_u8, 0, 4, 0, 1, 0, 0, 0]);
        file.extend(kind.to_le_bytes());
        file.extend(&page[directory + 2..end]);
        link = file.len();
        file.extend([0_u8; 4]);
    }
    file.extend(b"SECRET");
    let mut bench = Bench::disarming();
    let (clean, stats) = bench.clean(FileKind::Image, &file).expect("a clean picture");
    assert_eq!(stats.notes.get(&Note::Dropped), Some(&1));
    let second = at(&clean, at(&clean, 4) + 2 + usize::from(clean[at(&clean, 4)]) * 12);
    let mut turned = clean.clone();
    turned[4..8].copy_from_slice(&(second as u32).to_le_bytes());
    for pages in [&clean, &turned] {
        assert_eq!(load_from_memory(pages).expect("pixels").into_rgba8(), picture().into_rgba8());
    }
    let (again, more) = bench.clean(FileKind::Image, &clean).expect("a clean picture");
    assert!(again == clean && more.notes.is_empty(), "{more:?}");
}

#[test]
fn bmp_and_tiff_are_encoded_anew() {
    for format in [ImageFormat::Bmp, ImageFormat::Tiff] {
        let mut file = encoded(format);
        file.extend(b"SECRET");
        cleaned(&file, b"SECRET");
    }
}

#[test]
fn what_is_too_large_is_not_decoded() {
    let header = [60_000_u32.to_be_bytes(), 60_000_u32.to_be_bytes()].concat();
    let header = [&header[..], &[8, 6, 0, 0, 0]].concat();
    let pixels = [0x78, 0x9c, 3, 0, 0, 0, 0, 1];
    let file = [b"\x89PNG\r\n\x1a\n".as_slice(), &chunk(b"IHDR", &header), &chunk(b"IDAT", &pixels)].concat();
    let file = [file, chunk(b"IEND", b"")].concat();
    assert_eq!(Bench::disarming().clean(FileKind::Image, &file).err(), Some(Rejection::OverLimit));
}
