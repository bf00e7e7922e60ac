//! The chunks of a PNG file, without decoding what they hold.

const SIGNATURE: usize = 8;

/// Returns kinds and data of the chunks that stand before the pixels. The data of the last one is
/// shorter than it says where the file is cut off.
pub(crate) fn chunks(png: &[u8]) -> impl Iterator<Item = (&[u8; 4], &[u8])> {
    let mut rest = png.get(SIGNATURE..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first_chunk()?;
        let (kind, after) = after.split_first_chunk()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let data = &after[..length.min(after.len())];
        // A checksum follows.
        rest = after.get(length..).and_then(|after| after.get(4..)).unwrap_or_default();
        (kind != b"IDAT").then_some((kind, data))
    })
}
