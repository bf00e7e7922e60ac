//! Raw quotes and angle brackets in the query of an HTTP/1 request.
//!
//! Contract 14 takes queries such as `filters={"title":{..}}` unencoded, as curl sends them. The
//! HTTP library takes all of that but `"`, `<` and `>`, for which it refuses the whole request
//! before anybody sees it. So [`Target`] looks at the request line on its way in, puts a harmless
//! character in place of each of those and remembers it; [`Target::restore`] gives the request its
//! query back as [`RawQuery`].
//!
//! A replacement has the length of what it replaces, so that no mistake in here can move the
//! border between two requests. A request line is expected only where the request before it has
//! been read to its end; several requests sent in one go are left as they are after the first.
//! HTTP/2 has no request lines.

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
    /// Somewhere after the target.
    Beyond,
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
        let replaced = {
            let mut state = self.state();
            if request.body().is_end_stream() {
                state.place = Place::Start;
            }
            std::mem::take(&mut state.replaced)
        };
        let mut request = request.map(|body| Followed { body, target: Arc::clone(self) });
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
                self.place = Place::Beyond;
                return;
            };
            self.place = Place::Path;
            rest = &mut rest[start..];
        }
        if self.place == Place::Path {
            let Some(end) = rest.iter().position(|b| matches!(b, b'?' | b' ' | b'\n')) else {
                return;
            };
            self.place = if rest[end] == b'?' { Place::Query(0) } else { Place::Beyond };
            rest = &mut rest[end + 1..];
        }
        if let Place::Query(before) = self.place {
            for (index, byte) in rest.iter_mut().enumerate() {
                match byte {
                    b'"' | b'<' | b'>' => {
                        self.replaced.push((before + index, *byte));
                        *byte = PLACEHOLDER;
                    }
                    b' ' | b'\n' => {
                        self.place = Place::Beyond;
                        return;
                    }
                    _ => {}
                }
            }
            self.place = Place::Query(before + rest.len());
        }
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
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.target.state().place = Place::Start;
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

    #[test]
    fn a_query_comes_back_as_it_was() {
        assert_eq!(original("f={_x_}", &[(3, b'"'), (5, b'"')]), "f={\"x\"}");
        assert_eq!(original("f=_", &[(2, b'<'), (9, b'"')]), "f=<");
    }
}
