//! The chunks of a PNG file, read without decoding them.

const SIGNATURE_BYTES: usize = 8;

/// Returns types and data of the chunks before the pixels. In a truncated file, the data of the
/// last chunk is shorter than declared.
pub(crate) fn chunks(png: &[u8]) -> impl Iterator<Item = (&[u8; 4], &[u8])> {
    let mut rest = png.get(SIGNATURE_BYTES..).unwrap_or_default();
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
