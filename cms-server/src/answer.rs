//! [`Answer`]: what a handler gives back, and how it becomes a response.
//!
//! Headers that every answer carries are set here and nowhere else.

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::Response,
};
use cms_core::{
    Reservation,
    wire::{condition::EntityTag, graphql::GraphQlResponse, object::Json},
};
use serde::Serialize;

use crate::{
    blocking::Work,
    compression::{Coding, WORTHWHILE},
    extract::validators::knows_tag,
    state::REQUEST_ID,
};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const ANY_ORIGIN: HeaderValue = HeaderValue::from_static("*");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
/// Addresses may hold a key.
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
const EXPOSED: HeaderValue =
    HeaderValue::from_static("x-deprecated-query-params, x-deprecated-payload, ETag");
/// Kept by the client itself, and asked for again each time: what is right for one key is not for
/// another one.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("private, no-cache");
/// Understood by proxies that would gather what is sent.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");
const CORS_METHODS: HeaderValue =
    HeaderValue::from_static("GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS");
const CORS_HEADERS: HeaderValue = HeaderValue::from_static(
    "X-AUTH-TOKEN, X-MODE, X-VISIBILITY, Content-Type, Accept, If-Match, If-None-Match, \
     Idempotency-Key, Last-Event-ID",
);

/// Size of a response that is sent however little memory there is: errors, and what tells that the
/// server is alive.
const ALWAYS_SENT_BYTES: usize = 2048;

/// Private cause of a failure, for the log.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Status, body and the headers that are not the same everywhere.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    body: Content,
    coding: Option<Coding>,
    tag: Option<EntityTag>,
    headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) cause: Option<Cause>,
}

/// What follows the head. It is JSON, unless a header says otherwise.
enum Content {
    /// Empty means no body.
    Whole(Bytes),
    /// Comes piece by piece, so many bytes in all, if that is known.
    Stream { length: Option<u64>, body: Body },
}

impl Content {
    fn length(&self) -> Option<u64> {
        match self {
            Self::Whole(bytes) => Some(bytes.len() as u64),
            Self::Stream { length, .. } => *length,
        }
    }
}

