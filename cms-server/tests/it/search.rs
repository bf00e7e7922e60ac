//! Full-text search over HTTP: complete responses, and visibility.

use cms_core::Caller;
use serde_json::{Value, json};

use crate::support::{
    CallerKind, TestApp, error, generic, linking_definition, links, not_found, object,
};

const NOW: &str = "2026-01-02T03:04:05.000Z";

/// A search result, from the object of other responses.
async fn item(app: &TestApp, path: &str, object: Value, changes: &Value) -> Value {
    let name = object["internal"]["contentType"].as_str().unwrap();
    let definition = app.get(&format!("/api/v1/internal/contenttype/{name}")).await.json();
    let context = app.get("/api/auth-context").await.json();
    let mut item = object.as_object().unwrap().clone();
    item.extend(self::object(&json!({
        "object_data": app.get(path).await.json().to_string(),
        "organization_id": context["organization"]["id"],
        "content_type_definition_id": definition["id"],
        "created_at": NOW,
        "updated_at": null,
        "deleted_at": null,
        "@timestamp": NOW,
    })));
    item.extend(self::object(changes));
    item.into()
}

fn response(hits: &[(Value, Value)], aggregations: &Value) -> Value {
    let hit = |(item, score): &(Value, Value)| json!({ "item": item, "score": score });
    json!({
        "total_count": hits.len(),
        "count": hits.len(),
        "total_pages": usize::from(!hits.is_empty()),
        "current_page": 1,
        "summary": { "aggregations": aggregations },
        "data": hits.iter().map(hit).collect::<Vec<_>>(),
    })
}

