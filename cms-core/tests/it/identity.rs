//! Authors of changes: keys, users and commands, in versions, the change feed, webhooks and the
//! activity log.

use std::sync::Arc;

use cms_core::{
    Caller,
    paging::PageRequest,
    testing::TestCms,
    wire::{
        activity::{Activity, ActivityRequest},
        change::ChangesRequest,
        key::{KeyKind, KeyUpdate},
        object::{Direction, ListRequest},
        schedule::SchedulesRequest,
        shared_view::NewSharedView,
        trash::TrashRequest,
        user::Role,
    },
};
use cms_model::context::{Actor, ActorKind, Credential};
use cms_store::counting::statements;
use serde_json::{Value, json};

use crate::{
    support::{article, article_with, create_object, database, key, link, map, with_type},
    webhooks::webhook,
};

const ADA: &str = "ada00000-0000-0000-0000-000000000000";

/// A session of the user Ada Moor, who is an editor.
fn ada(test: &TestCms) -> Caller {
    let database = database(test);
    let at = test.cms.config().clock.now().0;
    database
        .execute(
            "INSERT INTO actor (uid, name, kind, rules, hash, created_at)
             VALUES (?1, 'Ada Moor', 'user', '[]', randomblob(32), ?2)",
            rusqlite::params![ADA, at],
        )
        .unwrap();
    let pk = database.last_insert_rowid();
    database
        .execute(
            "INSERT INTO user (actor, email, email_key, role, may_publish, disabled)
             VALUES (?1, 'ada@example.com', 'ada@example.com', 'editor', 1, 0)",
            [pk],
        )
        .unwrap();
    let actor = Actor {
        pk: Some(pk),
        id: ADA.to_owned(),
        name: "Ada Moor".to_owned(),
        kind: ActorKind::User { role: Role::Editor, email: "ada@example.com".to_owned() },
        rules: Vec::new(),
        may_publish: true,
    };
    Caller { credential: Credential::Session(1), ..Caller::new(Arc::new(actor)) }
}

/// An article that a command creates, and that a user and a key change.
fn with_versions(test: &TestCms) -> (String, Caller) {
    let local = Caller::local();
    test.cms.types().create(&local, article()).unwrap();
    let (web_id, web) = key(test, "web", KeyKind::ReadWrite);
    let user = ada(test);
    let objects = test.cms.objects();
    let new = map(json!({ "id": "a", "title": "Old", "rank": 1 }));
    objects.create(&local, "article", new).unwrap();
    objects.patch(&user, "article", "a", map(json!({ "title": "New" }))).unwrap();
    objects.replace(&web, "article", "a", map(json!({ "title": "New" }))).unwrap();
    (web_id, user)
}

fn versions(test: &TestCms, caller: &Caller) -> Vec<Value> {
    let direction = Direction::Ascending;
    let list =
        test.cms.objects().versions(caller, "article", "a", PageRequest::default(), direction);
    list.unwrap().to_value()["data"].as_array().unwrap().clone()
}

fn members(items: &[Value], name: &str) -> Value {
    items.iter().map(|item| item[name].clone()).collect()
}

fn all() -> ActivityRequest {
    ActivityRequest { limit: 1000, ..ActivityRequest::default() }
}

fn activity(test: &TestCms, caller: &Caller, request: &ActivityRequest) -> Vec<Activity> {
    test.cms.activity().list(caller, request).unwrap().data
}

fn actions(entries: &[Activity]) -> Vec<String> {
    let text =
        |entry: &Activity| format!("{} {}", entry.action, entry.id.as_deref().unwrap_or_default());
    entries.iter().map(text).collect()
}

