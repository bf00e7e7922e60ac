use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

use super::*;

const FACTORS: [SamplingFactor; 4] =
    [SamplingFactor::F_1_1, SamplingFactor::F_2_1, SamplingFactor::F_1_2, SamplingFactor::F_2_2];

/// Smooth waves in each channel: reduced decoding must keep them.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 28 to 228")]
fn waves(width: u16, height: u16, channels: usize) -> Vec<u8> {
    let mut pixels = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let (x, y) = (f32::from(x), f32::from(y));
            let lights = [x * 0.031 + y * 0.012, y * 0.027, x * 0.022 - y * 0.033];
            pixels.extend(lights[..channels].iter().map(|at| (128.0 + 100.0 * at.sin()) as u8));
        }
    }
    pixels
}

fn encoded(
    pixels: &[u8],
    (width, height): (u16, u16),
    colours: ColorType,
    change: impl FnOnce(&mut Encoder<&mut Vec<u8>>),
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 95);
    encoder.set_sampling_factor(SamplingFactor::F_1_1);
    change(&mut encoder);
    encoder.encode(pixels, width, height, colours).unwrap();
    bytes
}

/// The mean of each square of pixels, within the image.
fn means(pixels: &[u8], (width, height): (usize, usize), channels: usize, side: usize) -> Vec<u8> {
    let mut means = Vec::new();
    for (top, left) in
        (0..height).step_by(side).flat_map(|y| (0..width).step_by(side).map(move |x| (y, x)))
    {
        for channel in 0..channels {
            let (bottom, right) = ((top + side).min(height), (left + side).min(width));
            let lights = (top..bottom)
                .flat_map(|y| (left..right).map(move |x| (y * width + x) * channels + channel))
                .map(|at| usize::from(pixels[at]));
            let area = (bottom - top) * (right - left);
            means.push(u8::try_from(lights.sum::<usize>() / area).unwrap());
        }
    }
    means
}

/// Compares all scales with means of the source pixels.
fn assert_shows(file: &[u8], pixels: &[u8], (width, height): (u16, u16), what: &str) {
    let size = (usize::from(width), usize::from(height));
    let channels = pixels.len() / size.0 / size.1;
    for eighths in [1, 2, 4] {
        let found = decode(file, eighths).unwrap_or_else(|| panic!("{what} is not read"));
        let expected = means(pixels, size, channels, SIDE / eighths);
        assert_eq!(found.len(), expected.len(), "{what}, {eighths} eighths");
        let differences = found.iter().zip(&expected).map(|(a, b)| u32::from(a.abs_diff(*b)));
        let (sum, worst) =
            differences.fold((0, 0), |(sum, worst), next| (sum + next, worst.max(next)));
        let mean = f64::from(sum) / f64::from(u32::try_from(found.len()).unwrap());
        assert!(mean < 2.0 && worst < 25, "{what}, {eighths} eighths: {mean}, {worst} at most");
    }
}

#[test]
fn sampling_factors_decode_to_the_image() {
    for size in [(160, 96), (161, 97), (200, 33), (65, 130)] {
        let pixels = waves(size.0, size.1, 3);
        for factor in FACTORS {
            let file = encoded(&pixels, size, ColorType::Rgb, |encoder| {
                encoder.set_sampling_factor(factor);
            });
            assert_shows(&file, &pixels, size, &format!("{size:?} {factor:?}"));
        }
        let grey = waves(size.0, size.1, 1);
        let file = encoded(&grey, size, ColorType::Luma, |_| ());
        assert_shows(&file, &grey, size, &format!("{size:?}, grey"));
    }
}

#[test]
fn scans_with_restarts_are_read() {
    let size = (200, 120);
    let pixels = waves(size.0, size.1, 3);
    for (interval, factor) in [
        (1, SamplingFactor::F_2_2),
        (7, SamplingFactor::F_1_1),
        (7, SamplingFactor::F_1_2),
        (10_000, SamplingFactor::F_2_1),
    ] {
        let file = encoded(&pixels, size, ColorType::Rgb, |encoder| {
            encoder.set_sampling_factor(factor);
            encoder.set_restart_interval(interval);
        });
        assert_shows(&file, &pixels, size, &format!("a restart after {interval}"));
    }
}

/// Noise has coefficients in all positions and long codes, so that all branches of the decoder run.
#[test]
fn noise_decodes_to_its_mean() {
    let size = (320, 240);
    let pixels: Vec<_> =
        (0_u32..320 * 240).map(|at| at.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    for is_optimised in [false, true] {
        let file = encoded(&pixels, size, ColorType::Luma, |encoder| {
            encoder.set_optimized_huffman_tables(is_optimised);
        });
        let found = decode(&file, 1).unwrap();
        for (found, mean) in found.iter().zip(means(&pixels, (320, 240), 1, 8)) {
            assert!(found.abs_diff(mean) <= 2, "{found} instead of {mean}");
        }
    }
}

#[test]
fn unsupported_files_return_none() {
    let size = (80, 80);
    let pixels = waves(80, 80, 3);
    let progressive =
        encoded(&pixels, size, ColorType::Rgb, |encoder| encoder.set_progressive(true));
    let coarse = encoded(&pixels, size, ColorType::Rgb, |encoder| {
        encoder.set_sampling_factor(SamplingFactor::F_4_1);
    });
    // The encoder writes one scan per channel when it optimizes Huffman tables.
    let apart = encoded(&pixels, size, ColorType::Rgb, |encoder| {
        encoder.set_optimized_huffman_tables(true);
    });
    let inks = encoded(&[90].repeat(80 * 80 * 4), size, ColorType::Cmyk, |_| ());
    for other in [&progressive[..], &coarse, &apart, &inks, b"", b"\xff\xd8", b"\x89PNG\r\n\x1a\n"]
    {
        assert_eq!(decode(other, 2), None);
    }
    let whole = encoded(&pixels, size, ColorType::Rgb, |encoder| encoder.set_restart_interval(3));
    assert!(decode(&whole, 2).is_some());
    for end in 0..whole.len() - 8 {
        assert_eq!(decode(&whole[..end], 2), None, "cut off at {end}");
    }
    let restart = whole.windows(2).position(|pair| pair == [0xff, 0xd1]).unwrap();
    let mut missing = whole.clone();
    missing.drain(restart..restart + 2);
    assert_eq!(decode(&missing, 2), None);
}
