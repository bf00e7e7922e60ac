//! Paths and queries of the API, with every value encoded.

use std::fmt::Write as _;

use cms_core::wire::object::ListRequest;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

pub(super) const TYPES: &str = "/api/v1/internal/contenttype";
pub(super) const CONTENT: &str = "/api/v1/content";
pub(super) const KEYS: &str = "/api/v1/internal/key";
pub(super) const WORKFLOWS: &str = "/api/v1/internal/workflow";
/// Where objects stand in workflows, and the list of workflows that every key may read.
pub(super) const WORKFLOW_STATES: &str = "/api/v1/workflow";

pub(super) fn state_path(content_type: &str, id: &str) -> String {
    format!("{WORKFLOW_STATES}/{}/{}", segment(content_type), segment(id))
}

pub(super) fn type_path(name: &str) -> String {
    format!("{TYPES}/{}", segment(name))
}

pub(super) fn objects_path(content_type: &str) -> String {
    format!("{CONTENT}/{}", segment(content_type))
}

pub(super) fn object_path(content_type: &str, id: &str) -> String {
    format!("{}/{}", objects_path(content_type), segment(id))
}

/// What stays as it is in a path segment or a query value.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

pub(super) fn segment(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// A list request as a query string.
pub(super) fn query(request: &ListRequest) -> String {
    let mut query = format!("page={}&limit={}", request.page.number, request.page.limit);
    let mut add = |name: &str, value: &str| {
        write!(query, "&{name}={}", segment(value)).expect("a string takes any text");
    };
    if let Some(order_by) = &request.order_by {
        add("order_by", order_by);
    }
    if request.descending {
        add("order_direction", "desc");
    }
    if request.empty_first {
        add("empty_first", "true");
    }
    if request.hydrate > 0 {
        add("hydrate", &request.hydrate.to_string());
    }
    if let Some(filters) = &request.filters {
        add("filters", filters);
    }
    for id in request.ids.iter().flatten() {
        add("ids[]", id);
    }
    query
}

#[cfg(test)]
mod tests {
    use cms_core::paging::Page;

    use super::*;

    #[test]
    fn requests_become_queries_with_every_value_encoded() {
        let request = ListRequest {
            page: Page { number: 2, limit: 50 },
            order_by: Some("geo.lat".to_owned()),
            descending: true,
            empty_first: true,
            hydrate: 1,
            filters: Some("{\"a&b\":1}".to_owned()),
            ids: Some(vec!["x y".to_owned(), "ż".to_owned()]),
        };
        assert_eq!(
            query(&request),
            "page=2&limit=50&order_by=geo.lat&order_direction=desc&empty_first=true&hydrate=1\
             &filters=%7B%22a%26b%22%3A1%7D&ids[]=x%20y&ids[]=%C5%BC"
        );
        assert_eq!(object_path("post", "a/b?c#d"), "/api/v1/content/post/a%2Fb%3Fc%23d");
    }
}
