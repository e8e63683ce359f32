//! TIFFs as scanners, faxes and programs write them: the same pixels, in a file that says no more than them.

use std::io::Cursor;
use std::slice::from_ref;

use image::{DynamicImage, ImageFormat, RgbImage, load_from_memory};

use crate::sanitize::bench::Bench;
use crate::sanitize::format::image::directory::{TiffDirectory, TiffNumbers, TiffPages};
use crate::sanitize::{FileKind, Rejection};

/// Numbers of a tag.
type Tags<'t> = Vec<(u16, &'t [u32])>;

/// A file of a page with these tags and strips; with wide numbers, a BigTIFF.
fn tiff(tags: &[(u16, &[u32])], strips: &[Vec<u8>], wide: bool) -> Vec<u8> {
    let place =
        |n: usize| if wide { (n as u64).to_le_bytes().to_vec() } else { (n as u32).to_le_bytes().to_vec() };
    let mut file = if wide { b"II+\0\x08\0\0\0\0\0\0\0\0\0\0\0".to_vec() } else { b"II*\0\0\0\0\0".to_vec() };
    let (mut starts, mut lengths) = (Vec::new(), Vec::new());
    for strip in strips {
        starts.push(file.len() as u32);
        lengths.push(strip.len() as u32);
        file.extend(strip);
    }
    let tiled = tags.iter().any(|(tag, _)| *tag == 322);
    let mut tags = tags.to_vec();
    tags.push((if tiled { 324 } else { 273 }, &starts));
    tags.push((if tiled { 325 } else { 279 }, &lengths));
    tags.sort_by_key(|(tag, _)| *tag);
    let count = tags.len();
    let mut entries = Vec::new();
    for (tag, values) in tags {
        // Some are fractions.
        let (kind, count) = if matches!(tag, 282 | 283) { (5_u16, 1) } else { (4, values.len()) };
        let mut bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let room = if wide { 8 } else { 4 };
        if bytes.len() > room {
            let at = file.len();
            file.extend(&bytes);
            bytes = place(at);
        }
        bytes.resize(room, 0);
        entries.push([tag.to_le_bytes().to_vec(), kind.to_le_bytes().to_vec(), place(count), bytes].concat());
    }
    let at = place(file.len());
    let link = if wide { 8 } else { 4 };
    file[link..link + at.len()].copy_from_slice(&at);
    let counted =
        if wide { (count as u64).to_le_bytes().to_vec() } else { (count as u16).to_le_bytes().to_vec() };
    [file, counted, entries.concat(), place(0)].concat()
}

/// Cleaned twice: the same file, and its pixels.
fn cleaned(file: &[u8]) -> (Vec<u8>, DynamicImage) {
    let (clean, _) = Bench::disarming().clean(FileKind::Image, file).expect("a clean file");
    let (again, _) = Bench::disarming().clean(FileKind::Image, &clean).expect("a clean file");
    assert!(clean == again, "no fixed point");
    let picture = load_from_memory(&clean).expect("pixels");
    (clean, picture)
}

fn refused(file: &[u8]) -> Option<Rejection> {
    Bench::disarming().clean(FileKind::Image, file).err()
}

fn directory(file: &[u8]) -> TiffDirectory<'_> {
    let pages = TiffPages::of(file).expect("pages");
    TiffDirectory::of(TiffNumbers::of(file), pages.shown[0]).expect("a directory")
}

/// Numbers of so many bits, each row from a byte on.
fn packed(rows: &[&[u32]], bits: u32) -> Vec<u8> {
    let mut out = Vec::new();
    for row in rows {
        let dots: String =
            row.iter().map(|number| format!("{number:0width$b}", width = bits as usize)).collect();
        for byte in dots.as_bytes().chunks(8) {
            out.push(byte.iter().enumerate().fold(0, |all, (n, bit)| all | (bit - b'0') << (7 - n)));
        }
    }
    out
}

/// What most pages say: sides, bits, how they are packed, colours.
fn page<'t>(sides: [&'t [u32]; 2], bits: &'t [u32], packing: &'t [u32], colours: &'t [u32]) -> Tags<'t> {
    vec![(256, sides[0]), (257, sides[1]), (258, bits), (259, packing), (262, colours)]
}

