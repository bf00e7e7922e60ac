//! The description of one rendering: crop, size, format, quality.
//!
//! This module knows neither codecs nor bytes; the pipeline of `cms-media` executes a [`RenderSpec`].

use super::transform::ResizePlan;

crate::named_enum! {
    /// Formats of rendered images and of their sources, by their media types (see
    /// docs/reference/media.md#formats).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum RenderFormat {
        Jpeg => "image/jpeg",
        Png => "image/png",
        Webp => "image/webp",
        Gif => "image/gif",
        Bmp => "image/bmp",
        /// Output only: AVIF files cannot be uploaded.
        Avif => "image/avif",
    }
}

impl RenderFormat {
    /// Returns the format of a media type; files of other types are served as stored.
    pub fn from_media_type(media_type: &str) -> Option<Self> {
        Self::parse(media_type).filter(|format| *format != Self::Avif)
    }

    pub fn media_type(self) -> &'static str {
        self.as_str()
    }

    pub fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            _ => &self.media_type()["image/".len()..],
        }
    }

    /// Whether the format has a quality setting.
    pub fn is_lossy(self) -> bool {
        matches!(self, Self::Jpeg | Self::Webp | Self::Avif)
    }

    /// The default quality: each format has its own scale.
    pub fn default_quality(self) -> u8 {
        match self {
            Self::Jpeg | Self::Png | Self::Gif | Self::Bmp => 85,
            Self::Webp => 80,
            Self::Avif => 60,
        }
    }

    /// Approximate memory of scaling and encoding, in bytes per pixel.
    pub fn encoding_bytes_per_pixel(self) -> u64 {
        match self {
            Self::Bmp | Self::Jpeg => 8,
            Self::Gif | Self::Png => 12,
            Self::Webp => 16,
            Self::Avif => 30,
        }
    }

    /// Maximum width and height of the format.
    pub fn longest_side(self) -> u32 {
        match self {
            Self::Webp => 16_383,
            // The limit of libavif, which most programs use.
            Self::Avif => 32_768,
            // The limit of libjpeg, which most programs use.
            Self::Jpeg => 65_500,
            Self::Gif => 65_535,
            Self::Png | Self::Bmp => i32::MAX.unsigned_abs(),
        }
    }
}

/// The specification of one rendering. The plan refers to the image with its EXIF orientation
/// applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderSpec {
    pub plan: ResizePlan,
    pub format: RenderFormat,
    /// 1 to 100; used by lossy formats.
    pub quality: u8,
}

/// Limits of a source image, checked before its pixels are decoded.
#[derive(Clone, Copy, Debug)]
pub struct SourceLimits {
    pub side: u32,
    pub pixels: u64,
    /// Pixels of a JPEG times its scans: a few bytes can declare many scans, each a pass over all
    /// pixels.
    pub scan_pixels: u64,
    /// Maximum memory of one rendering, in bytes.
    pub memory: u64,
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self {
            side: 65_535,
            pixels: 100_000_000,
            // Usual encoders write ten to fifteen scans.
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
        for format in [
            RenderFormat::Jpeg,
            RenderFormat::Png,
            RenderFormat::Webp,
            RenderFormat::Gif,
            RenderFormat::Bmp,
        ] {
            assert_eq!(RenderFormat::from_media_type(format.media_type()), Some(format));
        }
        for other in ["image/svg+xml", "image/x-icon", "image/jpg", "text/plain", ""] {
            assert_eq!(RenderFormat::from_media_type(other), None, "{other}");
        }
    }
}
