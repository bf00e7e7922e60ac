//! Reduced decoding of a JPEG of 2000x1500, quality 90, by this crate and by `jpeg-decoder`.
//! `cargo bench -p cms-jpeg`

use std::sync::LazyLock;

use divan::Bencher;
use jpeg_decoder::Decoder;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

const WIDTH: u16 = 2000;
const HEIGHT: u16 = 1500;
static SOURCE: LazyLock<Vec<u8>> = LazyLock::new(source);
const EIGHTHS: [u16; 3] = [1, 2, 4];

fn main() {
    divan::main();
}

#[divan::bench(args = EIGHTHS)]
fn cms_jpeg(bencher: Bencher, eighths: u16) {
    LazyLock::force(&SOURCE);
    bencher.bench(|| {
        cms_jpeg::decode(&SOURCE, eighths.into()).expect("the source is a baseline JPEG")
    });
}

#[divan::bench(args = EIGHTHS)]
fn jpeg_decoder(bencher: Bencher, eighths: u16) {
    LazyLock::force(&SOURCE);
    bencher.bench(|| {
        let mut decoder = Decoder::new(SOURCE.as_slice());
        decoder.scale(WIDTH * eighths / 8, u16::MAX).expect("the header is valid");
        decoder.decode().expect("the source is a JPEG")
    });
}

/// Gradients with noise: approximately the entropy of a photograph.
fn source() -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut noise = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[7] >> 4
    };
    let mut pixels = Vec::new();
    for y in 0..u32::from(HEIGHT) {
        for x in 0..u32::from(WIDTH) {
            for slope in [3, 5, 7] {
                let light = ((x + y * slope) / 16 % 224).to_le_bytes()[0];
                pixels.push(light + noise());
            }
        }
    }
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 90);
    encoder.set_sampling_factor(SamplingFactor::F_2_2);
    encoder.encode(&pixels, WIDTH, HEIGHT, ColorType::Rgb).expect("writing to a Vec cannot fail");
    bytes
}