/// The same, and more.
fn with<'t>(mut tags: Tags<'t>, more: &[(u16, &'t [u32])]) -> Tags<'t> {
    tags.extend(more);
    tags
}

fn reversed(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| byte.reverse_bits()).collect()
}

#[test]
fn small_numbers_of_grey_become_shades() {
    for (bits, most) in [(1_u32, 1_u32), (2, 3), (4, 15), (8, 255), (12, 4095), (16, 65_535)] {
        let rows: [&[u32]; 2] = [&[0, most, most / 3], &[most / 2, 1, 0]];
        for dark in [0, 1] {
            let mut strip = packed(&rows, bits);
            if bits == 16 {
                strip.chunks_mut(2).for_each(|pair| pair.reverse());
            }
            let file = tiff(&page([&[3], &[2]], &[bits], &[1], &[dark]), &[strip], bits == 4);
            let full = if bits > 8 { 65_535 } else { 255 };
            let shade = |number: &u32| {
                let shade = (number * full + most / 2) / most;
                if dark == 0 { full - shade } else { shade }
            };
            let want: Vec<u32> = rows.iter().flat_map(|row| row.iter().map(shade)).collect();
            let found: Vec<u32> = match cleaned(&file).1 {
                DynamicImage::ImageLuma8(grey) => grey.into_raw().into_iter().map(u32::from).collect(),
                DynamicImage::ImageLuma16(grey) => grey.into_raw().into_iter().map(u32::from).collect(),
                other => panic!("{:?}", other.color()),
            };
            assert_eq!(found, want, "{bits} bits, {dark}");
        }
    }
}

#[test]
fn colours_that_are_chosen_from_a_list_are_written_out() {
    for width in [1_u32, 2, 4, 8] {
        let (bits, colours) = ([width], 1_u32 << width);
        // In numbers of two bytes, and in bytes, as some programs write them.
        for wide in [257, 1] {
            let list: Vec<u32> = (0..3 * colours).map(|n| (n * 5 + 1) % 256 * wide).collect();
            let rows: [&[u32]; 2] = [&[0, colours - 1, 1], &[colours / 2, 1, 0]];
            let tags = with(page([&[3], &[2]], &bits, &[1], &[3]), &[(320, &list)]);
            let found = cleaned(&tiff(&tags, &[packed(&rows, width)], false)).1;
            let colour = |n: &u32| [0, 1, 2].map(|part| ((part * colours + n) * 5 + 1) as u8);
            let want: Vec<u8> = rows.iter().flat_map(|row| row.iter().flat_map(colour)).collect();
            let want = RgbImage::from_raw(3, 2, want).expect("pixels");
            assert_eq!(found, DynamicImage::ImageRgb8(want), "{width} bits");
        }
    }
}

#[test]
fn what_is_seen_of_a_pixel_is_said_as_it_was() {
    let strip = vec![64, 128, 200, 255, 1, 0, 9, 9];
    for kind in [1_u32, 2] {
        let kind = [kind];
        let tags = with(page([&[2], &[2]], &[8], &[1], &[1]), &[(277, &[2]), (338, &kind)]);
        let (clean, picture) = cleaned(&tiff(&tags, from_ref(&strip), false));
        let want = [64, 64, 64, 128, 200, 200, 200, 255, 1, 1, 1, 0, 9, 9, 9, 9];
        assert_eq!(picture.into_rgba8().into_raw(), want);
        assert_eq!(directory(&clean).all(338, 9), [u64::from(kind[0])]);
    }
    let mut tags = with(page([&[2], &[1]], &[8], &[1], &[2]), &[(277, &[4]), (338, &[1])]);
    let (clean, picture) = cleaned(&tiff(&tags, from_ref(&strip), false));
    assert_eq!(picture.into_rgba8().into_raw(), strip);
    assert_eq!(directory(&clean).all(338, 9), [1]);
    // Of which nobody says what it is.
    tags.pop();
    assert_eq!(directory(&cleaned(&tiff(&tags, from_ref(&strip), false)).0).all(338, 9), [2]);
}

#[test]
fn dots_that_begin_with_the_last_bit_are_turned() {
    let rows: [&[u32]; 2] = [&[1, 0, 1, 1, 0, 0, 0, 1, 1], &[0, 0, 1, 0, 1, 0, 1, 0, 1]];
    let fax = vec![0b0011_0111, 0b0100_0000];
    let mut tags = page([&[9], &[2]], &[1], &[1], &[1]);
    let want = cleaned(&tiff(&tags, &[packed(&rows, 1)], false)).1;
    tags.push((266, &[2]));
    assert_eq!(cleaned(&tiff(&tags, &[reversed(&packed(&rows, 1))], false)).1, want);
    let mut tags = page([&[9], &[1]], &[1], &[4], &[0]);
    let want = cleaned(&tiff(&tags, from_ref(&fax), false)).1;
    tags.push((266, &[2]));
    assert_eq!(cleaned(&tiff(&tags, &[reversed(&fax)], false)).1, want);
}

#[test]
fn faxes_are_read() {
    // Four white dots, three black ones, two white ones.
    let want = [255, 255, 255, 255, 0, 0, 0, 255, 255];
    for (packing, options, strip) in [
        (2_u32, 0_u32, vec![0b1011_1001, 0b1100_0000]),
        (3, 0, vec![0, 0b0001_1011, 0b1001_1100]),
        (3, 1, vec![0, 0b0001_1101, 0b1100_1110]),
        (4, 0, vec![0b0011_0111, 0b0100_0000]),
    ] {
        let (packing, options) = ([packing], [options]);
        let tags = with(page([&[9], &[1]], &[1], &packing, &[0]), &[(292, &options)]);
        let found = cleaned(&tiff(&tags, &[strip], false)).1;
        assert_eq!(found.into_luma8().into_raw(), want, "{packing:?} {options:?}");
    }
}

#[test]
fn a_jpeg_in_strips_has_its_colours() {
    let picture = RgbImage::from_fn(48, 32, |x, y| image::Rgb([(x * 5) as u8, (y * 7) as u8, 90]));
    let mut strip = Cursor::new(Vec::new());
    DynamicImage::ImageRgb8(picture).write_to(&mut strip, ImageFormat::Jpeg).expect("a picture");
    let strip = strip.into_inner();
    let want = load_from_memory(&strip).expect("pixels").into_rgb8().into_raw();
    let tags = with(page([&[48], &[32]], &[8], &[7], &[6]), &[(277, &[3]), (530, &[2, 2])]);
    let found = cleaned(&tiff(&tags, &[strip], false)).1.into_rgb8().into_raw();
    assert!(found.iter().zip(&want).all(|(a, b)| a.abs_diff(*b) <= 2) && found.len() == want.len());
}

#[test]
fn colours_lie_apart_and_in_tiles() {
    let want: Vec<u8> = (0..5 * 3 * 3).map(|n| (n * 3) as u8).collect();
    let planes: Vec<Vec<u8>> =
        (0..3).map(|part| want.iter().skip(part).step_by(3).copied().collect()).collect();
    let tags = with(page([&[5], &[3]], &[8], &[1], &[2]), &[(277, &[3]), (284, &[2])]);
    assert_eq!(cleaned(&tiff(&tags, &planes, true)).1.into_rgb8().into_raw(), want);
    let tile = |left: usize, top: usize| {
        let place = |n: usize| (left + n % 4, top + n / 4);
        let pixel = |n: usize| match place(n) {
            (x, y) if x < 5 && y < 3 => want[(y * 5 + x) * 3..][..3].to_vec(),
            _ => b"XXX".to_vec(),
        };
        (0..8).flat_map(pixel).collect::<Vec<u8>>()
    };
    let tiles = [tile(0, 0), tile(4, 0), tile(0, 2), tile(4, 2)];
    let tags = with(page([&[5], &[3]], &[8], &[1], &[2]), &[(277, &[3]), (322, &[4]), (323, &[2])]);
    assert_eq!(cleaned(&tiff(&tags, &tiles, false)).1.into_rgb8().into_raw(), want);
    // Ink on paper.
    let tags = with(page([&[2], &[1]], &[8], &[1], &[5]), &[(277, &[4])]);
    let inks = vec![0, 255, 51, 0, 0, 0, 0, 204];
    assert_eq!(cleaned(&tiff(&tags, &[inks], false)).1.into_rgb8().into_raw(), [255, 0, 204, 51, 51, 51]);
}

#[test]
fn a_page_keeps_its_size() {
    for (turn, want) in [(1, [[204, 1], [98, 1]]), (6, [[98, 1], [204, 1]])] {
        let turn = [turn];
        let said: [(u16, &[u32]); 4] = [(282, &[408, 2]), (283, &[98, 1]), (296, &[2]), (274, &turn)];
        let tags = with(page([&[2], &[1]], &[8], &[1], &[1]), &said);
        let (clean, picture) = cleaned(&tiff(&tags, &[vec![1, 2]], false));
        let directory = directory(&clean);
        assert_eq!([282, 283].map(|tag| directory.ratio(tag)), want.map(Some));
        assert_eq!((directory.first(296), picture.width()), (Some(2), if turn == [1] { 2 } else { 1 }));
    }
    // What no page has is not said on.
    let said: [(u16, &[u32]); 3] = [(282, &[300, 0]), (283, &[98, 1]), (296, &[2])];
    let tags = with(page([&[2], &[1]], &[8], &[1], &[1]), &said);
    let (clean, _) = cleaned(&tiff(&tags, &[vec![1, 2]], false));
    assert_eq!((directory(&clean).ratio(283), directory(&clean).first(296)), (Some([1, 1]), Some(1)));
}

#[test]
fn what_nobody_reads_is_told_from_what_is_broken() {
    let strip = vec![7_u8; 64];
    for (bits, packing, colours, samples) in [
        // Zstandard, LZMA, JPEG as it was at first; LAB, masks; too many bits, and too few of JPEG.
        (8_u32, 50_000_u32, 1_u32, 1_u32),
        (8, 34_925, 1, 1),
        (8, 6, 6, 3),
        (8, 1, 8, 3),
        (8, 1, 9, 3),
        (1, 1, 4, 1),
        (32, 1, 1, 1),
        (12, 7, 1, 1),
        // Pixels that share their colours.
        (8, 1, 6, 3),
    ] {
        let (said, samples) = ([[bits], [packing], [colours]], [samples]);
        let tags = with(page([&[2], &[2]], &said[0], &said[1], &said[2]), &[(277, &samples)]);
        assert_eq!(refused(&tiff(&tags, from_ref(&strip), false)), Some(Rejection::Unsupported), "{said:?}");
    }
    for (samples, bits, packing, colours) in
        [(2, 8, 1, 2), (1, 8, 1, 3), (1, 8, 5, 1), (1, 8, 7, 1), (1, 8, 1, 1), (0, 8, 1, 1)]
    {
        let (said, samples) = ([[bits], [packing], [colours]], [samples]);
        let tags = with(page([&[9], &[9]], &said[0], &said[1], &said[2]), &[(277, &samples)]);
        assert_eq!(refused(&tiff(&tags, from_ref(&strip), false)), Some(Rejection::Malformed), "{said:?}");
    }
}

#[test]
fn a_predictor_is_known_or_has_no_meaning() {
    let strip = vec![1_u8, 2, 3, 4];
    for (packing, predictor, want) in [
        (1_u32, 2_u32, None),
        (1, 3, None),
        (32_773, 0, None),
        // Of floating point, and of nobody's.
        (8, 3, Some(Rejection::Unsupported)),
        (5, 3, Some(Rejection::Unsupported)),
        (8, 0, Some(Rejection::Unsupported)),
        (8, 34_894, Some(Rejection::Unsupported)),
    ] {
        let (packing, predictor) = ([packing], [predictor]);
        let tags = with(page([&[4], &[1]], &[8], &packing, &[1]), &[(317, &predictor)]);
        let strip = if packing == [1] { strip.clone() } else { [&[3_u8][..], strip.as_slice()].concat() };
        let file = tiff(&tags, &[strip], false);
        assert_eq!(refused(&file), want, "{packing:?} {predictor:?}");
        if want.is_none() {
            assert_eq!(cleaned(&file).1.into_luma8().into_raw(), [1, 2, 3, 4]);
        }
    }
    for (predictor, want) in
        [(1_u32, None), (2, Some(Rejection::Unsupported)), (3, Some(Rejection::Unsupported))]
    {
        let predictor = [predictor];
        let said: [(u16, &[u32]); 3] = [(277, &[3]), (317, &predictor), (339, &[3, 3, 3])];
        let tags = with(page([&[1], &[1]], &[32, 32, 32], &[1], &[2]), &said);
        assert_eq!(refused(&tiff(&tags, &[vec![0; 12]], false)), want, "{predictor:?}");
    }
}

#[test]
fn strips_that_share_their_bytes_are_unpacked_a_few_times() {
    // A strip of a byte, before which 64 KiB do nothing.
    let strip = [vec![0x80; 64 << 10], vec![0, 9]].concat();
    let starts = vec![8_u32; 2000];
    let lengths = vec![strip.len() as u32; 2000];
    let said: [(u16, &[u32]); 3] = [(278, &[1]), (273, &starts), (279, &lengths)];
    let tags = with(page([&[1], &[2000]], &[8], &[32_773], &[1]), &said);
    let file = tiff(&tags, &[strip], false);
    assert_eq!(refused(&file), Some(Rejection::OverLimit));
}

#[test]
fn a_tile_that_is_too_large_is_not_unpacked() {
    let tags = with(page([&[1], &[1]], &[8], &[8], &[1]), &[(322, &[65_000]), (323, &[65_000])]);
    assert_eq!(refused(&tiff(&tags, &[vec![0]], false)), Some(Rejection::OverLimit));
    let tags = page([&[70_000], &[1]], &[8], &[8], &[1]);
    assert_eq!(refused(&tiff(&tags, &[vec![0]], false)), Some(Rejection::OverLimit));
}
