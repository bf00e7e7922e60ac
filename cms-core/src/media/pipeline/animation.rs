//! Telling pictures that move from those that stand still, without decoding them.

use std::io::Cursor;

use image::codecs::{png::PngDecoder, webp::WebPDecoder};

use crate::media::render::Format;

/// Returns whether the source has more than one frame.
///
/// Renderings show the first frame only, so moving pictures are better served as they are.
pub(crate) fn is_animated(source: &[u8], format: Format) -> bool {
    match format {
        Format::Gif => gif_moves(source).unwrap_or(false),
        Format::Png => PngDecoder::with_limits(Cursor::new(source), image::Limits::default())
            .is_ok_and(|png| png.is_apng().unwrap_or(false)),
        Format::Webp => {
            WebPDecoder::new(Cursor::new(source)).is_ok_and(|webp| webp.has_animation())
        }
        Format::Jpeg | Format::Bmp => false,
    }
}

/// Walks over the blocks of a GIF up to the second picture; `None` where the file ends early.
fn gif_moves(source: &[u8]) -> Option<bool> {
    const SCREEN: usize = 13;
    const EXTENSION: u8 = 0x21;
    const PICTURE: u8 = 0x2c;

    let mut rest = source.get(SCREEN + colours(*source.get(10)?)..)?;
    let mut pictures = 0;
    loop {
        match *rest.first()? {
            EXTENSION => rest = after_blocks(rest.get(2..)?)?,
            PICTURE => {
                pictures += 1;
                if pictures == 2 {
                    return Some(true);
                }
                // Position and size, then flags, colours, and the width of codes.
                let colours = colours(*rest.get(9)?);
                rest = after_blocks(rest.get(10 + colours + 1..)?)?;
            }
            _ => return Some(false),
        }
    }
}

/// Bytes of the colour table that these flags announce.
fn colours(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 0x07) + 1) }
}

/// Skips blocks that each start with their length, up to an empty one.
fn after_blocks(mut rest: &[u8]) -> Option<&[u8]> {
    loop {
        let (&length, behind) = rest.split_first()?;
        if length == 0 {
            return Some(behind);
        }
        rest = behind.get(usize::from(length)..)?;
    }
}
