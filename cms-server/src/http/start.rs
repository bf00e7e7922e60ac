//! The start page at `/`, which links the admin page, the API explorer and the documentation.

use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, header, request::Parts};
use serde_json::json;

use super::api_explorer;
use crate::{extract::header::accepts, response::Response, state::App};

/// The URL of the documentation of this version, if the build knows it.
const DOCUMENTATION: Option<&str> = option_env!("CMS_DOCS_URL");

const STYLE: &str = include_str!("start/page.css");
const VARY: HeaderValue = HeaderValue::from_static("accept");

static PAGE: LazyLock<String> = LazyLock::new(|| page(crate::HAS_ADMIN_PAGE, DOCUMENTATION));

/// Allows only the style of the page, by its hash.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'sha256-i5Raoh9uy6TTX8pna9qTbiN9LgLDr8ZbTU1xkv6KXtI='; img-src data:; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);

/// The page, or the same links as JSON for a client that requests JSON and not HTML.
pub(crate) fn get(_: &App, head: &Parts) -> Response {
    let response = if wants_json(&head.headers) {
        let admin = crate::HAS_ADMIN_PAGE.then_some("/admin");
        Response::json(&json!({
            "name": "cms",
            "admin": admin,
            "api": "/docs",
            "openapi": "/api/v1/open-api-schema.json",
            "documentation": DOCUMENTATION,
        }))
    } else {
        api_explorer::html(head, PAGE.as_str().into(), POLICY)
    };
    response.with_header(header::VARY, VARY)
}

fn page(has_admin_page: bool, documentation: Option<&str>) -> String {
    let (start, end) = ("<!-- admin page -->", "<!-- end -->");
    let mut page = include_str!("start/page.html").replacen("{style}", STYLE, 1);
    if let (false, Some(from), Some(to)) = (has_admin_page, page.find(start), page.find(end)) {
        page.replace_range(from..to, "");
    }
    let manual = documentation.map_or_else(
        || "<b>Documentation</b>".to_owned(),
        |url| format!("<a href=\"{url}\">Documentation</a>"),
    );
    let place = match documentation {
        Some(_) => "Tutorial, guides and reference of this version.",
        None => "Tutorial, guides and reference: unpack the archive cms-docs of the release.",
    };
    let page = page.replacen("{manual}", &manual, 1).replacen("{place}", place, 1);
    page.replace(start, "").replace(end, "")
}

/// Returns whether `Accept` names JSON, and does not name HTML, which browsers request.
fn wants_json(headers: &HeaderMap) -> bool {
    accepts(headers, "application/json") && !accepts(headers, "text/html")
}

#[cfg(test)]
mod tests {
    use base64::{Engine, prelude::BASE64_STANDARD};
    use ring::digest::{SHA256, digest};

    use super::*;

    #[test]
    fn policy_has_the_hash_of_the_style() {
        let digest = BASE64_STANDARD.encode(digest(&SHA256, STYLE.as_bytes()));
        assert!(POLICY.to_str().unwrap().contains(&format!("'sha256-{digest}'")), "{digest}");
    }

    #[test]
    fn page_links_only_pages_of_the_build() {
        let complete = page(true, Some("https://docs.example.com"));
        for link in ["admin", "docs", "https://docs.example.com"] {
            assert!(complete.contains(&format!("<a href=\"{link}\">")), "{complete}");
        }
        let reduced = page(false, None);
        assert!(!reduced.contains("admin"), "{reduced}");
        assert!(reduced.contains("cms-docs"), "{reduced}");
        for page in [complete, reduced] {
            for mark in ["{style}", "{manual}", "{place}", "<!--"] {
                assert!(!page.contains(mark), "{page}");
            }
        }
    }

    #[test]
    fn json_is_sent_only_to_clients_that_request_it() {
        for (accept, is_json) in [
            ("", false),
            ("*/*", false),
            ("application/json", true),
            ("text/plain, Application/JSON;q=0.5", true),
            ("text/html,application/json", false),
            ("text/html,application/xhtml+xml,*/*;q=0.8", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, accept.parse().unwrap())]);
            assert_eq!(wants_json(&headers), is_json, "{accept}");
        }
    }
}
