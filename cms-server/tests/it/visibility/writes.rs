//! Writes in each view: hidden objects cannot be changed, visible ones change in their current
//! version.

use serde_json::{Value, json};

use super::{
    Current, TARGETS, VIEWS, complete, content, current_properties, fixture, published_properties,
};
use crate::support::{links, minute, no_content, not_found, refused, shown};

const LATER: &str = "2026-02-01T00:00";

fn schedule() -> Value {
    json!({ "scheduledAt": LATER, "timeZone": "UTC" })
}

#[tokio::test]
async fn hidden_object_cannot_be_changed() {
    let app = fixture().await;
    let none = Value::Null;
    let new = json!({ "title": "New" });
    for view in &VIEWS {
        for target in TARGETS.iter().filter(|target| view.in_single_request(target).is_none()) {
            let (name, id) = target.split_once('/').unwrap();
            let (all, one) = (content(name), content(target));
            let way = "_draft_review";
            let copy = json!({ "relatedObjectsToDuplicate": [] });
            let element = json!([{ "id": id, "title": "New" }]);
            let taken = json!({
                "batch_total_count": 1, "batch_success_count": 0, "batch_error_count": 1,
                "errors": [{
                    "id": id, "data": element[0], "errors": { "id": ["This value is already used"] },
                }],
            });
            let gone = refused(&format!("Content object: \"{id}\" doesn't exist"));
            for (method, path, body, wanted) in [
                ("PUT", one.clone(), &new, not_found()),
                ("PATCH", one.clone(), &new, not_found()),
                // A missing object is reported before validation errors.
                ("PATCH", one.clone(), &json!({ "title": 5 }), not_found()),
                ("DELETE", one.clone(), &none, not_found()),
                ("POST", format!("{one}/duplicate"), &copy, not_found()),
                ("POST", format!("{one}/publish?hydrate=1"), &none, not_found()),
                ("POST", format!("{one}/unpublish"), &none, not_found()),
                ("POST", format!("{one}/archive"), &none, not_found()),
                ("PUT", format!("{one}/schedule"), &schedule(), not_found()),
                ("DELETE", format!("{one}/schedule"), &none, not_found()),
                (
                    "PUT",
                    format!("/api/v1/workflow/{target}"),
                    &json!({ "action": way }),
                    not_found(),
                ),
                ("PATCH", format!("{all}/batch"), &element, not_found()),
                (
                    "POST",
                    format!("{all}/batch?updateExisting=true"),
                    &element,
                    (400, taken.clone()),
                ),
                ("POST", format!("{all}/batch"), &element, (400, taken)),
                ("POST", format!("{all}/batch-delete"), &json!([id]), gone),
                ("POST", format!("{all}/batch-publish"), &json!(["public", id]), not_found()),
                ("POST", format!("{all}/batch-unpublish"), &json!(["public", id]), not_found()),
                ("POST", format!("{all}/batch-archive"), &json!(["public", id]), not_found()),
            ] {
                let reply = view.send_as(&app, method, &path, body).await;
                assert_eq!(reply, wanted, "{view:?} {method} {path}");
            }
        }
    }
    for target in TARGETS {
        let reply = app.get(&content(target)).await.status_and_body();
        assert_eq!(reply, (200, complete(target, Current)), "{target}");
    }
}

/// `article/modified` after a change in minute 3.
fn modified(changes: &Value, properties: &Value) -> Value {
    let mut all = json!({
        "status": "modified", "latestVersion": 2, "updatedAt": minute(3), "publicVersion": 1,
        "publishedAt": minute(1),
    });
    for (name, value) in changes.as_object().unwrap() {
        all[name] = value.clone();
    }
    shown("article", "modified", &all, properties)
}