/// Ids of the hits, in order.
async fn ids(
    app: &TestApp,
    caller: CallerKind,
    headers: &[(&str, &str)],
    parameters: &str,
) -> Vec<String> {
    let path = format!("/api/v1/search?{parameters}");
    let reply = app.get_with(headers, caller, &path).await;
    assert_eq!(reply.status, 200, "{parameters}: {:?}", reply.json());
    let response = reply.json();
    let hits = response["data"].as_array().unwrap();
    hits.iter().map(|hit| hit["item"]["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn result_has_the_complete_object() {
    let app = TestApp::new();
    let path = "/api/v1/content/post/one";
    let object = app.get(path).await.json();
    let one = item(&app, path, object, &json!({})).await;
    let found = app.get("/api/v1/search?q=*").await;
    assert_eq!(found.status_and_body(), (200, response(&[(one.clone(), json!(1.0))], &json!([]))));
    // The keys have the documented order, too.
    let text = String::from_utf8(found.bytes.to_vec()).unwrap();
    let head = r#"{"total_count":1,"count":1,"total_pages":1,"current_page":1,"summary":{"aggregations":[]},"data":[{"item":{"id":"one","#;
    assert!(text.starts_with(head), "{text}");
    let counted = json!([
        { "field": "title", "doc_count_error_upper_bound": 0, "sum_other_doc_count": 0,
          "buckets": [{ "key": "One", "doc_count": 1 }] },
        { "field": "price", "doc_count_error_upper_bound": 0, "sum_other_doc_count": 0,
          "buckets": [] },
    ]);
    let found = app.get("/api/v1/search?q=&aggregate_by[]=title&aggregate_by_numeric[]=price");
    assert_eq!(found.await.status_and_body(), (200, response(&[(one, json!(1.0))], &counted)));
    let nothing = app.get("/api/v1/search?q=nothing").await;
    assert_eq!(nothing.status_and_body(), (200, response(&[], &json!([]))));
}

#[tokio::test]
async fn update_shows_in_the_result() {
    let app = TestApp::new();
    let path = "/api/v1/content/post/one";
    app.wait_a_minute();
    app.request("PATCH", path, &json!({ "price": 12.5 })).await;
    let object = app.get(path).await.json();
    let updated = json!({ "updated_at": "2026-01-02T03:05:05.000Z", "@timestamp": "2026-01-02T03:05:05.000Z" });
    let one = item(&app, path, object, &updated).await;
    let found = app.get("/api/v1/search?q=&filters[price]=12.5").await;
    assert_eq!(found.status_and_body(), (200, response(&[(one, json!(1.0))], &json!([]))));
}

#[tokio::test]
async fn system_fields_precede_properties() {
    let app = TestApp::new();
    let mut definition = json!(linking_definition("odd"));
    definition["schemaDefinition"]["allOf"][1]["properties"]["created_at"] =
        json!({ "type": "string" });
    definition["metaDefinition"]["order"].as_array_mut().unwrap().push(json!("created_at"));
    definition["metaDefinition"]["propertiesConfig"]["created_at"] =
        json!({ "label": "Created", "inputType": "text", "unique": false });
    app.core.cms.types().create(&cms_core::Caller::local(), object(&definition)).unwrap();
    app.create("odd", &json!({ "id": "o", "title": "Odd", "created_at": "yesterday" })).await;
    let found = app.get("/api/v1/search?q=yesterday&content_type[]=odd").await.json();
    let item = &found["data"][0]["item"];
    assert_eq!(item["created_at"], NOW);
    assert!(item["object_data"].as_str().unwrap().contains("yesterday"));
    let text = found.to_string();
    assert_eq!(text.matches("\"created_at\":").count(), 1, "{text}");
}

#[tokio::test]
async fn links_are_hydrated_in_results_only() {
    let app = TestApp::with_type("hub", &json!({}));
    app.create("hub", &json!({ "id": "h", "title": "Hub", "related": links(&["post/one"]) })).await;
    let path = "/api/v1/content/hub/h";
    for (hydrate, shown) in [(0, path.to_owned()), (1, format!("{path}?hydrate=1"))] {
        let object = app.get(&shown).await.json();
        let wanted = item(&app, path, object, &json!({})).await;
        let found = app.get(&format!("/api/v1/search?q=Hub&hydrate={hydrate}")).await.json();
        assert_eq!(found["data"][0]["item"], wanted, "hydrate={hydrate}");
    }
    // An id in quotes finds the object and the objects that link to it.
    assert_eq!(ids(&app, CallerKind::ReadOnly, &[], "q=%22one%22&order_by=id").await.len(), 2);
}

#[tokio::test]
async fn search_errors() {
    let app = TestApp::with_type("hub", &json!({}));
    let geo = "Invalid geo filter query provided. Example value is: 'geo_distance,1.50km,40.1,-19.2'. Accepted filter types are: 'geo_distance'.";
    let table = [
        ("", error("q", "The property q is required")),
        ("q=&geo_filters[place]=geo_distance,1,2", error("geo_filters", geo)),
        ("q=&geo_filters[place]=circle,1km,2,3", error("geo_filters", geo)),
        ("q=&order_by=_geo_distance", error("order_by", "_geo_distance requires geo_filters")),
        (
            "q=&order_by=parts.link",
            error("order_by", "Ordering by fields nested in lists is not possible"),
        ),
        (
            "order_by=_geo_distance",
            (
                400,
                json!({
                    "q": ["The property q is required"],
                    "order_by": ["_geo_distance requires geo_filters"],
                }),
            ),
        ),
    ];
    for (parameters, wanted) in table {
        let found = app.get(&format!("/api/v1/search?{parameters}")).await;
        assert_eq!(found.status_and_body(), wanted, "{parameters}");
    }
    // Types outside the search do not cause errors.
    let found = app.get("/api/v1/search?q=&order_by=parts.link&content_type[]=post").await;
    assert_eq!(found.status, 200);
}

#[tokio::test]
async fn range_filter_includes_its_bounds() {
    let app = TestApp::new();
    let numbers: Vec<Value> = [10, 20, 30]
        .map(|n| json!({ "id": format!("x{n}"), "title": "A number", "price": n }))
        .to_vec();
    app.request("POST", "/api/v1/content/post/batch", &json!(numbers)).await;
    for (range, wanted) in [
        ("<5", &[][..]),
        ("<10", &[]),
        ("[1 TO 5]", &[]),
        ("[15 TO 15]", &[]),
        ("{10 TO 20}", &[]),
        ("[10 TO 10]", &["x10"]),
        ("[10 TO 20]", &["x10", "x20"]),
        (">=20", &["x20", "x30"]),
        (">30", &[]),
    ] {
        let path = format!("q=*&order_by=price&filters[price]={}", range.replace(' ', "%20"));
        let path =
            path.replace('<', "%3C").replace('>', "%3E").replace('{', "%7B").replace('}', "%7D");
        assert_eq!(ids(&app, CallerKind::ReadOnly, &[], &path).await, wanted, "{range}");
    }
    let early = "q=*&filters[internal.createdAt]=%3C2020-01-01";
    assert_eq!(ids(&app, CallerKind::ReadOnly, &[], early).await, [""; 0]);
}

/// The other objects have links with the same words, or dates with the same numbers.
#[tokio::test]
async fn filter_of_a_link_date_or_number_matches_the_complete_value() {
    let app = TestApp::with_type("news_tag", &json!({}));
    app.create_type("tag", &json!({}));
    for (name, id) in
        [("tag", "news"), ("tag", "news-archive"), ("news_tag", "news"), ("tag", "a b")]
    {
        app.create(name, &json!({ "id": id, "title": "A" })).await;
    }
    app.create_type("item", &json!({}));
    for (id, title, price, target) in [
        ("one", "2020-01-02", 12.5, "tag/news"),
        ("two", "2020-02-01", 12.0, "tag/news-archive"),
        ("three", "2020-01-02T03:04:05", 5.0, "news_tag/news"),
        ("four", "2020-01-02T04:03:05", 1999.0, "tag/a%20b"),
    ] {
        let item = json!({ "id": id, "title": title, "price": price, "related": links(&[target]) });
        app.create("item", &item).await;
    }
    for (parameters, wanted) in [
        ("q=*&filters[related]=/api/v1/content/tag/NEWS", &["one"][..]),
        ("q=*&filters[related]=%22/api/v1/content/tag/news%22", &["one"]),
        ("q=*&filters[related[*].dataUrl]=/api/v1/content/tag/news", &["one"]),
        ("q=*&filters[related]=/api/v1/content/tag/a%20b", &["four"]),
        ("q=*&filters[title]=2020-02-01", &["two"]),
        ("q=*&filters[title]=2020-01-02T03:04:05", &["three"]),
        ("q=12.5&fields[]=price&query_mode=exact", &["one"]),
        ("q=%2212.5%22&fields[]=price", &["one"]),
        ("q=1999&fields[]=price&query_mode=fuzzy", &["four"]),
    ] {
        let parameters = format!("{parameters}&content_type[]=item");
        assert_eq!(ids(&app, CallerKind::ReadOnly, &[], &parameters).await, wanted, "{parameters}");
    }
    // The words 12 and 5 match, too, but the number itself is the best match.
    let best = ids(&app, CallerKind::ReadOnly, &[], "q=12.5&fields[]=price").await;
    assert!(best.contains(&"one".to_owned()), "{best:?}");
}

/// Each word is stored with its path, so a long key would multiply the size of the index.
#[tokio::test]
async fn text_at_a_very_long_path_is_not_found() {
    let app = TestApp::new();
    let mut tree = json!(linking_definition("tree"));
    tree["schemaDefinition"]["allOf"][1]["properties"]["any"] = json!({ "type": "object" });
    tree["metaDefinition"]["order"].as_array_mut().unwrap().push(json!("any"));
    tree["metaDefinition"]["propertiesConfig"]["any"] =
        json!({ "label": "Any", "inputType": "custom", "unique": false });
    app.core.cms.types().create(&Caller::local(), object(&tree)).unwrap();
    let long = "k".repeat(600);
    let any = json!({ "short": "apple", &long: { "inner": "banana", "number": 4711 } });
    app.create("tree", &json!({ "id": "t", "title": "T", "any": any })).await;
    for (word, wanted) in [("apple", &["t"][..]), ("banana", &[]), ("4711", &["t"])] {
        let parameters = format!("q={word}&content_type[]=tree");
        assert_eq!(ids(&app, CallerKind::ReadOnly, &[], &parameters).await, wanted, "{word}");
    }
}

#[tokio::test]
async fn unknown_field_matches_nothing() {
    let app = TestApp::new();
    for (parameters, found) in [
        ("q=*&fields[]=nope", 0),
        ("q=*&fields[]=nope&fields[]=title", 1),
        ("q=One&fields[]=nope", 0),
        ("q=*&fields[]=id", 1),
    ] {
        assert_eq!(
            ids(&app, CallerKind::ReadOnly, &[], parameters).await.len(),
            found,
            "{parameters}"
        );
    }
    // Scores are finite numbers even with huge weights.
    let huge = "q=One^1e38&fields[]=title^1e38&indices_boost[post]=1e38";
    let found = app.get(&format!("/api/v1/search?{huge}")).await.json();
    assert!(found["data"][0]["score"].is_number(), "{found}");
}

#[tokio::test]
async fn unknown_parameters_are_listed_and_invalid_numbers_ignored() {
    let app = TestApp::new();
    let known = "q=One&page=1&limit=x&content_type[]=post&fields[0]=title^5&filters[title]=one\
        &post_filters[title]=one&order_by=title.keyword&order_direction=desc&order_missing=_first\
        &random_seed=abc&hydrate=9&query_mode=strange&decay_old=1&aggregate_by[]=title\
        &aggregate_by_numeric[]=price&indices_boost[post]=-3&indices_boost[post]=x";
    let found = app.get(&format!("/api/v1/search?{known}")).await;
    assert_eq!((found.status, found.header("x-deprecated-query-params")), (200, None));
    assert_eq!(found.json()["total_count"], 1);
    let found = app.get("/api/v1/search?q=&size=3&filters[a]=&filters=x").await;
    assert_eq!(found.header("x-deprecated-query-params"), Some("size,filters"));
}

#[tokio::test]
async fn paging_ends_at_ten_thousand_results() {
    let app = TestApp::new();
    for number in 0..4 {
        app.create("post", &json!({ "id": format!("p{number}"), "title": "A page" })).await;
    }
    let numbers = async |parameters: &str| {
        let found = app.get(&format!("/api/v1/search?q=page&{parameters}")).await.json();
        ["total_count", "total_pages", "current_page", "count"]
            .map(|name| found[name].as_u64().unwrap())
    };
    assert_eq!(numbers("limit=3").await, [4, 2, 1, 3]);
    assert_eq!(numbers("limit=3&page=2").await, [4, 2, 2, 1]);
    assert_eq!(numbers("limit=3&page=3").await, [4, 2, 3, 0]);
    assert_eq!(numbers("limit=1000&page=10").await, [4, 1, 10, 0]);
    assert_eq!(numbers("limit=1000&page=11").await, [4, 1, 11, 0]);
    assert_eq!(numbers("limit=5000&page=0").await, [4, 1, 1, 4]);
    assert_eq!(numbers("page=99999999999999999999").await, [4, 1, 4_294_967_295, 0]);
}

#[tokio::test]
async fn scoped_key_finds_nothing_of_other_types() {
    let app = TestApp::new();
    app.create("author", &json!({ "id": "secret", "title": "One secret" })).await;
    let seen = async |caller, parameters: &str| ids(&app, caller, &[], parameters).await;
    assert_eq!(seen(CallerKind::ReadOnly, "q=One&order_by=id").await.len(), 2);
    assert_eq!(seen(CallerKind::Scoped, "q=One").await, ["one"]);
    assert_eq!(seen(CallerKind::Stranger, "q=").await, [""; 0]);
    assert_eq!(seen(CallerKind::Scoped, "q=&content_type[]=author").await, [""; 0]);
    assert_eq!(
        seen(CallerKind::Scoped, "q=&content_type[]=author&content_type[]=post").await,
        ["one"]
    );
    let path = "/api/v1/search?q=&aggregate_by[]=title&aggregate_by[]=internal.contentType";
    let found = app.get_as(CallerKind::Scoped, path).await.json();
    let keys = ["title", "contentType"]
        .iter()
        .enumerate()
        .map(|(at, _)| found["summary"]["aggregations"][at]["buckets"].clone());
    let wanted =
        [json!([{ "key": "One", "doc_count": 1 }]), json!([{ "key": "post", "doc_count": 1 }])];
    assert_eq!(keys.collect::<Vec<_>>(), wanted);
}

#[tokio::test]
async fn reindex_needs_an_admin_key() {
    let app = TestApp::new();
    let path = "/api/v1/internal/reindex";
    let reply =
        app.send_as(CallerKind::Admin, "POST", path, &json!({ "contentTypes": ["post"] })).await;
    assert_eq!(reply.status, 202);
    let id = reply.json()["id"].as_str().unwrap().to_owned();
    let job = format!("/api/v1/internal/job/{id}");
    let waiting = app.get_as(CallerKind::Admin, &job).await;
    let wanted = |state, done| json!({ "id": id, "kind": "reindex", "state": state, "done": done, "total": 1 });
    assert_eq!(waiting.status_and_body(), (200, wanted("waiting", 0)));
    // A search runs the pending rebuild.
    assert_eq!(ids(&app, CallerKind::ReadOnly, &[], "q=").await, ["one"]);
    let done = app.get_as(CallerKind::Admin, &job).await;
    assert_eq!(done.status_and_body(), (200, wanted("done", 1)));
    let table = [
        (
            json!({ "contentTypes": ["nothing"] }),
            error("contentTypes[0]", "This value does not exist in database"),
        ),
        (
            json!({ "contentTypes": "post" }),
            error("contentTypes", "String value found, but an array is required"),
        ),
        (
            json!({ "contentTypes": [] }),
            error("contentTypes", "There must be a minimum of 1 items in the array"),
        ),
        (json!([]), (400, generic(400, "Malformed JSON"))),
    ];
    for (body, wanted) in table {
        assert_eq!(
            app.send_as(CallerKind::Admin, "POST", path, &body).await.status_and_body(),
            wanted,
            "{body}"
        );
    }
    let unknown = app.get_as(CallerKind::Admin, "/api/v1/internal/job/x").await;
    assert_eq!(unknown.status_and_body(), not_found());
}

#[tokio::test]
async fn reindex_jobs_of_all_callers_are_listed() {
    let app = TestApp::new();
    let (path, local) = ("/api/v1/internal/reindex", cms_core::Caller::local());
    let empty = app.get_as(CallerKind::Admin, path).await.json();
    assert_eq!((&empty["total_count"], &empty["data"]), (&json!(0), &json!([])));

    let reindex = |payload: Value| {
        app.core.clock.advance(1);
        app.core.cms.search().reindex(&local, &object(&payload)).unwrap().id
    };
    reindex(json!({ "contentTypes": ["post"] }));
    let both = reindex(json!({ "contentTypes": ["post", "author"] }));
    app.core.clock.advance(1);
    let tags = json!({ "contentTypes": ["_tag"] });
    let by_key = app.send_as(CallerKind::Admin, "POST", path, &tags).await.json()["id"].clone();
    let listed = app.get_as(CallerKind::Admin, path).await.json();
    let key = json!({ "kind": "key", "id": listed["data"][0]["by"]["id"], "name": "admin" });
    let wanted = json!([
        { "id": by_key, "kind": "reindex", "state": "waiting", "done": 0, "total": 0,
          "contentTypes": ["_tag"], "by": key, "createdAt": "2026-01-02T03:04:08.000000+0000" },
        { "id": both, "kind": "reindex", "state": "waiting", "done": 0, "total": 1,
          "contentTypes": ["post", "author"], "by": { "kind": "local", "id": null, "name": "local" },
          "createdAt": "2026-01-02T03:04:07.000000+0000" },
    ]);
    assert_eq!(listed["data"], wanted, "the first one is covered by the second");

    // A type of a pending job is deleted.
    app.core.cms.types().delete(&local, "author").unwrap();
    let all = reindex(json!({}));
    let listed = app.get_as(CallerKind::Admin, path).await.json();
    let [only] = listed["data"].as_array().unwrap().as_slice() else { panic!("{listed}") };
    assert_eq!((&only["id"], &only["contentTypes"]), (&json!(all), &Value::Null));
    let of_deleted = app.get_as(CallerKind::Admin, &format!("/api/v1/internal/job/{both}")).await;
    assert_eq!(of_deleted.status, 200, "{:?}", of_deleted.json());
}

/// The headers of a request, and its hits for the old and for the new title.
struct View {
    headers: &'static [(&'static str, &'static str)],
    before: &'static [&'static str],
    after: &'static [&'static str],
}

