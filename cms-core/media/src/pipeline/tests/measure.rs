//! Declared sizes of files: one of each format, damaged ones, and arbitrary bytes.

use std::fs;

use cms_model::testing;
use proptest::prelude::*;

use super::*;

fn file(name: &str) -> Vec<u8> {
    fs::read(testing::fixture(&format!("media/{name}"))).expect("a fixture can be read")
}

const PICTURES: [(&str, (u32, u32)); 10] = [
    ("still.png", (40, 20)),
    ("animated.png", (40, 20)),
    ("still.jpg", (40, 20)),
    ("still.bmp", (40, 20)),
    ("still.gif", (40, 20)),
    ("animated.gif", (40, 20)),
    ("lossy.webp", (40, 20)),
    ("lossless.webp", (40, 20)),
    ("animated.webp", (40, 20)),
    ("icon.ico", (32, 32)),
];

#[test]
fn size_is_measured_for_every_format() {
    for (name, (width, height)) in PICTURES {
        assert_eq!(measure(&file(name)), Some(Size { width, height }), "{name}");
    }
}

#[test]
fn other_files_have_no_size() {
    assert_eq!(measure(&file("tone.wav")), None);
    assert_eq!(measure(b"<svg width='10' height='10'/>"), None);
    assert_eq!(measure(b""), None);
    for (name, _) in PICTURES {
        let content = file(name);
        assert_eq!(measure(&content[..10]), None, "{name}");
    }
}

#[test]
fn bitmaps_have_two_headers_and_two_directions() {
    let mut downwards = file("still.bmp");
    downwards[22..26].copy_from_slice(&(-20_i32).to_le_bytes());
    assert_eq!(measure(&downwards), Some(Size { width: 40, height: 20 }));

    let mut old = b"BM".to_vec();
    old.extend([0; 12]);
    old.extend([12, 0, 0, 0, 0x2c, 0x01, 7, 0, 1, 0, 24, 0]);
    assert_eq!(measure(&old), Some(Size { width: 300, height: 7 }));
}

#[test]
fn empty_image_has_no_size() {
    let mut flat = file("still.png");
    flat[16..20].fill(0);
    assert_eq!(measure(&flat), None);
}

proptest! {
    #[test]
    fn damaged_images_never_panic(
        at in any::<prop::sample::Index>(), byte in any::<u8>(), end in any::<prop::sample::Index>(),
        which in 0..PICTURES.len(),
    ) {
        let (name, _) = PICTURES[which];
        let mut content = file(name);
        let position = at.index(content.len().min(100));
        content[position] = byte;
        let _ = measure(&content);
        content.truncate(end.index(content.len()));
        let _ = measure(&content);
    }

    #[test]
    fn any_bytes_after_a_signature_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..80), which in 0..PICTURES.len(),
        head in 2..20_usize,
    ) {
        let (name, _) = PICTURES[which];
        let content = [&file(name)[..head], &bytes].concat();
        let _ = measure(&content);
    }
}
