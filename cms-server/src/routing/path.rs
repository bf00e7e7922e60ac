//! Finds the route of a path: which row of the table, and where its parameters stand.
//!
//! A trailing slash counts as absent. Segments are percent-decoded once; what does not decode to
//! UTF-8 keeps a replacement character, which no name and no id has, so that it is found nowhere.

use std::borrow::Cow;

use axum::http::{HeaderValue, Method};
use percent_encoding::percent_decode_str;

use crate::routing::table::Route;

/// Longest path of the table, in segments.
const SEGMENTS: usize = 8;
/// Most parameters in a path.
const PARAMETERS: usize = 3;
/// What a parameter begins with that stands for all that follows.
const REST: &str = "{*";

/// Methods in the order in which `Allow` names them.
pub(crate) const METHODS: [Method; 5] =
    [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// The routes, ready to be searched: by number of segments, in the order of the table.
pub(crate) struct Table {
    by_length: [Vec<Entry>; SEGMENTS + 1],
}

struct Entry {
    row: Row,
    pattern: Vec<Segment>,
}

/// A row of the table of routes.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) number: usize,
    pub(crate) route: &'static Route,
}

#[derive(Clone)]
enum Segment {
    Word(&'static str),
    Parameter,
}

/// What a search of the table comes to.
pub(crate) enum Found {
    Route(Row, Parameters),
    /// The path exists for other methods: those of `allow`. `public` ones ask for no key.
    OtherMethod {
        allow: HeaderValue,
        public: bool,
    },
    Nothing,
}

/// Where the parameters stand in a path, as byte positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parameters([(usize, usize); PARAMETERS]);

impl Parameters {
    /// Returns the decoded parameters of the path in which they were found.
    pub(crate) fn read(self, path: &str) -> [Cow<'_, str>; PARAMETERS] {
        self.0.map(|(start, end)| decoded(&path[start..end]))
    }

    /// Returns the decoded segments from the first parameter on.
    pub(crate) fn read_rest(self, path: &str) -> impl Iterator<Item = Cow<'_, str>> {
        let [(start, _), ..] = self.0;
        path[start..].trim_end_matches('/').split('/').map(decoded)
    }
}

impl Table {
    pub(crate) fn new(routes: &'static [Route]) -> Self {
        let mut by_length: [Vec<Entry>; SEGMENTS + 1] = Default::default();
        for (number, route) in routes.iter().enumerate() {
            let pattern: Vec<Segment> = route.path[1..]
                .split('/')
                .map(|s| if s.starts_with('{') { Segment::Parameter } else { Segment::Word(s) })
                .collect();
            let shortest = pattern.len();
            let longest = if route.path.contains(REST) { SEGMENTS } else { shortest };
            for entries in &mut by_length[shortest..=longest] {
                let row = Row { number, route };
                entries.push(Entry { row, pattern: pattern.clone() });
            }
        }
        Self { by_length }
    }

    /// Searches the table; HEAD is answered where GET is. Of several rows the first one wins.
    pub(crate) fn find(&self, method: &Method, path: &str) -> Found {
        let Some((segments, count)) = split(path) else { return Found::Nothing };
        let segments = &segments[..count];
        let entries = &self.by_length[count];
        let method = if method == Method::HEAD { &Method::GET } else { method };
        for entry in entries.iter().filter(|entry| entry.row.route.method == method) {
            if let Some(parameters) = entry.matches(path, segments) {
                return Found::Route(entry.row, parameters);
            }
        }
        let others: Vec<&Route> = entries
            .iter()
            .filter(|entry| entry.matches(path, segments).is_some())
            .map(|entry| entry.row.route)
            .collect();
        if others.is_empty() {
            return Found::Nothing;
        }
        Found::OtherMethod {
            allow: allow(&others),
            public: others.iter().all(|route| route.is_public()),
        }
    }
}

impl Entry {
    fn matches(&self, path: &str, segments: &[(usize, usize)]) -> Option<Parameters> {
        let mut parameters = Parameters::default();
        let mut found = 0;
        for (segment, &(start, end)) in self.pattern.iter().zip(segments) {
            match segment {
                Segment::Word(word) => {
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
fn split(path: &str) -> Option<([(usize, usize); SEGMENTS], usize)> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let mut segments = [(0, 0); SEGMENTS];
    let mut count = 0;
    let mut start = 1;
    for part in path.strip_prefix('/')?.split('/') {
        if part.is_empty() || count == SEGMENTS {
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

    /// The row and its parameters, the methods that are allowed, or nothing.
    fn find(method: &str, path: &str) -> String {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        match Table::new(ROUTES).find(&method, path) {
            Found::Route(Row { route, .. }, parameters) => {
                let parameters = parameters.read(path);
                let given: Vec<_> = parameters.iter().filter(|p| !p.is_empty()).collect();
                format!("{} {:?}", route.path, given)
            }
            Found::OtherMethod { allow, .. } => allow.to_str().unwrap().to_owned(),
            Found::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn paths_lead_to_rows() {
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
            ("GET", "/", "nothing".to_owned()),
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
    fn a_rest_is_split_before_it_is_decoded() {
        let cases = [
            ("/image/a.png", "a.png"),
            ("/image/a%20b.png/", "a b.png"),
            ("/image/1x1/a%2Fb/c.png", "1x1|a/b|c.png"),
            ("/image/0x0/%2e%2e/%00.png", "0x0|..|\0.png"),
        ];
        for (path, wanted) in cases {
            let Found::Route(_, parameters) = Table::new(ROUTES).find(&Method::GET, path) else {
                panic!("{path}");
            };
            let segments: Vec<_> = parameters.read_rest(path).collect();
            assert_eq!(segments.join("|"), wanted);
        }
    }

    #[test]
    fn reserved_words_win_for_their_methods_only() {
        let path = |word: &str| format!("/api/v1/content/post/{word}");
        let as_word = |word: &str| format!(r#"/api/v1/content/{{name}}/{word} ["post"]"#);
        let as_id = |word: &str| format!(r#"/api/v1/content/{{name}}/{{id}} ["post", "{word}"]"#);
        let reserved = [
            ("batch", &["POST", "PATCH"][..]),
            ("batch-delete", &["POST"]),
            ("batch-publish", &["POST"]),
            ("batch-unpublish", &["POST"]),
            ("batch-archive", &["POST"]),
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
    fn other_methods_are_told_what_is_allowed() {
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