#[test]
fn versions_have_their_author_and_changed_properties() {
    let test = TestCms::standalone();
    let (web, user) = with_versions(&test);
    let items = versions(&test, &user);
    assert_eq!(
        members(&items, "by"),
        json!([
            { "kind": "local", "id": null, "name": "local" },
            { "kind": "user", "id": ADA, "name": "Ada Moor" },
            { "kind": "key", "id": web, "name": "web" },
        ])
    );
    assert_eq!(members(&items, "changed"), json!([["title", "rank"], ["title"], ["rank"]]));

    // A removed key keeps its last name.
    let local = Caller::local();
    let renamed = KeyUpdate { name: Some("shop".to_owned()), ..KeyUpdate::default() };
    test.cms.keys().update(&local, &web, &renamed).unwrap();
    test.cms.keys().revoke(&local, &web).unwrap();
    let by = json!({ "kind": "key", "id": web, "name": "shop" });
    assert_eq!(versions(&test, &user)[2]["by"], by);

    // Earlier versions of cms did not record the changed properties.
    let old = "UPDATE object_version SET changed = NULL WHERE version = 1";
    database(&test).execute(old, []).unwrap();
    assert_eq!(versions(&test, &user)[0]["changed"], Value::Null);
}

#[test]
fn versions_show_users_to_callers_that_may_see_them() {
    let test = TestCms::standalone();
    let (_, user) = with_versions(&test);
    let at = "2026-01-02T03:04:05.000000+0000";
    let person = |username: &str, email: &str| {
        json!({
            "id": ADA, "username": username, "email": email, "firstName": username,
            "lastName": "", "roles": ["ROLE_HEADLESS_EDITOR"], "language": "en", "enabled": true,
            "resetPasswordAt": null, "deletedAt": null, "createdAt": at, "updatedAt": at,
        })
    };
    let by = |id: Option<&str>, name: &str| json!({ "kind": "user", "id": id, "name": name });
    let admin = key(&test, "admin", KeyKind::Admin).1;
    let writer = key(&test, "writer", KeyKind::ReadWrite).1;
    let reader = key(&test, "reader", KeyKind::ReadOnly).1;
    for (caller, editor, author) in [
        (&user, person("Ada Moor", "ada@example.com"), by(Some(ADA), "Ada Moor")),
        (&admin, person("Ada Moor", "ada@example.com"), by(Some(ADA), "Ada Moor")),
        (&writer, person("Ada Moor", ""), by(Some(ADA), "Ada Moor")),
        (&reader, person("", ""), by(None, "")),
    ] {
        let item = versions(&test, caller)[1].clone();
        let name = &caller.actor().name;
        assert_eq!((&item["editor"], &item["by"]), (&editor, &author), "{name}");
        assert_eq!(item["owner"]["username"], "local", "{name}");
    }
    database(&test).execute("UPDATE user SET disabled = 1", []).unwrap();
    assert_eq!(versions(&test, &user)[1]["editor"]["enabled"], false);
}

/// A filter must not show what `by` hides.
#[test]
fn trash_is_filtered_by_visible_authors_only() {
    let test = TestCms::standalone();
    let (web_id, user) = with_versions(&test);
    test.cms.objects().delete(&user, "article", "a").unwrap();
    let deleter = |rights| {
        let key = test.create_key(rights, KeyKind::Scoped, &[("article", rights)]).key;
        test.cms.caller_of_key(&key).unwrap()
    };
    for (caller, expected) in [(&user, 1), (&deleter("rud"), 1), (&deleter("rd"), 0)] {
        let count = |by: Option<&str>| {
            let request = TrashRequest { by: by.map(str::to_owned), ..TrashRequest::default() };
            test.cms.trash().list(caller, &request).unwrap().total_count
        };
        assert_eq!([count(None), count(Some(ADA)), count(Some(&web_id))], [1, expected, 0]);
    }
}

