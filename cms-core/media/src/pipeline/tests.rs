//! Renders images with one colour in each quarter, and compares the colours.

use std::io::Cursor;

use cms_model::media::transform::ResizePlan;
use image::{
    DynamicImage, GrayImage, ImageEncoder, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage,
    codecs::png::PngEncoder,
};
use jpeg_encoder::{ColorType, Encoder as JpegEncoder};
use moxcms::ColorProfile;
use proptest::prelude::*;

use super::*;
use crate::testing::images;

const FORMATS: [RenderFormat; 5] = [
    RenderFormat::Jpeg,
    RenderFormat::Png,
    RenderFormat::Webp,
    RenderFormat::Gif,
    RenderFormat::Bmp,
];

const RED: [u8; 3] = [220, 30, 30];
const GREEN: [u8; 3] = [30, 180, 60];
const BLUE: [u8; 3] = [30, 60, 210];
const YELLOW: [u8; 3] = [230, 210, 40];

/// Red and green above, blue and yellow below.
fn quarters(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        Rgb(match (x < width / 2, y < height / 2) {
            (true, true) => RED,
            (false, true) => GREEN,
            (true, false) => BLUE,
            (false, false) => YELLOW,
        })
    })
}

/// The colours in the centre of each quarter, in reading order.
fn middles(image: &RgbImage) -> [[u8; 3]; 4] {
    let (width, height) = image.dimensions();
    [(1, 1), (3, 1), (1, 3), (3, 3)].map(|(x, y)| image.get_pixel(width * x / 4, height * y / 4).0)
}

