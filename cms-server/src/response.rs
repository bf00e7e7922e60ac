//! [`Response`]: what a handler returns, and how it becomes an HTTP response.
//!
//! Headers that every response has are set here and nowhere else.

pub(crate) mod cache;
pub(crate) mod compression;
pub(crate) mod error;
pub(crate) mod ignored_names;

use std::sync::Arc;

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::Response as HttpResponse,
};
use cms_core::{
    Cms, Error, PendingCommit, Reservation, TypesRead,
    wire::{condition::EntityTag, graphql::GraphQlResponse, object::Json},
};
use serde::Serialize;

use crate::{
    extract::preconditions::has_cached,
    http::event_stream,
    response::{
        cache::{CachedResponse, PendingEntry, ResponseCache},
        compression::{Coding, MIN_COMPRESSED_BYTES},
    },
    state::REQUEST_ID,
};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const ANY_ORIGIN: HeaderValue = HeaderValue::from_static("*");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
/// URLs may contain a key.
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
const EXPOSED: HeaderValue =
    HeaderValue::from_static("x-deprecated-query-params, x-deprecated-payload, ETag");
/// Cached by the client alone, and validated each time: the response depends on the key.
const REVALIDATE: HeaderValue = HeaderValue::from_static("private, no-cache");
/// Asks proxies not to buffer a stream.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const CORS_METHODS: HeaderValue =
    HeaderValue::from_static("GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS");
const CORS_HEADERS: HeaderValue = HeaderValue::from_static(
    "X-AUTH-TOKEN, X-MODE, X-VISIBILITY, Content-Type, Accept, If-Match, If-None-Match, \
     Idempotency-Key, Last-Event-ID",
);

/// Maximum size of a response that is sent even when the memory for responses is used up: errors and
/// health checks.
const MAX_ALWAYS_SENT_BYTES: usize = 2048;

/// Private cause of an error, for the log.
pub(crate) type ResponseCause = Box<dyn std::error::Error + Send + Sync>;

/// Status, body, and the headers that differ between responses.
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    body: Content,
    coding: Option<Coding>,
    tag: Option<EntityTag>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// The types that were read for the response; none if it must not be cached.
    types_read: Option<TypesRead>,
    /// The same response in the cache.
    cached: Option<Arc<CachedResponse>>,
    /// Whether keys or sessions may have less access now, although the route is not marked with `revokes_access`.
    pub(crate) revokes_access: bool,
    pub(crate) cause: Option<ResponseCause>,
}

/// The body. By default it is JSON.
enum Content {
    /// Empty means no body.
    Full(Bytes),
    /// A stream of chunks, of a total length if that is known.
    Stream { length: Option<u64>, body: Body },
    /// The JSON of an object, available after the commit of its write.
    Pending(PendingCommit<Vec<u8>>),
}

impl Content {
    fn length(&self) -> Option<u64> {
        match self {
            Self::Full(bytes) => Some(bytes.len() as u64),
            Self::Stream { length, .. } => *length,
            Self::Pending(_) => None,
        }
    }
}

impl Response {
    /// 200 without a body.
    pub(crate) fn empty() -> Self {
        Self::new(StatusCode::OK, Vec::new())
    }

    /// 204.
    pub(crate) fn no_content() -> Self {
        Self::new(StatusCode::NO_CONTENT, Vec::new())
    }

    /// 200 with a value as JSON.
    pub(crate) fn json(value: &impl Serialize) -> Self {
        let text = serde_json::to_vec(value).expect("responses have string keys only");
        Self::new(StatusCode::OK, text)
    }

    /// 304.
    pub(crate) fn not_modified() -> Self {
        Self::new(StatusCode::NOT_MODIFIED, Vec::new())
    }

    /// 200 with plain text.
    pub(crate) fn text(text: String) -> Self {
        Self::file(HeaderValue::from_static("text/plain; charset=utf-8"), text.into())
    }

    /// 202 with a value as JSON.
    pub(crate) fn accepted(value: &impl Serialize) -> Self {
        Self::json(value).with_status(StatusCode::ACCEPTED)
    }

