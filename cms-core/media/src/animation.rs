//! Animated images: detected from the file without decoding frames.
//!
//! The server sends such images as stored, so that they stay animated (see
//! docs/reference/media.md#resize).

use super::png;

/// Returns whether a file has more than one frame.
pub fn is_animated(media_type: &str, content: &[u8]) -> bool {
    match media_type {
        "image/gif" => second_gif_image(content).is_some(),
        "image/png" => png_control(content).is_some_and(|frames| frames > 1),
        // The extended header of WebP has a flag for it.
        "image/webp" => {
            matches!(content.get(12..21), Some([b'V', b'P', b'8', b'X', .., flags]) if flags & 2 != 0)
        }
        _ => false,
    }
}

/// Position of the second image block of a GIF.
fn second_gif_image(content: &[u8]) -> Option<usize> {
    // A flag byte says whether a colour table follows, and the logarithm of its length.
    let colours = |at: usize| {
        let flags = *content.get(at)?;
        Some(if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) })
    };
    let mut at = 13 + colours(10)?;
    let mut images = 0;
    loop {
        match content.get(at)? {
            0x2c => {
                images += 1;
                if images == 2 {
                    return Some(at);
                }
                at += 11 + colours(at + 9)?;
            }
            0x21 => at += 2,
            _ => return None,
        }
        // Blocks of both kinds continue with length-prefixed chunks, up to an empty one.
        while let length @ 1.. = usize::from(*content.get(at)?) {
            at += 1 + length;
        }
        at += 1;
    }
}

/// Number of frames in the animation control chunk of a PNG.
fn png_control(content: &[u8]) -> Option<u32> {
    let (_, data) = png::chunks(content).find(|(kind, _)| *kind == b"acTL")?;
    data.first_chunk().map(|frames| u32::from_be_bytes(*frames))
}

#[cfg(test)]
mod tests;
