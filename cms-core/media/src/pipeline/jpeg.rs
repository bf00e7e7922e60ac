//! JPEG sources, decoded no larger than needed.
//!
//! A block of 8x8 pixels can be decoded to 4x4, 2x2 or 1 pixel at a fraction of the work and
//! memory, with a better result than dropping pixels. That determines the cost of a thumbnail:
//! common files use [`cms_jpeg`], which is faster than any library. `jpeg-decoder` decodes all
//! others, and full sizes.

use cms_model::{
    error::Result,
    media::{render::SourceLimits, transform::Rectangle},
};
use image::{DynamicImage, GrayImage, ImageBuffer, RgbImage, metadata::Orientation};
use jpeg_decoder::{CodingProcess, Decoder, ImageInfo, PixelFormat};
use memchr::memmem;

use super::{colour, decode::DecodedImage, not_an_image};

/// Maximum scans of one image, however small: each has a fixed cost besides that of its pixels.
const MAX_SCANS: usize = 100;
/// The marker that begins a scan.
const START_OF_SCAN: &[u8] = b"\xff\xda";
/// Smaller sources are decoded at full size, because reducing saves nothing.
const MIN_REDUCED_SIDE: u32 = 64;

/// A source with parsed headers.
pub(super) struct OpenedJpeg<'a> {
    source: &'a [u8],
    decoder: Decoder<&'a [u8]>,
    info: ImageInfo,
}

impl<'a> OpenedJpeg<'a> {
    pub(super) fn new(source: &'a [u8]) -> Result<Self> {
        // The decoder skips bytes before the first marker; for other programs such a file is not a
        // JPEG.
        if !source.starts_with(b"\xff\xd8\xff") {
            return Err(not_an_image());
        }
        let mut decoder = Decoder::new(source);
        decoder.read_info().map_err(|_| not_an_image())?;
        let info = decoder.info().ok_or_else(not_an_image)?;
        Ok(Self { source, decoder, info })
    }

    pub(super) fn size(&self) -> (u32, u32) {
        (self.info.width.into(), self.info.height.into())
    }

    pub(super) fn orientation(&self) -> Orientation {
        let exif = self.decoder.exif_data();
        exif.and_then(Orientation::from_exif_chunk).unwrap_or(Orientation::NoTransforms)
    }

    pub(super) fn decode(
        mut self,
        crop: Rectangle,
        size: (u32, u32),
        limits: &SourceLimits,
    ) -> Result<DecodedImage> {
        let lossless = self.info.coding_process == CodingProcess::Lossless;
        let eighths = if lossless { 8 } else { eighths(self.size(), crop, size) };
        self.require_few_scans(limits)?;
        if self.bytes(eighths) > limits.memory {
            return Err(not_an_image());
        }
        let quick = if eighths < 8 { cms_jpeg::decode(self.source, eighths.into()) } else { None };
        if let Some(pixels) = quick {
            return self.decoded_image(pixels, eighths).ok_or_else(not_an_image);
        }
        let eighths = self.general_eighths(eighths);
        if self.bytes(eighths) > limits.memory {
            return Err(not_an_image());
        }
        if eighths < 8 {
            self.reduce(eighths).map_err(|_| not_an_image())?;
        }
        let pixels = self.decoder.decode().map_err(|_| not_an_image())?;
        self.decoded_image(pixels, eighths).ok_or_else(not_an_image)
    }

    /// Rejects an image with too many scans. Markers are counted anywhere in the file, including
    /// embedded previews, so the count is never too low.
    fn require_few_scans(&self, limits: &SourceLimits) -> Result<()> {
        let (width, height) = self.size();
        let pixels = u64::from(width) * u64::from(height);
        let scans = memmem::find_iter(self.source, START_OF_SCAN).take(MAX_SCANS + 1).count();
        if scans > MAX_SCANS || scans as u64 * pixels > limits.scan_pixels {
            return Err(not_an_image());
        }
        Ok(())
    }

    /// The scale for the general decoder, which reduces chroma by the same factor as luma.
    /// Chroma usually has half as many samples per side, so only at twice the scale it has as many as
    /// the requested image.
    fn general_eighths(&self, eighths: u8) -> u8 {
        let is_grey = matches!(self.info.pixel_format, PixelFormat::L8 | PixelFormat::L16);
        if is_grey { eighths } else { (2 * eighths).min(8) }
    }

    /// An upper bound of the memory of decoding: coefficients of a progressive image, the planes,
    /// and the output pixels.
    fn bytes(&self, eighths: u8) -> u64 {
        let area = |(width, height): (u32, u32)| u64::from(width) * u64::from(height);
        let sample = self.info.pixel_format.pixel_bytes() as u64;
        let coefficients = match self.info.coding_process {
            CodingProcess::DctProgressive => 2 * sample * area(self.size()),
            CodingProcess::DctSequential | CodingProcess::Lossless => 0,
        };
        coefficients + 2 * sample * area(reduced_size(self.size(), eighths))
    }

    /// Sets the scale of the decoder, which takes a size and chooses the smallest scale that reaches it
    /// in width or height. Only the longer side should decide, so the other one is set to the maximum.
    fn reduce(&mut self, eighths: u8) -> std::result::Result<(), jpeg_decoder::Error> {
        let (width, height) = reduced_size(self.size(), eighths);
        let side = |length: u32| u16::try_from(length).unwrap_or(u16::MAX);
        if self.info.width >= self.info.height {
            self.decoder.scale(side(width), u16::MAX)?;
        } else {
            self.decoder.scale(u16::MAX, side(height))?;
        }
        Ok(())
    }

    fn decoded_image(&self, pixels: Vec<u8>, eighths: u8) -> Option<DecodedImage> {
        let (width, height) = reduced_size(self.size(), eighths);
        let shrink = f64::from(eighths) / 8.0;
        let mut profile = self.decoder.icc_profile();
        let image = match self.info.pixel_format {
            PixelFormat::L8 => GrayImage::from_raw(width, height, pixels)?.into(),
            PixelFormat::RGB24 => RgbImage::from_raw(width, height, pixels)?.into(),
            PixelFormat::L16 => {
                let sample = |pair: &[u8]| u16::from_ne_bytes([pair[0], pair[1]]);
                let samples = pixels.chunks_exact(2).map(sample).collect();
                DynamicImage::ImageLuma16(ImageBuffer::from_raw(width, height, samples)?)
            }
            PixelFormat::CMYK32 => {
                let pixels = colour::cmyk_to_rgb(&pixels, profile.take().as_deref());
                RgbImage::from_raw(width, height, pixels)?.into()
            }
        };
        Some(DecodedImage { image, profile, shrink })
    }
}

/// The smallest scale, in eighths, at which the crop still has the requested number of pixels.
fn eighths((width, height): (u32, u32), crop: Rectangle, size: (u32, u32)) -> u8 {
    if width.max(height) < MIN_REDUCED_SIDE {
        return 8;
    }
    match (crop.width / size.0.max(1)).min(crop.height / size.1.max(1)) {
        0..=1 => 8,
        2..=3 => 4,
        4..=7 => 2,
        _ => 1,
    }
}

/// The decoded size of an image.
fn reduced_size((width, height): (u32, u32), eighths: u8) -> (u32, u32) {
    let side = |length: u32| (length * u32::from(eighths)).div_ceil(8);
    (side(width), side(height))
}