    /// 204 for a CORS preflight request.
    pub(crate) fn preflight() -> Self {
        Self::no_content()
            .with_header(header::ACCESS_CONTROL_ALLOW_METHODS, CORS_METHODS)
            .with_header(header::ACCESS_CONTROL_ALLOW_HEADERS, CORS_HEADERS)
            .with_header(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"))
    }

    /// 200 with a file.
    pub(crate) fn file(media_type: HeaderValue, bytes: Bytes) -> Self {
        Self::new(StatusCode::OK, bytes).with_header(header::CONTENT_TYPE, media_type)
    }

    /// 200 with a file in a content coding; 304 when the client has it. `etag` includes its quotes.
    pub(crate) fn unless_cached(
        request: &HeaderMap,
        etag: &str,
        media_type: HeaderValue,
        coding: Option<Coding>,
        content: impl FnOnce() -> Bytes,
    ) -> Self {
        let response = if has_cached(request, etag) {
            Self::not_modified()
        } else {
            Self { coding, ..Self::file(media_type, content()) }
        };
        let etag = HeaderValue::try_from(etag).expect("tags have visible characters only");
        response.with_header(header::ETAG, etag)
    }

    /// 200 with a file of this size, if it is known, as a stream of chunks.
    pub(crate) fn stream(media_type: HeaderValue, length: Option<u64>, body: Body) -> Self {
        let response = Self::file(media_type, Bytes::new());
        Self { body: Content::Stream { length, body }, ..response }
    }

    /// 200 with server-sent events, which no proxy may buffer.
    pub(crate) fn events(body: Body) -> Self {
        Self::stream(HeaderValue::from_static(event_stream::MEDIA_TYPE), None, body)
            .with_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
            .with_header(ACCEL_BUFFERING, HeaderValue::from_static("no"))
    }

    /// 200 with JSON and its `ETag`.
    pub(crate) fn tagged(json: Json) -> Self {
        let tag = EntityTag::of(&json.0);
        Self::from(json).with_tag(tag)
    }

    /// 200 with an object, sent after the commit of its write.
    pub(crate) fn pending(commit: PendingCommit<Vec<u8>>) -> Self {
        Self { body: Content::Pending(commit), ..Self::empty() }
    }

    pub(crate) fn is_pending(&self) -> bool {
        matches!(self.body, Content::Pending(_))
    }

    /// Waits for the commit of a pending response.
    pub(crate) async fn committed(self, error_response: fn(Error) -> Self) -> Self {
        let Content::Pending(commit) = self.body else { return self };
        let mut response =
            commit.await.map_or_else(error_response, |text| Self::tagged(Json(text)));
        response.headers.extend(self.headers);
        response
    }

    /// The response of another node, of this length if it is known.
    pub(crate) fn received(
        status: StatusCode,
        headers: &HeaderMap,
        length: Option<u64>,
        body: Body,
    ) -> Self {
        let body = match length {
            Some(0) => Content::Full(Bytes::new()),
            length => Content::Stream { length, body },
        };
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Self { body, headers, ..Self::new(status, Vec::new()) }
    }

    /// Returns whether this header is set, apart from the headers that every response has.
    pub(crate) fn has_header(&self, name: &HeaderName) -> bool {
        self.headers.iter().any(|(set, _)| set == name)
    }

    fn new(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            body: Content::Full(body.into()),
            coding: None,
            tag: None,
            headers: Vec::new(),
            types_read: None,
            revokes_access: false,
            cached: None,
            cause: None,
        }
    }

    /// The JSON body; `null` for a response without one.
    pub(crate) fn json_body(&self) -> &[u8] {
        match &self.body {
            Content::Full(body) if !body.is_empty() => body,
            _ => b"null",
        }
    }

    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The same response with the body of another one.
    pub(crate) fn with_body_of(self, other: Self) -> Self {
        Self { body: other.body, ..self }
    }

    /// Sets the `ETag`.
    pub(crate) fn with_tag(self, tag: EntityTag) -> Self {
        Self { tag: Some(tag), ..self }
    }

    /// Allows caching the response until an object of these types changes; with none, it is not cached.
    pub(crate) fn cacheable(self, types_read: Option<TypesRead>) -> Self {
        Self { types_read, ..self }
    }

    /// Caches the response, if it may be cached.
    pub(crate) fn insert_into(
        mut self,
        cache: &ResponseCache,
        cms: &Cms,
        entry: &PendingEntry,
    ) -> Self {
        if self.status == StatusCode::OK
            && let Content::Full(body) = &self.body
            && let Some(types) = self.types_read.take()
        {
            self.cached = cache.insert(cms, entry, types, (body, self.tag, &self.headers));
        }
        self
    }

    /// The same response, after which sessions may have less access.
    pub(crate) fn revoking_access(self) -> Self {
        Self { revokes_access: true, ..self }
    }

    /// Adds a header if there is a value for it.
    pub(crate) fn with_optional(self, name: HeaderName, value: Option<HeaderValue>) -> Self {
        match value {
            Some(value) => self.with_header(name, value),
            None => self,
        }
    }

    /// Sets the range of the file that the body contains.
    pub(crate) fn with_range(self, range: &str) -> Self {
        let range = HeaderValue::try_from(range).expect("numbers make a header value");
        self.with_header(header::CONTENT_RANGE, range)
    }

