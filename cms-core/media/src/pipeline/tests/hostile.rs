//! Files with false headers, truncated files, and files with excessive cost.

use std::sync::LazyLock;

use super::*;

/// Small files of all decodable formats, each with its format.
fn samples() -> Vec<(RenderFormat, Vec<u8>)> {
    let original = quarters(40, 28);
    let mut samples: Vec<_> =
        FORMATS.into_iter().map(|format| (format, file(&original, format))).collect();
    let profile = ColorProfile::new_display_p3().encode().unwrap();
    samples.push((
        RenderFormat::Jpeg,
        jpeg_of(&quarters(90, 70), |encoder| {
            encoder.set_progressive(true);
            encoder.set_sampling_factor(jpeg_encoder::SamplingFactor::F_2_2);
            encoder.add_exif_metadata(&exif(6)).unwrap();
            encoder.add_icc_profile(&profile).unwrap();
        }),
    ));
    samples.push((
        RenderFormat::Jpeg,
        jpeg_of(&quarters(90, 70), |encoder| encoder.set_restart_interval(2)),
    ));
    let mut inks = Vec::new();
    let pixels = [10, 90, 200, 30].repeat(24 * 24);
    JpegEncoder::new(&mut inks, 90).encode(&pixels, 24, 24, ColorType::CmykAsYcck).unwrap();
    samples.push((RenderFormat::Jpeg, inks));
    let mut png = Vec::new();
    let mut encoder = PngEncoder::new(&mut png);
    encoder.set_icc_profile(profile).unwrap();
    encoder.set_exif_metadata(exif(3)).unwrap();
    encoder.write_image(&original, 40, 28, image::ExtendedColorType::Rgb8).unwrap();
    samples.push((RenderFormat::Png, png));
    let clear = DynamicImage::from(original).into_rgba8();
    samples.push((
        RenderFormat::Png,
        written(DynamicImage::from(clear.clone()).to_luma_alpha16(), ImageFormat::Png),
    ));
    samples.push((
        RenderFormat::Webp,
        webp::Encoder::from_rgba(&clear, 40, 28).encode_lossless().to_vec(),
    ));
    samples
        .push((RenderFormat::Webp, webp::Encoder::from_rgba(&clear, 40, 28).encode(80.0).to_vec()));
    samples
}

/// Renders a third of the size.
fn third(source: &[u8], format: RenderFormat, limits: &SourceLimits) -> Result<Option<Vec<u8>>> {
    let plan = |Size { width, height }| {
        let size = ((width / 3).max(1), (height / 3).max(1));
        spec(whole(width.max(1), height.max(1)), size, format, 85)
    };
    render(source, format, plan, limits)
}

#[test]
fn samples_are_valid() {
    for (format, source) in samples() {
        third(&source, format, &SourceLimits::default()).unwrap();
    }
}

#[test]
fn truncated_files_are_rejected() {
    for (format, source) in samples() {
        for length in [0, 1, 10, source.len() / 3, source.len() / 2] {
            let outcome = third(&source[..length], format, &SourceLimits::default());
            assert!(is_refused(&outcome), "{format:?}, {length} of {} bytes", source.len());
        }
    }
}

/// One file per format whose header declares an image of `side` by `side` pixels.
fn claiming(side: u16) -> Vec<(RenderFormat, Vec<u8>)> {
    let original = quarters(40, 28);
    let big = side.to_be_bytes();
    let little = side.to_le_bytes();
    let patched = |format, at: usize, width: &[u8], height: &[u8]| {
        let mut source = file(&original, format);
        source[at..at + width.len()].copy_from_slice(width);
        source[at + width.len()..at + width.len() + height.len()].copy_from_slice(height);
        (format, source)
    };
    let jpeg = file(&original, RenderFormat::Jpeg);
    let frame = memchr::memmem::find(&jpeg, b"\xff\xc0").unwrap();
    let [wide_big, wide_little] = [[0, 0, big[0], big[1]], [little[0], little[1], 0, 0]];
    let (_, mut png) = patched(RenderFormat::Png, 16, &wide_big, &wide_big);
    let sum = crc(&png[12..29]);
    png[29..33].copy_from_slice(&sum.to_be_bytes());
    vec![
        patched(RenderFormat::Jpeg, frame + 5, &big, &big),
        (RenderFormat::Png, png),
        patched(RenderFormat::Gif, 6, &little, &little),
        patched(RenderFormat::Bmp, 18, &wide_little, &wide_little),
    ]
}

/// The checksum of PNG chunks, bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum: u32, _| {
            (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg())
        })
    })
}

#[test]
fn images_beyond_the_limits_are_rejected_before_decoding() {
    for (format, source) in claiming(60_000) {
        assert_eq!(
            measure(&source),
            Some(Size { width: 60_000, height: 60_000 }),
            "{format:?} claims a size"
        );
        let start = std::time::Instant::now();
        assert!(is_refused(&third(&source, format, &SourceLimits::default())), "{format:?}");
        assert!(start.elapsed().as_millis() < 500, "{format:?} was decoded");
    }
}

#[test]
fn limits_are_checked_independently() {
    for (format, source) in samples() {
        let Size { width, height } = measure(&source).unwrap();
        let pixels = u64::from(width) * u64::from(height);
        for limits in [
            SourceLimits { side: width.max(height) - 1, ..SourceLimits::default() },
            SourceLimits { pixels: pixels - 1, ..SourceLimits::default() },
        ] {
            assert!(is_refused(&third(&source, format, &limits)), "{format:?} {limits:?}");
        }
        let limits = SourceLimits { memory: 200, ..SourceLimits::default() };
        let refused = third(&source, format, &limits).unwrap_err();
        assert!(matches!(refused, Error::Invalid(_)), "{format:?} {refused:?}");
    }
}

