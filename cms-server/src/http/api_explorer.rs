//! The API explorer at `/docs` (`cms open api`): Swagger UI over the OpenAPI document.
//!
//! The page itself is unauthenticated: it prompts the user for a key, and loads the document with it
//! ([`super::openapi`]). It loads files of this server only, which its policy enforces.

use std::{
    io::Read,
    sync::{Arc, LazyLock, OnceLock},
};

use axum::{
    body::Bytes,
    http::{HeaderValue, header, request::Parts},
};
use cms_core::wire::condition::EntityTag;
use flate2::read::GzDecoder;
use utoipa_swagger_ui::Config;

use crate::{
    response::{Response, compression::Coding, etag},
    state::App,
};

const PAGE: &str = include_str!("api_explorer/page.html");
const STYLE: &str = include_str!("api_explorer/page.css");
const SCRIPT: &str = include_str!("api_explorer/page.js");

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const CSS: HeaderValue = HeaderValue::from_static("text/css; charset=utf-8");
const JAVASCRIPT: HeaderValue = HeaderValue::from_static("text/javascript; charset=utf-8");

/// Swagger UI needs inline styles, `data:` images in its styles, and `blob:` images to show responses.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);
/// Cached, but validated each time: the files must be of one version of the server.
const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache");
const ACCEPT_ENCODING: HeaderValue = HeaderValue::from_static("accept-encoding");

static SWAGGER_STYLE: LazyLock<SwaggerFile> = LazyLock::new(|| SwaggerFile::new("swagger-ui.css"));
static SWAGGER_SCRIPT: LazyLock<SwaggerFile> =
    LazyLock::new(|| SwaggerFile::new("swagger-ui-bundle.js"));

/// The page. Its links are relative, so they differ for a path with a slash at the end.
pub(crate) fn page(_: &App, head: &Parts) -> Response {
    let page = if head.uri.path().ends_with('/') {
        PAGE.replace("docs/", "").into()
    } else {
        Bytes::from_static(PAGE.as_bytes())
    };
    html(head, page, POLICY)
}

/// Sends a page with its security policy.
pub(super) fn html(head: &Parts, page: Bytes, policy: HeaderValue) -> Response {
    send(head, HTML, page).with_header(header::CONTENT_SECURITY_POLICY, policy)
}

pub(crate) fn style(_: &App, head: &Parts) -> Response {
    send(head, CSS, Bytes::from_static(STYLE.as_bytes()))
}

pub(crate) fn script(_: &App, head: &Parts) -> Response {
    send(head, JAVASCRIPT, Bytes::from_static(SCRIPT.as_bytes()))
}

pub(crate) fn swagger_style(_: &App, head: &Parts) -> Response {
    SWAGGER_STYLE.send(head, CSS)
}

pub(crate) fn swagger_script(_: &App, head: &Parts) -> Response {
    SWAGGER_SCRIPT.send(head, JAVASCRIPT)
}

/// A file of Swagger UI. The build stores it compressed.
struct SwaggerFile {
    compressed: Bytes,
    /// Set by the first request of a client that accepts no compression.
    decompressed: OnceLock<Bytes>,
    tag: EntityTag,
}

impl SwaggerFile {
    fn new(name: &str) -> Self {
        let found = utoipa_swagger_ui::serve(name, Arc::new(Config::default()));
        let file = found.ok().flatten().expect("Swagger UI has this file");
        let compressed = Bytes::from(file.bytes.into_owned());
        let tag = EntityTag::of(&compressed);
        Self { compressed, decompressed: OnceLock::new(), tag }
    }

    fn decompressed(&self) -> Bytes {
        let decompress = || {
            let mut bytes = Vec::new();
            let mut decoder = GzDecoder::new(&self.compressed[..]);
            decoder.read_to_end(&mut bytes).expect("the build compressed it");
            bytes.into()
        };
        self.decompressed.get_or_init(decompress).clone()
    }

    fn send(&self, head: &Parts, media_type: HeaderValue) -> Response {
        let coding = Coding::Gzip.is_accepted(&head.headers).then_some(Coding::Gzip);
        let content = || match coding {
            Some(_) => self.compressed.clone(),
            None => self.decompressed(),
        };
        Response::unless_cached(&head.headers, &etag(self.tag, coding), media_type, coding, content)
            .with_header(header::CACHE_CONTROL, NO_CACHE)
            .with_header(header::VARY, ACCEPT_ENCODING)
    }
}

fn send(head: &Parts, media_type: HeaderValue, bytes: Bytes) -> Response {
    let etag = etag(EntityTag::of(&bytes), None);
    Response::unless_cached(&head.headers, &etag, media_type, None, || bytes)
        .with_header(header::CACHE_CONTROL, NO_CACHE)
}
