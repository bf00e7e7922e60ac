//! Rendered images in all sizes and trims, compared pixel by pixel, see
//! docs/reference/media.md#resize and docs/reference/media.md#trim.
//!
//! The source is a gradient: red grows from left to right, green from top to bottom. So the
//! expected pixels of any part in any size can be computed.

use std::io::Cursor;

use cms_core::{Caller, Error, ImageBody, Result, testing::TestCms, wire::media::ImageRequest};
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};

/// Red and green at a point of the source, from 0 to 1 in both directions.
fn colour(across: f64, down: f64) -> [f64; 2] {
    [255.0 * across, 255.0 * down]
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
fn gradient(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        let across = (f64::from(x) + 0.5) / f64::from(width);
        let down = (f64::from(y) + 0.5) / f64::from(height);
        let [red, green] = colour(across, down);
        Rgb([red.round() as u8, green.round() as u8, 128])
    })
}

/// A format to upload, with the tolerances of scaled pixels and of pixels that are only cropped.
struct Format {
    extension: &'static str,
    scaled: f64,
    cut: f64,
}

const FORMATS: [Format; 5] = [
    Format { extension: "png", scaled: 2.5, cut: 0.0 },
    Format { extension: "bmp", scaled: 2.5, cut: 0.0 },
    Format { extension: "jpg", scaled: 9.0, cut: 9.0 },
    Format { extension: "webp", scaled: 14.0, cut: 14.0 },
    // A palette of 256 colours: single pixels may differ a lot, their mean does not.
    Format { extension: "gif", scaled: 255.0, cut: 255.0 },
];

