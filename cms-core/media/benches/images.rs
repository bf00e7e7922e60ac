//! The cost of one image: a JPEG of 4000x3000, quality 90, to 800x600 and to 200x150, by the
//! pipeline and by each of its steps; and a full decode, as without reduced decoding.
//! `cargo bench -p cms-media --features testing --bench images`

use std::sync::LazyLock;

use cms_media::testing::images;
use cms_model::media::render::RenderFormat;
use divan::Bencher;
use fast_image_resize::{
    PixelType, ResizeOptions, Resizer,
    images::{Image, ImageRef},
};
use jpeg_decoder::Decoder;
use jpeg_encoder::{ColorType, Encoder};

const WIDTH: u16 = 4000;
const HEIGHT: u16 = 3000;
static SOURCE: LazyLock<Vec<u8>> = LazyLock::new(|| images::photo(WIDTH, HEIGHT));
const SIZES: [(u16, u16); 2] = [(800, 600), (200, 150)];

fn main() {
    divan::main();
}

#[divan::bench(args = SIZES, sample_count = 20, sample_size = 1)]
fn pipeline(bencher: Bencher, size: (u16, u16)) {
    LazyLock::force(&SOURCE);
    let size = (size.0.into(), size.1.into());
    bencher.bench_local(|| images::shrink(&SOURCE, size, RenderFormat::Jpeg));
}

/// Decodes to a fraction of the width: 1 is full size, 4 is for 800x600 and 8 for 200x150.
#[divan::bench(args = [1, 2, 4, 8], sample_count = 20, sample_size = 1)]
fn decode(bencher: Bencher, part: u16) {
    LazyLock::force(&SOURCE);
    bencher.bench_local(|| decoded(&SOURCE, part));
}

/// Scales the output of reduced decoding.
#[divan::bench(args = SIZES, sample_count = 20, sample_size = 1)]
fn scale(bencher: Bencher, size: (u16, u16)) {
    let part = if size == SIZES[0] { 4 } else { 8 };
    let pixels = decoded(&SOURCE, part);
    let source = (WIDTH / part, HEIGHT / part);
    bencher.bench_local(|| scaled(&pixels, source, size));
}

#[divan::bench(args = SIZES, sample_count = 20, sample_size = 1)]
fn scale_whole(bencher: Bencher, size: (u16, u16)) {
    let pixels = images::photo_pixels(WIDTH, HEIGHT);
    bencher.bench_local(|| scaled(&pixels, (WIDTH, HEIGHT), size));
}

#[divan::bench(args = SIZES, sample_count = 20, sample_size = 1)]
fn encode(bencher: Bencher, size: (u16, u16)) {
    let (width, height) = size;
    let pixels = images::photo_pixels(width, height);
    bencher.bench_local(|| {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, 85);
        encoder.set_optimized_huffman_tables(true);
        encoder
            .encode(&pixels, width, height, ColorType::Rgb)
            .expect("writing to a Vec cannot fail");
        bytes
    });
}

fn decoded(source: &[u8], part: u16) -> Vec<u8> {
    let mut decoder = Decoder::new(source);
    decoder.scale(WIDTH / part, u16::MAX).expect("the header is valid");
    decoder.decode().expect("the source is an image")
}

fn scaled(pixels: &[u8], (width, height): (u16, u16), size: (u16, u16)) -> Vec<u8> {
    let source = ImageRef::new(width.into(), height.into(), pixels, PixelType::U8x3);
    let mut scaled = Image::new(size.0.into(), size.1.into(), PixelType::U8x3);
    Resizer::new()
        .resize(&source.expect("three bytes a pixel"), &mut scaled, &ResizeOptions::default())
        .expect("both have the same layout");
    scaled.into_vec()
}
