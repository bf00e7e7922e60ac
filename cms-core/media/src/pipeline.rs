//! Renders images: open, check limits, decode, crop and scale, convert colours, orient, encode.
//!
//! Sources are untrusted: an invalid one is an error and never a panic, and its cost is checked
//! before its pixels are decoded. The output is sRGB, 8 bits per channel, upright, and contains
//! only pixels: EXIF, GPS, XMP and colour profiles are removed.
//!
//! [`cms_model::media::transform`] computes the crop and the size; this module knows no files and
//! no caches. Read next: `decode` for reading sources, `jpeg` for the most important format.

mod colour;
mod decode;
mod encode;
mod jpeg;
mod orientation;
mod profile;

use cms_model::{
    error::{Error, Result},
    media::{
        render::{RenderFormat, RenderSpec, SourceLimits},
        transform::{Rectangle, Size},
    },
    message,
};
use fast_image_resize::{
    FilterType, IntoImageViewMut, PixelTrait, ResizeAlg, ResizeOptions, Resizer,
    pixels::{U8, U8x2, U8x3, U8x4, U16, U16x2, U16x3, U16x4},
};
use image::{DynamicImage, ImageBuffer, Pixel};

use self::decode::{DecodedImage, OpenedSource};

/// Renders the image in `source` by `spec`; none when there is nothing to do.
///
/// `spec` receives the displayed size (see docs/reference/media.md#resize). A source that is not an
/// image of this format, is damaged, or would cost more than `limits` is rejected as not an image.
pub fn render(
    source: &[u8],
    format: RenderFormat,
    spec: impl FnOnce(Size) -> Result<Option<RenderSpec>>,
    limits: &SourceLimits,
) -> Result<Option<Vec<u8>>> {
    let opened = OpenedSource::new(source, format, limits)?;
    opened.require_within(limits)?;
    let orientation = opened.orientation();
    let (width, height) = orientation::size(orientation, opened.size());
    let Some(RenderSpec { plan, format, quality }) = spec(Size { width, height })? else {
        return Ok(None);
    };
    let longest = format.longest_side();
    if plan.output.width > longest || plan.output.height > longest {
        return Err(Error::invalid("size", message::NOT_VALID));
    }

    // The orientation is applied last, to the fewest pixels: until then, all coordinates are as
    // stored.
    let crop = orientation::stored_rect(orientation, plan.crop, (width, height));
    let size = orientation::size(orientation, (plan.output.width, plan.output.height));
    let pixels = u64::from(plan.output.width) * u64::from(plan.output.height);
    let left = limits.memory.checked_sub(pixels * format.encoding_bytes_per_pixel());
    let memory = left.ok_or_else(|| Error::invalid("size", message::NOT_VALID))?;
    let decoded = opened.decode(crop, size, &SourceLimits { memory, ..*limits })?;
    let DecodedImage { image, profile, shrink } = decoded;
    let mut image = scale(image, shrink, crop, size)?;
    if let Some(profile) = &profile {
        image = colour::to_srgb(image, profile);
    }
    image.apply_orientation(orientation);
    encode::encode(image, format, quality).map(Some)
}

/// Returns the displayed size of an image of any known format.
///
/// The content determines the format; pixels are not decoded.
pub fn measure(source: &[u8]) -> Option<Size> {
    let opened = OpenedSource::guess(source, &SourceLimits::default()).ok()?;
    let (width, height) = orientation::size(opened.orientation(), opened.size());
    Some(Size { width, height }).filter(|size| size.width > 0 && size.height > 0)
}

/// Crops and scales in one pass, and converts to 8 bits.
///
/// The crop is in pixels of the full-size image, which may be decoded smaller. Pixels outside of
/// the crop must not affect the output: they may have been cropped on purpose.
fn scale(
    image: DynamicImage,
    shrink: f64,
    crop: Rectangle,
    size: (u32, u32),
) -> Result<DynamicImage> {
    let [left, part_width] = [crop.x, crop.width].map(|length| f64::from(length) * shrink);
    let [top, part_height] = [crop.y, crop.height].map(|length| f64::from(length) * shrink);
    let (first_column, columns) = whole_pixels(left, part_width, image.width());
    let (first_row, rows) = whole_pixels(top, part_height, image.height());
    let part = Rectangle { x: first_column, y: first_row, width: columns, height: rows };
    let [left, top] = [left - f64::from(first_column), top - f64::from(first_row)];

    // The size of a reduced image is rounded up, so this only corrects floating-point errors.
    let part_width = part_width.min(f64::from(columns) - left);
    let part_height = part_height.min(f64::from(rows) - top);
    let options = ResizeOptions::new()
        .resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3))
        .crop(left, top, part_width, part_height);
    Ok(match image {
        DynamicImage::ImageLuma8(image) => resize::<_, U8>(image, part, size, &options)?.into(),
        DynamicImage::ImageLumaA8(image) => resize::<_, U8x2>(image, part, size, &options)?.into(),
        DynamicImage::ImageRgb8(image) => resize::<_, U8x3>(image, part, size, &options)?.into(),
        DynamicImage::ImageRgba8(image) => resize::<_, U8x4>(image, part, size, &options)?.into(),
        DynamicImage::ImageLuma16(image) => {
            DynamicImage::from(resize::<_, U16>(image, part, size, &options)?).into_luma8().into()
        }
        DynamicImage::ImageLumaA16(image) => {
            let scaled = resize::<_, U16x2>(image, part, size, &options)?;
            DynamicImage::from(scaled).into_luma_alpha8().into()
        }
        DynamicImage::ImageRgb16(image) => {
            DynamicImage::from(resize::<_, U16x3>(image, part, size, &options)?).into_rgb8().into()
        }
        DynamicImage::ImageRgba16(image) => {
            DynamicImage::from(resize::<_, U16x4>(image, part, size, &options)?).into_rgba8().into()
        }
        _ => return Err(not_an_image()),
    })
}

/// Pixels of one type, one after the other.
type Pixels<I> = ImageBuffer<I, Vec<<I as Pixel>::Subpixel>>;

/// Scales a part of an image. Source and result have the same type of view, because the
/// compiler generates a resizer for each pair of types: most of the build time of this crate.
fn resize<I: Pixel, P: PixelTrait>(
    image: Pixels<I>,
    part: Rectangle,
    (width, height): (u32, u32),
    options: &ResizeOptions,
) -> Result<Pixels<I>>
where
    Pixels<I>: IntoImageViewMut,
{
    let (mut part, mut scaled) = (cropped(image, part), Pixels::<I>::new(width, height));
    let resized = match (part.image_view_mut::<P>(), scaled.image_view_mut::<P>()) {
        (Some(source), Some(mut result)) => {
            Resizer::new().resize_typed(&source, &mut result, options)
        }
        _ => return Err(Error::internal("the pixels of an image have another type")),
    };
    resized.map_err(Error::internal)?;
    Ok(scaled)
}

/// Cuts out a part of an image, in place.
fn cropped<I: Pixel>(image: Pixels<I>, part: Rectangle) -> Pixels<I> {
    if image.dimensions() == (part.width, part.height) {
        return image;
    }
    let samples_of = |pixels: u32| pixels as usize * usize::from(I::CHANNEL_COUNT);
    let (row_length, length) = (samples_of(image.width()), samples_of(part.width));
    let mut samples = image.into_raw();
    for row in 0..part.height as usize {
        let start = (part.y as usize + row) * row_length + samples_of(part.x);
        samples.copy_within(start..start + length, row * length);
    }
    samples.truncate(part.height as usize * length);
    Pixels::<I>::from_raw(part.width, part.height, samples).expect("the part is within the image")
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
