//! Responses to a scoped key reveal neither name nor content of a type without a rule. Links in
//! readable objects, which contain the name, are not hidden.

use cms_core::Caller;
use cms_server::ROUTES;
use serde_json::{Value, json};

use crate::{
    coverage::{prepare, rows},
    support::{CallerKind, Reply, TestApp, definition, generic, linking_definition, links, object},
};

/// Words that only the hidden type and its objects contain.
const HIDDEN: [&str; 5] = ["vault", "strongroom", "combination", "platypus", "burrow"];
/// The link of a readable object to a hidden one.
const LINK: &str = "/api/v1/content/vault/burrow";

/// An app with a hidden type. Its objects and those of the readable type link to each other.
fn with_secrets() -> TestApp {
    let app = TestApp::new();
    let (cms, local) = (&app.core.cms, Caller::local());
    cms.types().update(&local, "post", linking_definition("post")).unwrap();
    let mut vault = linking_definition("vault");
    vault["label"] = json!("Strongroom");
    let text = vault["schemaDefinition"].to_string().replace("price", "combination");
    vault["schemaDefinition"] = serde_json::from_str(&text).unwrap();
    let text = vault["metaDefinition"].to_string().replace("price", "combination");
    vault["metaDefinition"] = serde_json::from_str(&text).unwrap();
    cms.types().create(&local, vault).unwrap();
    for new in [
        json!({ "id": "burrow", "title": "platypus", "combination": 4711 }),
        json!({ "id": "one", "title": "platypus twins", "related": links(&["post/one"]) }),
    ] {
        cms.objects().create(&local, "vault", object(&new)).unwrap();
    }
    cms.objects().patch(&local, "vault", "one", object(&json!({ "combination": 1 }))).unwrap();
    let two = json!({ "id": "two", "title": "Two", "related": links(&["vault/burrow", "post/one"]),
        "parts": [{ "link": links(&["vault/burrow"]) }] });
    cms.objects().create(&local, "post", object(&two)).unwrap();
    app
}

/// Returns a hidden word that a response contains.
fn leaked_word(reply: &Reply) -> Option<&'static str> {
    let mut text = String::from_utf8_lossy(&reply.bytes).replace("\\/", "/").replace(LINK, "");
    for (name, value) in &reply.headers {
        text.extend([name.as_str(), value.to_str().unwrap()]);
    }
    let text = text.to_ascii_lowercase();
    HIDDEN.into_iter().find(|word| text.contains(word))
}

#[tokio::test]
async fn hidden_type_appears_in_no_response() {
    for row in rows()
        .into_iter()
        .filter(|row| !["/docs", "/admin"].iter().any(|page| row.path.starts_with(page)))
    {
        let app = with_secrets();
        let path = prepare(&app, row.path);
        let other = Some(path.replace("/one", "/two")).filter(|other| *other != path);
        for path in [path].into_iter().chain(other) {
            let preview = [("x-mode", "preview")];
            let reply =
                app.send_as_with(&preview, CallerKind::Scoped, row.method, &path, &row.body).await;
            assert_eq!(leaked_word(&reply), None, "{} {path}", row.method);
        }
    }
}

/// A request with the guessed name of an existing type returns 403, and reveals nothing more.
#[tokio::test]
async fn guessed_name_reveals_nothing() {
    let app = with_secrets();
    let refusal = generic(403, "Access denied or quota limit exceeded");
    let mut sent = 0;
    for row in rows().into_iter().filter(|row| row.path.contains("/post")) {
        let path = row.path.replace("/post", "/vault");
        for path in [path.clone(), path.replace("/one", "/none")] {
            let reply = app.send_as(CallerKind::Scoped, row.method, &path, &row.body).await;
            assert_eq!(reply.status_and_body(), (403, refusal.clone()), "{} {path}", row.method);
            sent += 1;
        }
    }
    let of_objects = ROUTES.iter().filter(|route| route.path.contains("/content/{name}")).count();
    assert!(sent > 2 * of_objects, "{sent}");
}

