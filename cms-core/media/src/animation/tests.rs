use std::{
    fs,
    time::{Duration, Instant},
};

use cms_model::testing;
use proptest::prelude::*;

use super::*;

fn file(name: &str) -> Vec<u8> {
    fs::read(testing::fixture(&format!("media/{name}"))).expect("a fixture can be read")
}

const KINDS: [(&str, &str); 3] =
    [("gif", "image/gif"), ("png", "image/png"), ("webp", "image/webp")];

#[test]
fn animated_images_are_detected() {
    for (extension, media_type) in KINDS {
        assert!(is_animated(media_type, &file(&format!("animated.{extension}"))), "{extension}");
    }
    for (name, media_type) in [
        ("still.gif", "image/gif"),
        ("still.png", "image/png"),
        ("lossy.webp", "image/webp"),
        ("lossless.webp", "image/webp"),
        ("still.jpg", "image/jpeg"),
        ("icon.ico", "image/vnd.microsoft.icon"),
        ("animated.gif", "image/jpeg"),
    ] {
        assert!(!is_animated(media_type, &file(name)), "{name}");
    }
}

/// A GIF of `frames` images of one pixel, each with an extension before it.
fn gif(frames: usize, with_colours: bool) -> Vec<u8> {
    let flags = if with_colours { 0x80 } else { 0 };
    let colours = if with_colours { vec![0x2c; 6] } else { Vec::new() };
    let mut content = b"GIF89a\x01\0\x01\0".to_vec();
    content.extend([flags, 0, 0]);
    content.extend(&colours);
    for _ in 0..frames {
        content.extend([0x21, 0xf9, 4, 0x2c, 0x2c, 0x2c, 0x2c, 0]);
        content.extend([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, flags]);
        content.extend(&colours);
        content.extend([2, 2, 0x2c, 0x2c, 1, 0x2c, 0]);
    }
    content.push(0x3b);
    content
}

#[test]
fn gif_frames_are_counted_by_image_blocks() {
    for with_colours in [false, true] {
        for frames in 0..4 {
            let content = gif(frames, with_colours);
            assert_eq!(is_animated("image/gif", &content), frames > 1, "{frames} {with_colours}");
        }
    }
    let mut after_the_end = gif(1, true);
    after_the_end.extend(&gif(3, true)[19..]);
    assert!(!is_animated("image/gif", &after_the_end));
}

#[test]
fn png_with_one_frame_is_not_animated() {
    let mut content = file("animated.png");
    let at = content.windows(4).position(|window| window == b"acTL").unwrap();
    content[at + 4..at + 8].copy_from_slice(&1_u32.to_be_bytes());
    assert!(!is_animated("image/png", &content));
}

#[test]
fn long_files_are_parsed_in_linear_time() {
    const LENGTH: usize = 10 * 1024 * 1024;
    let start = Instant::now();
    let mut extensions = gif(0, false);
    extensions.pop();
    for piece in [&[0x21_u8, 0xfe, 0][..], &[0x21, 0xfe, 1, 0, 0]] {
        let content = [&*extensions, &piece.repeat(LENGTH / piece.len())].concat();
        assert!(!is_animated("image/gif", &content));
    }
    let chunks = [&file("still.png")[..8], &b"\0\0\0\0teXt\0\0\0\0".repeat(LENGTH / 12)].concat();
    assert!(!is_animated("image/png", &chunks));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

proptest! {
    #[test]
    fn damaged_images_never_panic(
        at in any::<prop::sample::Index>(), byte in any::<u8>(), end in any::<prop::sample::Index>(),
    ) {
        for (extension, media_type) in KINDS {
            let mut content = file(&format!("animated.{extension}"));
            let position = at.index(content.len());
            content[position] = byte;
            let _ = is_animated(media_type, &content);
            content.truncate(end.index(content.len()));
            let _ = is_animated(media_type, &content);
        }
    }
}
