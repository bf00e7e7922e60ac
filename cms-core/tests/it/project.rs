//! Workflows, types and keys of a project: one transaction.

use cms_core::{
    Caller, Error, FirstKeys,
    testing::TestCms,
    wire::{
        key::{KeyKind, KeyUpdate},
        plan::{ApplyRequest, PlanAction, PlanRequest, ProjectPlan},
    },
};
use serde_json::{Value, json};

use crate::support::{article_with, dump, map};

/// A workflow, a type that uses it, and a key for the type.
fn project() -> PlanRequest {
    let definition = article_with(json!({ "workflowId": "editorial" }));
    PlanRequest {
        workflows: vec![map(json!({
            "id": "editorial",
            "states": ["draft", "public"],
            "transitions": [{"froms": ["draft"], "tos": ["public"]}],
        }))],
        content_types: vec![definition],
        keys: vec![map(json!({
            "name": "web",
            "kind": "scoped",
            "rules": [{"ctd": "article", "read": true}],
        }))],
        prune: false,
    }
}

fn apply(test: &TestCms, request: PlanRequest) -> Result<ProjectPlan, Error> {
    let request = ApplyRequest { wanted: request, ..ApplyRequest::default() };
    test.cms.types().apply(&Caller::local(), &request)
}

fn actions(plan: &ProjectPlan) -> [PlanAction; 3] {
    [plan.workflows[0].action, plan.content_types[0].action, plan.keys[0].action]
}

#[test]
fn project_is_applied_atomically() {
    let (test, local) = (TestCms::new(), Caller::local());
    let before = dump(&test);
    let planned = test.cms.types().plan(&local, &project()).unwrap();
    assert_eq!(actions(&planned), [PlanAction::Create; 3]);
    assert_eq!(planned.keys[0].key, None);
    assert_eq!(dump(&test), before);

    let applied = apply(&test, project()).unwrap();
    assert_eq!(actions(&applied), [PlanAction::Create; 3]);
    let key = applied.keys[0].key.clone().unwrap();
    let web = test.cms.caller_of_key(&key).unwrap();
    assert_eq!(web.actor().name, "web");
    let created = test.cms.objects().create(&local, "article", map(json!({"title": "a"}))).unwrap();
    assert_eq!(created.to_value()["internal"]["workflowState"], "draft");

    let again = apply(&test, project()).unwrap();
    assert_eq!(actions(&again), [PlanAction::None; 3]);
    assert!(!again.has_changes());

    let mut request = project();
    request.workflows[0]["states"] = json!(["draft", "review", "public"]);
    request.keys[0]["rules"][0]["update"] = json!(true);
    let changed = apply(&test, request).unwrap();
    assert_eq!(actions(&changed), [PlanAction::Update, PlanAction::None, PlanAction::Update]);
    assert_eq!(changed.keys[0].key, None);
    let web = test.cms.caller_of_key(&key).unwrap();
    assert!(web.actor().rules[0].update);
}

#[test]
fn error_in_one_part_refuses_the_project() {
    type Break = fn(&mut PlanRequest);
    let not_valid = json!(["This value is not valid."]);
    let table: [(Break, Value); 6] = [
        (
            |request| request.workflows[0]["states"] = json!(["draft", "a b"]),
            json!({"workflows.editorial": {
                "states[1]": not_valid,
                "transitions[0].tos": not_valid,
            }, "article": {"workflowId": ["This value does not exist in database"]}}),
        ),
        (
            |request| request.workflows[0]["id"] = json!("publishing"),
            json!({"workflows.publishing": {"id": ["This value is already used"]},
                "article": {"workflowId": ["This value does not exist in database"]}}),
        ),
        (
            |request| request.content_types[0]["label"] = json!(""),
            json!({"article": {"label": ["Must be at least 1 characters long"]}}),
        ),
        (
            |request| request.keys[0]["rules"] = json!([]),
            json!({"keys.web": {"rules": ["There must be a minimum of 1 items in the array"]}}),
        ),
        (
            |request| request.keys.push(request.keys[0].clone()),
            json!({"keys.web": {"name": ["This value is already used"]}}),
        ),
        (
            |request| {
                request.keys[0]["name"] = json!("first");
                request.keys[0]["kind"] = json!("read_only");
                request.keys[0]["rules"] = json!([]);
            },
            json!({"keys.first": {"kind": ["This key exists with another kind"]}}),
        ),
    ];
    for (break_project, expected) in table {
        let test = TestCms::new();
        let mut first = project();
        first.keys[0]["name"] = json!("first");
        first.content_types.clear();
        first.workflows.clear();
        apply(&test, first).unwrap();
        let before = dump(&test);
        let mut request = project();
        break_project(&mut request);
        let planned = test.cms.types().plan(&Caller::local(), &request).unwrap();
        assert!(planned.summary.blockers > 0, "{expected}");
        let Err(Error::Blocked(blocked)) = apply(&test, request) else { panic!("{expected}") };
        let blocked: serde_json::Map<_, _> =
            blocked.into_iter().map(|(name, errors)| (name, json!(errors))).collect();
        assert_eq!(Value::Object(blocked), expected);
        assert_eq!(dump(&test), before, "{expected}");
    }
}

