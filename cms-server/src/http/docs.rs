//! The page about the API for people, at `/docs`: Swagger UI over what the server says of itself.
//!
//! The page asks for no key, because it holds nothing: it asks people for theirs, and the server for
//! the description with it ([`super::openapi`]). All that it loads comes from here, and the policy
//! that goes with it allows nothing else.

use std::{io::Read, sync::Arc};

use axum::{
    body::Bytes,
    http::{HeaderValue, header, request::Parts},
};
use cms_core::wire::condition::EntityTag;
use flate2::read::GzDecoder;
use utoipa_swagger_ui::{Config, SwaggerFile};

use crate::{answer::Answer, compression::Coding, extract::validators::knows_tag, state::App};

const PAGE: &str = include_str!("docs/page.html");
const STYLE: &str = include_str!("docs/page.css");
const SCRIPT: &str = include_str!("docs/page.js");

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const CSS: HeaderValue = HeaderValue::from_static("text/css; charset=utf-8");
const JAVASCRIPT: HeaderValue = HeaderValue::from_static("text/javascript; charset=utf-8");

/// Swagger UI has styles in its markup, pictures in its styles, and shows pictures that it fetched.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
/// Kept, but asked for every time: files of one version of the server go together.
const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache");
const ENCODED: HeaderValue = HeaderValue::from_static("accept-encoding");

/// The page itself. What it loads stands below it, also when it was asked for with a slash at the end.
pub(crate) fn page(_: &App, head: &Parts) -> Answer {
    let page = if head.uri.path().ends_with('/') {
        PAGE.replace("docs/", "").into()
    } else {
        Bytes::from_static(PAGE.as_bytes())
    };
    send(head, HTML, page, None)
        .with_header(header::CONTENT_SECURITY_POLICY, POLICY)
        .with_header(header::REFERRER_POLICY, NO_REFERRER)
}

pub(crate) fn style(_: &App, head: &Parts) -> Answer {
    send(head, CSS, Bytes::from_static(STYLE.as_bytes()), None)
}

pub(crate) fn script(_: &App, head: &Parts) -> Answer {
    send(head, JAVASCRIPT, Bytes::from_static(SCRIPT.as_bytes()), None)
}

pub(crate) fn swagger_style(_: &App, head: &Parts) -> Answer {
    swagger(head, CSS, "swagger-ui.css")
}

pub(crate) fn swagger_script(_: &App, head: &Parts) -> Answer {
    swagger(head, JAVASCRIPT, "swagger-ui-bundle.js")
}

/// Sends a file of Swagger UI, which is kept compressed.
fn swagger(head: &Parts, media_type: HeaderValue, name: &str) -> Answer {
    let found = utoipa_swagger_ui::serve(name, Arc::new(Config::default()));
    let file = found.ok().flatten().expect("Swagger UI has this file");
    let coding = Coding::Gzip.is_taken(&head.headers).then_some(Coding::Gzip);
    let bytes = if coding.is_some() { file.bytes.into_owned() } else { unpacked(&file) };
    send(head, media_type, bytes.into(), coding).with_header(header::VARY, ENCODED)
}

fn unpacked(file: &SwaggerFile<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(&file.bytes[..])
        .read_to_end(&mut bytes)
        .expect("it was compressed by the build");
    bytes
}

fn send(head: &Parts, media_type: HeaderValue, bytes: Bytes, coding: Option<Coding>) -> Answer {
    let etag = format!("\"{}\"", EntityTag::of(&bytes));
    let answer = if knows_tag(&head.headers, &etag) {
        Answer::not_modified()
    } else {
        Answer::file(media_type, bytes)
            .with_optional(header::CONTENT_ENCODING, coding.map(Coding::header))
    };
    let tag = HeaderValue::try_from(&etag).expect("digits make a header value");
    answer
        .with_header(header::ETAG, tag)
        .with_header(header::CACHE_CONTROL, NO_CACHE)
        .with_header(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF)
}
