//! Width and height of a picture, from its first bytes, without decoding it.

use super::{svg, transform::Size};

/// Returns the size that a file of this media type says it has.
///
/// None for what is no picture, or a broken one. Nothing is promised of the pixels.
pub(crate) fn dimensions(media_type: &str, content: &[u8]) -> Option<Size> {
    let size = match media_type {
        "image/svg+xml" => svg::dimensions(content),
        "image/bmp" => bitmap(content),
        "image/gif" | "image/png" | "image/jpeg" | "image/webp" | "image/vnd.microsoft.icon" => {
            let size = imagesize::blob_size(content).ok()?;
            Some(Size {
                width: u32::try_from(size.width).ok()?,
                height: u32::try_from(size.height).ok()?,
            })
        }
        _ => None,
    };
    size.filter(|size| size.width > 0 && size.height > 0)
}

/// Bitmaps: rows may go downwards, which a negative height says, and the oldest have short numbers.
fn bitmap(content: &[u8]) -> Option<Size> {
    let header = content.get(14..)?.first_chunk::<12>()?;
    let [0x0c, 0, 0, 0, w0, w1, h0, h1, ..] = *header else {
        let [_, _, _, _, width @ .., h0, h1, h2, h3] = *header;
        return Some(Size {
            width: u32::from_le_bytes(width),
            height: i32::from_le_bytes([h0, h1, h2, h3]).unsigned_abs(),
        });
    };
    let [width, height] = [[w0, w1], [h0, h1]].map(|pair| u32::from(u16::from_le_bytes(pair)));
    Some(Size { width, height })
}

#[cfg(test)]
mod tests;
