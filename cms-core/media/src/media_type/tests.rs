use std::fs;

use cms_model::{media::render::RenderFormat, testing};
use proptest::prelude::*;

use super::*;

fn file(name: &str) -> Vec<u8> {
    fs::read(testing::fixture(&format!("media/{name}"))).expect("a fixture can be read")
}

/// Bytes that are not text, so that only the signature before them is used.
fn binary(head: &[u8]) -> Vec<u8> {
    [head, &[0; 300]].concat()
}

#[test]
fn signatures_override_file_names() {
    let webm = |tracks: &[u8]| {
        let head = b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm\x42\x87\x81\x04";
        binary(&[head, tracks, b"\x1f\x43\xb6\x75\x86\x85V_VP9"].concat())
    };
    let ogg = |packets: &[&[u8]]| {
        let mut content = Vec::new();
        for (index, packet) in packets.iter().enumerate() {
            content.extend(b"OggS\0\x02");
            content.extend([u8::try_from(index).unwrap(); 20]);
            content.extend([1, u8::try_from(packet.len()).unwrap()]);
            content.extend(*packet);
        }
        // A page that continues a stream, which is ignored.
        content.extend(b"OggS\0\0");
        content.extend([0; 20]);
        content.extend(b"\x01\x07\x80theora");
        content
    };
    for (content, expected) in [
        (file("still.gif"), "image/gif"),
        (file("animated.gif"), "image/gif"),
        (file("still.png"), "image/png"),
        (file("still.jpg"), "image/jpeg"),
        (file("still.bmp"), "image/bmp"),
        (file("lossy.webp"), "image/webp"),
        (file("animated.webp"), "image/webp"),
        (file("icon.ico"), "image/vnd.microsoft.icon"),
        (file("tone.wav"), "audio/wav"),
        (binary(b"MThd\0\0\0\x06"), "audio/midi"),
        (binary(b"ID3\x03\0"), "audio/mpeg"),
        (binary(b"\xff\xfb\x90\x64"), "audio/mpeg"),
        (binary(b"\xff\xfa\x90\x64"), "audio/mpeg"),
        (binary(b"\xff\xe3\x40\xc4"), "audio/mpeg"),
        (ogg(&[b"\x01vorbis"]), "audio/ogg"),
        (ogg(&[b"OpusHead\x01"]), "audio/ogg"),
        (ogg(&[b"fishead\0", b"\x01vorbis", b"\x80theora"]), "video/ogg"),
        (ogg(&[b"\x80theora", b"\x01vorbis"]), "video/ogg"),
        (webm(b"\x86\x86A_OPUS"), "audio/webm"),
        (webm(b"\x86\x85V_VP8"), "video/webm"),
        (webm(b"\x86\x86A_OPUS\x86\x85V_VP8"), "video/webm"),
        (webm(b""), "video/webm"),
        (binary(b"\0\0\0\x18ftypmp42"), "video/mp4"),
        (binary(b"\0\0\0\x18ftypisom"), "video/mp4"),
        (binary(b"%PDF-1.7\n%\xe2\xe3"), "application/pdf"),
        (b"%PDF-1.0\n%%EOF".to_vec(), "application/pdf"),
        (b"<svg/>".to_vec(), "image/svg+xml"),
        (binary(b"PK\x03\x04"), "application/zip"),
        (binary(b"\0\0\0\x18ftypqt  "), "video/quicktime"),
        (binary(b"\xff\xf1\x50\x80"), "audio/aac"),
        (binary(b"MZ"), "application/vnd.microsoft.portable-executable"),
        (binary(b""), "application/octet-stream"),
    ] {
        for (name, declared) in [("a.txt", None), ("a.json", Some("image/png")), ("", Some("?"))] {
            let found = detect(&content, name, declared);
            assert_eq!(found, expected, "{name} {:?}", &content[..content.len().min(12)]);
        }
    }
}