#[test]
fn schedules_have_their_author() {
    let test = TestCms::standalone();
    let local = Caller::local();
    test.cms.types().create(&local, article_with(json!({ "draftPublic": true }))).unwrap();
    let reader = key(&test, "reader", KeyKind::ReadOnly).1;
    let (web_id, web) = key(&test, "web", KeyKind::ReadWrite);
    let user = ada(&test);
    for (id, caller) in [("a", &local), ("b", &user), ("c", &web)] {
        create_object(&test.cms, "article", json!({ "id": id, "title": id }));
        let at = map(json!({ "scheduledAt": "2026-02-03T10:00", "timeZone": "UTC" }));
        test.cms.publishing().schedule(caller, "article", id, at).unwrap();
    }
    let authors = |caller: &Caller| {
        let list = test.cms.publishing().schedules(caller, &SchedulesRequest::default()).unwrap();
        list.data.iter().map(|object| json!(object.by)).collect::<Vec<_>>()
    };
    let by_local = json!({ "kind": "local", "id": null, "name": "local" });
    let by_ada = json!({ "kind": "user", "id": ADA, "name": "Ada Moor" });
    let by_web = json!({ "kind": "key", "id": web_id, "name": "web" });
    assert_eq!(authors(&user), [by_local.clone(), by_ada, by_web.clone()]);
    let hidden = json!({ "kind": "user", "id": null, "name": "" });
    assert_eq!(authors(&reader), [by_local, hidden, by_web]);

    // Earlier versions of cms did not record the author of a schedule.
    database(&test).execute("UPDATE object SET scheduled_by = -1", []).unwrap();
    let unknown = json!({ "kind": "system", "id": null, "name": "" });
    assert_eq!(authors(&user), [unknown.clone(), unknown.clone(), unknown]);
}

#[test]
fn changes_and_deliveries_have_their_author() {
    let test = TestCms::standalone();
    let hook = webhook("hook", &json!({}));
    test.cms.objects().create(&Caller::local(), "_webhooks", map(hook)).unwrap();
    let (web, user) = with_versions(&test);
    let reader = key(&test, "reader", KeyKind::ReadOnly).1;
    let changes = |caller: &Caller| {
        let request = ChangesRequest {
            since: Some("0".parse().unwrap()),
            content_types: Some(vec!["article".to_owned()]),
            limit: 100,
        };
        let page = test.cms.changes().after(caller, &request).unwrap();
        page.data.iter().map(|change| json!(change.by)).collect::<Vec<_>>()
    };
    let local = json!({ "kind": "local", "id": null, "name": "local" });
    let by_ada = json!({ "kind": "user", "id": ADA, "name": "Ada Moor" });
    let by_web = json!({ "kind": "key", "id": web, "name": "web" });
    assert_eq!(changes(&user), [&local, &local, &by_ada, &by_web].map(Value::clone));
    let hidden = json!({ "kind": "user", "id": null, "name": "" });
    assert_eq!(changes(&reader)[2], hidden);

    while test.cms.webhooks().create_deliveries().unwrap() {}
    let mut sent = Vec::new();
    while let Some(dispatch) = test.cms.webhooks().due(None, &[]).unwrap().first() {
        let outgoing = test.cms.webhooks().outgoing(dispatch).unwrap().unwrap();
        let body: Value = serde_json::from_str(&outgoing.body).unwrap();
        sent.push(body["by"].clone());
        let success = cms_core::WebhookOutcome::Response(200, Vec::new());
        test.cms.webhooks().record(outgoing, success, cms_core::Exchange::default()).unwrap();
    }
    assert_eq!(sent, [local, by_ada, by_web]);
}