const PREVIEW: (&str, &str) = ("X-MODE", "preview");
const PUBLIC: (&str, &str) = ("x-visibility", "public");
const VIEWS: [View; 4] = [
    View { headers: &[], before: &["modified", "public", "unapproved"], after: &[] },
    View {
        headers: &[PREVIEW],
        before: &["archived", "draft", "public", "unapproved"],
        after: &["modified"],
    },
    View { headers: &[PUBLIC], before: &["modified", "public"], after: &[] },
    View { headers: &[PUBLIC, PREVIEW], before: &["modified", "public"], after: &[] },
];

#[tokio::test]
async fn search_follows_the_view() {
    let app = TestApp::with_type("article", &json!({ "draftPublic": true }));
    app.create_type("paper", &json!({ "workflowId": "publishing" }));
    for id in ["draft", "public", "modified", "archived"] {
        app.create("article", &json!({ "id": id, "title": "Before" })).await;
    }
    for (id, action) in [
        ("public", "publish"),
        ("modified", "publish"),
        ("archived", "publish"),
        ("archived", "archive"),
    ] {
        assert_eq!(app.post(&format!("/api/v1/content/article/{id}/{action}")).await.0, 204);
    }
    let edit = json!({ "title": "After" });
    app.request("PATCH", "/api/v1/content/article/modified", &edit).await;
    app.create("paper", &json!({ "id": "unapproved", "title": "Before" })).await;

    for View { headers, before, after } in VIEWS {
        let hits = async |word: &str| {
            let parameters = format!(
                "q={word}&content_type[]=article&content_type[]=paper&order_by=id\
                 &filters[internal.contentType]=article%20OR%20paper"
            );
            let mut found = ids(&app, CallerKind::ReadOnly, headers, &parameters).await;
            found.sort();
            found
        };
        assert_eq!(hits("before").await, before, "{headers:?}");
        assert_eq!(hits("after").await, after, "{headers:?}");
        let path = "/api/v1/search?q=&content_type[]=article&aggregate_by[]=title";
        let counted = app.get_with(headers, CallerKind::ReadOnly, path).await.json();
        let buckets = counted["summary"]["aggregations"][0]["buckets"].as_array().unwrap();
        let objects: u64 = buckets.iter().map(|bucket| bucket["doc_count"].as_u64().unwrap()).sum();
        assert_eq!(counted["total_count"], objects, "{headers:?}");
    }
}