#[test]
fn text_types_come_from_name_then_declaration() {
    for (content, name, declared, expected) in [
        ("hello", "a.txt", None, "text/plain"),
        ("hello", "a.TXT", Some("text/html"), "text/plain"),
        ("{}", "a.json", Some("text/plain"), "application/json"),
        ("{", "a.json", None, "application/json"),
        ("<broken", "a.svg", None, "image/svg+xml"),
        ("<p>", "a.html", Some("text/plain"), "text/html"),
        ("a,b", "a.b.csv", None, "text/csv"),
        ("{}", "a", Some("application/json"), "application/json"),
        ("{}", "a.unknown", Some("Application/JSON; charset=utf-8"), "application/json"),
        ("{}", "a", Some("application/geo+json"), "application/geo+json"),
        ("a", "a", Some("image/svg"), "image/svg+xml"),
        ("a", "a", Some("text/css"), "text/css"),
        // A declared type cannot override the type of text content.
        ("a", "a.png", Some("image/png"), "text/plain"),
        ("a", "a.mp3", Some("application/octet-stream"), "text/plain"),
        ("a", "", None, "text/plain"),
        ("a", "txt", Some("nonsense"), "text/plain"),
        // Texts that begin like another format.
        ("BMW, MZ and ID3", "a.txt", None, "text/plain"),
        ("GIF89a", "a.txt", None, "text/plain"),
        ("#!/bin/sh\n", "a", None, "text/plain"),
        ("tab\t, line\r\n, page\x0c, escape\x1b", "a", None, "text/plain"),
    ] {
        assert_eq!(detect(content.as_bytes(), name, declared), expected, "{content} {name}");
    }
    for text in [&b"caf\xe9"[..], b"\xff\xfeh\0i\0", b"\xfe\xff\0h\0i"] {
        assert_eq!(detect(text, "a.txt", None), "text/plain");
    }
    assert_eq!(detect(b"a\0b", "a.txt", Some("text/plain")), "application/octet-stream");
}

#[test]
fn extensions_come_from_the_name_or_the_type() {
    for (name, media_type, expected) in [
        ("photo.jpg", "image/png", "jpg"),
        ("photo.1.JPeG", "image/jpeg", "jpeg"),
        ("photo", "image/jpeg", "jpg"),
        ("photo.", "image/png", "png"),
        ("", "audio/mpeg", "mp3"),
        ("what.is this", "text/plain", "txt"),
        ("a.b?c", "image/svg+xml", "svg"),
        ("a.тхт", "text/plain", "txt"),
        (&format!("a.{}", "x".repeat(33)), "application/pdf", "pdf"),
    ] {
        assert_eq!(extension(name, media_type), expected, "{name}");
    }
    for (media_type, expected) in ALLOWED.into_iter().zip([
        "gif", "png", "jpg", "bmp", "webp", "svg", "svg", "x-icon", "ico", "txt", "mid", "mp3",
        "weba", "ogg", "wav", "webm", "ogv", "mp4", "pdf", "json",
    ]) {
        assert_eq!(extension("", media_type), expected, "{media_type}");
    }
}

#[test]
fn resize_accepts_gif_png_jpeg_bmp_and_webp() {
    let resizable: Vec<_> = ALLOWED
        .into_iter()
        .filter(|media_type| RenderFormat::from_media_type(media_type).is_some())
        .collect();
    assert_eq!(resizable, ["image/gif", "image/png", "image/jpeg", "image/bmp", "image/webp"]);
}

proptest! {
    #[test]
    fn any_file_has_a_type(
        content in prop::collection::vec(any::<u8>(), 0..100), name in "\\PC{0,20}",
        declared in prop::option::of("\\PC{0,20}"),
        head in prop::sample::select(vec![
            &b""[..], b"OggS\0\x02", b"\x1a\x45\xdf\xa3", b"\xff\xfb", b"RIFF", b"<", b"%PDF", b"PK",
        ]),
    ) {
        let content = [head, &content].concat();
        let found = detect(&content, &name, declared.as_deref());
        prop_assert!(found.contains('/'));
        let extension = extension(&name, &found);
        prop_assert!(!extension.is_empty() && !extension.contains(['/', '.', '%', '?', '#', ' ']));
    }

    #[test]
    fn text_is_never_detected_as_another_type(text in "[a-zA-Z0-9é ]\\PC*") {
        prop_assert_eq!(detect(text.as_bytes(), "a.txt", None), "text/plain");
    }
}