#[test]
fn activity_is_filtered_by_object_author_and_action() {
    let test = TestCms::standalone();
    let (web, user) = with_versions(&test);
    let local = Caller::local();
    let new = map(json!({ "id": "b", "title": "B" }));
    test.cms.objects().create(&user, "article", new).unwrap();
    let found = |request: ActivityRequest| actions(&activity(&test, &local, &request));
    let text = |text: &str| Some(text.to_owned());
    let list = |texts: &[&str]| Some(texts.iter().map(|&text| text.to_owned()).collect());
    let of_a = ["update a", "update a", "create a"];
    for id in ["a", "A"] {
        assert_eq!(found(ActivityRequest { id: text(id), ..all() }), of_a);
    }
    assert_eq!(found(ActivityRequest { by: text(ADA), ..all() }), ["create b", "update a"]);
    assert_eq!(found(ActivityRequest { by: text(&web), ..all() }), ["update a"]);
    let both = ActivityRequest { id: text("a"), by: text(ADA), ..all() };
    assert_eq!(found(both), ["update a"]);
    let created = ActivityRequest { actions: list(&["create", "type.create"]), ..all() };
    let created = found(ActivityRequest { content_types: list(&["article"]), ..created });
    assert_eq!(created, ["create b", "create a", "type.create "]);
    assert_eq!(found(ActivityRequest { id: text(&web), ..all() }), [format!("key.create {web}")]);
    for nothing in [
        ActivityRequest { id: text("none"), ..all() },
        ActivityRequest { by: text("none"), ..all() },
        ActivityRequest { by: text("schedule"), ..all() },
        ActivityRequest { actions: list(&["none"]), ..all() },
        ActivityRequest { content_types: list(&["none", ""]), id: text("a"), ..all() },
    ] {
        assert_eq!(found(nothing.clone()), Vec::<String>::new(), "{nothing:?}");
    }
    // A hidden author is not found by the id.
    let reader = key(&test, "reader", KeyKind::ReadOnly).1;
    assert_eq!(activity(&test, &reader, &ActivityRequest { by: text(ADA), ..all() }), []);
}

#[test]
fn activity_of_management_is_shown_to_admins() {
    let test = TestCms::new();
    let (admin_id, admin) = key(&test, "admin", KeyKind::Admin);
    let (writer_id, writer) = key(&test, "writer", KeyKind::ReadWrite);
    test.cms.keys().rotate(&admin, &writer_id, 0).unwrap();
    test.cms.keys().update(&admin, &writer_id, &KeyUpdate::default()).unwrap();
    let rename = KeyUpdate { name: Some("other".to_owned()), ..KeyUpdate::default() };
    test.cms.keys().update(&admin, &writer_id, &rename).unwrap();
    let states = |states: &[&str]| map(json!({ "id": "short", "name": "Short", "states": states }));
    test.cms.workflows().create(&admin, states(&["new"])).unwrap();
    test.cms.workflows().replace(&admin, "short", states(&["new", "done"])).unwrap();
    test.cms.workflows().delete(&admin, "short").unwrap();
    test.cms.keys().revoke(&admin, &writer_id).unwrap();
    let management = |caller: &Caller| {
        let mut entries = activity(&test, caller, &all());
        entries.retain(|entry| !entry.action.starts_with("type."));
        entries
    };
    let shown = management(&admin);
    let entry = json!({
        "seq": shown[0].seq, "at": "2026-01-02T03:04:05.000000+0000", "action": "key.delete",
        "id": writer_id, "objectTitle": "other",
        "by": { "kind": "key", "id": admin_id, "name": "admin" },
    });
    assert_eq!(json!(shown[0]), entry);
    let on_key = |action: &str| format!("key.{action} {writer_id}");
    let expected = [
        on_key("delete"),
        "workflow.delete short".to_owned(),
        "workflow.update short".to_owned(),
        "workflow.create short".to_owned(),
        on_key("update"),
        on_key("rotate"),
        on_key("create"),
        format!("key.create {admin_id}"),
    ];
    assert_eq!(actions(&shown), expected);
    assert_eq!(management(&writer), []);

    // The change feed and the webhooks skip these rows.
    let request =
        ChangesRequest { since: Some("0".parse().unwrap()), content_types: None, limit: 1000 };
    let page = test.cms.changes().after(&admin, &request).unwrap();
    assert!(!page.more && page.data.iter().all(|change| change.action.starts_with("type.")));
    while test.cms.webhooks().create_deliveries().unwrap() {}
}

