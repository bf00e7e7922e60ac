//! Media types of files: by content, then by name, then by the declared type.
//!
//! Name and declaration are used only for text. The type of a file with bytes that text does not
//! contain depends only on its signature.

use memchr::memmem;

use super::svg;

/// The allowed media types (see docs/reference/media.md#upload), in the order of the error message.
pub const ALLOWED: [&str; 20] = [
    "image/gif",
    "image/png",
    "image/jpeg",
    "image/bmp",
    "image/webp",
    SVG,
    "image/svg",
    "image/x-icon",
    ICON,
    TEXT,
    "audio/midi",
    "audio/mpeg",
    "audio/webm",
    "audio/ogg",
    "audio/wav",
    "video/webm",
    "video/ogg",
    "video/mp4",
    PDF,
    JSON,
];

const SVG: &str = "image/svg+xml";
const ICON: &str = "image/vnd.microsoft.icon";
const TEXT: &str = "text/plain";
const PDF: &str = "application/pdf";
const JSON: &str = "application/json";

/// Extensions of text files. Types that are not allowed are included, so that they are rejected.
const TEXTS: [(&str, &str); 13] = [
    ("txt", TEXT),
    ("json", JSON),
    ("svg", SVG),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("md", "text/markdown"),
    ("xhtml", "application/xhtml+xml"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
];

/// Maximum length of an extension of a file name.
const MAX_EXTENSION_BYTES: usize = 32;

/// Returns the media type of a file.
pub fn detect(content: &[u8], name: &str, declared: Option<&str>) -> String {
    if is_text(content) {
        text_type(content, name, declared)
    } else {
        signature(content).to_owned()
    }
}

/// Returns the extension of a name, else the usual one of the media type: lower-case, no dot.
///
/// It becomes part of the URL of the file, so an extension that needs escaping is ignored.
pub fn extension(name: &str, media_type: &str) -> String {
    match name.rsplit_once('.') {
        Some((_, extension))
            if (1..=MAX_EXTENSION_BYTES).contains(&extension.len())
                && extension.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
        {
            extension.to_ascii_lowercase()
        }
        _ => usual_extension(media_type).to_owned(),
    }
}

fn usual_extension(media_type: &str) -> &str {
    match media_type {
        "image/jpeg" => "jpg",
        SVG => "svg",
        ICON => "ico",
        TEXT => "txt",
        "audio/midi" => "mid",
        "audio/mpeg" => "mp3",
        "audio/webm" => "weba",
        "video/ogg" => "ogv",
        // For other types, the subtype is the extension.
        _ => media_type.split_once('/').map_or("bin", |(_, name)| name),
    }
}

pub fn is_svg(media_type: &str) -> bool {
    media_type == SVG
}

/// Returns whether a file contains text: it has no control characters other than tab, line feed,
/// form feed, carriage return and escape, or it begins with a UTF-16 byte order mark.
fn is_text(content: &[u8]) -> bool {
    let is_control = |byte: &u8| matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    content.starts_with(b"\xff\xfe")
        || content.starts_with(b"\xfe\xff")
        || !content.iter().any(is_control)
}

fn text_type(content: &[u8], name: &str, declared: Option<&str>) -> String {
    if content.starts_with(b"%PDF-") {
        return PDF.to_owned();
    }
    if svg::is_svg(content) {
        return SVG.to_owned();
    }
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let by_name = TEXTS
        .iter()
        .find(|(known, _)| extension.is_some_and(|extension| extension.eq_ignore_ascii_case(known)))
        .map(|(_, media_type)| (*media_type).to_owned());
    by_name.or_else(|| declared_text(declared?)).unwrap_or_else(|| TEXT.to_owned())
}

/// A declared media type without its parameters, if it is a text type.
fn declared_text(declared: &str) -> Option<String> {
    let declared = declared.split(';').next()?.trim().to_ascii_lowercase();
    if matches!(declared.as_str(), SVG | "image/svg") {
        return Some(SVG.to_owned());
    }
    let (group, name) = declared.split_once('/')?;
    let is_text = group == "text"
        || ["json", "xml", "yaml", "javascript"].iter().any(|format| name.ends_with(format));
    is_text.then_some(declared)
}

fn signature(content: &[u8]) -> &'static str {
    if is_webm(content) {
        return webm(content);
    }
    if content.starts_with(b"OggS") {
        return if has_ogg_video(content) { "video/ogg" } else { "audio/ogg" };
    }
    if is_mpeg_audio(content) {
        return "audio/mpeg";
    }
    match infer::get(content).map(|kind| kind.mime_type()) {
        Some("audio/x-wav") => "audio/wav",
        Some(known) => known,
        None => "application/octet-stream",
    }
}

fn is_webm(content: &[u8]) -> bool {
    let head = &content[..content.len().min(1024)];
    head.starts_with(b"\x1a\x45\xdf\xa3") && memmem::find(head, b"\x42\x82\x84webm").is_some()
}

/// `WebM` is audio when it has an audio track and no video track: the codec ids identify the
/// tracks.
fn webm(content: &[u8]) -> &'static str {
    // Tracks are declared before the first cluster of media data.
    let end = memmem::find(content, b"\x1f\x43\xb6\x75").unwrap_or(content.len());
    let has_codec = |kind: &[u8; 2]| {
        content[..end].windows(4).any(|window| window[0] == 0x86 && window[2..] == *kind)
    };
    if has_codec(b"A_") && !has_codec(b"V_") { "audio/webm" } else { "video/webm" }
}

/// Ogg begins with one page for each stream. The page declares the codec of the stream.
fn has_ogg_video(content: &[u8]) -> bool {
    let mut rest = content;
    while let Some((packet, after)) = first_ogg_packet(rest) {
        if [&b"\x80theora"[..], b"\x01video", b"BBCD\0"].iter().any(|kind| packet.starts_with(kind))
        {
            return true;
        }
        rest = after;
    }
    false
}

/// The content of a page that begins a stream, and the bytes after the page.
fn first_ogg_packet(page: &[u8]) -> Option<(&[u8], &[u8])> {
    let begins_stream = page.starts_with(b"OggS") && page.get(5)? & 2 != 0;
    let segments = usize::from(*page.get(26)?);
    let (lengths, body) = page.get(27..)?.split_at_checked(segments)?;
    let length = lengths.iter().map(|&length| usize::from(length)).sum();
    body.split_at_checked(length).filter(|_| begins_stream)
}

/// Returns whether a file begins with an MPEG audio frame, layer III, without a tag before it.
fn is_mpeg_audio(content: &[u8]) -> bool {
    let [0xff, version, rate, ..] = *content else { return false };
    version & 0xe0 == 0xe0
        && version >> 3 & 3 != 1
        && version >> 1 & 3 == 1
        && rate >> 4 != 15
        && rate >> 2 & 3 != 3
}

#[cfg(test)]
mod tests;