#[test]
fn image_with_too_many_scans_is_rejected() {
    let source = jpeg_of(&quarters(90, 70), |encoder| encoder.set_progressive(true));
    let last = memchr::memmem::rfind(&source, b"\xff\xda").unwrap();
    let scan = &source[last..source.len() - 2];
    let mut repeated = source[..last].to_vec();
    repeated.extend(scan.repeat(200));
    repeated.extend(b"\xff\xd9");
    assert!(is_refused(&third(&repeated, RenderFormat::Jpeg, &SourceLimits::default())));
}

#[test]
fn scans_times_pixels_of_a_jpeg_are_bounded() {
    let progressive = jpeg_of(&quarters(90, 70), |encoder| encoder.set_progressive(true));
    let baseline = jpeg_of(&quarters(90, 70), |_| {});
    for source in [progressive, baseline] {
        let scans = memchr::memmem::find_iter(&source, b"\xff\xda").count() as u64;
        let limits = |scan_pixels| SourceLimits { scan_pixels, ..SourceLimits::default() };
        third(&source, RenderFormat::Jpeg, &limits(scans * 90 * 70)).unwrap();
        let refused = third(&source, RenderFormat::Jpeg, &limits(scans * 90 * 70 - 1));
        assert!(is_refused(&refused), "{scans} scans");
    }
}

/// No encoder writes more scans than this, and no larger progressive image fits into memory.
#[test]
fn scans_of_the_largest_progressive_images_are_within_the_default_limit() {
    let SourceLimits { scan_pixels, memory, .. } = SourceLimits::default();
    assert!(scan_pixels / 50_000_000 >= 30);
    // Three channels with two bytes per coefficient.
    let largest = memory / 6;
    assert!(scan_pixels / largest >= 16, "{largest} pixels");
}

#[derive(Clone, Debug)]
enum Harm {
    Set(prop::sample::Index, u8),
    Flip(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Drop(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize),
}

fn harm() -> impl Strategy<Value = Harm> {
    let place = any::<prop::sample::Index>;
    prop_oneof![
        4 => (place(), prop_oneof![Just(0), Just(1), Just(0x7f), Just(0x80), Just(0xff), any::<u8>()])
            .prop_map(|(at, byte)| Harm::Set(at, byte)),
        4 => (place(), 0..8u8).prop_map(|(at, bit)| Harm::Flip(at, bit)),
        1 => place().prop_map(Harm::Cut),
        1 => (place(), 1..40usize).prop_map(|(at, length)| Harm::Drop(at, length)),
        1 => (place(), 1..40usize).prop_map(|(at, length)| Harm::Repeat(at, length)),
    ]
}

fn harmed(mut bytes: Vec<u8>, harm: &Harm) -> Vec<u8> {
    if bytes.is_empty() {
        return bytes;
    }
    let length = bytes.len();
    let place = |at: &prop::sample::Index| at.index(length);
    let part = |at, max: &usize| place(at)..(place(at) + max).min(length);
    match harm {
        Harm::Set(at, byte) => bytes[place(at)] = *byte,
        Harm::Flip(at, bit) => bytes[place(at)] ^= 1 << bit,
        Harm::Cut(at) => bytes.truncate(place(at)),
        Harm::Drop(at, max) => drop(bytes.drain(part(at, max))),
        Harm::Repeat(at, max) => {
            let again = bytes[part(at, max)].to_vec();
            bytes.splice(place(at)..place(at), again);
        }
    }
    bytes
}

/// Recomputes the checksums of a PNG, so that the decoder reads corrupted chunks.
fn correct_sums(png: &mut [u8]) {
    let mut at = 8;
    while let Some(length) = png.get(at..at + 4) {
        let length = u32::from_be_bytes(length.try_into().unwrap()) as usize;
        let end = at + 8 + length;
        if end + 4 > png.len() {
            break;
        }
        let sum = crc(&png[at + 4..end]);
        png[end..end + 4].copy_from_slice(&sum.to_be_bytes());
        at = end + 4;
    }
}

static SAMPLES: LazyLock<Vec<(RenderFormat, Vec<u8>)>> = LazyLock::new(samples);

proptest! {
    // PROPTEST_CASES increases the number of cases.
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A corrupted file is rendered in the requested size, or rejected; it never causes a panic.
    #[test]
    fn corrupted_files_are_rendered_or_rejected(
        which in any::<prop::sample::Index>(),
        harms in prop::collection::vec(harm(), 1..6),
        sums in any::<bool>(),
    ) {
        // Small limits, so that a file with a large declared size is cheap.
        let limits =
            SourceLimits { side: 4000, pixels: 250_000, memory: 8_000_000, ..SourceLimits::default() };
        let (format, source) = which.get(SAMPLES.as_slice()).clone();
        let mut source = harms.iter().fold(source, harmed);
        if sums && format == RenderFormat::Png {
            correct_sums(&mut source);
        }
        match third(&source, format, &limits) {
            Ok(rendered) => {
                let image = seen(&rendered.expect("a third is less than the whole"));
                let Size { width, height } = measure(&source).expect("the image was rendered");
                let third = ((width / 3).max(1), (height / 3).max(1));
                prop_assert_eq!((image.width(), image.height()), third);
            }
            refused => prop_assert!(is_refused(&refused), "{:?}", refused),
        }
        measure(&source);
    }
}