fn encoded(image: &RgbImage, extension: &str) -> Vec<u8> {
    let (width, height) = image.dimensions();
    let format = match extension {
        "png" => ImageFormat::Png,
        "bmp" => ImageFormat::Bmp,
        "gif" => ImageFormat::Gif,
        "webp" => return webp::Encoder::from_rgb(image, width, height).encode_lossless().to_vec(),
        _ => {
            let mut bytes = Vec::new();
            let encoder = jpeg_encoder::Encoder::new(&mut bytes, 95);
            let (width, height) = (width.try_into().unwrap(), height.try_into().unwrap());
            encoder.encode(image, width, height, jpeg_encoder::ColorType::Rgb).unwrap();
            return bytes;
        }
    };
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::from(image.clone()).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn decoded(bytes: &[u8]) -> RgbImage {
    if !bytes.starts_with(b"\xff\xd8") {
        return image::load_from_memory(bytes).unwrap().to_rgb8();
    }
    let mut decoder = jpeg_decoder::Decoder::new(bytes);
    let pixels = decoder.decode().unwrap();
    let info = decoder.info().unwrap();
    RgbImage::from_raw(info.width.into(), info.height.into(), pixels).unwrap()
}

/// An uploaded image.
struct Uploaded {
    core: TestCms,
    id: String,
    extension: &'static str,
    bytes: Vec<u8>,
}

impl Uploaded {
    fn new(bytes: Vec<u8>, extension: &'static str) -> Self {
        let core = TestCms::new();
        let request = crate::media::image(&format!("soft.{extension}"));
        let stored = crate::media::upload(&core.cms, &bytes, &request).unwrap();
        let id = stored["id"].as_str().unwrap().to_owned();
        Self { core, id, extension, bytes }
    }

    fn set_variants(&self, variants: &Value) {
        self.patch(&json!({"variants": variants}));
    }

    fn patch(&self, changes: &Value) {
        let payload = changes.as_object().unwrap().clone();
        self.core.cms.objects().patch(&Caller::local(), "_media", &self.id, payload).unwrap();
    }

    /// Requests `{size}`, or `{size}/...` with a part that follows the file name.
    fn get(&self, requested: &str, transform: Option<&str>) -> Result<Vec<u8>> {
        let (size, suffix) = requested.split_once('/').unwrap_or((requested, ""));
        let file = format!("{}.{}", self.id, self.extension);
        let mut path = vec![size, &file];
        path.extend(suffix.split('/').filter(|part| !part.is_empty()));
        let request = ImageRequest { path: &path, transform, ..ImageRequest::default() };
        let media = self.core.cms.media();
        let image = media.find(&request)?;
        match media.image_body(&image)? {
            ImageBody::Rendered(rendered) => Ok(cms_core::testing::images::bytes(rendered)),
            ImageBody::Original { size } => Ok(media.read(&image, 0..size)?.to_vec()),
        }
    }
}

/// Compares an image with a part of the gradient, `x, y, width, height` in its pixels.
fn assert_shows(
    bytes: &[u8],
    source: (u32, u32),
    part: (f64, f64, f64, f64),
    size: (u32, u32),
    kind: &Format,
    what: &str,
) {
    let image = decoded(bytes);
    assert_eq!(image.dimensions(), size, "{what}");
    let (left, top, width, height) = part;
    let is_cropped = (f64::from(size.0), f64::from(size.1)) == (width, height);
    // Pixels that are only cropped are equal, except for rounding.
    let tolerance = if is_cropped { kind.cut + 0.5 } else { kind.scaled };
    let mut sum = 0.0;
    for (x, y, Rgb([red, green, blue])) in image.enumerate_pixels() {
        let across = left + (f64::from(x) + 0.5) * width / f64::from(size.0);
        let down = top + (f64::from(y) + 0.5) * height / f64::from(size.1);
        let [expected_red, expected_green] =
            colour(across / f64::from(source.0), down / f64::from(source.1));
        for (found, expected) in [(red, expected_red), (green, expected_green), (blue, 128.0)] {
            let distance = (f64::from(*found) - expected).abs();
            sum += distance;
            assert!(
                distance <= tolerance + 1e-6,
                "{what}: {found} instead of {expected} at {x}, {y}"
            );
        }
    }
    let mean = sum / f64::from(3 * size.0 * size.1);
    assert!(mean < 12.0, "{what}: {mean} off");
}

/// Source, requested size, visible part of the source, and size of the rendered image.
type Row = ((u32, u32), &'static str, (f64, f64, f64, f64), (u32, u32));

#[test]
fn resize_table_matches_the_rendered_pixels() {
    const ROWS: [Row; 11] = [
        // Wx0
        ((300, 150), "100x0", (0., 0., 300., 150.), (100, 50)),
        ((300, 99), "100x0", (0., 0., 300., 99.), (100, 33)),
        ((300, 2), "20x0", (0., 0., 300., 2.), (20, 1)),
        // 0xH
        ((300, 150), "0x30", (0., 0., 300., 150.), (60, 30)),
        ((2, 300), "0x20", (0., 0., 2., 300.), (1, 20)),
        // WxH: scaled to fill, then cropped to the centre.
        ((300, 150), "50x50", (75., 0., 150., 150.), (50, 50)),
        ((150, 300), "50x50", (0., 75., 150., 150.), (50, 50)),
        ((300, 150), "60x30", (0., 0., 300., 150.), (60, 30)),
        // Never larger, so that only one side is cropped.
        ((1000, 500), "800x800", (100., 0., 800., 500.), (800, 500)),
        ((300, 150), "500x50", (0., 50., 300., 50.), (300, 50)),
        ((3, 2), "1x1", (0., 0., 2., 2.), (1, 1)),
    ];
    for kind in &FORMATS {
        for (source, requested, part, size) in ROWS {
            // Too small for lossy formats and their colour subsampling.
            if source.0.min(source.1) < 8 && kind.scaled > 3.0 {
                continue;
            }
            let what = format!("{} {source:?} as {requested}", kind.extension);
            let file = encoded(&gradient(source.0, source.1), kind.extension);
            let uploaded = Uploaded::new(file, kind.extension).get(requested, None).unwrap();
            assert_shows(&uploaded, source, part, size, kind, &what);
        }
    }
}

/// Source, requested size, focal point, visible part of the source, and size of the rendered image.
type FocalRow = ((u32, u32), &'static str, (f64, f64), (f64, f64, f64, f64), (u32, u32));

#[test]
fn focal_point_moves_the_rendered_part() {
    const ROWS: [FocalRow; 8] = [
        ((300, 150), "50x50", (0.0, 0.0), (0., 0., 150., 150.), (50, 50)),
        ((300, 150), "50x50", (0.3, 0.9), (15., 0., 150., 150.), (50, 50)),
        ((300, 150), "50x50", (1.0, 1.0), (150., 0., 150., 150.), (50, 50)),
        ((150, 300), "50x50", (0.1, 0.7), (0., 135., 150., 150.), (50, 50)),
        ((1000, 500), "800x800", (0.45, 0.5), (50., 0., 800., 500.), (800, 500)),
        ((300, 150), "500x50", (0.5, 1.0), (0., 100., 300., 50.), (300, 50)),
        ((300, 150), "100x0", (0.9, 0.9), (0., 0., 300., 150.), (100, 50)),
        // The trim leaves 100x150 pixels from x = 200 on; the focal point is at x = 210, a tenth of
        // them.
        (
            (300, 150),
            "50x150/transform/trim/0,0,100,150",
            (0.7, 0.5),
            (200., 0., 50., 150.),
            (50, 150),
        ),
    ];
    for kind in &FORMATS {
        for (source, requested, (x, y), part, size) in ROWS {
            let what = format!("{} {source:?} as {requested} around {x}, {y}", kind.extension);
            let file = encoded(&gradient(source.0, source.1), kind.extension);
            let uploaded = Uploaded::new(file, kind.extension);
            uploaded.patch(&json!({"focalPoint": {"x": x, "y": y}}));
            let found = uploaded.get(requested, None).unwrap();
            assert_shows(&found, source, part, size, kind, &what);
        }
    }
}

#[test]
fn focal_point_in_the_centre_is_the_default() {
    let uploaded = Uploaded::new(encoded(&gradient(301, 150), "png"), "png");
    let default = uploaded.get("50x51", None).unwrap();
    uploaded.patch(&json!({"focalPoint": {"x": 0.5, "y": 0.5}}));
    assert!(uploaded.get("50x51", None).unwrap() == default);
    uploaded.patch(&json!({"focalPoint": {"x": 0.25, "y": 0.5}}));
    assert!(uploaded.get("50x51", None).unwrap() != default);
}

#[test]
fn unchanged_image_is_the_stored_file() {
    for kind in &FORMATS {
        let uploaded = Uploaded::new(encoded(&gradient(60, 40), kind.extension), kind.extension);
        let everything = r#"{"trim":{"top":0,"left":0,"width":60,"height":40}}"#;
        for (requested, transform) in [
            ("0x0", None),
            ("60x0", None),
            ("0x40", None),
            ("192x192", None),
            ("9999x0", None),
            ("0x0", Some(everything)),
            ("60x40", Some(r#"{"trim":{}}"#)),
            ("0x0/transform/trim/0,0,9999999,9999999", None),
        ] {
            let found = uploaded.get(requested, transform).unwrap();
            assert!(found == uploaded.bytes, "{} as {requested} {transform:?}", kind.extension);
        }
    }
}

/// A trim of an image of 400x300, and the remaining part.
type Cut = (&'static str, (f64, f64, f64, f64));

#[test]
fn trim_table_matches_the_rendered_pixels() {
    const CUTS: [Cut; 12] = [
        // The examples of the reference.
        (r#"{"top":10,"right":10,"bottom":10,"left":10}"#, (10., 10., 380., 280.)),
        (r#"{"top":10,"left":10,"width":50,"height":50}"#, (10., 10., 50., 50.)),
        // From the left: right and bottom are ignored.
        (r#"{"top":5,"left":7,"right":9,"bottom":9,"width":50,"height":40}"#, (7., 5., 50., 40.)),
        // From the right.
        (r#"{"top":5,"right":30,"width":50,"height":40}"#, (320., 5., 50., 40.)),
        // Sides alone; absent ones are 0.
        (r#"{"top":20,"left":100}"#, (100., 20., 300., 280.)),
        (r#"{"right":100,"bottom":1}"#, (0., 0., 300., 299.)),
        // One of width and height: the other reaches to the opposite side, or to the edge.
        (r#"{"top":10,"left":20,"bottom":30,"width":50}"#, (20., 10., 50., 260.)),
        (r#"{"top":10,"left":20,"width":50}"#, (20., 10., 50., 290.)),
        (r#"{"top":10,"left":20,"right":30,"height":50}"#, (20., 10., 350., 50.)),
        // Not beyond the image.
        (r#"{"top":290,"left":390,"width":50,"height":50}"#, (390., 290., 10., 10.)),
        (r#"{"top":0,"left":399,"width":9999999,"height":1}"#, (399., 0., 1., 1.)),
        (r#"{"top":10.9,"left":0.5,"width":50.7,"height":20.2}"#, (0., 10., 50., 20.)),
    ];
    for kind in &FORMATS {
        let uploaded = Uploaded::new(encoded(&gradient(400, 300), kind.extension), kind.extension);
        for (trim, part) in CUTS {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let size = (part.2 as u32, part.3 as u32);
            let what = format!("{} {trim}", kind.extension);
            let transform = format!(r#"{{"trim":{trim}}}"#);
            let found = uploaded.get("0x0", Some(&transform)).unwrap();
            assert_shows(&found, (400, 300), part, size, kind, &what);
            // A stored variant with the same trim is the same image.
            let trim: Value = serde_json::from_str(trim).unwrap();
            if trim["top"].is_number() && trim["left"].is_number() {
                uploaded.set_variants(&json!([{"name": "part", "trim": trim}]));
                assert!(uploaded.get("0x0/variant/part", None).unwrap() == found, "{what}");
            }
        }
        let found = uploaded.get("0x0/transform/trim/10,20,50,60", None).unwrap();
        let what = format!("{} by path", kind.extension);
        assert_shows(&found, (400, 300), (330., 10., 50., 60.), (50, 60), kind, &what);
        // Trimmed, then scaled, then cropped to the centre.
        let found = uploaded.get("25x25/transform/trim/100,100,100,50", None).unwrap();
        assert_shows(&found, (400, 300), (225., 100., 50., 50.), (25, 25), kind, &what);
    }
}

#[test]
fn empty_trims_are_refused() {
    let uploaded = Uploaded::new(encoded(&gradient(40, 30), "png"), "png");
    for (requested, transform) in [
        ("0x0", Some(r#"{"trim":{"top":30}}"#)),
        ("0x0", Some(r#"{"trim":{"left":20,"right":20}}"#)),
        ("10x10/transform/trim/0,40,10,10", None),
        ("0x0/transform/trim/30,0,1,1", None),
    ] {
        let Err(Error::Invalid(errors)) = uploaded.get(requested, transform) else {
            panic!("{requested} {transform:?} leaves pixels")
        };
        assert_eq!(json!(errors), json!({"trim": ["This value is not valid."]}));
    }
    uploaded.set_variants(&json!([{"name": "part", "trim": {"top": 1, "left": 1}}]));
    let unknown = uploaded.get("0x0/variant/whole", None);
    assert!(matches!(unknown, Err(Error::NotFound { .. })), "{unknown:?}");
}
