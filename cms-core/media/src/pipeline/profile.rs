//! Limits colour profiles of PNG. They are compressed: a small file may contain one of gigabytes,
//! and the decoder decompresses it with the header.

use std::io::{self, Read};

use flate2::read::ZlibDecoder;

use crate::png;

/// Maximum size of a decompressed profile: those of printers have one or two megabytes.
const MAX_PROFILE_BYTES: u64 = 4 * 1024 * 1024;

/// Returns whether every profile of a PNG is within the maximum size.
pub(super) fn are_within_limit(source: &[u8]) -> bool {
    png::chunks(source).all(|(kind, data)| kind != b"iCCP" || is_within_limit(data))
}

/// Returns whether the decompressed profile of an `iCCP` chunk is within the maximum size. The chunk
/// has a name, a null byte, the compression method (one byte), and the compressed profile.
fn is_within_limit(data: &[u8]) -> bool {
    let Some(end) = data.iter().position(|&byte| byte == 0) else { return true };
    let packed = data.get(end + 2..).unwrap_or_default();
    let mut profile = ZlibDecoder::new(packed).take(MAX_PROFILE_BYTES + 1);
    // A damaged profile counts up to the damage: the image decoder handles it.
    io::copy(&mut profile, &mut io::sink()).ok();
    profile.limit() > 0
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::ZlibEncoder};

    use super::*;

    fn png(profile: usize) -> Vec<u8> {
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&vec![0; profile]).unwrap();
        let data = [b"icc\0\0", &packed.finish().unwrap()[..]].concat();
        let mut png = vec![0; 8];
        for (kind, data) in [(b"IHDR", &[0; 13][..]), (b"iCCP", &data), (b"IDAT", &[])] {
            png.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
            png.extend(kind);
            png.extend(data);
            png.extend([0; 4]);
        }
        png
    }

    #[test]
    fn profiles_beyond_the_maximum_size_are_detected() {
        let max = usize::try_from(MAX_PROFILE_BYTES).unwrap();
        for size in [0, 3000, max] {
            assert!(are_within_limit(&png(size)), "{size}");
        }
        for size in [max + 1, 10 * max] {
            assert!(!are_within_limit(&png(size)), "{size}");
        }
        let bomb = png(10 * max);
        for end in 0..60 {
            are_within_limit(&bomb[..end]);
        }
        // The decoder may decompress the start of a truncated profile.
        assert!(!are_within_limit(&bomb[..bomb.len() - 16]));
    }
}