    /// Becomes a 304 when the client has the body. Otherwise the body is compressed if it is large
    /// enough and the client accepts a coding.
    pub(crate) fn negotiated(
        mut self,
        method: &Method,
        request: &HeaderMap,
        memory: &Reservation,
        cache: &ResponseCache,
    ) -> Self {
        let Content::Full(body) = &self.body else { return self };
        let is_large = body.len() >= MIN_COMPRESSED_BYTES;
        let coding = if is_large { Coding::preferred(request) } else { None };
        // The body and its compressed form are in memory at the same time; without memory for both,
        // the body is sent uncompressed.
        let coding = coding.filter(|_| memory.grow(body.len() / 2).is_ok());
        if is_large {
            self.headers.push((header::VARY, HeaderValue::from_static("accept-encoding")));
        }
        if let Some(tag) = self.tag {
            let etag = etag(tag, coding);
            let is_read = method == Method::GET || method == Method::HEAD;
            let is_cached = is_read && has_cached(request, &etag);
            let etag = HeaderValue::try_from(etag).expect("tags have visible characters only");
            self.headers.push((header::ETAG, etag));
            self.headers.push((header::CACHE_CONTROL, REVALIDATE));
            if is_cached {
                self.status = StatusCode::NOT_MODIFIED;
                return self;
            }
        }
        if let Some(coding) = coding {
            self.body = Content::Full(match &self.cached {
                Some(cached) => cache.compressed(cached, coding),
                None => coding.compress(body).into(),
            });
            self.coding = Some(coding);
        }
        self
    }

    /// Tells caches that the response depends on the caller, and on the headers that select its view. Without
    /// this, a browser would use a response that it cached for a signed-in user for requests without the session
    /// too.
    pub(crate) fn varying_by_caller(mut self) -> Self {
        let coding = self.headers.iter().position(|(name, _)| *name == header::VARY);
        let varies = match coding {
            Some(index) => {
                self.headers.swap_remove(index);
                "x-auth-token, cookie, x-mode, x-visibility, accept-encoding"
            }
            None => "x-auth-token, cookie, x-mode, x-visibility",
        };
        self.with_header(header::VARY, HeaderValue::from_static(varies))
    }

    /// Reserves memory for exactly what is sent. Without enough memory the response becomes a 503,
    /// except a small response, and the response to a write: the write is committed.
    pub(crate) fn with_memory(self, memory: &Reservation, is_write: bool, method: &Method) -> Self {
        let is_sent = method != Method::HEAD && self.status != StatusCode::NOT_MODIFIED;
        let (length, reserved) = match &self.body {
            Content::Full(bytes) if is_sent => (bytes.len(), memory.bytes()),
            _ => (0, memory.bytes()),
        };
        if length <= reserved {
            memory.shrink(reserved - length);
            return self;
        }
        if length > MAX_ALWAYS_SENT_BYTES
            && !is_write
            && let Err(error) = memory.grow(length - reserved)
        {
            drop(self);
            return Self::from(error).with_memory(memory, is_write, method);
        }
        memory.grow_unchecked(length.saturating_sub(memory.bytes()));
        self
    }

    /// Creates the HTTP response; a response to HEAD has the length of the body, but no body.
    pub(crate) fn into_http(self, method: &Method, request_id: HeaderValue) -> HttpResponse {
        let mut headers = HeaderMap::with_capacity(8);
        let length = self.body.length();
        if length != Some(0) {
            headers.insert(header::CONTENT_TYPE, JSON);
        }
        if let Some(coding) = self.coding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        }
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY_ORIGIN);
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
        headers.insert(header::REFERRER_POLICY, NO_REFERRER);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        headers.insert(REQUEST_ID, request_id);
        for (name, value) in self.headers {
            if name == header::SET_COOKIE {
                headers.append(name, value);
            } else {
                headers.insert(name, value);
            }
        }
        if self.status == StatusCode::NOT_MODIFIED {
            headers.remove(header::CONTENT_TYPE);
        }
        let body = match self.body {
            // A 304 has no length: there is no body to measure.
            _ if self.status == StatusCode::NOT_MODIFIED => Body::empty(),
            Content::Full(bytes) if method != Method::HEAD => Body::from(bytes),
            content => {
                if let Some(length) = length {
                    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
                }
                match content {
                    Content::Stream { body, .. } if method != Method::HEAD => body,
                    _ => Body::empty(),
                }
            }
        };
        let mut response = HttpResponse::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = headers;
        response
    }
}

impl From<Arc<CachedResponse>> for Response {
    fn from(cached: Arc<CachedResponse>) -> Self {
        let response = Self::new(StatusCode::OK, cached.body.clone());
        let (tag, headers) = (cached.tag, cached.headers.clone());
        Self { tag, headers, cached: Some(cached), ..response }
    }
}

impl From<GraphQlResponse> for Response {
    fn from(GraphQlResponse { status, body }: GraphQlResponse) -> Self {
        let status = StatusCode::from_u16(status).expect("the core names HTTP statuses");
        Self::new(status, body)
    }
}

/// A strong tag identifies the bytes that are sent, so each content coding has its own.
pub(crate) fn etag(tag: EntityTag, coding: Option<Coding>) -> String {
    match coding {
        None => format!("\"{tag}\""),
        Some(coding) => format!("\"{tag}-{}\"", coding.name()),
    }
}

impl From<Json> for Response {
    fn from(Json(text): Json) -> Self {
        Self::new(StatusCode::OK, text)
    }
}
