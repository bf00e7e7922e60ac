//! Unencoded quotes and angle brackets in the query of an HTTP/1 request line.
//!
//! Existing clients send `filters={"title":{..}}` without percent-encoding, and the API accepts that
//! (docs/reference/http.md). The HTTP library refuses a request line with `"`, `<` or `>` before a handler
//! runs; it accepts the other characters. So [`RequestLines`] replaces these bytes by a placeholder when
//! they are received, and records them; [`RequestLines::restore`] adds the original query as [`RawQuery`].
//!
//! A placeholder has the length of what it replaces, so an error in this module cannot move the border
//! between two requests. A byte is replaced only where a request certainly begins: at the start of a
//! connection, and after the end of a request if no byte after it had been read by then. With pipelined
//! requests, and after a body without a length, this is not certain: nothing is replaced, so that a body is
//! never taken for a request line.
//!
//! HTTP/2 has no request line: its clients must encode these characters.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{
    body::{Bytes, HttpBody},
    http::Request,
};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use parking_lot::Mutex;

/// The query as the client sent it, if it differs from the query of the URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawQuery(pub(crate) String);

/// Replaces a character that a URI may not contain.
const PLACEHOLDER: u8 = b'_';

/// Longest method by which a request line is recognised, in bytes.
const MAX_METHOD_BYTES: usize = 8;

/// The request lines of one connection.
#[derive(Default)]
pub(crate) struct RequestLines(Mutex<State>);

#[derive(Default)]
struct State {
    position: Position,
    /// Characters that were replaced, with their position in the query.
    replaced: Vec<(usize, u8)>,
}

/// The part of a request that the next byte to be read belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Position {
    /// At the first byte of a request.
    #[default]
    Start,
    /// In the path of the request line.
    Path,
    /// In the query of the request line, at this offset.
    Query(usize),
    /// In the rest of the head.
    Head(HeaderLine),
    /// At this offset after the head.
    AfterHead(u64),
    /// The position is not known any more.
    Unknown,
}

/// The part of a header line that has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeaderLine {
    Text,
    Empty,
    /// Only a carriage return.
    Return,
}

impl RequestLines {
    /// Replaces the characters in bytes that were just read.
    pub(crate) fn rewrite(&self, bytes: &mut [u8]) {
        self.0.lock().rewrite(bytes);
    }

    /// Adds the original query to a request, and tracks the end of its body.
    pub(crate) fn restore(self: &Arc<Self>, request: Request<Incoming>) -> Request<TrackedBody> {
        let (length, has_ended) =
            (request.body().size_hint().exact(), request.body().is_end_stream());
        let replaced = {
            let mut state = self.0.lock();
            if has_ended {
                state.end(length);
            }
            std::mem::take(&mut state.replaced)
        };
        let mut request =
            request.map(|body| TrackedBody { body, length, has_ended, lines: Arc::clone(self) });
        if !replaced.is_empty() {
            let query = original(request.uri().query().unwrap_or(""), &replaced);
            request.extensions_mut().insert(RawQuery(query));
        }
        request
    }
}

impl State {
    fn rewrite(&mut self, bytes: &mut [u8]) {
        let mut rest = bytes;
        if self.position == Position::Start {
            self.replaced.clear();
            let Some(start) = path_start(rest) else {
                self.skip_head(rest, HeaderLine::Text);
                return;
            };
            self.position = Position::Path;
            rest = &mut rest[start..];
        }
        if self.position == Position::Path {
            let Some(end) = rest.iter().position(|b| matches!(b, b'?' | b' ' | b'\n')) else {
                return;
            };
            if rest[end] != b'?' {
                self.skip_head(&rest[end..], HeaderLine::Text);
                return;
            }
            self.position = Position::Query(0);
            rest = &mut rest[end + 1..];
        }
        match self.position {
            Position::Query(before) => {
                let end = rest.iter().position(|byte| matches!(byte, b' ' | b'\n'));
                let (query, rest) = rest.split_at_mut(end.unwrap_or(rest.len()));
                for (index, byte) in query.iter_mut().enumerate() {
                    if matches!(byte, b'"' | b'<' | b'>') {
                        self.replaced.push((before + index, *byte));
                        *byte = PLACEHOLDER;
                    }
                }
                self.position = Position::Query(before + query.len());
                if end.is_some() {
                    self.skip_head(rest, HeaderLine::Text);
                }
            }
            Position::Head(line) => self.skip_head(rest, line),
            Position::AfterHead(bytes) => {
                self.position = Position::AfterHead(bytes + rest.len() as u64);
            }
            Position::Start | Position::Path | Position::Unknown => {}
        }
    }

    /// Skips the rest of a head, which ends with an empty line.
    fn skip_head(&mut self, bytes: &[u8], mut line: HeaderLine) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let is_empty = match line {
                HeaderLine::Text => false,
                HeaderLine::Empty => matches!(rest[..end], [] | [b'\r']),
                HeaderLine::Return => end == 0,
            };
            rest = &rest[end + 1..];
            if is_empty {
                self.position = Position::AfterHead(rest.len() as u64);
                return;
            }
            line = HeaderLine::Empty;
        }
        self.position = Position::Head(match (line, rest) {
            (line, []) => line,
            (HeaderLine::Empty, [b'\r']) => HeaderLine::Return,
            _ => HeaderLine::Text,
        });
    }

    /// Records the end of a request with a body of this size. If more bytes were or may have been
    /// read, the start of the next request is not known.
    fn end(&mut self, length: Option<u64>) {
        let is_certain =
            matches!(self.position, Position::AfterHead(bytes) if Some(bytes) == length);
        self.position = if is_certain { Position::Start } else { Position::Unknown };
    }
}

