//! Data directories of every released schema open and have all their content.
//!
//! [`fill`] defines the content, also of future directories. Lines are only added to it, because
//! older directories cannot be written again.

use std::{fs, path::Path, time::Duration};

use cms_core::{
    Caller, Cms, CoreConfig, Error, Exchange, SessionClient, Visibility, WebhookOutcome,
    paging::PageRequest,
    restore,
    testing::{TestCms, fixture, images},
    wire::{
        check::CheckRequest,
        key::{KeyKind, NewKey},
        object::{Direction, ListRequest},
        publish::PublishAction,
        search::SearchRequest,
        shared_view::NewSharedView,
        trash::TrashRequest,
        user::{Role, UserListRequest},
        webhook::LoggedHeaders,
    },
};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    media::{get, image, upload},
    support::{article_with, create_object, link, local, map},
    webhooks::webhook,
};

const IMAGE: &str = "_media-00000000-0000-4000-8000-00000000abcd";

/// Creates the content that every directory has since schema 2.
fn fill(cms: &Cms) {
    let (objects, publishing) = (cms.objects(), cms.publishing());
    let page = article_with(json!({ "name": "page", "draftPublic": true }));
    let note = article_with(json!({ "name": "note", "workflowId": "own" }));
    let own = json!({ "id": "own", "states": ["new", "public"], "transitions": [
        { "name": "_new_public", "froms": ["new"], "tos": ["public"] },
    ] });
    cms.workflows().create(&local(), map(own)).unwrap();
    for definition in [page, note] {
        cms.types().create(&local(), definition).unwrap();
    }
    let request =
        cms_core::wire::media::UploadRequest { id: Some(IMAGE.to_owned()), ..image("sea.jpg") };
    upload(cms, &images::photo(40, 30), &request).unwrap();
    for id in ["draft", "public", "modified", "archived", "scheduled", "deleted"] {
        let mut object = json!({ "id": id, "title": format!("Title {id}"), "rank": 1 });
        if id == "modified" {
            object["related"] = json!([link("page", "public")]);
        }
        objects.create(&local(), "page", map(object)).unwrap();
    }
    let act = |id, action| publishing.set_status(&local(), "page", id, action, false).unwrap();
    for id in ["public", "modified", "archived"] {
        act(id, PublishAction::Publish);
    }
    act("archived", PublishAction::Archive);
    objects.patch(&local(), "page", "modified", map(json!({ "rank": 2, "related": [] }))).unwrap();
    let at = map(json!({ "scheduledAt": "2099-01-01T00:00", "timeZone": "Europe/Berlin" }));
    publishing.schedule(&local(), "page", "scheduled", at).unwrap();
    objects.delete(&local(), "page", "deleted").unwrap();
    let note = json!({ "id": "note", "title": "A note", "related": [link("_media", IMAGE)] });
    objects.create(&local(), "note", map(note)).unwrap();
    let action = map(json!({ "action": "_new_public" }));
    cms.workflows().run_transition(&local(), "note", "note", action).unwrap();
    let new = NewKey { name: "web".to_owned(), kind: KeyKind::ReadOnly, rules: Vec::new() };
    cms.keys().create(&local(), &new).unwrap();
    objects.create(&local(), "_webhooks", map(webhook("hook", &json!({})))).unwrap();
    objects.create(&local(), "_tag", map(json!({ "id": "told", "name": "Told" }))).unwrap();
    while cms.webhooks().create_deliveries().unwrap() {}
    fill_since_schema_10(cms);
    fill_since_schema_12(cms);
}

const EMAIL: &str = "ada@example.com";
const PASSWORD: &str = "correct-horse-battery";

/// Returns the first administrator with a new session.
fn sign_in(cms: &Cms) -> Caller {
    let signed_in = cms.sessions().sign_in(EMAIL, PASSWORD, &SessionClient::default()).unwrap();
    cms.caller_of_session(&signed_in.cookie).unwrap()
}

/// Creates the content that every directory has since schema 10.
fn fill_since_schema_10(cms: &Cms) {
    cms.sessions().create_first_admin(EMAIL, PASSWORD).unwrap();
    let ada = sign_in(cms);
    let invited = map(json!({ "email": "ben@example.com", "name": "Ben", "role": "author" }));
    cms.users().create(&ada, &invited, "http://localhost").unwrap();
    let copy = json!({ "base": "\"1\"", "data": { "id": "draft", "title": "Half a ti" } });
    cms.working_copies().put(&ada, "page", "draft", map(copy)).unwrap();
    cms.user_settings().put(&ada, &map(json!({ "language": "de" }))).unwrap();
    let view = NewSharedView { name: "Mine".to_owned(), definition: "{}".to_owned() };
    cms.shared_views().create(&ada, "page", view).unwrap();
    let note = map(json!({ "id": "trashed", "title": "In the trash" }));
    cms.objects().create(&ada, "note", note).unwrap();
    cms.objects().delete(&ada, "note", "trashed").unwrap();
    let drafts = json!({ "internal.status": { "type": "equals", "filter": "draft" } });
    let job = map(json!({ "action": "publish", "filters": drafts, "expect": 2 }));
    cms.bulk().create(&ada.with_visibility(PREVIEW), "page", &job).unwrap();
}

