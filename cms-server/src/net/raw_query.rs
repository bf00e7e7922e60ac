//! Raw quotes and angle brackets in the query of an HTTP/1 request.
//!
//! Contract 14 takes queries such as `filters={"title":{..}}` unencoded, as curl sends them. The
//! HTTP library takes all of that but `"`, `<` and `>`, for which it refuses the whole request
//! before anybody sees it. So [`Target`] looks at the request line on its way in, puts a harmless
//! character in place of each of those and remembers it; [`Target::restore`] gives the request its
//! query back as [`RawQuery`].
//!
//! A replacement has the length of what it replaces, so that no mistake in here can move the
//! border between two requests. A request line is expected only where a request certainly begins: on a
//! new connection, and where nothing was read yet behind a request that ended. On a connection where
//! that is not certain any more, because several requests came in one go or a body had no length,
//! everything is left as it is: nothing of a body may ever be taken for a request line. HTTP/2 has none.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use axum::{
    body::{Bytes, HttpBody},
    http::Request,
};
use hyper::body::{Body, Frame, Incoming, SizeHint};

/// The query as it was sent, where that differs from the URI's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawQuery(pub(crate) String);

/// What stands in for a character that a URI may not hold.
const PLACEHOLDER: u8 = b'_';

/// Longest method that a request line is recognised by.
const METHOD_LENGTH: usize = 8;

/// What a connection and its requests know of the request line.
#[derive(Default)]
pub(crate) struct Target(Mutex<State>);

#[derive(Default)]
struct State {
    place: Place,
    /// Characters that were replaced, with their position in the query.
    replaced: Vec<(usize, u8)>,
}

/// Where in a request the next byte to be read stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// At the first byte of a request.
    #[default]
    Start,
    /// In the path of the request line.
    Path,
    /// In the query of the request line, after so many bytes of it.
    Query(usize),
    /// In the rest of the head.
    Head(Line),
    /// So many bytes behind the head.
    Behind(u64),
    /// Nobody knows any more.
    Lost,
}

/// How much of a line was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Something,
    Nothing,
    /// Nothing but what may stand before the end of a line.
    Return,
}

impl Target {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at bytes that were just read, and replaces what must not be there.
    pub(crate) fn look_at(&self, bytes: &mut [u8]) {
        self.state().look_at(bytes);
    }

    /// Gives a request its query back, and follows its body to the end.
    pub(crate) fn restore(self: &Arc<Self>, request: Request<Incoming>) -> Request<Followed> {
        let (length, has_ended) =
            (request.body().size_hint().exact(), request.body().is_end_stream());
        let replaced = {
            let mut state = self.state();
            if has_ended {
                state.end(length);
            }
            std::mem::take(&mut state.replaced)
        };
        let mut request =
            request.map(|body| Followed { body, length, has_ended, target: Arc::clone(self) });
        if !replaced.is_empty() {
            let query = original(request.uri().query().unwrap_or(""), &replaced);
            request.extensions_mut().insert(RawQuery(query));
        }
        request
    }
}

impl State {
    fn look_at(&mut self, bytes: &mut [u8]) {
        let mut rest = bytes;
        if self.place == Place::Start {
            self.replaced.clear();
            let Some(start) = target_start(rest) else {
                self.pass(rest, Line::Something);
                return;
            };
            self.place = Place::Path;
            rest = &mut rest[start..];
        }
        if self.place == Place::Path {
            let Some(end) = rest.iter().position(|b| matches!(b, b'?' | b' ' | b'\n')) else {
                return;
            };
            if rest[end] != b'?' {
                self.pass(&rest[end..], Line::Something);
                return;
            }
            self.place = Place::Query(0);
            rest = &mut rest[end + 1..];
        }
        match self.place {
            Place::Query(before) => {
                let end = rest.iter().position(|byte| matches!(byte, b' ' | b'\n'));
                let (query, rest) = rest.split_at_mut(end.unwrap_or(rest.len()));
                for (index, byte) in query.iter_mut().enumerate() {
                    if matches!(byte, b'"' | b'<' | b'>') {
                        self.replaced.push((before + index, *byte));
                        *byte = PLACEHOLDER;
                    }
                }
                self.place = Place::Query(before + query.len());
                if end.is_some() {
                    self.pass(rest, Line::Something);
                }
            }
            Place::Head(line) => self.pass(rest, line),
            Place::Behind(bytes) => self.place = Place::Behind(bytes + rest.len() as u64),
            Place::Start | Place::Path | Place::Lost => {}
        }
    }