/// A request with a hidden word gets the same response as with any other word.
#[tokio::test]
async fn search_for_hidden_words_finds_nothing() {
    let app = with_secrets();
    let posts = "/api/v1/content/post";
    let graphql = |query: &str| json!({ "query": query });
    let link = |target: &str| json!({ "title": "New", "related": links(&[target]) });
    let start = app.get_as(CallerKind::Scoped, "/api/v1/changes").await.json();
    let start = start["next"].as_str().unwrap();
    // `{}` is replaced by the hidden word.
    let gets = [
        (format!("{posts}?hydrate=2&order_by={{}}"), "combination"),
        (
            format!(
                "{posts}?filters=%7B%22{{}}%22:%7B%22type%22:%22equals%22,%22filter%22:1%7D%7D"
            ),
            "combination",
        ),
        (
            format!("{posts}?filters=%7B%22related[*].{{}}%22:%7B%22type%22:%22notEmpty%22%7D%7D"),
            "combination",
        ),
        ("/api/v1/search?q={}".to_owned(), "platypus"),
        ("/api/v1/search?q={}&query_mode=fuzzy".to_owned(), "platypuss"),
        (
            "/api/v1/search?q=&content_type[]={}&aggregate_by[]=internal.contentType".to_owned(),
            "vault",
        ),
        ("/api/v1/search?q=&aggregate_by[]={}&aggregate_by_numeric[]={}".to_owned(), "combination"),
        ("/api/v1/search?q={}:4711&hydrate=2".to_owned(), "combination"),
        ("/api/v1/search?q=&order_by={}&fields[]={}".to_owned(), "combination"),
        (format!("/api/v1/changes?since={start}&types[]={{}}"), "vault"),
        ("/api/v1/internal/contenttype?name={}".to_owned(), "vault"),
    ];
    let posted = [
        ("/api/graphql", "{ vault(id: \"burrow\") { title } }", "vault"),
        ("/api/graphql", "{ post(id: \"two\") { title combination } }", "combination"),
        ("/api/graphql", "{ post(id: \"two\") { related { ... on vault { id } } } }", "vault"),
        ("/api/graphql", "{ __type(name: \"vault\") { name fields { name } } }", "vault"),
        ("/api/v2/graphql", "{ vault { totalCount } }", "vault"),
        ("/api/v2/graphql", "query ($f: vaultFilterInput) { __typename }", "vault"),
    ];
    let other = |word: &str| word.chars().rev().collect::<String>();
    let masked = |reply: &Reply, word: &str| {
        (
            reply.status,
            String::from_utf8_lossy(&reply.bytes).replace(LINK, "").replace(word, "WORD"),
        )
    };
    for (path, word) in gets {
        let send =
            async |word: &str| app.get_as(CallerKind::Scoped, &path.replace("{}", word)).await;
        let (hidden, absent) = (send(word).await, send(&other(word)).await);
        assert_eq!(masked(&hidden, word), masked(&absent, &other(word)), "{path}");
    }
    for (path, query, word) in posted {
        let send = async |word_now: &str| {
            let query = graphql(&query.replace(word, word_now));
            app.send_as(CallerKind::Scoped, "POST", path, &query).await
        };
        let (hidden, absent) = (send(word).await, send(&other(word)).await);
        assert_eq!(masked(&hidden, word), masked(&absent, &other(word)), "{query}");
    }
    // A link needs an existing target for every caller; the target is not revealed.
    let missing = app.send_as(CallerKind::Scoped, "POST", posts, &link("vault/none")).await;
    let unknown = app.send_as(CallerKind::Scoped, "POST", posts, &link("absent/none")).await;
    assert_eq!(missing.status_and_body(), unknown.status_and_body());
}

/// Reads everything that the key may read: hydrated lists, schemas, and the OpenAPI document.
#[tokio::test]
async fn visible_responses_have_no_hidden_words() {
    let app = with_secrets();
    // Other keys get the hidden words.
    assert!(leaked_word(&app.get("/api/v1/content/vault?hydrate=2").await).is_some());
    assert!(leaked_word(&app.get("/api/v1/search?q=platypus").await).is_some());
    let start = app.get_as(CallerKind::Scoped, "/api/v1/changes").await.json();
    let (cms, local) = (&app.core.cms, Caller::local());
    cms.objects().delete(&local, "vault", "one").unwrap();
    cms.types()
        .update(&local, "vault", {
            let mut vault = definition("vault");
            vault["label"] = json!("Strongroom");
            vault
        })
        .unwrap();
    for path in [
        "/api/v1/content/post?hydrate=2",
        "/api/v1/content/post/two?hydrate=2",
        "/api/v1/content/post/two/version",
        "/api/v1/content/post/two/version/1",
        "/api/v1/content/post/removed?deletedAfter=2020-01-01",
        "/api/v1/search?q=&hydrate=2&aggregate_by[]=internal.contentType",
        "/api/v1/search?q=platypus&aggregate_by[]=internal.contentType",
        "/api/v1/internal/contenttype",
        "/api/v1/open-api-schema.json",
        "/api/v1/open-api-schema.json?version=3.1&hydrate=1",
        "/api/graphql/schema",
        "/api/v2/graphql/schema",
        "/api/auth-context",
        "/api/v1/workflow",
    ] {
        for (name, value) in [("x-mode", "preview"), ("x-visibility", "public")] {
            let reply = app.get_with(&[(name, value)], CallerKind::Scoped, path).await;
            assert_eq!((reply.status, leaked_word(&reply)), (200, None), "{path}");
        }
    }
    let since = format!("/api/v1/changes?since={}", start["next"].as_str().unwrap());
    let changes = app.get_as(CallerKind::Scoped, &since).await;
    assert_eq!(changes.json()["data"], json!([]));
    assert_eq!(leaked_word(&changes), None);

    let query = json!({ "query": "{ postList { id related { dataUrl } parts { link { dataUrl type } } }
        __schema { types { name description fields { name } inputFields { name } enumValues { name } } } }" });
    let reply = app.send_as(CallerKind::Scoped, "POST", "/api/graphql", &query).await;
    assert_eq!((reply.status, leaked_word(&reply)), (200, None));

    // Responses to writes reveal no hidden words either.
    for (method, path, body) in [
        (
            "POST",
            "/api/v1/content/post/one/duplicate",
            json!({ "relatedObjectsToDuplicate": ["related", "combination"] }),
        ),
        (
            "POST",
            "/api/v1/content/post/two/duplicate",
            json!({ "relatedObjectsToDuplicate": ["related", "parts[*].link"] }),
        ),
        ("PATCH", "/api/v1/content/post/two", json!({ "combination": 1 })),
        ("DELETE", "/api/v1/content/post/one", Value::Null),
    ] {
        let reply = app.send_as(CallerKind::Scoped, method, path, &body).await;
        let sent = body.to_string().contains("combination");
        let leaked = leaked_word(&reply).filter(|word| !(sent && *word == "combination"));
        assert_eq!(leaked, None, "{method} {path}: {:?}", reply.bytes);
    }
}