/// Rows that the caller may not read are scanned in pages of limited cost.
#[test]
fn activity_page_scans_a_limited_number_of_rows() {
    let test = with_type(article());
    database(&test)
        .execute_batch(
            "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 25000)
             INSERT INTO journal (nonce, at, kind, ctd, object, type_name, object_id, version,
                 audience, actor)
             SELECT n, n, iif(n = 1, 'object.create', 'object.update'), 1, 1, 'article', 'a', n, 0,
                 NULL FROM n;",
        )
        .unwrap();
    let mut request = ActivityRequest { actions: Some(vec!["create".to_owned()]), ..all() };
    request.limit = 10;
    let mut sizes = Vec::new();
    loop {
        let page = test.cms.activity().list(&preview(), &request).unwrap();
        sizes.push(page.data.len());
        assert_eq!(page.more, page.next.is_some());
        match page.next {
            Some(next) => request.before = Some(ActivityRequest::cursor(&next).unwrap()),
            None => break,
        }
    }
    assert_eq!(sizes, [0, 0, 1]);
}

fn preview() -> Caller {
    let preview = cms_core::Visibility { preview: true, public_only: false };
    Caller::local().with_visibility(preview)
}

#[test]
fn activity_is_kept_for_the_configured_number_of_days() {
    for days in [7, 30] {
        let test = TestCms::with(|config| config.activity_days = days);
        test.cms.types().create(&Caller::local(), article()).unwrap();
        // The last row stays, because the position of the index refers to it.
        key(&test, "web", KeyKind::ReadWrite);
        while test.cms.search().index_batch().unwrap() {}
        let of_type = ActivityRequest { content_types: Some(vec!["article".to_owned()]), ..all() };
        let created = || !activity(&test, &Caller::local(), &of_type).is_empty();
        test.run_for((days - 1) * 86_400);
        assert!(created(), "{days}");
        test.run_for(2 * 86_400);
        assert!(!created(), "{days}");
    }
}

/// Reads a list; returns the number of its rows.
type ReadList<'a> = Box<dyn Fn() -> usize + 'a>;

/// Returns the number of statements of each list with at least this number of rows, by three authors.
fn statements_of_lists(rows: usize) -> Vec<(&'static str, usize)> {
    let test = TestCms::standalone();
    test.cms
        .types()
        .create(&Caller::local(), article_with(json!({ "draftPublic": true })))
        .unwrap();
    let (cms, user) = (&test.cms, ada(&test));
    let web = ["a", "b"].map(|name| key(&test, name, KeyKind::ReadWrite).1);
    let authors = [&web[0], &user, &web[1]];
    let (objects, views, jobs) = (cms.objects(), cms.shared_views(), cms.bulk());
    objects.create(&user, "article", map(json!({ "id": "one", "title": "One" }))).unwrap();
    for row in 0..rows {
        let (author, other) = (authors[row % 3], authors[(row + 1) % 3]);
        let [live, gone] = ["live", "gone"].map(|kind| format!("{kind}{row}"));
        for id in [&live, &gone] {
            objects.create(author, "article", map(json!({ "id": id, "title": id }))).unwrap();
        }
        let rank = || map(json!({ "rank": row }));
        objects.patch(other, "article", &live, rank()).unwrap();
        objects.patch(author, "article", "one", rank()).unwrap();
        objects.delete(author, "article", &gone).unwrap();
        let at = map(json!({ "scheduledAt": "2026-02-03T10:00", "timeZone": "UTC" }));
        cms.publishing().schedule(author, "article", &live, at).unwrap();
        let new = NewSharedView { name: format!("{row}"), definition: "{}".to_owned() };
        views.create(author, "article", new).unwrap();
        let none = json!({ "rank": { "type": "equals", "filter": -1 } });
        let job = map(json!({ "action": "delete", "filters": none, "expect": 0 }));
        jobs.create(author, "article", &job).unwrap();
    }
    let (local, page) = (Caller::local(), PageRequest { number: 1, limit: 100 });
    let fields = ["id", "internal.createdBy", "internal.updatedBy"].map(str::to_owned).to_vec();
    let rows_of = |list: Value| list["data"].as_array().unwrap().len();
    let lists: [(&'static str, ReadList<'_>); 8] = [
        ("objects", {
            let request = ListRequest { page, fields, ..ListRequest::default() };
            let list = move || objects.list(&preview(), "article", &request).unwrap().to_value();
            Box::new(move || rows_of(list()))
        }),
        (
            "versions",
            Box::new(|| {
                let direction = Direction::Ascending;
                let list = cms.objects().versions(&local, "article", "one", page, direction);
                rows_of(list.unwrap().to_value())
            }),
        ),
        (
            "changes",
            Box::new(|| {
                let since = Some("0".parse().unwrap());
                let request = ChangesRequest { since, content_types: None, limit: 1000 };
                cms.changes().after(&preview(), &request).unwrap().data.len()
            }),
        ),
        ("activity", Box::new(|| activity(&test, &preview(), &all()).len())),
        (
            "trash",
            Box::new(|| {
                let request = TrashRequest { page, ..TrashRequest::default() };
                cms.trash().list(&local, &request).unwrap().data.len()
            }),
        ),
        (
            "schedules",
            Box::new(|| {
                let request = SchedulesRequest { page, ..SchedulesRequest::default() };
                cms.publishing().schedules(&local, &request).unwrap().data.len()
            }),
        ),
        ("jobs", Box::new(|| cms.bulk().list(&local, page).unwrap().data.len())),
        ("views", Box::new(|| views.list(&local, "article", page).unwrap().data.len())),
    ];
    let cost = |(name, read): (&'static str, ReadList<'_>)| {
        // The first call fills the caches.
        assert!(read() >= rows, "{name}");
        let before = statements();
        read();
        (name, statements() - before)
    };
    lists.map(cost).to_vec()
}