fn jpeg_of(image: &RgbImage, change: impl FnOnce(&mut JpegEncoder<&mut Vec<u8>>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = JpegEncoder::new(&mut bytes, 95);
    change(&mut encoder);
    let (width, height) = (image.width().try_into().unwrap(), image.height().try_into().unwrap());
    encoder.encode(image, width, height, ColorType::Rgb).unwrap();
    bytes
}

fn file(image: &RgbImage, format: RenderFormat) -> Vec<u8> {
    match format {
        RenderFormat::Jpeg => jpeg_of(image, |_| ()),
        RenderFormat::Webp => {
            webp::Encoder::from_rgb(image, image.width(), image.height()).encode(95.0).to_vec()
        }
        RenderFormat::Png => written(image.clone(), ImageFormat::Png),
        RenderFormat::Gif => written(image.clone(), ImageFormat::Gif),
        RenderFormat::Bmp => written(image.clone(), ImageFormat::Bmp),
        RenderFormat::Avif => unreachable!("never a source"),
    }
}

fn written(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// Decodes a rendered image.
fn seen(bytes: &[u8]) -> DynamicImage {
    if bytes.starts_with(b"\xff\xd8") {
        let mut decoder = jpeg_decoder::Decoder::new(bytes);
        let pixels = decoder.decode().unwrap();
        let info = decoder.info().unwrap();
        let (width, height) = (info.width.into(), info.height.into());
        return match info.pixel_format {
            jpeg_decoder::PixelFormat::L8 => {
                GrayImage::from_raw(width, height, pixels).unwrap().into()
            }
            _ => RgbImage::from_raw(width, height, pixels).unwrap().into(),
        };
    }
    image::load_from_memory(bytes).unwrap()
}

/// Returns a specification, as the parameter `spec` of [`render`] does.
#[expect(clippy::unnecessary_wraps, reason = "has the signature of a fallible specification")]
fn spec(
    crop: Rectangle,
    (width, height): (u32, u32),
    format: RenderFormat,
    quality: u8,
) -> Result<Option<RenderSpec>> {
    let plan = ResizePlan { crop, output: Size { width, height } };
    Ok(Some(RenderSpec { plan, format, quality }))
}

fn whole(width: u32, height: u32) -> Rectangle {
    Rectangle { x: 0, y: 0, width, height }
}

/// Renders the complete image in a size.
fn resized(
    source: &[u8],
    from: RenderFormat,
    to: RenderFormat,
    size: (u32, u32),
) -> Result<DynamicImage> {
    let plan = |Size { width, height }| spec(whole(width, height), size, to, 90);
    let rendered = render(source, from, plan, &SourceLimits::default())?;
    let image = seen(&rendered.expect("the specification changes the image"));
    assert_eq!((image.width(), image.height()), size);
    Ok(image)
}

/// Renders a crop in its own size, as PNG.
fn cut(source: &[u8], from: RenderFormat, crop: Rectangle) -> DynamicImage {
    let size = (crop.width, crop.height);
    let plan = |_| spec(crop, size, RenderFormat::Png, 90);
    seen(&render(source, from, plan, &SourceLimits::default()).unwrap().unwrap())
}

fn assert_near(found: [[u8; 3]; 4], expected: [[u8; 3]; 4], what: &str) {
    let distance = found.as_flattened().iter().zip(expected.as_flattened());
    let worst = distance.map(|(found, expected)| found.abs_diff(*expected)).max();
    assert!(worst <= Some(14), "{what}: {found:?} instead of {expected:?}");
}

fn is_refused(outcome: &Result<impl Sized>) -> bool {
    let Err(Error::Invalid(errors)) = outcome else { return false };
    errors.at("file") == [message::NOT_AN_IMAGE]
}

#[test]
fn formats_convert_to_every_format() {
    let original = quarters(120, 80);
    for from in FORMATS {
        for to in FORMATS {
            let image = resized(&file(&original, from), from, to, (30, 20)).unwrap();
            let what = format!("{from:?} to {to:?}");
            assert_near(middles(&image.to_rgb8()), [RED, GREEN, BLUE, YELLOW], &what);
        }
    }
}

#[test]
fn stored_format_overrides_detected_format() {
    let png = file(&quarters(8, 8), RenderFormat::Png);
    for wrong in [RenderFormat::Jpeg, RenderFormat::Webp, RenderFormat::Gif, RenderFormat::Bmp] {
        assert!(is_refused(&resized(&png, wrong, wrong, (4, 4))), "{wrong:?}");
    }
}

/// The colours of the quarters in reading order, after each EXIF orientation of [`quarters`].
const ORIENTATIONS: [(u8, [[u8; 3]; 4]); 8] = [
    (1, [RED, GREEN, BLUE, YELLOW]),
    (2, [GREEN, RED, YELLOW, BLUE]),
    (3, [YELLOW, BLUE, GREEN, RED]),
    (4, [BLUE, YELLOW, RED, GREEN]),
    (5, [RED, BLUE, GREEN, YELLOW]),
    (6, [BLUE, RED, YELLOW, GREEN]),
    (7, [YELLOW, GREEN, BLUE, RED]),
    (8, [GREEN, YELLOW, RED, BLUE]),
];

/// EXIF data with an orientation and GPS coordinates.
fn exif(orientation: u8) -> Vec<u8> {
    let mut data = b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".to_vec();
    data.extend([orientation, 0, 0, 0, 0, 0, 0]);
    data.extend(b"somewhere");
    data
}

#[test]
fn images_are_rendered_upright() {
    let original = quarters(400, 240);
    for (orientation, expected) in ORIENTATIONS {
        let jpeg = jpeg_of(&original, |encoder| {
            encoder.add_exif_metadata(&exif(orientation)).unwrap();
        });
        let mut png = Vec::new();
        let mut encoder = PngEncoder::new(&mut png);
        encoder.set_exif_metadata(exif(orientation)).unwrap();
        encoder.write_image(&original, 400, 240, image::ExtendedColorType::Rgb8).unwrap();

        let displayed = if orientation > 4 { (240, 400) } else { (400, 240) };
        for (source, format) in [(jpeg, RenderFormat::Jpeg), (png, RenderFormat::Png)] {
            let what = format!("{format:?}, orientation {orientation}");
            assert_eq!(
                measure(&source),
                Some(Size { width: displayed.0, height: displayed.1 }),
                "{what}"
            );
            let size = (displayed.0 / 10, displayed.1 / 10);
            let image = resized(&source, format, format, size).unwrap();
            assert_near(middles(&image.to_rgb8()), expected, &what);

            // Slightly less than the upper right quarter of the displayed image.
            let (width, height) = (displayed.0 / 2 - 20, displayed.1 / 2 - 20);
            let crop = Rectangle { x: displayed.0 / 2 + 10, y: 10, width, height };
            let part = cut(&source, format, crop).to_rgb8();
            assert_near(middles(&part), [expected[1]; 4], &what);
            let plan = |_| spec(crop, (3, 2), format, 85);
            let rendered =
                render(&source, format, plan, &SourceLimits::default()).unwrap().unwrap();
            let leaked = memchr::memmem::find(&rendered, b"somewhere");
            assert_eq!(leaked, None, "{what}");
        }
    }
}

#[test]
fn crop_in_its_own_size_is_copied() {
    let original = RgbImage::from_raw(90, 70, images::photo_pixels(90, 70)).unwrap();
    let crop = Rectangle { x: 13, y: 7, width: 41, height: 29 };
    let part = cut(&file(&original, RenderFormat::Png), RenderFormat::Png, crop).to_rgb8();
    let expected = image::imageops::crop_imm(&original, 13, 7, 41, 29).to_image();
    assert_eq!(part, expected);
}

#[test]
fn cropped_pixels_do_not_affect_the_output() {
    let inside = |x, y| (30..70).contains(&x) && (20..60).contains(&y);
    let original = RgbImage::from_fn(100, 80, |x, y| Rgb(if inside(x, y) { RED } else { [0; 3] }));
    let crop = Rectangle { x: 30, y: 20, width: 40, height: 40 };
    for format in [RenderFormat::Png, RenderFormat::Bmp] {
        for size in [(20, 20), (13, 13), (5, 5), (1, 1)] {
            let plan = |_| spec(crop, size, RenderFormat::Png, 90);
            let source = file(&original, format);
            let part = render(&source, format, plan, &SourceLimits::default()).unwrap().unwrap();
            let part = seen(&part).to_rgb8();
            assert!(part.pixels().all(|pixel| pixel.0 == RED), "{format:?} as {size:?}");
        }
    }
}

#[test]
fn reduced_decoding_renders_the_same_image() {
    let source = images::photo(803, 597);
    let pixels = jpeg_decoder::Decoder::new(&source[..]).decode().unwrap();
    let unreduced = written(RgbImage::from_raw(803, 597, pixels).unwrap(), ImageFormat::Png);
    for (crop, size) in [
        (whole(803, 597), (100, 74)),
        (whole(803, 597), (200, 149)),
        (whole(803, 597), (401, 298)),
        (Rectangle { x: 301, y: 119, width: 333, height: 222 }, (33, 22)),
        (Rectangle { x: 470, y: 264, width: 333, height: 333 }, (150, 150)),
    ] {
        let render = |source: &[u8], format| {
            let plan = |_| spec(crop, size, RenderFormat::Png, 90);
            seen(&super::render(source, format, plan, &SourceLimits::default()).unwrap().unwrap())
                .to_rgb8()
        };
        let (fast, slow) =
            (render(&source, RenderFormat::Jpeg), render(&unreduced, RenderFormat::Png));
        let differences = fast.as_raw().iter().zip(slow.as_raw()).map(|(a, b)| a.abs_diff(*b));
        let sum: u32 = differences.map(u32::from).sum();
        let mean = f64::from(sum) / f64::from(size.0 * size.1 * 3);
        assert!(mean < 3.0, "{crop:?} to {size:?} differs by {mean}");
    }
}

#[test]
fn jpegs_of_any_aspect_ratio_can_be_reduced() {
    for (width, height) in
        [(1, 1), (7, 5), (8, 8), (400, 1), (1, 400), (400, 7), (9, 400), (64, 64)]
    {
        let source = jpeg_of(&RgbImage::from_pixel(width, height, Rgb(RED)), |_| ());
        for part in [1, 2, 3, 5, 8, 50] {
            let size = ((width / part).max(1), (height / part).max(1));
            let image =
                resized(&source, RenderFormat::Jpeg, RenderFormat::Png, size).unwrap().to_rgb8();
            assert_near(
                [image.get_pixel(0, 0).0; 4],
                [RED; 4],
                &format!("{width}x{height}/{part}"),
            );
        }
    }
}

#[test]
fn transparent_pixels_have_no_colour() {
    // Alternating columns: a solid blue one, and a fully transparent red one.
    let column = |x, _| if x % 2 == 0 { Rgba([0, 0, 255, 255]) } else { Rgba([255, 0, 0, 0]) };
    let source = written(RgbaImage::from_fn(64, 64, column), ImageFormat::Png);
    for to in [RenderFormat::Png, RenderFormat::Webp] {
        let image = resized(&source, RenderFormat::Png, to, (16, 16)).unwrap().to_rgba8();
        let [red, green, blue, alpha] = image.get_pixel(8, 8).0;
        assert!(red < 8 && green < 8 && blue > 247, "{to:?}: {red} {green} {blue}");
        assert!(alpha.abs_diff(128) < 6, "{to:?}: {alpha}");
    }
    let image =
        resized(&source, RenderFormat::Png, RenderFormat::Jpeg, (16, 16)).unwrap().to_rgb8();
    let light = image.get_pixel(8, 8).0;
    assert_near([light; 4], [[127, 127, 255]; 4], "on white paper");
}

#[test]
fn deep_and_grey_images_convert_to_eight_bits() {
    let grey = GrayImage::from_fn(40, 40, |x, _| image::Luma([if x < 20 { 40 } else { 200 }]));
    let grey = DynamicImage::from(grey);
    let deep = [
        (DynamicImage::from(grey.to_luma16()), image::ColorType::L8),
        (DynamicImage::from(grey.to_luma_alpha16()), image::ColorType::La8),
        (DynamicImage::from(grey.to_rgb16()), image::ColorType::Rgb8),
        (DynamicImage::from(grey.to_rgba16()), image::ColorType::Rgba8),
        (grey, image::ColorType::L8),
    ];
    for (source, colour) in deep {
        let source = written(source, ImageFormat::Png);
        let image = resized(&source, RenderFormat::Png, RenderFormat::Png, (20, 20)).unwrap();
        assert_eq!(image.color(), colour);
        let light = [(4, 4), (15, 4)].map(|(x, y)| image.to_luma8().get_pixel(x, y).0[0]);
        assert_eq!(light, [40, 200], "{colour:?}");
    }
}

#[test]
fn grey_jpegs_stay_grey() {
    let mut source = Vec::new();
    JpegEncoder::new(&mut source, 95).encode(&[90; 900], 30, 30, ColorType::Luma).unwrap();
    let image = resized(&source, RenderFormat::Jpeg, RenderFormat::Jpeg, (10, 10)).unwrap();
    assert_eq!(image.color(), image::ColorType::L8);
    assert!(image.to_luma8().get_pixel(5, 5).0[0].abs_diff(90) < 3);
}

#[test]
fn profiles_are_applied_and_removed() {
    let wide = ColorProfile::new_display_p3().encode().unwrap();
    let original = RgbImage::from_pixel(40, 40, Rgb([200, 100, 50]));
    let mut png = Vec::new();
    let mut encoder = PngEncoder::new(&mut png);
    encoder.set_icc_profile(wide.clone()).unwrap();
    encoder.write_image(&original, 40, 40, image::ExtendedColorType::Rgb8).unwrap();
    let jpeg = jpeg_of(&original, |encoder| encoder.add_icc_profile(&wide).unwrap());
    for (source, format) in [(png, RenderFormat::Png), (jpeg, RenderFormat::Jpeg)] {
        let image = resized(&source, format, format, (10, 10)).unwrap().to_rgb8();
        assert_near([image.get_pixel(5, 5).0; 4], [P3_IN_SRGB; 4], "wide colours");
        let plan = |_| spec(whole(40, 40), (9, 9), format, 85);
        let bytes = render(&source, format, plan, &SourceLimits::default()).unwrap().unwrap();
        for mark in [&b"ICC_PROFILE"[..], b"iCCP"] {
            assert_eq!(memchr::memmem::find(&bytes, mark), None);
        }
    }
}

/// 200, 100, 50 of Display P3 in sRGB, by the matrices of both.
const P3_IN_SRGB: [u8; 3] = [215, 93, 31];

#[test]
fn unusable_profile_is_ignored() {
    let original = RgbImage::from_pixel(40, 40, Rgb([200, 100, 50]));
    let mut grey = ColorProfile::new_gray_with_gamma(2.2).encode().unwrap();
    grey.truncate(200);
    for profile in [&b"no profile at all"[..], &grey] {
        let source = jpeg_of(&original, |encoder| encoder.add_icc_profile(profile).unwrap());
        let image =
            resized(&source, RenderFormat::Jpeg, RenderFormat::Png, (10, 10)).unwrap().to_rgb8();
        assert_near([image.get_pixel(5, 5).0; 4], [[200, 100, 50]; 4], "no usable profile");
    }
}

#[test]
fn cmyk_converts_to_rgb() {
    let inks = [
        ([255, 0, 0, 0], [0, 255, 255]),
        ([0, 255, 255, 0], [255, 0, 0]),
        ([0, 0, 0, 255], [0, 0, 0]),
        ([0, 0, 0, 0], [255, 255, 255]),
        ([0, 0, 0, 128], [127, 127, 127]),
    ];
    for colour_type in [ColorType::Cmyk, ColorType::CmykAsYcck] {
        for (ink, light) in inks {
            let mut source = Vec::new();
            let pixels = ink.repeat(64 * 64);
            JpegEncoder::new(&mut source, 95).encode(&pixels, 64, 64, colour_type).unwrap();
            let image = resized(&source, RenderFormat::Jpeg, RenderFormat::Jpeg, (16, 16))
                .unwrap()
                .to_rgb8();
            assert_near(
                [image.get_pixel(5, 5).0; 4],
                [light; 4],
                &format!("{colour_type:?} {ink:?}"),
            );
        }
    }
}

#[test]
fn sizes_beyond_the_format_maximum_are_rejected() {
    let source = file(&quarters(8, 8), RenderFormat::Png);
    for (format, side) in
        [(RenderFormat::Webp, 16_384), (RenderFormat::Jpeg, 65_536), (RenderFormat::Gif, 65_536)]
    {
        let plan = |_| spec(whole(8, 8), (side, 1), format, 85);
        let Err(Error::Invalid(errors)) =
            render(&source, RenderFormat::Png, plan, &SourceLimits::default())
        else {
            panic!("{format:?} has no side of {side}")
        };
        assert_eq!(errors.at("size"), [message::NOT_VALID]);
    }
}

#[test]
fn spec_errors_are_returned() {
    let source = file(&quarters(8, 8), RenderFormat::Png);
    let plan = |_| Err(Error::invalid("trim", message::NOT_VALID));
    let Err(Error::Invalid(errors)) =
        render(&source, RenderFormat::Png, plan, &SourceLimits::default())
    else {
        panic!("the plan is rejected")
    };
    assert_eq!(errors.at("trim"), [message::NOT_VALID]);
}

mod hostile;
mod measure;
