//! [`Answer`]: what a handler gives back, and how it becomes a response.
//!
//! Headers that every answer carries are set here and nowhere else.

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::Response,
};
use cms_core::wire::{graphql::GraphQlAnswer, object::Json};
use serde::Serialize;

use crate::{
    compression::{Coding, WORTHWHILE},
    state::REQUEST_ID,
};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const ANY_ORIGIN: HeaderValue = HeaderValue::from_static("*");
const EXPOSED: HeaderValue =
    HeaderValue::from_static("x-deprecated-query-params, x-deprecated-payload");
const CORS_METHODS: HeaderValue =
    HeaderValue::from_static("GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS");
const CORS_HEADERS: HeaderValue =
    HeaderValue::from_static("X-AUTH-TOKEN, X-MODE, X-VISIBILITY, Content-Type, Accept");

/// Private cause of a failure, for the log.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Status, body and the headers that are not the same everywhere.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    body: Content,
    coding: Option<Coding>,
    headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) cause: Option<Cause>,
}

/// What follows the head. It is JSON, unless a header says otherwise.
enum Content {
    /// Empty means no body.
    Whole(Bytes),
    /// Comes piece by piece, so many bytes in all.
    Stream { length: u64, body: Body },
}

impl Content {
    fn length(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
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
        Self { body: Content::Stream { length, body }, ..answer }
    }

    fn new(status: StatusCode, body: impl Into<Bytes>) -> Self {
        let body = Content::Whole(body.into());
        Self { status, body, coding: None, headers: Vec::new(), cause: None }
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

    /// Compresses the body when that pays and the client takes it.
    pub(crate) fn compressed_for(mut self, request: &HeaderMap) -> Self {
        let Content::Whole(body) = &self.body else { return self };
        if body.len() < WORTHWHILE {
            return self;
        }
        self.headers.push((header::VARY, HeaderValue::from_static("accept-encoding")));
        if let Some(coding) = Coding::wanted(request) {
            self.body = Content::Whole(coding.compress(body).into());
            self.coding = Some(coding);
        }
        self
    }

    /// Makes the response; one to HEAD tells the length of the body and leaves it out.
    pub(crate) fn into_response(self, method: &Method, request_id: HeaderValue) -> Response {
        let mut headers = HeaderMap::with_capacity(8);
        let length = self.body.length();
        if length > 0 {
            headers.insert(header::CONTENT_TYPE, JSON);
        }
        if let Some(coding) = self.coding {
            headers.insert(header::CONTENT_ENCODING, coding.header());
        }
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY_ORIGIN);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        headers.insert(REQUEST_ID, request_id);
        headers.extend(self.headers.into_iter().map(|(name, value)| (Some(name), value)));
        let body = match self.body {
            // Of what the client has already, the length is not told: there is no body to measure.
            _ if self.status == StatusCode::NOT_MODIFIED => Body::empty(),
            _ if method == Method::HEAD => {
                headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
                Body::empty()
            }
            Content::Whole(bytes) => Body::from(bytes),
            Content::Stream { body, .. } => {
                headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
                body
            }
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = headers;
        response
    }
}

impl From<GraphQlAnswer> for Answer {
    fn from(GraphQlAnswer { status, body }: GraphQlAnswer) -> Self {
        let status = StatusCode::from_u16(status).expect("the core names HTTP statuses");
        Self::new(status, body)
    }
}

impl From<Json> for Answer {
    fn from(Json(text): Json) -> Self {
        Self::new(StatusCode::OK, text)
    }
}
