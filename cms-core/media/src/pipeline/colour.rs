//! Colours: from a colour profile to sRGB, and from CMYK to RGB.
//!
//! Rendered images have no profile, so their pixels must be sRGB. An unusable profile is ignored,
//! as in browsers.

use image::{DynamicImage, GrayAlphaImage, GrayImage, RgbImage, RgbaImage};
use moxcms::{ColorProfile, DataColorSpace, Layout, TransformOptions};

/// Converts 8-bit pixels to sRGB.
pub(super) fn to_srgb(image: DynamicImage, profile: &[u8]) -> DynamicImage {
    convert(&image, profile).unwrap_or(image)
}

fn convert(image: &DynamicImage, profile: &[u8]) -> Option<DynamicImage> {
    let profile = ColorProfile::new_from_slice(profile).ok()?;
    let (width, height) = (image.width(), image.height());
    let (layout, target) = match (image, profile.color_space) {
        (DynamicImage::ImageRgb8(_), DataColorSpace::Rgb) => (Layout::Rgb, Layout::Rgb),
        (DynamicImage::ImageRgba8(_), DataColorSpace::Rgb) => (Layout::Rgba, Layout::Rgba),
        (DynamicImage::ImageLuma8(_), DataColorSpace::Gray) => (Layout::Gray, Layout::Rgb),
        (DynamicImage::ImageLumaA8(_), DataColorSpace::Gray) => (Layout::GrayAlpha, Layout::Rgba),
        _ => return None,
    };
    let pixels = transform(&profile, image.as_bytes(), layout, target)?;
    Some(match layout {
        Layout::Rgb => RgbImage::from_raw(width, height, pixels)?.into(),
        Layout::Rgba => RgbaImage::from_raw(width, height, pixels)?.into(),
        // Grey stays grey: one of three equal channels is enough.
        Layout::Gray => {
            let light = pixels.chunks_exact(3).map(|pixel| pixel[0]).collect();
            GrayImage::from_raw(width, height, light)?.into()
        }
        _ => {
            let light = pixels.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[3]]).collect();
            GrayAlphaImage::from_raw(width, height, light)?.into()
        }
    })
}

/// Converts CMYK (255 is full ink) to RGB.
pub(super) fn cmyk_to_rgb(pixels: &[u8], profile: Option<&[u8]>) -> Vec<u8> {
    profile
        .and_then(|profile| ColorProfile::new_from_slice(profile).ok())
        .filter(|profile| profile.color_space == DataColorSpace::Cmyk)
        // The pixel layout says four channels; the profile defines their meaning.
        .and_then(|profile| transform(&profile, pixels, Layout::Rgba, Layout::Rgb))
        .unwrap_or_else(|| pixels.chunks_exact(4).flat_map(cmyk_pixel_to_rgb).collect())
}

/// Converts one CMYK pixel to RGB without a profile.
fn cmyk_pixel_to_rgb(pixel: &[u8]) -> [u8; 3] {
    let paper = |ink: u8| u16::from(255 - ink);
    [0, 1, 2].map(|ink| {
        let light = paper(pixel[ink]) * paper(pixel[3]) / 255;
        u8::try_from(light).expect("a product of two parts of 255, over 255, is at most 255")
    })
}

fn transform(
    profile: &ColorProfile,
    pixels: &[u8],
    layout: Layout,
    target: Layout,
) -> Option<Vec<u8>> {
    let srgb = ColorProfile::new_srgb();
    let options = TransformOptions::default();
    let transform = profile.create_transform_8bit(layout, &srgb, target, options).ok()?;
    let mut converted = vec![0; pixels.len() / layout.channels() * target.channels()];
    transform.transform(pixels, &mut converted).ok()?;
    Some(converted)
}
