//! What is wanted of a picture: which part of it, in which size, as which format.
//!
//! Knows no codec and no bytes; the pipeline of `cms-media` carries a [`Job`] out.

use super::transform::Plan;

/// The formats that pictures are rendered to, and but for one from (contract 7.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    Jpeg,
    Png,
    Webp,
    Gif,
    Bmp,
    /// Rendered only: no such file can be uploaded.
    Avif,
}

impl Format {
    /// Returns the format of a media type; others are served as they are stored.
    pub fn from_media_type(media_type: &str) -> Option<Self> {
        Some(match media_type {
            "image/jpeg" => Self::Jpeg,
            "image/png" => Self::Png,
            "image/webp" => Self::Webp,
            "image/gif" => Self::Gif,
            "image/bmp" => Self::Bmp,
            _ => return None,
        })
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Webp => "image/webp",
            Self::Gif => "image/gif",
            Self::Bmp => "image/bmp",
            Self::Avif => "image/avif",
        }
    }

    pub fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
            Self::Webp => "webp",
            Self::Gif => "gif",
            Self::Bmp => "bmp",
            Self::Avif => "avif",
        }
    }

    /// Tells whether there is a quality to choose.
    pub fn is_lossy(self) -> bool {
        matches!(self, Self::Jpeg | Self::Webp | Self::Avif)
    }

    /// The quality when nobody asks for one: each format has a scale of its own.
    pub fn usual_quality(self) -> u8 {
        match self {
            Self::Jpeg | Self::Png | Self::Gif | Self::Bmp => 85,
            Self::Webp => 80,
            Self::Avif => 60,
        }
    }

    /// About what scaling and encoding hold in memory for each pixel, in bytes.
    pub fn encoding_bytes(self) -> u64 {
        match self {
            Self::Bmp | Self::Jpeg => 8,
            Self::Gif | Self::Png => 12,
            Self::Webp => 16,
            Self::Avif => 30,
        }
    }

    /// The longest side that a file of this format can have.
    pub fn longest_side(self) -> u32 {
        match self {
            Self::Webp => 16_383,
            // What libavif reads, and with it most programs.
            Self::Avif => 32_768,
            Self::Jpeg | Self::Gif => 65_535,
            Self::Png | Self::Bmp => i32::MAX.unsigned_abs(),
        }
    }
}

/// One rendering. The plan speaks of the picture as people see it: EXIF orientation is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    pub plan: Plan,
    pub format: Format,
    /// 1 to 100; for formats that are lossy.
    pub quality: u8,
}

/// What a source may cost, checked before its pixels are decoded.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub side: u32,
    pub pixels: u64,
    /// Pixels of a JPEG times its scans: each scan is a pass over the whole picture, which a few bytes
    /// can ask for.
    pub scan_pixels: u64,
    /// Bytes that one rendering may hold at a time.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            side: 65_535,
            pixels: 100_000_000,
            // Encoders write ten to fifteen scans.
            scan_pixels: 1_500_000_000,
            memory: 512 * 1024 * 1024,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_name_formats() {
        for format in [Format::Jpeg, Format::Png, Format::Webp, Format::Gif, Format::Bmp] {
            assert_eq!(Format::from_media_type(format.media_type()), Some(format));
        }
        for other in ["image/svg+xml", "image/x-icon", "image/jpg", "text/plain", ""] {
            assert_eq!(Format::from_media_type(other), None, "{other}");
        }
    }
}