    /// Goes through the rest of a head, which ends with an empty line.
    fn pass(&mut self, bytes: &[u8], mut line: Line) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let is_empty = match line {
                Line::Something => false,
                Line::Nothing => matches!(rest[..end], [] | [b'\r']),
                Line::Return => end == 0,
            };
            rest = &rest[end + 1..];
            if is_empty {
                self.place = Place::Behind(rest.len() as u64);
                return;
            }
            line = Line::Nothing;
        }
        self.place = Place::Head(match (line, rest) {
            (line, []) => line,
            (Line::Nothing, [b'\r']) => Line::Return,
            _ => Line::Something,
        });
    }

    /// A request ended that has a body of so many bytes. Where more was read, or may have been, nobody
    /// knows where the next one starts.
    fn end(&mut self, length: Option<u64>) {
        let is_certain = matches!(self.place, Place::Behind(bytes) if Some(bytes) == length);
        self.place = if is_certain { Place::Start } else { Place::Lost };
    }
}

/// Returns where the target starts when the bytes look like a request line.
fn target_start(bytes: &[u8]) -> Option<usize> {
    let space = bytes.iter().take(METHOD_LENGTH + 1).position(|b| *b == b' ')?;
    let is_method = space > 0 && bytes[..space].iter().all(u8::is_ascii_uppercase);
    (is_method && bytes.get(space + 1) == Some(&b'/')).then_some(space + 1)
}

fn original(query: &str, replaced: &[(usize, u8)]) -> String {
    let mut bytes = query.as_bytes().to_vec();
    for (position, byte) in replaced {
        // A query ends at a `#`; what was replaced beyond it is not there any more.
        if let Some(place) = bytes.get_mut(*position) {
            *place = *byte;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| query.to_owned())
}

/// A request body that tells when it has been read to the end: there the next request starts.
pub(crate) struct Followed {
    body: Incoming,
    /// Bytes, when the head says so.
    length: Option<u64>,
    has_ended: bool,
    target: Arc<Target>,
}

impl Body for Followed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let is_end = matches!(polled, Poll::Ready(None)) || self.body.is_end_stream();
        if is_end && !std::mem::replace(&mut self.has_ended, true) {
            self.target.state().end(self.length);
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

    /// Feeds chunks to a fresh connection; returns what goes on, and what was replaced.
    fn feed(chunks: &[&str]) -> (String, String) {
        let mut state = State::default();
        let mut through = String::new();
        for chunk in chunks {
            let mut bytes = chunk.as_bytes().to_vec();
            state.look_at(&mut bytes);
            through.push_str(&String::from_utf8(bytes).unwrap());
        }
        let replaced = state.replaced.iter().map(|(at, byte)| format!("{at}{}", *byte as char));
        (through, replaced.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn only_the_query_of_a_request_line_is_changed() {
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

    /// Only a request line is changed, and only where a request certainly begins.
    #[test]
    fn a_body_is_never_taken_for_a_request() {
        const HEAD: &str = "GET /a HTTP/1.1\r\nh: v\r\n\r\n";
        const NEXT: &str = "GET /?< HTTP/1.1\n\n";
        // what was read, the length of the body, whether the next request line is looked at
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
                state.look_at(&mut chunk.as_bytes().to_vec());
            }
            state.end(*length);
            let mut next = NEXT.as_bytes().to_vec();
            state.look_at(&mut next);
            assert_eq!(next != NEXT.as_bytes(), *expected, "{chunks:?}");
            if !expected {
                state.end(Some(0));
                state.look_at(&mut next);
                assert_eq!(next, NEXT.as_bytes(), "{chunks:?}");
            }
        }
    }

    #[test]
    fn a_query_comes_back_as_it_was() {
        assert_eq!(original("f={_x_}", &[(3, b'"'), (5, b'"')]), "f={\"x\"}");
        assert_eq!(original("f=_", &[(2, b'<'), (9, b'"')]), "f=<");
    }
}
