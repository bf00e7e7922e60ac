//! Opens a source, checks its cost, and decodes it.
//!
//! JPEG has its own decoder, [`super::jpeg`]; the crate `image` decodes the other formats.

use std::io::Cursor;

use cms_model::{
    error::Result,
    media::{
        render::{RenderFormat, SourceLimits},
        transform::Rectangle,
    },
};
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, metadata::Orientation};

use super::{jpeg, not_an_image, profile};

/// A source with parsed headers.
pub(super) enum OpenedSource<'a> {
    Jpeg(Box<jpeg::OpenedJpeg<'a>>),
    Other { decoder: Box<dyn ImageDecoder + 'a>, orientation: Orientation },
}

/// Decoded pixels as stored, without orientation.
pub(super) struct DecodedImage {
    pub(super) image: DynamicImage,
    /// The ICC colour profile.
    pub(super) profile: Option<Vec<u8>>,
    /// The decoded size as a fraction of the full size.
    pub(super) shrink: f64,
}

impl<'a> OpenedSource<'a> {
    pub(super) fn new(
        source: &'a [u8],
        format: RenderFormat,
        limits: &SourceLimits,
    ) -> Result<Self> {
        let format = match format {
            RenderFormat::Jpeg => ImageFormat::Jpeg,
            RenderFormat::Png => ImageFormat::Png,
            RenderFormat::Webp => ImageFormat::WebP,
            RenderFormat::Gif => ImageFormat::Gif,
            RenderFormat::Bmp => ImageFormat::Bmp,
            RenderFormat::Avif => return Err(not_an_image()),
        };
        Self::open(source, format, limits)
    }

    /// Opens an image of any format detected by content, including icons.
    pub(super) fn guess(source: &'a [u8], limits: &SourceLimits) -> Result<Self> {
        let format = image::guess_format(source).map_err(|_| not_an_image())?;
        Self::open(source, format, limits)
    }

    fn open(source: &'a [u8], format: ImageFormat, limits: &SourceLimits) -> Result<Self> {
        if format == ImageFormat::Jpeg {
            return Ok(Self::Jpeg(Box::new(jpeg::OpenedJpeg::new(source)?)));
        }
        if format == ImageFormat::Png && !profile::are_within_limit(source) {
            return Err(not_an_image());
        }
        let mut reader = ImageReader::with_format(Cursor::new(source), format);
        let mut bounds = image::Limits::no_limits();
        bounds.max_alloc = Some(limits.memory);
        reader.limits(bounds);
        let mut decoder = reader.into_decoder().map_err(|_| not_an_image())?;
        // The orientation is optional: an error in it is ignored.
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        Ok(Self::Other { decoder: Box::new(decoder), orientation })
    }

    /// Returns the size as stored.
    pub(super) fn size(&self) -> (u32, u32) {
        match self {
            Self::Jpeg(jpeg) => jpeg.size(),
            Self::Other { decoder, .. } => decoder.dimensions(),
        }
    }

    pub(super) fn orientation(&self) -> Orientation {
        match self {
            Self::Jpeg(jpeg) => jpeg.orientation(),
            Self::Other { orientation, .. } => *orientation,
        }
    }

    /// Rejects an image without pixels, or with more than the limit.
    pub(super) fn require_within(&self, limits: &SourceLimits) -> Result<()> {
        let (width, height) = self.size();
        let pixels = u64::from(width) * u64::from(height);
        let is_within = width.max(height) <= limits.side && (1..=limits.pixels).contains(&pixels);
        if is_within { Ok(()) } else { Err(not_an_image()) }
    }

    /// Decodes at least as many pixels as are needed to scale `crop` down to `size`.
    pub(super) fn decode(
        self,
        crop: Rectangle,
        size: (u32, u32),
        limits: &SourceLimits,
    ) -> Result<DecodedImage> {
        match self {
            Self::Jpeg(jpeg) => jpeg.decode(crop, size, limits),
            Self::Other { mut decoder, .. } => {
                if decoder.total_bytes() > limits.memory {
                    return Err(not_an_image());
                }
                let profile = decoder.icc_profile().ok().flatten();
                let image = DynamicImage::from_decoder(decoder).map_err(|_| not_an_image())?;
                Ok(DecodedImage { image, profile, shrink: 1.0 })
            }
        }
    }
}
