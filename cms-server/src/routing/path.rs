//! Matches a path to a route, and finds its parameters.
//!
//! A trailing slash counts as absent. Segments are percent-decoded once; bytes that are not UTF-8 then
//! become a replacement character, which no name and no id contains, so the request ends with a 404.

use std::borrow::Cow;

use axum::http::{HeaderValue, Method};
use percent_encoding::percent_decode_str;

use super::route::Route;

/// Longest path of the table, in segments.
const MAX_SEGMENTS: usize = 8;
/// Maximum number of parameters in a path.
const MAX_PARAMETERS: usize = 3;
/// The start of a parameter that matches all segments that follow.
const CATCH_ALL: &str = "{*";

/// Methods in the order of the `Allow` header.
pub(crate) const METHODS: [Method; 5] =
    [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// The routes by number of segments, in the order of the table.
pub(crate) struct RouteMatcher {
    by_length: [Vec<Entry>; MAX_SEGMENTS + 1],
}

struct Entry {
    route: &'static Route,
    pattern: Vec<Segment>,
}

#[derive(Clone)]
enum Segment {
    Literal(&'static str),
    Parameter,
}

/// The result of matching a method and a path.
pub(crate) enum RouteMatch {
    Route(&'static Route, PathParameters),
    /// The path has routes of the methods of `allow` only; `is_unauthenticated` when none of them
    /// needs authentication.
    MethodNotAllowed {
        allow: HeaderValue,
        is_unauthenticated: bool,
    },
    NotFound,
}

/// The byte ranges of the parameters in a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathParameters([(usize, usize); MAX_PARAMETERS]);

impl PathParameters {
    /// Returns the decoded parameters; `path` is the matched path.
    pub(crate) fn decode(self, path: &str) -> [Cow<'_, str>; MAX_PARAMETERS] {
        self.0.map(|(start, end)| decoded(&path[start..end]))
    }

    /// Returns the decoded segments from the first parameter on.
    pub(crate) fn decode_segments(self, path: &str) -> impl Iterator<Item = Cow<'_, str>> {
        let [(start, _), ..] = self.0;
        path[start..].trim_end_matches('/').split('/').map(decoded)
    }
}

impl RouteMatcher {
    pub(crate) fn new(routes: &'static [Route]) -> Self {
        let mut by_length: [Vec<Entry>; MAX_SEGMENTS + 1] = Default::default();
        for route in routes {
            let pattern: Vec<Segment> = route.path[1..]
                .split('/')
                // The path `/` has no segment.
                .filter(|segment| !segment.is_empty())
                .map(|s| if s.starts_with('{') { Segment::Parameter } else { Segment::Literal(s) })
                .collect();
            let shortest = pattern.len();
            let longest = if route.path.contains(CATCH_ALL) { MAX_SEGMENTS } else { shortest };
            for entries in &mut by_length[shortest..=longest] {
                entries.push(Entry { route, pattern: pattern.clone() });
            }
        }
        Self { by_length }
    }

    /// Matches a request; HEAD matches routes of GET. Of several routes the first one wins.
    pub(crate) fn find(&self, method: &Method, path: &str) -> RouteMatch {
        let Some((segments, count)) = split(path) else { return RouteMatch::NotFound };
        let segments = &segments[..count];
        let entries = &self.by_length[count];
        let method = if method == Method::HEAD { &Method::GET } else { method };
        for entry in entries.iter().filter(|entry| entry.route.method == method) {
            if let Some(parameters) = entry.matches(path, segments) {
                return RouteMatch::Route(entry.route, parameters);
            }
        }
        let others: Vec<&Route> = entries
            .iter()
            .filter(|entry| entry.matches(path, segments).is_some())
            .map(|entry| entry.route)
            .collect();
        if others.is_empty() {
            return RouteMatch::NotFound;
        }
        RouteMatch::MethodNotAllowed {
            allow: allow(&others),
            is_unauthenticated: others.iter().all(|route| route.is_unauthenticated()),
        }
    }
}

impl Entry {
    fn matches(&self, path: &str, segments: &[(usize, usize)]) -> Option<PathParameters> {
        let mut parameters = PathParameters::default();
        let mut found = 0;
        for (segment, &(start, end)) in self.pattern.iter().zip(segments) {
            match segment {
                Segment::Literal(word) => {
                    let text = &path[start..end];
                    if text != *word && !(text.contains('%') && decoded(text) == *word) {
                        return None;
                    }
                }
                Segment::Parameter => {
                    parameters.0[found] = (start, end);
                    found += 1;
                }
            }
        }
        Some(parameters)
    }
}

/// Splits a path into byte ranges; none when a segment is empty or there are too many.
fn split(path: &str) -> Option<([(usize, usize); MAX_SEGMENTS], usize)> {
    if path == "/" {
        return Some(([(0, 0); MAX_SEGMENTS], 0));
    }
    let path = path.strip_suffix('/').unwrap_or(path);
    let mut segments = [(0, 0); MAX_SEGMENTS];
    let mut count = 0;
    let mut start = 1;
    for part in path.strip_prefix('/')?.split('/') {
        if part.is_empty() || count == MAX_SEGMENTS {
            return None;
        }
        segments[count] = (start, start + part.len());
        count += 1;
        start += part.len() + 1;
    }
    Some((segments, count))
}

fn decoded(segment: &str) -> Cow<'_, str> {
    percent_decode_str(segment).decode_utf8_lossy()
}

fn allow(routes: &[&Route]) -> HeaderValue {
    let mut names = Vec::new();
    for method in METHODS.iter().filter(|m| routes.iter().any(|route| route.method == **m)) {
        names.push(method.as_str());
        if method == Method::GET {
            names.push("HEAD");
        }
    }
    names.push("OPTIONS");
    HeaderValue::try_from(names.join(", ")).expect("method names make a header value")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::table::ROUTES;

    /// Returns the route and its parameters, the allowed methods, or "nothing".
    fn find(method: &str, path: &str) -> String {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        match RouteMatcher::new(ROUTES).find(&method, path) {
            RouteMatch::Route(route, parameters) => {
                let parameters = parameters.decode(path);
                let given: Vec<_> = parameters.iter().filter(|p| !p.is_empty()).collect();
                format!("{} {:?}", route.path, given)
            }
            RouteMatch::MethodNotAllowed { allow, .. } => allow.to_str().unwrap().to_owned(),
            RouteMatch::NotFound => "nothing".to_owned(),
        }
    }

    #[test]
    fn path_matches_a_route() {
        let object = "/api/v1/content/{name}/{id}";
        let cases = [
            ("GET", "/api/v1/content/post/1", format!(r#"{object} ["post", "1"]"#)),
            ("HEAD", "/api/v1/content/post/1/", format!(r#"{object} ["post", "1"]"#)),
            ("GET", "/api/v1/%63ontent/p%6Fst/a%20b", format!(r#"{object} ["post", "a b"]"#)),
            ("GET", "/api/v1/content/post/a%2Fb", format!(r#"{object} ["post", "a/b"]"#)),
            ("GET", "/api/v1/content/post/100%", format!(r#"{object} ["post", "100%"]"#)),
            ("GET", "/api/v1/content/post/%zz", format!(r#"{object} ["post", "%zz"]"#)),
            ("GET", "/api/v1/content/post/%ff", format!("{object} [\"post\", \"\u{fffd}\"]")),
            ("GET", "/api/v1/content/post/%2562", format!(r#"{object} ["post", "%62"]"#)),
            ("GET", "/api/v1/content/post//", "nothing".to_owned()),
            ("GET", "/api/v1/content//1", "nothing".to_owned()),
            ("GET", "/api/v1/content", "nothing".to_owned()),
            ("GET", "/", "/ []".to_owned()),
            ("GET", "//", "nothing".to_owned()),
            ("GET", "", "nothing".to_owned()),
            ("GET", "/a/b/c/d/e/f/g/h/i/j/k", "nothing".to_owned()),
            ("GET", "/image/a.png", r#"/image/{*path} ["a.png"]"#.to_owned()),
            ("HEAD", "/image/1x1/a/b.png/variant/c/", r#"/image/{*path} ["1x1"]"#.to_owned()),
            ("GET", "/image", "nothing".to_owned()),
            ("GET", "/image//a.png", "nothing".to_owned()),
            ("GET", "/image/2/3/4/5/6/7/8/9", "nothing".to_owned()),
            ("GET", "/API/v1/content/post/1", "nothing".to_owned()),
        ];
        for (method, path, wanted) in cases {
            assert_eq!(find(method, path), wanted, "{method} {path}");
        }
    }

    #[test]
    fn path_rest_is_split_before_decoding() {
        let cases = [
            ("/image/a.png", "a.png"),
            ("/image/a%20b.png/", "a b.png"),
            ("/image/1x1/a%2Fb/c.png", "1x1|a/b|c.png"),
            ("/image/0x0/%2e%2e/%00.png", "0x0|..|\0.png"),
        ];
        for (path, wanted) in cases {
            let RouteMatch::Route(_, parameters) =
                RouteMatcher::new(ROUTES).find(&Method::GET, path)
            else {
                panic!("{path}");
            };
            let segments: Vec<_> = parameters.decode_segments(path).collect();
            assert_eq!(segments.join("|"), wanted);
        }
    }

    #[test]
    fn reserved_word_wins_for_its_methods_only() {
        let path = |word: &str| format!("/api/v1/content/post/{word}");
        let as_word = |word: &str| format!(r#"/api/v1/content/{{name}}/{word} ["post"]"#);
        let as_id = |word: &str| format!(r#"/api/v1/content/{{name}}/{{id}} ["post", "{word}"]"#);
        let reserved = [
            ("batch", &["POST", "PATCH"][..]),
            ("batch-delete", &["POST"]),
            ("batch-publish", &["POST"]),
            ("batch-unpublish", &["POST"]),
            ("batch-archive", &["POST"]),
            ("bulk", &["POST"]),
            ("validate", &["POST"]),
            ("removed", &["GET"]),
        ];
        for (word, methods) in reserved {
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
                let wanted = if methods.contains(&method) {
                    as_word(word)
                } else if method == "POST" {
                    "GET, HEAD, PUT, PATCH, DELETE, OPTIONS".to_owned()
                } else {
                    as_id(word)
                };
                assert_eq!(find(method, &path(word)), wanted, "{method} {word}");
            }
        }
    }

    #[test]
    fn method_not_allowed_lists_the_allowed_methods() {
        let cases = [
            ("PATCH", "/api/v1/internal/contenttype", "GET, HEAD, POST, OPTIONS"),
            ("PATCH", "/api/v1/internal/contenttype/post", "GET, HEAD, PUT, DELETE, OPTIONS"),
            ("TRACE", "/api/v1/content/post/batch", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
            ("POST", "/healthz", "GET, HEAD, OPTIONS"),
            ("POST", "/image/0x0/a/b.png/transform/trim/1,2,3,4", "GET, HEAD, OPTIONS"),
        ];
        for (method, path, wanted) in cases {
            assert_eq!(find(method, path), wanted, "{method} {path}");
        }
    }
}
