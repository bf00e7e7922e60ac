//! Renders images: open, check limits, decode, crop and scale, convert colours, orient, encode.
//!
//! Sources are untrusted: an invalid one is an error and never a panic, and its cost is checked
//! before its pixels are decoded. The output is sRGB, 8 bits per channel, upright, and contains
//! only pixels: EXIF, GPS, XMP and colour profiles are removed.
//!
//! [`cms_model::media::render`] computes the crop and the size; this module knows no files and
//! caches. Next: `decode` for reading sources, `jpeg` for the most important format.

mod colour;
mod decode;
mod encode;
mod jpeg;
mod orientation;
mod profile;

use cms_model::{
    error::{Error, Result},
    media::{
        render::{Format, Limits, RenderSpec},
        transform::{Rectangle, Size},
    },
    message,
};
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer, images::CroppedImage};
use image::DynamicImage;

use self::{
    decode::{DecodedImage, Opened},
    orientation::OrientationTransform,
};

/// Renders the image in `source` by `spec`; none when there is nothing to do.
///
/// `spec` gets the displayed size (see docs/reference/media.md#resize). A source that is not an
/// image of this format, is damaged, or would cost more than `limits` is rejected as not an image.
pub fn render(
    source: &[u8],
    format: Format,
    spec: impl FnOnce(Size) -> Result<Option<RenderSpec>>,
    limits: &Limits,
) -> Result<Option<Vec<u8>>> {
    let opened = Opened::new(source, format, limits)?;
    opened.require_within(limits)?;
    let orientation = OrientationTransform::from(opened.orientation());
    let (width, height) = orientation.size(opened.size());
    let Some(RenderSpec { plan, format, quality }) = spec(Size { width, height })? else {
        return Ok(None);
    };
    let longest = format.longest_side();
    if plan.output.width > longest || plan.output.height > longest {
        return Err(Error::invalid("size", message::NOT_VALID));
    }

    // The orientation comes last, with the fewest pixels: until then, all coordinates are as
    // stored.
    let crop = orientation.stored_rect(plan.crop, (width, height));
    let size = orientation.size((plan.output.width, plan.output.height));
    let pixels = u64::from(plan.output.width) * u64::from(plan.output.height);
    let left = limits.memory.checked_sub(pixels * format.encoding_bytes_per_pixel());
    let memory = left.ok_or_else(|| Error::invalid("size", message::NOT_VALID))?;
    let decoded = opened.decode(crop, size, &Limits { memory, ..*limits })?;
    let mut image = scale(&decoded, crop, size)?;
    if let Some(profile) = &decoded.profile {
        image = colour::to_srgb(image, profile);
    }
    image.apply_orientation(orientation.orientation());
    encode::encode(image, format, quality).map(Some)
}

/// Returns the displayed size of an image of any known format.
///
/// The content determines the format; pixels are not decoded.
pub fn measure(source: &[u8]) -> Option<Size> {
    let opened = Opened::guess(source, &Limits::default()).ok()?;
    let (width, height) = OrientationTransform::from(opened.orientation()).size(opened.size());
    Some(Size { width, height }).filter(|size| size.width > 0 && size.height > 0)
}

/// Crops and scales in one pass, and converts to 8 bits.
///
/// The crop is in pixels of the full-size image, which may be decoded smaller. Pixels outside of
/// the crop must not affect the output: they may have been cropped on purpose.
fn scale(
    decoded: &DecodedImage,
    crop: Rectangle,
    (width, height): (u32, u32),
) -> Result<DynamicImage> {
    let image = &decoded.image;
    let shrink = decoded.shrink();
    let [left, part_width] = [crop.x, crop.width].map(|length| f64::from(length) * shrink);
    let [top, part_height] = [crop.y, crop.height].map(|length| f64::from(length) * shrink);
    let (first_column, columns) = whole_pixels(left, part_width, image.width());
    let (first_row, rows) = whole_pixels(top, part_height, image.height());
    let part = CroppedImage::new(image, first_column, first_row, columns, rows)
        .map_err(|error| Error::Internal(error.into()))?;
    let [left, top] = [left - f64::from(first_column), top - f64::from(first_row)];

    // The size of a reduced image is rounded up, so this only corrects floating-point errors.
    let part_width = part_width.min(f64::from(columns) - left);
    let part_height = part_height.min(f64::from(rows) - top);
    let options = ResizeOptions::new()
        .resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3))
        .crop(left, top, part_width, part_height);
    let mut scaled = DynamicImage::new(width, height, image.color());
    Resizer::new()
        .resize(&part, &mut scaled, &options)
        .map_err(|error| Error::Internal(error.into()))?;
    Ok(match scaled {
        DynamicImage::ImageLuma16(_) => DynamicImage::ImageLuma8(scaled.into_luma8()),
        DynamicImage::ImageLumaA16(_) => DynamicImage::ImageLumaA8(scaled.into_luma_alpha8()),
        DynamicImage::ImageRgb16(_) => DynamicImage::ImageRgb8(scaled.into_rgb8()),
        DynamicImage::ImageRgba16(_) => DynamicImage::ImageRgba8(scaled.into_rgba8()),
        eight_bits => eight_bits,
    })
}

/// The first pixel that an interval touches, and the number of pixels.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within an image")]
fn whole_pixels(start: f64, length: f64, all: u32) -> (u32, u32) {
    let first = (start as u32).min(all.saturating_sub(1));
    let end = ((start + length).ceil() as u32).clamp(first + 1, all.max(first + 1));
    (first, end - first)
}

/// The error of a source that cannot be decoded, or not within the limits. The cause does not help
/// the client.
fn not_an_image() -> Error {
    Error::invalid("file", message::NOT_AN_IMAGE)
}

#[cfg(test)]
mod tests;