impl Answer {
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
        let text = serde_json::to_vec(value).expect("answers have string keys only");
        Self::new(StatusCode::OK, text)
    }

    /// 304.
    pub(crate) fn not_modified() -> Self {
        Self::new(StatusCode::NOT_MODIFIED, Vec::new())
    }

    /// 200 with a text that is not JSON.
    pub(crate) fn text(text: String) -> Self {
        Self::file(HeaderValue::from_static("text/plain; charset=utf-8"), text.into())
    }

    /// 202 with a value as JSON: it will be done.
    pub(crate) fn accepted(value: &impl Serialize) -> Self {
        Self::json(value).with_status(StatusCode::ACCEPTED)
    }

    /// 204 for a browser that asks what it may send (contract 1.14).
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

    /// 200 with a file of so many bytes, which comes piece by piece.
    pub(crate) fn stream(media_type: HeaderValue, length: u64, body: Body) -> Self {
        let answer = Self::file(media_type, Bytes::new());
        Self { body: Content::Stream { length: Some(length), body }, ..answer }
    }

    /// 200 with a file whose size shows at its end.
    pub(crate) fn endless(media_type: HeaderValue, body: Body) -> Self {
        let answer = Self::file(media_type, Bytes::new());
        Self { body: Content::Stream { length: None, body }, ..answer }
    }

    /// 200 with events that come when something happens. Nobody on the way may keep them back.
    pub(crate) fn events(body: Body) -> Self {
        Self::endless(HeaderValue::from_static("text/event-stream"), body)
            .with_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
            .with_header(UNBUFFERED, HeaderValue::from_static("no"))
    }

    /// 200 with JSON that has a tag of its own.
    pub(crate) fn tagged(json: Json) -> Self {
        let tag = EntityTag::of(&json.0);
        Self::from(json).with_tag(tag)
    }

    fn new(status: StatusCode, body: impl Into<Bytes>) -> Self {
        let body = Content::Whole(body.into());
        Self { status, body, coding: None, tag: None, headers: Vec::new(), cause: None }
    }

    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The same answer, with the body of another.
    pub(crate) fn with_body_of(self, other: Self) -> Self {
        Self { body: other.body, ..self }
    }

    /// Names the answer, so that who has it need not be sent it again.
    pub(crate) fn with_tag(self, tag: EntityTag) -> Self {
        Self { tag: Some(tag), ..self }
    }

    /// Adds a header when there is a value for it.
    pub(crate) fn with_optional(self, name: HeaderName, value: Option<HeaderValue>) -> Self {
        match value {
            Some(value) => self.with_header(name, value),
            None => self,
        }
    }

    /// Says which part of a file this is.
    pub(crate) fn with_range(self, range: &str) -> Self {
        let range = HeaderValue::try_from(range).expect("numbers make a header value");
        self.with_header(header::CONTENT_RANGE, range)
    }

    /// Leaves the body out when the client has it, and compresses it when that pays and the client
    /// takes it.
    pub(crate) fn finished_for(
        mut self,
        method: &Method,
        request: &HeaderMap,
        memory: &Reservation,
    ) -> Self {
        let Content::Whole(body) = &self.body else { return self };
        let is_large = body.len() >= WORTHWHILE;
        let coding = if is_large { Coding::wanted(request) } else { None };
        // Rather uncompressed than not at all: both are in memory while one becomes the other.
        let coding = coding.filter(|_| memory.grow(body.len() / 2).is_ok());
        if is_large {
            self.headers.push((header::VARY, HeaderValue::from_static("accept-encoding")));
        }
        if let Some(tag) = self.tag {
            let etag = etag(tag, coding);
            let is_read = method == Method::GET || method == Method::HEAD;
            let is_known = is_read && knows_tag(request, &etag);
            let etag = HeaderValue::try_from(etag).expect("tags are of visible characters");
            self.headers.push((header::ETAG, etag));
            self.headers.push((header::CACHE_CONTROL, ASK_AGAIN));
            if is_known {
                self.status = StatusCode::NOT_MODIFIED;
                return self;
            }
        }
        if let Some(coding) = coding {
            self.body = Content::Whole(coding.compress(body).into());
            self.coding = Some(coding);
        }
        self
    }

    /// Reserves memory for exactly what is sent; a response for which there is none becomes a 503. Not so
    /// a small one, nor the response to a write, which was done.
    pub(crate) fn accounted(
        self,
        memory: &Reservation,
        work: Option<Work>,
        method: &Method,
    ) -> Self {
        let is_sent = method != Method::HEAD && self.status != StatusCode::NOT_MODIFIED;
        let (length, held) = match &self.body {
            Content::Whole(bytes) if is_sent => (bytes.len(), memory.bytes()),
            _ => (0, memory.bytes()),
        };
        if length <= held {
            memory.shrink(held - length);
            return self;
        }
        if length > ALWAYS_SENT_BYTES
            && work != Some(Work::Write)
            && let Err(error) = memory.grow(length - held)
        {
            drop(self);
            return Self::from(error).accounted(memory, work, method);
        }
        memory.grow_unchecked(length.saturating_sub(memory.bytes()));
        self
    }

    /// Makes the response; one to HEAD tells the length of the body and leaves it out.
    pub(crate) fn into_response(self, method: &Method, request_id: HeaderValue) -> Response {
        let mut headers = HeaderMap::with_capacity(8);
        let length = self.body.length();
        if length != Some(0) {
            headers.insert(header::CONTENT_TYPE, JSON);
        }
        if let Some(coding) = self.coding {
            headers.insert(header::CONTENT_ENCODING, coding.header());
        }
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY_ORIGIN);
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
        headers.insert(header::REFERRER_POLICY, NO_REFERRER);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        headers.insert(REQUEST_ID, request_id);
        headers.extend(self.headers.into_iter().map(|(name, value)| (Some(name), value)));
        if self.status == StatusCode::NOT_MODIFIED {
            headers.remove(header::CONTENT_TYPE);
        }
        let body = match self.body {
            // Of what the client has already, the length is not told: there is no body to measure.
            _ if self.status == StatusCode::NOT_MODIFIED => Body::empty(),
            Content::Whole(bytes) if method != Method::HEAD => Body::from(bytes),
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
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = headers;
        response
    }
}

impl From<GraphQlResponse> for Answer {
    fn from(GraphQlResponse { status, body }: GraphQlResponse) -> Self {
        let status = StatusCode::from_u16(status).expect("the core names HTTP statuses");
        Self::new(status, body)
    }
}

/// A strong tag stands for the very bytes that are sent, compressed or not.
pub(crate) fn etag(tag: EntityTag, coding: Option<Coding>) -> String {
    match coding {
        None => format!("\"{tag}\""),
        Some(coding) => format!("\"{tag}-{}\"", coding.name()),
    }
}

impl From<Json> for Answer {
    fn from(Json(text): Json) -> Self {
        Self::new(StatusCode::OK, text)
    }
}