#[test]
fn workflow_keeps_states_in_use() {
    let (test, local) = (TestCms::new(), Caller::local());
    apply(&test, project()).unwrap();
    test.cms.objects().create(&local, "article", map(json!({"title": "a"}))).unwrap();
    let mut request = project();
    request.workflows[0]["states"] = json!(["public"]);
    request.workflows[0]["transitions"] = json!([]);
    let Err(Error::Blocked(blocked)) = apply(&test, request.clone()) else { panic!("not blocked") };
    assert_eq!(blocked[0].0, "workflows.editorial");
    assert_eq!(blocked[0].1.at("states"), ["State \"draft\" is used by objects of type: article"]);
    // The same project may move the type to another workflow.
    request.content_types[0]["workflowId"] = json!("generic");
    apply(&test, request).unwrap();
}

#[test]
fn keys_of_a_project_need_an_admin_key() {
    let test = TestCms::new();
    let first = test.cms.keys().ensure_first(&FirstKeys::default()).unwrap();
    for key in first {
        let caller = test.cms.caller_of_key(&key.key).unwrap();
        let is_admin = key.item.name == "admin";
        assert_eq!(test.cms.types().plan(&caller, &project()).is_ok(), is_admin);
        let mut request = project();
        request.keys.clear();
        let may_administer = key.item.name != "read-only";
        assert_eq!(test.cms.types().plan(&caller, &request).is_ok(), may_administer);
    }
}

/// A first key is found by its token, also after it was renamed.
#[test]
fn first_keys_are_renamed() {
    let (test, local) = (TestCms::new(), Caller::local());
    let keys = test.cms.keys();
    let first = |admin: &str, read_only: &str| FirstKeys {
        admin: Some(admin.to_owned()),
        read_only: Some(read_only.to_owned()),
        ..FirstKeys::default()
    };
    keys.ensure_first(&first("admin token", "token")).unwrap();
    let listed = || -> Vec<(String, String)> {
        let list = keys.list(&local).unwrap().data;
        list.into_iter().map(|key| (key.id, key.name)).collect()
    };
    let rename = |index: usize, name: &str| {
        let update = KeyUpdate { name: Some(name.to_owned()), ..KeyUpdate::default() };
        keys.update(&local, &listed()[index].0, &update).unwrap();
    };
    let before = listed();
    let (admin, read_only) = (0, 2);
    assert_eq!([&*before[admin].1, &*before[read_only].1], ["admin", "read-only"]);
    rename(admin, "boss");
    keys.ensure_first(&first("admin token", "token")).unwrap();
    // In the grace period of a rotation, the token is the previous one of its key.
    keys.rotate(&local, &before[admin].0, 24).unwrap();
    keys.ensure_first(&first("admin token", "token")).unwrap();
    assert_eq!(listed().len(), before.len());
    assert_eq!(test.cms.caller_of_key("admin token").unwrap().actor().name, "boss");

    // Another key may have the name: then a new first key is refused.
    rename(read_only, "readers");
    test.create_key("read-only", KeyKind::Scoped, &[("_tag", "r")]);
    keys.ensure_first(&first("admin token", "token")).unwrap();
    let refused = keys.ensure_first(&first("admin token", "another token"));
    let expected = "the first key \"read-only\" cannot be created, because another key has this name: \
                    rename that key";
    assert!(
        matches!(&refused, Err(Error::Conflict(message)) if message == expected),
        "{refused:?}"
    );
}

/// In earlier versions the token ignored keys and users: an apply could delete a type that the plan kept.
#[test]
fn plan_becomes_stale_when_rules_on_its_types_change() {
    let (test, local) = (TestCms::new(), Caller::local());
    apply(&test, project()).unwrap();
    let rules = json!([{ "ctd": "article", "read": true }]);
    let user =
        json!({ "email": "ben@example.com", "name": "Ben", "role": "custom", "rules": rules });
    let user = test.cms.users().create(&local, &map(user), "http://localhost").unwrap().user;
    let key = test.cms.keys().list(&local).unwrap().data.remove(0);
    let assert_stale_after = |blockers: usize, change: &dyn Fn()| {
        let request = PlanRequest { prune: true, ..PlanRequest::default() };
        let planned = test.cms.types().plan(&local, &request).unwrap();
        let reasons = planned.content_types.iter().flat_map(|planned| planned.blockers.iter());
        assert_eq!(reasons.map(|(_, messages)| messages.len()).sum::<usize>(), blockers);
        change();
        let token = Some(planned.token);
        let request = ApplyRequest { wanted: request, token, ..ApplyRequest::default() };
        let stale = test.cms.types().apply(&local, &request);
        assert!(matches!(stale, Err(Error::Conflict(message)) if message == "The plan is stale"));
    };
    assert_stale_after(2, &|| test.cms.keys().revoke(&local, &key.id).map(drop).unwrap());
    let editor = map(json!({ "role": "editor", "rules": [] }));
    assert_stale_after(1, &|| {
        test.cms.users().update(&local, &user.id, &editor).map(drop).unwrap();
    });
}

#[test]
fn workflow_change_is_visible_to_readers() {
    let (test, local) = (TestCms::new(), Caller::local());
    apply(&test, project()).unwrap();
    let mut request = project();
    request.content_types[0]["workflowId"] = json!("publishing");
    let planned = test.cms.types().plan(&local, &request).unwrap();
    assert!(planned.content_types[0].breaking);
}

#[test]
fn duplicate_name_keeps_all_its_errors() {
    let mut request = project();
    request.content_types[0]["label"] = json!("");
    request.content_types.push(request.content_types[0].clone());
    let Err(error) = apply(&TestCms::new(), request) else { panic!("not blocked") };
    let expected = json!({"article": {
        "label": ["Must be at least 1 characters long"],
        "name": ["This value is already used"],
    }});
    assert_eq!(cms_core::wire::error::body(&error), expected);
}
