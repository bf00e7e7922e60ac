//! Renders pictures: open, check limits, decode, cut and scale, colours, turn, encode.
//!
//! Sources are hostile: whatever is wrong with one is an error and never a panic, and what it would
//! cost is checked before its pixels are decoded. The outcome is in sRGB, 8 bits per channel,
//! upright, and carries nothing but pixels: EXIF, GPS, XMP and colour profiles stay behind.
//!
//! Which part and size are wanted is [`cms_model::media::render`]; files and caches are unknown here. Next:
//! `decode` for what is read, `jpeg` for the format that matters most.

mod colour;
mod decode;
mod encode;
mod jpeg;
mod profile;
mod turn;

use cms_model::{
    error::{Error, Result},
    media::{
        render::{Format, Job, Limits},
        transform::{Rectangle, Size},
    },
    message,
};
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer, images::CroppedImage};
use image::DynamicImage;

use self::{
    decode::{Opened, Picture},
    turn::Turn,
};

/// Renders the picture in `source` as `job` wants it; none when it wants nothing done.
///
/// `job` gets the size that people see (contract 7.4). A source that is no picture of this format, is
/// broken, or would cost more than `limits` is refused as not being an image.
pub fn render(
    source: &[u8],
    format: Format,
    job: impl FnOnce(Size) -> Result<Option<Job>>,
    limits: &Limits,
) -> Result<Option<Vec<u8>>> {
    let opened = Opened::new(source, format, limits)?;
    opened.require_within(limits)?;
    let turn = Turn::from(opened.orientation());
    let (width, height) = turn.size(opened.size());
    let Some(Job { plan, format, quality }) = job(Size { width, height })? else { return Ok(None) };
    let longest = format.longest_side();
    if plan.output.width > longest || plan.output.height > longest {
        return Err(Error::invalid("size", message::NOT_VALID));
    }

    // Turning comes last, when there are the fewest pixels: until then, all is as stored.
    let crop = turn.stored_rect(plan.crop, (width, height));
    let size = turn.size((plan.output.width, plan.output.height));
    let pixels = u64::from(plan.output.width) * u64::from(plan.output.height);
    let left = limits.memory.checked_sub(pixels * format.encoding_bytes());
    let memory = left.ok_or_else(|| Error::invalid("size", message::NOT_VALID))?;
    let picture = opened.decode(crop, size, &Limits { memory, ..*limits })?;
    let mut image = scale(&picture, crop, size)?;
    if let Some(profile) = &picture.profile {
        image = colour::to_srgb(image, profile);
    }
    image.apply_orientation(turn.orientation());
    encode::encode(image, format, quality).map(Some)
}

/// Returns the size that people see, of a picture of any known format.
///
/// The format is told by the content; pixels are not decoded.
pub fn measure(source: &[u8]) -> Option<Size> {
    let opened = Opened::guess(source, &Limits::default()).ok()?;
    let (width, height) = Turn::from(opened.orientation()).size(opened.size());
    Some(Size { width, height }).filter(|size| size.width > 0 && size.height > 0)
}

/// Cuts and scales in one pass, and brings the outcome to 8 bits.
///
/// The part is in pixels of the whole picture, which may have been decoded smaller than it is. What is
/// around it must not shine in: it may have been cut off for that.
fn scale(picture: &Picture, crop: Rectangle, (width, height): (u32, u32)) -> Result<DynamicImage> {
    let image = &picture.image;
    let shrink = picture.shrink();
    let [left, part_width] = [crop.x, crop.width].map(|length| f64::from(length) * shrink);
    let [top, part_height] = [crop.y, crop.height].map(|length| f64::from(length) * shrink);
    let (first_column, columns) = whole_pixels(left, part_width, image.width());
    let (first_row, rows) = whole_pixels(top, part_height, image.height());
    let part = CroppedImage::new(image, first_column, first_row, columns, rows)
        .map_err(|error| Error::Internal(error.into()))?;
    let [left, top] = [left - f64::from(first_column), top - f64::from(first_row)];

    // A shrunken picture is rounded up, so that this changes what floating point got wrong only.
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

/// The first of the pixels that a stretch touches, and their number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within a picture")]
fn whole_pixels(start: f64, length: f64, all: u32) -> (u32, u32) {
    let first = (start as u32).min(all.saturating_sub(1));
    let end = ((start + length).ceil() as u32).clamp(first + 1, all.max(first + 1));
    (first, end - first)
}

/// What is said of a source that cannot be decoded, or not within the limits. Why is of no use to
/// whoever asks for the picture.
fn not_an_image() -> Error {
    Error::invalid("file", message::NOT_AN_IMAGE)
}

#[cfg(test)]
mod tests;