#[test]
fn authors_of_a_list_cost_no_statement_per_row() {
    assert_eq!(statements_of_lists(3), statements_of_lists(30));
}

#[test]
fn lists_cut_long_titles() {
    let (test, local) = (with_type(article()), Caller::local());
    let objects = test.cms.objects();
    let long = "ä".repeat(100_000);
    let new = map(json!({ "id": "a", "title": long, "related": [] }));
    objects.create(&local, "article", new).unwrap();
    objects.patch(&local, "article", "a", map(json!({ "rank": 1 }))).unwrap();
    let stored = objects.get(&local, "article", "a", 0).unwrap();
    let internal = |version: &Value| version["internal"]["objectTitle"].clone();
    let cut = json!("ä".repeat(1000));
    assert_eq!(internal(&stored.to_value()), json!(long));
    // A version is as it was.
    assert_eq!(
        versions(&test, &local).iter().map(internal).collect::<Value>(),
        json!([long, long])
    );
    objects.delete(&local, "article", "a").unwrap();
    let titles = activity(&test, &preview(), &all());
    let titles: Vec<_> = titles.iter().filter(|entry| entry.id.is_some()).collect();
    assert_eq!(titles.len(), 3);
    assert!(titles.iter().all(|entry| json!(entry.object_title) == cut));
    let deleted = test.cms.trash().list(&local, &TrashRequest::default()).unwrap();
    assert_eq!(json!(deleted.data[0].object_title), cut);
}

/// The size of the response was computed without these authors.
#[test]
fn hydrated_object_has_its_author() {
    let test = TestCms::standalone();
    test.cms.types().create(&Caller::local(), article()).unwrap();
    let (user, objects) = (ada(&test), test.cms.objects());
    objects.create(&user, "article", map(json!({ "id": "b", "title": "B" }))).unwrap();
    let related = json!([link("article", "b")]);
    objects
        .create(&user, "article", map(json!({ "id": "a", "title": "A", "related": related })))
        .unwrap();
    let request = ListRequest {
        page: PageRequest { number: 1, limit: 1 },
        fields: ["related.title", "related.internal.createdBy"].map(str::to_owned).to_vec(),
        hydrate: 1,
        ids: Some(vec!["a".to_owned()]),
        ..ListRequest::default()
    };
    let list = objects.list(&Caller::local(), "article", &request).unwrap().to_value();
    let author = json!({ "id": ADA, "name": "Ada Moor", "kind": "user" });
    let linked = json!({ "id": "b", "title": "B", "internal": { "createdBy": author } });
    assert_eq!(list["data"], json!([{ "id": "a", "related": [linked] }]));
}