/// The server of the webhook `logged` has responded.
fn fill_since_schema_12(cms: &Cms) {
    let webhooks = cms.webhooks();
    let webhook = map(webhook("logged", &json!({})));
    cms.objects().create(&local(), "_webhooks", webhook).unwrap();
    webhooks.test(&local(), "logged").unwrap();
    let due = webhooks.due(None, &[]).unwrap();
    let mut requests = due.iter().map(|dispatch| webhooks.outgoing(dispatch).unwrap().unwrap());
    let request = requests.find(|request| request.id == "logged").unwrap();
    let success = WebhookOutcome::Response(200, "thanks".into());
    webhooks.record(request, success, exchange()).unwrap();
}

fn exchange() -> Exchange {
    let headers = |name, value: &'static str| Some(LoggedHeaders::of([(name, value.as_bytes())]));
    Exchange {
        request_headers: headers("accept", "*/*"),
        response_headers: headers("server", "receiver"),
        duration: Duration::from_millis(12),
    }
}

const PREVIEW: Visibility = Visibility { preview: true, public_only: false };

/// Checks the content that directories have since schema 2.
fn check_since_schema_2(cms: &Cms) {
    let list = |caller: &Caller, name: &str| -> Vec<String> {
        let by_title = ListRequest { order_by: Some("title".to_owned()), ..ListRequest::default() };
        let list = cms.objects().list(caller, name, &by_title).unwrap().to_value();
        let shown = |object: &Value| {
            let (internal, related) = (&object["internal"], object["related"].as_array());
            let state = &internal["workflowState"];
            let links = related.map_or(0, Vec::len);
            let (id, rank) = (&object["id"], &object["rank"]);
            format!("{id} rank {rank} {} {state} links {links}", internal["status"])
                .replace('"', "")
        };
        list["data"].as_array().unwrap().iter().map(shown).collect()
    };
    assert_eq!(
        list(&local(), "page"),
        ["modified rank 1 public saved links 1", "public rank 1 public saved links 0"]
    );
    assert_eq!(
        list(&local().with_visibility(PREVIEW), "page"),
        [
            "archived rank 1 archived saved links 0",
            "draft rank 1 draft saved links 0",
            "modified rank 2 modified saved links 0",
            "public rank 1 public saved links 0",
            "scheduled rank 1 draft saved links 0",
        ]
    );
    assert_eq!(list(&local(), "note"), ["note rank null public public links 1"]);
    assert_eq!(cms.objects().deleted_ids(&local(), "page", None).unwrap(), ["deleted"]);
    let scheduled = cms.objects().get(&local(), "page", "scheduled", 0).unwrap().to_value();
    assert_eq!(scheduled["internal"]["scheduledAtTimeZone"], "Europe/Berlin");
    let page = PageRequest { number: 1, limit: 20 };
    let versions =
        cms.objects().versions(&local(), "page", "modified", page, Direction::Ascending).unwrap();
    assert_eq!(versions.to_value()["total_count"], 2);
    let (media_type, bytes) = get(cms, &format!("/image/20x0/{IMAGE}.jpg")).unwrap();
    assert_eq!(media_type, "image/jpeg");
    assert!(!bytes.is_empty());
    let keys = cms.keys().list(&local()).unwrap().data;
    assert!(keys.iter().any(|key| key.name == "web"));
    assert!(cms.objects().delete(&local(), "page", "public").is_err(), "it is linked to");
    let request = SearchRequest { q: Some("title".to_owned()), ..SearchRequest::default() };
    let found = cms.search().search(&local(), &request).unwrap().to_value();
    assert_eq!(found["total_count"], 2);
}

