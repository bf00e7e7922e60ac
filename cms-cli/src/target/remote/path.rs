//! Paths and queries of the API, with every value encoded.

use std::fmt::{Display, Write as _};

use cms_core::{
    paging::PageRequest,
    wire::{
        activity::ActivityRequest,
        object::{ListRequest, ObjectRequest, ValidateRequest},
        openapi::OpenApiRequest,
        search::{QueryMode, SearchRequest},
        trash::TrashRequest,
        user::UserListRequest,
    },
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

pub(super) const ACTIVITY: &str = "/api/v1/activity";
pub(super) const CHANGES: &str = "/api/v1/changes";
pub(super) const BULK_JOBS: &str = "/api/v1/job";
pub(super) const TYPES: &str = "/api/v1/internal/contenttype";
pub(super) const CONTENT: &str = "/api/v1/content";
pub(super) const KEYS: &str = "/api/v1/internal/key";
pub(super) const WORKFLOWS: &str = "/api/v1/internal/workflow";
/// Workflow states of objects, and the list of workflows, which every key may read.
pub(super) const WORKFLOW_STATES: &str = "/api/v1/workflow";
pub(super) const SEARCH: &str = "/api/v1/search";
pub(super) const REINDEX: &str = "/api/v1/internal/reindex";
pub(super) const REINDEX_JOBS: &str = "/api/v1/internal/job";
/// Describes the server, the space and the caller.
pub(super) const AUTH_CONTEXT: &str = "/api/auth-context";
/// Unauthenticated.
pub(super) const READINESS: &str = "/readyz";
pub(super) const MEDIA: &str = "/api/media";
pub(super) const BACKUP: &str = "/api/v1/internal/backup";
pub(super) const CHECK: &str = "/api/v1/internal/check";
pub(super) const TRASH: &str = "/api/v1/trash";
pub(super) const USERS: &str = "/api/v1/internal/user";
pub(super) const PREVIEW: &str = "/api/v1/preview";
pub(super) const WEBHOOKS: &str = "/api/v1/internal/webhook";

/// The management path of a webhook: its log, `replay` and `test`.
pub(super) fn webhook_path(id: &str, action: &str) -> String {
    format!("{WEBHOOKS}/{}/{action}", segment(id))
}

/// A page of the users that a request selects.
pub(super) fn users_path(request: &UserListRequest, page: PageRequest) -> String {
    let mut path = format!("{USERS}?{}", page_query(page));
    add(&mut path, "q", &request.q);
    add(&mut path, "role", &request.role);
    path
}

pub(super) fn user_path(id: &str) -> String {
    format!("{USERS}/{}", segment(id))
}

/// The path of the uploaded file of a media object.
pub(super) fn file_path(id: &str, extension: &str) -> String {
    format!("/image/0x0/{}", segment(&format!("{id}.{extension}")))
}

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

pub(super) fn schedule_path(content_type: &str, id: &str) -> String {
    format!("{}/schedule", object_path(content_type, id))
}

/// A page of the scheduled publications of some types, or of all when none is named.
pub(super) fn schedules_path(page: PageRequest, content_types: &[String]) -> String {
    let mut path = format!("/api/v1/schedule?{}", page_query(page));
    add(&mut path, "content_type[]", content_types);
    path
}

pub(super) fn validate_path(content_type: &str, request: &ValidateRequest) -> String {
    let mut path = format!("{}/validate?patch={}", objects_path(content_type), request.patch);
    add(&mut path, "id", &request.id);
    path
}

/// Characters that are percent-encoded: all but letters, digits and `-_.~`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

pub(super) fn segment(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

pub(super) fn openapi_path(request: &OpenApiRequest) -> String {
    let OpenApiRequest { version, hydrate, user_only, management, .. } = request;
    let version = version.as_str();
    let [hydrate, user_only] = [*hydrate, *user_only].map(u8::from);
    // Servers of older versions do not know `management`.
    let management = if *management { "&management=1" } else { "" };
    format!(
        "/api/v1/open-api-schema.json?version={version}&hydrate={hydrate}&user_only={user_only}{management}"
    )
}

pub(super) fn page_query(page: PageRequest) -> String {
    format!("page={}&limit={}", page.number, page.limit)
}

/// A list request as a query string.
pub(super) fn list_query(request: &ListRequest) -> String {
    let mut query = page_query(request.page);
    add(&mut query, "order_by", &request.order_by);
    add(&mut query, "order_direction", request.descending.then_some("desc"));
    add(&mut query, "empty_first", request.empty_first.then_some("true"));
    add(&mut query, "hydrate", (request.hydrate > 0).then_some(request.hydrate));
    add(&mut query, "filters", &request.filters);
    add(&mut query, "ids[]", request.ids.iter().flatten());
    add(&mut query, "fields[]", &request.fields);
    query
}

/// A request for one object as a query string.
pub(super) fn object_query(request: &ObjectRequest) -> String {
    let mut query = format!("hydrate={}", request.hydrate);
    add(&mut query, "fields[]", &request.fields);
    query
}

/// A request for activity as a query string.
pub(super) fn activity_query(request: &ActivityRequest) -> String {
    let mut query = format!("limit={}", request.limit);
    add(&mut query, "content_type[]", request.content_types.iter().flatten());
    add(&mut query, "action[]", request.actions.iter().flatten());
    add(&mut query, "id", &request.id);
    add(&mut query, "by", &request.by);
    add(&mut query, "from", &request.from);
    add(&mut query, "to", &request.to);
    add(&mut query, "before", request.before);
    query
}

pub(super) fn trash_path(entry: &str) -> String {
    format!("{TRASH}/{}", segment(entry))
}

pub(super) fn trash_query(request: &TrashRequest) -> String {
    let mut query = page_query(request.page);
    add(&mut query, "content_type[]", request.content_types.iter().flatten());
    add(&mut query, "q", &request.text);
    add(&mut query, "deletedAfter", &request.deleted_after);
    add(&mut query, "deletedBefore", &request.deleted_before);
    add(&mut query, "by", &request.by);
    query
}

/// A search as a query string.
pub(super) fn search_query(request: &SearchRequest) -> String {
    let mut query = page_query(request.page);
    add(&mut query, "q", &request.q);
    add(&mut query, "content_type[]", request.content_types.iter().flatten());
    add(&mut query, "fields[]", request.fields.iter().flatten());
    add(&mut query, "aggregate_by[]", &request.aggregate_by);
    add(&mut query, "aggregate_by_numeric[]", &request.aggregate_by_numeric);
    add(&mut query, "item_fields[]", &request.item_fields);
    let maps = [
        ("filters", &request.filters),
        ("post_filters", &request.post_filters),
        ("geo_filters", &request.geo_filters),
    ];
    for (name, entries) in maps {
        for (key, value) in entries {
            add(&mut query, &format!("{name}[{}]", segment(key)), [value]);
        }
    }
    for (name, boost) in &request.boosts {
        add(&mut query, &format!("indices_boost[{}]", segment(name)), [boost]);
    }
    add(&mut query, "order_by", &request.order_by);
    add(&mut query, "order_direction", request.descending.then_some("desc"));
    add(&mut query, "order_missing", request.missing_first.then_some("_first"));
    add(&mut query, "random_seed", request.random_seed);
    add(&mut query, "hydrate", (request.hydrate > 0).then_some(request.hydrate));
    let mode = Some(request.mode).filter(|mode| *mode != QueryMode::Default);
    add(&mut query, "query_mode", mode.map(QueryMode::as_str));
    add(&mut query, "decay_old", request.decay_old.then_some("true"));
    query
}

/// Adds a parameter for each value of a list, or for an `Option` with a value.
fn add(query: &mut String, name: &str, values: impl IntoIterator<Item: Display>) {
    for value in values {
        let value = segment(&value.to_string());
        write!(query, "&{name}={value}").expect("a string takes any text");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_become_queries_with_every_value_encoded() {
        let request = ListRequest {
            page: PageRequest { number: 2, limit: 50 },
            order_by: Some("geo.lat".to_owned()),
            descending: true,
            empty_first: true,
            hydrate: 1,
            filters: Some("{\"a&b\":1}".to_owned()),
            ids: Some(vec!["x y".to_owned(), "ż".to_owned()]),
            fields: vec!["list[*].name".to_owned()],
        };
        assert_eq!(
            list_query(&request),
            "page=2&limit=50&order_by=geo.lat&order_direction=desc&empty_first=true&hydrate=1\
             &filters=%7B%22a%26b%22%3A1%7D&ids[]=x%20y&ids[]=%C5%BC\
             &fields[]=list%5B%2A%5D.name"
        );
        assert_eq!(object_path("post", "a/b?c#d"), "/api/v1/content/post/a%2Fb%3Fc%23d");
    }

    #[test]
    fn searches_become_queries_with_every_key_and_value_encoded() {
        let pair = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
        let request = SearchRequest {
            q: Some("a+b & \"c\"".to_owned()),
            page: PageRequest { number: 3, limit: 5 },
            content_types: Some(vec!["post".to_owned(), "_tag".to_owned()]),
            fields: Some(vec!["title^5".to_owned()]),
            filters: pair("a&b]", ">=10"),
            post_filters: pair("kind", "tea"),
            geo_filters: pair("place", "geo_distance,10km,-1.5,2"),
            order_by: Some("price".to_owned()),
            descending: true,
            missing_first: true,
            random_seed: Some(-1.5),
            hydrate: 2,
            mode: QueryMode::Fuzzy,
            decay_old: true,
            aggregate_by: vec!["kind".to_owned()],
            aggregate_by_numeric: vec!["price".to_owned()],
            boosts: vec![("post".to_owned(), 2.5)],
            item_fields: vec!["@timestamp".to_owned()],
        };
        assert_eq!(
            search_query(&request),
            "page=3&limit=5&q=a%2Bb%20%26%20%22c%22&content_type[]=post&content_type[]=_tag\
             &fields[]=title%5E5&aggregate_by[]=kind&aggregate_by_numeric[]=price&item_fields[]=%40timestamp\
             &filters[a%26b%5D]=%3E%3D10&post_filters[kind]=tea\
             &geo_filters[place]=geo_distance%2C10km%2C-1.5%2C2&indices_boost[post]=2.5\
             &order_by=price&order_direction=desc&order_missing=_first&random_seed=-1.5\
             &hydrate=2&query_mode=fuzzy&decay_old=true"
        );
        let nothing = SearchRequest { q: Some(String::new()), ..SearchRequest::default() };
        assert_eq!(search_query(&nothing), "page=1&limit=20&q=");
    }
}