/// Returns the start of the path when the bytes look like a request line.
fn path_start(bytes: &[u8]) -> Option<usize> {
    let space = bytes.iter().take(MAX_METHOD_BYTES + 1).position(|b| *b == b' ')?;
    let is_method = space > 0 && bytes[..space].iter().all(u8::is_ascii_uppercase);
    (is_method && bytes.get(space + 1) == Some(&b'/')).then_some(space + 1)
}

fn original(query: &str, replaced: &[(usize, u8)]) -> String {
    let mut bytes = query.as_bytes().to_vec();
    for (position, byte) in replaced {
        // A query ends at a `#`; the URI does not contain what follows it.
        if let Some(replaced) = bytes.get_mut(*position) {
            *replaced = *byte;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| query.to_owned())
}

/// A request body that records when it was read to its end: there the next request starts.
pub(crate) struct TrackedBody {
    body: Incoming,
    /// The number of bytes, if the head declares it.
    length: Option<u64>,
    has_ended: bool,
    lines: Arc<RequestLines>,
}

impl Body for TrackedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let is_end = matches!(polled, Poll::Ready(None)) || self.body.is_end_stream();
        if is_end && !std::mem::replace(&mut self.has_ended, true) {
            self.lines.0.lock().end(self.length);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rewrites chunks of a new connection; returns the result and what was replaced.
    fn feed(chunks: &[&str]) -> (String, String) {
        let mut state = State::default();
        let mut through = String::new();
        for chunk in chunks {
            let mut bytes = chunk.as_bytes().to_vec();
            state.rewrite(&mut bytes);
            through.push_str(&String::from_utf8(bytes).unwrap());
        }
        let replaced = state.replaced.iter().map(|(at, byte)| format!("{at}{}", *byte as char));
        (through, replaced.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn rewriting_changes_only_the_query_of_a_request_line() {
        let cases: &[(&[&str], &str, &str)] = &[
            (
                &["GET /a?f={\"x\"} HTTP/1.1\r\nh: \"v\"\r\n"],
                "GET /a?f={_x_} HTTP/1.1\r\nh: \"v\"\r\n",
                "3\" 5\"",
            ),
            (
                &["GET /a?f=", "\"<", "> HTTP/1.1\r\n", "\"?\"\""],
                "GET /a?f=___ HTTP/1.1\r\n\"?\"\"",
                "2\" 3< 4>",
            ),
            (&["GET /\"a", "b?\" HTTP/1.1"], "GET /\"ab?_ HTTP/1.1", "0\""),
            (&["GET /a HTTP/1.1\r\nx: ?\"\r\n"], "GET /a HTTP/1.1\r\nx: ?\"\r\n", ""),
            (&["{\"a\":\"?\"}"], "{\"a\":\"?\"}", ""),
            (&["PRI * HTTP/2.0\r\n\r\n?\""], "PRI * HTTP/2.0\r\n\r\n?\"", ""),
            (&["", " /?\""], " /?\"", ""),
        ];
        for (chunks, through, replaced) in cases {
            let (through, replaced) = (through.to_string(), replaced.to_string());
            assert_eq!(feed(chunks), (through, replaced), "{chunks:?}");
        }
    }

    #[test]
    fn body_is_never_taken_for_a_request_line() {
        const HEAD: &str = "GET /a HTTP/1.1\r\nh: v\r\n\r\n";
        const NEXT: &str = "GET /?< HTTP/1.1\n\n";
        // what was read, the length of the body, whether the next request line is rewritten
        let cases: &[(&[&str], Option<u64>, bool)] = &[
            (&[HEAD], Some(0), true),
            (&["GET /a?< HTTP/1.1\r\n", "\r", "\n"], Some(0), true),
            (&["GET /a HTTP/1.1\n\n"], Some(0), true),
            (&["\r\nGET /a HTTP/1.1\r\n\r\n"], Some(0), true),
            (&[HEAD, "body"], Some(4), true),
            (&[HEAD, "bo", "dy"], Some(4), true),
            (&["PUT /a HTTP/1.1\r\n\r\nbody"], Some(4), true),
            (&["PUT /a HTTP/1.1\r\n\r\nbody", "G"], Some(4), false),
            (&[HEAD, "0\r\n\r\n"], None, false),
            (&["GET /a HTTP/1.1\r\n\r\nPUT /b HTTP/1.1\r\n\r\nsee "], Some(0), false),
            (&["GET /a HTTP/1.1\r\nh: v\r\n\r\r\n"], Some(0), false),
        ];
        for (chunks, length, expected) in cases {
            let mut state = State::default();
            for chunk in *chunks {
                state.rewrite(&mut chunk.as_bytes().to_vec());
            }
            state.end(*length);
            let mut next = NEXT.as_bytes().to_vec();
            state.rewrite(&mut next);
            assert_eq!(next != NEXT.as_bytes(), *expected, "{chunks:?}");
            if !expected {
                state.end(Some(0));
                state.rewrite(&mut next);
                assert_eq!(next, NEXT.as_bytes(), "{chunks:?}");
            }
        }
    }

    #[test]
    fn original_query_is_restored() {
        assert_eq!(original("f={_x_}", &[(3, b'"'), (5, b'"')]), "f={\"x\"}");
        assert_eq!(original("f=_", &[(2, b'<'), (9, b'"')]), "f=<");
    }
}