/// A write changes the current version in every view, and returns it.
#[tokio::test]
async fn visible_object_changes_in_its_current_version() {
    let none = Value::Null;
    let mut patched = current_properties();
    patched["price"] = json!(7);
    let replaced = json!({ "title": "New" });
    let edited = json!({ "latestVersion": 3 });
    let unpublished = json!({ "status": "draft", "publicVersion": -1, "publishedAt": "" });
    let archived = json!({ "status": "archived", "publicVersion": -1, "publishedAt": "" });
    let published = json!({ "status": "public", "publicVersion": 2, "publishedAt": minute(3) });
    let saved = json!({
        "batch_total_count": 1, "batch_success_count": 1, "batch_error_count": 0, "errors": [],
    });
    let scheduled = json!({
        "updatedAt": minute(2), "scheduledAt": "2026-02-01T00:00:00+00:00",
        "scheduledAtTimeZone": "UTC",
    });
    let (all, one) = (content("article"), content("article/modified"));
    let element = json!([{ "id": "modified", "price": 7 }]);
    let whole_element = json!([{ "id": "modified", "title": "New" }]);
    // Request, response, and the object afterwards.
    let cases = [
        (
            "PATCH",
            one.clone(),
            json!({ "price": 7 }),
            (200, modified(&edited, &patched)),
            modified(&edited, &patched),
        ),
        (
            "PUT",
            one.clone(),
            replaced.clone(),
            (200, modified(&edited, &replaced)),
            modified(&edited, &replaced),
        ),
        (
            "PATCH",
            format!("{all}/batch"),
            element,
            (200, saved.clone()),
            modified(&edited, &patched),
        ),
        (
            "POST",
            format!("{all}/batch?updateExisting=1"),
            whole_element,
            (200, saved),
            modified(&edited, &replaced),
        ),
        (
            "POST",
            format!("{one}/publish"),
            none.clone(),
            no_content(),
            modified(&published, &current_properties()),
        ),
        (
            "POST",
            format!("{one}/unpublish"),
            none.clone(),
            no_content(),
            modified(&unpublished, &current_properties()),
        ),
        (
            "POST",
            format!("{one}/archive"),
            none.clone(),
            no_content(),
            modified(&archived, &current_properties()),
        ),
        (
            "POST",
            format!("{all}/batch-archive"),
            json!(["modified"]),
            no_content(),
            modified(&archived, &current_properties()),
        ),
        (
            "PUT",
            format!("{one}/schedule"),
            schedule(),
            (200, modified(&scheduled, &current_properties())),
            modified(&scheduled, &current_properties()),
        ),
    ];
    for view in &VIEWS[..4] {
        for (method, path, body, wanted, then) in &cases {
            let app = fixture().await;
            app.wait_a_minute();
            let reply = view.send_as(&app, method, path, body).await;
            assert_eq!(reply, *wanted, "{view:?} {method} {path}");
            assert_eq!(
                app.get(&one).await.status_and_body(),
                (200, then.clone()),
                "{view:?} {method} {path}"
            );
        }
    }
}

#[tokio::test]
async fn deletions_transitions_and_creations_in_each_view() {
    for view in &VIEWS {
        let app = fixture().await;
        app.wait_a_minute();
        let in_use = refused("This content object is used in another content object.");
        for target in TARGETS.iter().filter(|target| view.in_single_request(target).is_some()) {
            let wanted = if *target == "note/front" { no_content() } else { in_use.clone() };
            let reply = view.send_as(&app, "DELETE", &content(target), &Value::Null).await;
            assert_eq!(reply, wanted, "{view:?} {target}");
        }
        let path = "/api/v1/workflow/paper/public";
        let reply = view.send_as(&app, "PUT", path, &json!({ "action": "_public_archive" })).await;
        let moved = json!({ "state": "archive", "enabled_transitions": [] });
        assert_eq!(reply, (200, moved.clone()), "{view:?}");
        let is_hidden = view.papers == super::PUBLIC_PAPERS;
        let then = if is_hidden { not_found() } else { (200, moved) };
        assert_eq!(view.get(&app, path).await, then, "{view:?}");

        // A create request returns the object, even when the view hides it. Links to hidden objects
        // are valid.
        let new = json!({ "id": "new", "title": "T", "related": links(&["article/draft"]) });
        let internal = json!({ "status": "draft", "createdAt": minute(3), "updatedAt": minute(3) });
        let properties = json!({ "title": "T", "related": links(&["article/draft"]) });
        let created = (200, shown("article", "new", &internal, &properties));
        let reply = view.send_as(&app, "POST", &content("article"), &new).await;
        assert_eq!(reply, created, "{view:?}");
        let then = if is_hidden { not_found() } else { created };
        assert_eq!(view.get(&app, &content("article/new")).await, then, "{view:?}");
    }
}

/// Duplicates the version that a request for one object returns.
#[tokio::test]
async fn copy_has_the_visible_version() {
    for view in &VIEWS {
        let app = fixture().await;
        let path = content("article/modified/duplicate");
        let body = json!({ "relatedObjectsToDuplicate": [] });
        let (status, copy) = view.send_as(&app, "POST", &path, &body).await;
        let id = copy["id"].as_str().unwrap();
        let is_public = view.single_articles == super::PUBLIC_ARTICLES;
        let properties = if is_public { published_properties() } else { current_properties() };
        let internal = json!({ "status": "draft", "createdAt": minute(2), "updatedAt": minute(2) });
        let wanted = shown("article", id, &internal, &properties);
        assert_eq!((status, copy.clone()), (200, wanted), "{view:?}");

        // Linked objects that are duplicated too have to be visible.
        let path = content("note/hub/duplicate");
        let along = json!({ "relatedObjectsToDuplicate": ["archived"] });
        let (status, copy) = view.send_as(&app, "POST", &path, &along).await;
        if is_public {
            assert_eq!((status, copy), not_found(), "{view:?}");
        } else {
            let url = copy["related"][3]["dataUrl"].as_str().unwrap();
            assert_ne!(url, content("article/archived"), "{view:?}");
            assert_eq!(app.get(url).await.json()["internal"]["status"], "draft");
        }
    }
}
