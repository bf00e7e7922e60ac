//! The admin page at `/admin`: the files that the build created from `admin/`.
//!
//! A path without a file, except below `assets/`, returns the page, which routes the path in the browser. The page
//! uses the public API alone; nothing here knows users or content.

use std::{
    collections::HashMap,
    sync::{LazyLock, OnceLock},
};

use axum::{
    body::Bytes,
    http::{HeaderName, HeaderValue, header, request::Parts},
};
use cms_core::wire::condition::EntityTag;

use crate::{
    response::{
        Response,
        compression::{Coding, MIN_COMPRESSED_BYTES, PerCoding},
        error, etag,
    },
    state::App,
};

include!(concat!(env!("OUT_DIR"), "/admin_files.rs"));

/// The `Content-Security-Policy` of the page, without the origins of previews.
const POLICY: &str = include_str!("../../admin/policy.txt");
const FRAMES: &str = "frame-src 'self'";

const PAGE: &str = "index.html";
/// Names of files in this folder contain a digest of their content.
const ASSETS: &str = "assets/";

const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache");
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const ACCEPT_ENCODING: HeaderValue = HeaderValue::from_static("accept-encoding");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
const NO_PERMISSIONS: HeaderValue = HeaderValue::from_static(
    "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
);

static BY_NAME: LazyLock<HashMap<&str, PageFile>> = LazyLock::new(|| {
    FILES.iter().map(|(name, bytes)| (*name, PageFile::new(name, bytes))).collect()
});

/// A file of the page, and its compressed forms after their first request.
struct PageFile {
    media_type: HeaderValue,
    bytes: &'static [u8],
    tag: EntityTag,
    compressed: PerCoding<OnceLock<Bytes>>,
}

impl PageFile {
    fn new(name: &str, bytes: &'static [u8]) -> Self {
        Self {
            media_type: HeaderValue::from_static(media_type(name)),
            bytes,
            tag: EntityTag::of(bytes),
            compressed: PerCoding::default(),
        }
    }

    fn content(&self, coding: Option<Coding>) -> Bytes {
        let Some(coding) = coding else { return Bytes::from_static(self.bytes) };
        let compressed = &self.compressed[coding as usize];
        compressed.get_or_init(|| coding.compress(self.bytes).into()).clone()
    }

    fn is_text(&self) -> bool {
        self.bytes.len() >= MIN_COMPRESSED_BYTES && self.media_type != "font/woff2"
    }
}

/// A file of the page, or the page itself for a path that the page routes in the browser.
pub(crate) fn get(app: &App, head: &Parts) -> Response {
    let path = head.uri.path();
    let path = path.strip_prefix("/admin").unwrap_or(path);
    let path = path.strip_prefix('/').unwrap_or(path);
    if let Some(file) = BY_NAME.get(path).filter(|_| path != PAGE) {
        let caching = if path.starts_with(ASSETS) { IMMUTABLE } else { NO_CACHE };
        return send(head, file, caching);
    }
    if path.starts_with(ASSETS) {
        // A file of an earlier build: the page that requests it offers the user to reload.
        return error::unknown_path();
    }
    let page = &BY_NAME[PAGE];
    send(head, page, NO_CACHE)
        .with_header(header::CONTENT_SECURITY_POLICY, policy(&app.cms.config().preview_origins))
        .with_header(OPENER_POLICY, SAME_ORIGIN)
        .with_header(PERMISSIONS_POLICY, NO_PERMISSIONS)
}

/// The policy of the page, which may show previews of these origins.
fn policy(preview_origins: &[String]) -> HeaderValue {
    let frames = [FRAMES].into_iter().chain(preview_origins.iter().map(String::as_str));
    let policy = POLICY.trim().replacen(FRAMES, &frames.collect::<Vec<_>>().join(" "), 1);
    // Never fails, because origins are checked when the setting is read; else the page loads nothing.
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

fn send(head: &Parts, file: &PageFile, caching: HeaderValue) -> Response {
    let coding = Coding::preferred(&head.headers).filter(|_| file.is_text());
    let (etag, media_type) = (etag(file.tag, coding), file.media_type.clone());
    let content = || file.content(coding);
    Response::unless_cached(&head.headers, &etag, media_type, coding, content)
        .with_header(header::CACHE_CONTROL, caching)
        .with_header(header::VARY, ACCEPT_ENCODING)
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "txt" => "text/plain; charset=utf-8",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_names_the_origins_of_previews() {
        let origins = ["https://www.example.com".to_owned(), "http://localhost:3000".to_owned()];
        let with = policy(&origins);
        assert!(
            with.to_str().unwrap().contains(
                "frame-src 'self' https://www.example.com http://localhost:3000; base-uri"
            )
        );
        assert_eq!(policy(&[]), POLICY.trim());
    }

    #[test]
    fn table_contains_the_page() {
        assert!(BY_NAME.contains_key(PAGE));
        assert!(FILES.iter().all(|(name, _)| media_type(name) != "application/octet-stream"));
    }
}
