//! Images for tests and benchmarks, and calls of the image pipeline.

use cms_model::media::{
    render::{RenderFormat, RenderSpec, SourceLimits},
    transform::{self, Size},
};
use jpeg_encoder::{ColorType, Encoder};

use crate::{pipeline, renders::RenderedImage};

/// Returns a JPEG of quality 90 with the cost of a typical photograph: smooth gradients, edges, and
/// sensor noise.
pub fn photo(width: u16, height: u16) -> Vec<u8> {
    let pixels = photo_pixels(width, height);
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 90);
    encoder.set_sampling_factor(jpeg_encoder::SamplingFactor::F_2_2);
    encoder.encode(&pixels, width, height, ColorType::Rgb).expect("writing to a Vec cannot fail");
    bytes
}

/// The pixels of [`photo`], red, green and blue.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "values are clamped to 0..=255"
)]
pub fn photo_pixels(width: u16, height: u16) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut noise = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f32::from((state >> 60) as u8) - 7.5
    };
    let mut pixels = Vec::with_capacity(usize::from(width) * usize::from(height) * 3);
    for y in 0..height {
        for x in 0..width {
            let (across, down) =
                (f32::from(x) / f32::from(width), f32::from(y) / f32::from(height));
            let waves = (across * 19.0).sin() * (down * 23.0).cos() * 60.0
                + (across * 170.0 + down * 90.0).sin() * 20.0;
            let tiles = if (x / 97 + y / 61) % 5 == 0 { 30.0 } else { 0.0 };
            let light = waves + tiles + noise();
            for base in [90.0 + across * 100.0, 110.0 + down * 60.0, 140.0 - across * down * 100.0]
            {
                pixels.push((base + light) as u8);
            }
        }
    }
    pixels
}

/// Renders a complete JPEG in another size, in the default quality of the format, and returns the bytes.
pub fn shrink(source: &[u8], size: (u32, u32), format: RenderFormat) -> Vec<u8> {
    let requested = Size { width: size.0, height: size.1 };
    let spec = |source| {
        let plan = transform::resize_plan(source, None, requested, None)?;
        Ok(plan.map(|plan| RenderSpec { plan, format, quality: format.default_quality() }))
    };
    pipeline::render(source, RenderFormat::Jpeg, spec, &SourceLimits::default())
        .expect("the source is an image within the limits")
        .expect("it is larger than the requested size")
}

/// The displayed width and height of an image.
pub fn size(image: &[u8]) -> (u32, u32) {
    let size = pipeline::measure(image).expect("the file is an image");
    (size.width, size.height)
}

/// All bytes of a rendered image.
pub fn bytes(rendered: RenderedImage) -> Vec<u8> {
    match rendered {
        RenderedImage::InMemory(bytes) => bytes.into(),
        RenderedImage::OnDisk(mut chunks) => {
            let read = || Some(chunks.read().expect("it stays readable"));
            let chunks = std::iter::from_fn(read).take_while(|chunk| !chunk.is_empty());
            chunks.flatten().collect()
        }
    }
}