/// Checks the content that directories have since schema 4.
fn check_since_schema_4(cms: &Cms) {
    let log =
        cms.webhooks().log(&local(), "hook", PageRequest { number: 1, limit: 20 }).unwrap().data;
    let pending =
        log.iter().map(|pending| (&*pending.reference, &*pending.status)).collect::<Vec<_>>();
    // The oldest delivery in the log: the newer ones come from a test delivery to another webhook, which was added
    // later.
    assert_eq!(pending.last(), Some(&("/api/v1/content/_tag/told/version/1", "pending")));
    let change = map(json!({ "debounceSeconds": 5 }));
    cms.objects().patch(&local(), "_webhooks", "hook", change).unwrap();
    let filters = Some(r#"{"debounceSeconds": {"type": "equals", "filter": 5}}"#.to_owned());
    let request = ListRequest { filters, ..ListRequest::default() };
    let found = cms.objects().list(&local(), "_webhooks", &request).unwrap().to_value();
    assert_eq!(found["total_count"], 1);
}

/// Checks the content that directories have since schema 10.
fn check_since_schema_10(cms: &Cms) {
    let ada = sign_in(cms);
    let page = PageRequest { number: 1, limit: 20 };
    let users = cms.users().list(&ada, &UserListRequest::default()).unwrap().data;
    let users: Vec<_> = users.iter().map(|user| (&*user.email, user.role)).collect();
    assert_eq!(users, [(EMAIL, Role::Admin), ("ben@example.com", Role::Author)]);
    let (copy, _) = cms.working_copies().get(&ada, "page", "draft").unwrap();
    assert_eq!(copy.to_value()["data"]["title"], "Half a ti");
    assert_eq!(cms.user_settings().get(&ada).unwrap().to_value(), json!({ "language": "de" }));
    let views = cms.shared_views().list(&ada, "page", page).unwrap().data;
    assert_eq!(views.iter().map(|view| &*view.name).collect::<Vec<_>>(), ["Mine"]);
    let request = TrashRequest { page, ..TrashRequest::default() };
    let trash = cms.trash().list(&ada, &request).unwrap().data;
    let mut trash: Vec<_> = trash.iter().map(|item| (&*item.id, &*item.object_title)).collect();
    trash.sort_unstable();
    assert_eq!(trash, [("deleted", "Title deleted"), ("trashed", "In the trash")]);
    let jobs = cms.bulk().list(&ada, page).unwrap().data;
    let jobs: Vec<_> = jobs.iter().map(|job| (&*job.action, job.total, job.done)).collect();
    assert_eq!(jobs, [("publish", 2, 0)]);
    while cms.bulk().advance().unwrap() {}
    let public = cms.objects().list(&local(), "page", &ListRequest::default()).unwrap();
    assert_eq!(public.to_value()["total_count"], 4);
}

/// Checks the content that directories have since schema 12.
fn check_since_schema_12(cms: &Cms) {
    let page = PageRequest { number: 1, limit: 20 };
    let log = cms.webhooks().log(&local(), "logged", page).unwrap().data;
    let entry = log.iter().find(|entry| entry.action == "Test").unwrap();
    let Exchange { request_headers, response_headers, .. } = exchange();
    assert_eq!((&entry.request_headers, entry.duration_ms), (&request_headers, Some(12)));
    assert_eq!(entry.response.as_ref().unwrap().headers, response_headers);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

#[test]
fn directories_of_every_released_schema_have_everything() {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(fixture("folders")).unwrap() {
        let path = entry.unwrap().path();
        let number: u32 = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
        let folder = TempDir::new().unwrap();
        let data = folder.path().join("data");
        copy(&path, &data);
        let cms = Cms::open(CoreConfig::new(&data)).unwrap();
        let check = cms.check(&CheckRequest::default()).unwrap();
        assert!(check.is_sound(), "schema {number}: {check:?}");
        // Older schemas have no record of size and digest.
        let unrecorded = if number < 8 { check.media.files } else { 0 };
        assert_eq!(check.media.unrecorded, unrecorded, "schema {number}");
        let repair = CheckRequest { repair: true, digests: true };
        let repaired = cms.check(&repair).unwrap();
        assert!(repaired.is_sound(), "schema {number}: {repaired:?}");
        assert_eq!(repaired.media.recorded, unrecorded, "schema {number}");
        if number > 1 {
            check_since_schema_2(&cms);
        }
        if number > 3 {
            check_since_schema_4(&cms);
        }
        if number > 9 {
            check_since_schema_10(&cms);
        }
        if number > 10 {
            check_since_schema_12(&cms);
        }
        create_object(&cms, "page", json!({ "id": "new", "title": "New" }));
        let check = cms.check(&CheckRequest::default()).unwrap();
        assert!(check.is_sound(), "schema {number}: {check:?}");
        numbers.push(number);
    }
    numbers.sort_unstable();
    // The other numbers were never released: several migrations came together.
    assert_eq!(numbers, [1, 2, 3, 4, 9, 10, 12, 13]);
}

/// Media objects have a focal point since schema 10.
#[test]
fn media_type_of_every_released_schema_gains_the_focal_point() {
    let current = TestCms::new().cms.types().get(&local(), "_media").unwrap();
    for entry in fs::read_dir(fixture("folders")).unwrap() {
        let path = entry.unwrap().path();
        let folder = TempDir::new().unwrap();
        let data = folder.path().join("data");
        copy(&path, &data);
        let cms = Cms::open(CoreConfig::new(&data)).unwrap();
        let media = cms.types().get(&local(), "_media").unwrap();
        assert_eq!(media.schema_definition, current.schema_definition, "{}", path.display());
        assert_eq!(media.meta_definition, current.meta_definition, "{}", path.display());
        // Schema 1 has other content.
        if !path.ends_with("1") {
            let point = json!({ "focalPoint": { "x": 0.25, "y": 1 } });
            let object = map(point.clone());
            let patched = cms.objects().patch(&local(), "_media", IMAGE, object).unwrap();
            assert_eq!(patched.to_value()["focalPoint"], point["focalPoint"]);
        }
        drop(cms);
        let again = Cms::open(CoreConfig::new(&data)).unwrap();
        assert_eq!(again.types().get(&local(), "_media").unwrap(), media);
    }
}

/// An upgrade is atomic: after an interruption the next start runs it again.
#[test]
fn interrupted_upgrade_is_repeated_later() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    copy(&fixture("folders/2"), &data);
    let corrupt =
        |sql: &str| Connection::open(data.join("cms.db")).unwrap().execute_batch(sql).unwrap();
    corrupt(
        "CREATE TRIGGER broken BEFORE INSERT ON refinery_schema_history WHEN new.version = 4
         BEGIN SELECT RAISE(ABORT, 'broken off'); END",
    );
    let broken = Cms::open(CoreConfig::new(&data)).map(drop);
    assert!(matches!(broken, Err(Error::Internal(_))), "{broken:?}");
    corrupt("DROP TRIGGER broken");
    check_since_schema_2(&Cms::open(CoreConfig::new(&data)).unwrap());
}

/// Deliveries of schema 4 had one order for their webhook.
#[test]
fn deliveries_keep_their_order_per_object_after_an_upgrade() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    copy(&fixture("folders/4"), &data);
    // Id, version, whether it waits, state, attempts, and in how many seconds it is due.
    let rows = [
        ("a", 1, 1, "pending", 0, 0),
        ("a", 2, 1, "pending", 0, 0),
        ("b", 1, 1, "error", 5, 3600),
        ("b", 2, 1, "pending", 0, 0),
        ("c", 1, 0, "error", 9, 0),
        ("c", 2, 0, "done", 1, 0),
    ];
    let database = Connection::open(data.join("cms.db")).unwrap();
    for (id, version, queued, state, attempts, seconds) in rows {
        database
            .execute(
                "INSERT INTO webhook_delivery (webhook, message, at, action, ctd, object, version,
                     type_name, id, queued, state, attempts, due_at)
                 SELECT webhook, ?1 || ?2, at, action, ctd, 1000, ?2, type_name, ?1, ?3, ?4, ?5,
                     (unixepoch() + ?6) * 1000000
                 FROM webhook_delivery WHERE pk = 1",
                (id, version, queued, state, attempts, seconds),
            )
            .unwrap();
    }
    drop(database);
    let cms = Cms::open(CoreConfig::new(&data)).unwrap();
    let due = cms.webhooks().due(None, &[]).unwrap();
    let due: Vec<i64> = due.iter().map(|dispatch| dispatch.delivery).collect();
    // The delivery of the directory, and the first of `a`; `b` waits for its first.
    assert_eq!(due, [1, 2]);
    assert!(!cms.webhooks().expire_deliveries().unwrap());
    let log =
        cms.webhooks().log(&local(), "hook", PageRequest { number: 1, limit: 20 }).unwrap().data;
    let states: Vec<&str> = log.iter().rev().map(|entry| &*entry.status).collect();
    let expected = ["pending", "pending", "pending", "error", "pending", "failed", "done"];
    assert_eq!(states, expected);
}

/// A new directory passes the checks of the older ones.
#[test]
fn directory_of_this_schema_has_everything() {
    let core = TestCms::new();
    fill(&core.cms);
    check_since_schema_2(&core.cms);
    check_since_schema_4(&core.cms);
    check_since_schema_10(&core.cms);
    check_since_schema_12(&core.cms);
}

#[test]
#[ignore = "writes a fixture: run it once before a schema is released, see fixtures/README.md"]
fn schema_directory_is_written() {
    let core = TestCms::new();
    fill(&core.cms);
    let schema = crate::support::rows(&core, "SELECT max(version) FROM refinery_schema_history");
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("site.tar");
    let copied = core.cms.backups().begin().unwrap();
    core.cms.backups().write(copied, &mut fs::File::create(&file).unwrap()).unwrap();
    let new = fixture("folders").join(&schema[0]);
    restore(&file, &CoreConfig::new(&new)).unwrap();
    fs::remove_file(new.join("lock")).unwrap();
}
