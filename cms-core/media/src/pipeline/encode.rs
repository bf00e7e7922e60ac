//! Encodes 8-bit pixels.

use std::io::Cursor;

use cms_model::{
    error::{Error, Result},
    media::render::RenderFormat,
};
use image::{
    DynamicImage, ImageEncoder, ImageFormat, RgbImage,
    codecs::{
        gif::GifEncoder,
        png::{CompressionType, FilterType, PngEncoder},
    },
};
use jpeg_encoder::{ChromaSubsamplingMethod, ColorType, Encoder as JpegEncoder};
use ravif::{BitDepth, Encoder as AvifEncoder, Img, RGBA8};

/// Encodes an image within the maximum size of the format.
pub(super) fn encode(image: DynamicImage, format: RenderFormat, quality: u8) -> Result<Vec<u8>> {
    let quality = quality.clamp(1, 100);
    let bytes = match format {
        RenderFormat::Jpeg => jpeg(image, quality),
        RenderFormat::Webp => webp(&image, quality),
        RenderFormat::Png => png(&image),
        RenderFormat::Bmp => bmp(&image),
        RenderFormat::Gif => gif(image),
        RenderFormat::Avif => avif(image, quality),
    };
    bytes.map_err(Error::Internal)
}

type Encoded = std::result::Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>>;

/// Baseline with optimized Huffman tables: smaller than progressive at the sizes of web pages, and
/// faster.
fn jpeg(image: DynamicImage, quality: u8) -> Encoded {
    let image = if image.color().has_alpha() { on_white(&image).into() } else { image };
    let colours = if image.color().has_color() { ColorType::Rgb } else { ColorType::Luma };
    let (width, height) = (image.width().try_into()?, image.height().try_into()?);
    let mut bytes = Vec::new();
    let mut encoder = JpegEncoder::new(&mut bytes, quality);
    encoder.set_optimized_huffman_tables(true);
    encoder.set_chroma_subsampling_method(ChromaSubsamplingMethod::Average);
    encoder.encode(image.as_bytes(), width, height, colours)?;
    Ok(bytes)
}

/// Lossy, with a lossless alpha channel.
fn webp(image: &DynamicImage, quality: u8) -> Encoded {
    let (width, height) = (image.width(), image.height());
    let quality = f32::from(quality);
    let encoded = if image.color().has_alpha() {
        let pixels = image.to_rgba8();
        webp::Encoder::from_rgba(&pixels, width, height).encode_simple(false, quality)
    } else {
        let pixels = image.to_rgb8();
        webp::Encoder::from_rgb(&pixels, width, height).encode_simple(false, quality)
    };
    let encoded = encoded.map_err(|error| format!("WebP encoder: {error:?}"))?;
    Ok(encoded.to_vec())
}

/// One filter for all rows: for drawings this is smaller and faster than choosing per row.
fn png(image: &DynamicImage) -> Encoded {
    let mut bytes = Vec::new();
    PngEncoder::new_with_quality(&mut bytes, CompressionType::Default, FilterType::Paeth)
        .write_image(image.as_bytes(), image.width(), image.height(), image.color().into())?;
    Ok(bytes)
}

fn bmp(image: &DynamicImage) -> Encoded {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, ImageFormat::Bmp)?;
    Ok(bytes.into_inner())
}

/// Samples about 50,000 pixels for the palette, and at least every tenth pixel: using all of them
/// takes ten times as long.
fn gif(image: DynamicImage) -> Encoded {
    let alpha = image.color().has_alpha();
    let image: DynamicImage =
        if alpha { image.into_rgba8().into() } else { image.into_rgb8().into() };
    let pixels = u64::from(image.width()) * u64::from(image.height());
    let speed = i32::try_from(pixels / 50_000).unwrap_or(10).clamp(1, 10);
    let mut bytes = Vec::new();
    GifEncoder::new_with_speed(&mut bytes, speed).encode(
        image.as_bytes(),
        image.width(),
        image.height(),
        image.color().into(),
    )?;
    Ok(bytes)
}

/// On one thread: the others serve requests. Slower settings save little and take many times as
/// long.
fn avif(image: DynamicImage, quality: u8) -> Encoded {
    const SPEED: u8 = 9;
    let (width, height) = (image.width() as usize, image.height() as usize);
    // In one statement: no copy of the image stays in memory while it is encoded.
    let pixels: Vec<RGBA8> =
        image.into_rgba8().pixels().map(|pixel| RGBA8::from(pixel.0)).collect();
    let encoder = AvifEncoder::new()
        .with_quality(f32::from(quality))
        .with_alpha_quality(f32::from(quality))
        .with_speed(SPEED)
        .with_bit_depth(BitDepth::Eight)
        .with_num_threads(Some(1));
    // Leaves out an alpha channel without transparency. `encode_rgb` would compile the encoder again here.
    Ok(encoder.encode_rgba(Img::new(&pixels, width, height))?.avif_file)
}

/// Blends an image with transparency on white.
fn on_white(image: &DynamicImage) -> RgbImage {
    let pixels = image.to_rgba8();
    RgbImage::from_fn(pixels.width(), pixels.height(), |x, y| {
        let [red, green, blue, alpha] = pixels.get_pixel(x, y).0;
        let mix = |light: u8| {
            let alpha = u16::from(alpha);
            let sum = u16::from(light) * alpha + 255 * (255 - alpha) + 127;
            u8::try_from(sum / 255).expect("a mean of two values of up to 255 is at most 255")
        };
        image::Rgb([mix(red), mix(green), mix(blue)])
    })
}
