//! Workflows, types and keys of a project: one transaction.

use cms_core::{
    Caller, Error,
    testing::TestCms,
    wire::plan::{ApplyRequest, PlanAction, PlanRequest, ProjectPlan},
};
use serde_json::{Value, json};

use crate::support::{article, dump, map};

/// A workflow, a type that uses it, and a key for the type.
fn project() -> PlanRequest {
    let mut definition = article();
    definition.insert("workflowId".to_owned(), json!("editorial"));
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

fn apply(test: &TestCms, wanted: PlanRequest) -> Result<ProjectPlan, Error> {
    let request = ApplyRequest { wanted, ..ApplyRequest::default() };
    test.cms.types().apply(&Caller::local(), &request)
}

fn actions(plan: &ProjectPlan) -> [PlanAction; 3] {
    [plan.workflows[0].action, plan.content_types[0].action, plan.keys[0].action]
}

#[test]
fn a_project_is_applied_as_a_whole() {
    let (test, local) = (TestCms::new(), Caller::local());
    let before = dump(&test);
    let planned = test.cms.types().plan(&local, &project()).unwrap();
    assert_eq!(actions(&planned), [PlanAction::Create; 3]);
    assert_eq!(planned.keys[0].key, None);
    assert_eq!(dump(&test), before);

    let applied = apply(&test, project()).unwrap();
    assert_eq!(actions(&applied), [PlanAction::Create; 3]);
    let key = applied.keys[0].key.clone().unwrap();
    let web = test.cms.keys().authenticate(&key).unwrap();
    assert_eq!(web.actor().name, "web");
    let created = test.cms.objects().create(&local, "article", map(json!({"title": "a"}))).unwrap();
    assert_eq!(created.to_value()["internal"]["workflowState"], "draft");

    let again = apply(&test, project()).unwrap();
    assert_eq!(actions(&again), [PlanAction::None; 3]);
    assert!(!again.has_changes());

    let mut wanted = project();
    wanted.workflows[0]["states"] = json!(["draft", "review", "public"]);
    wanted.keys[0]["rules"][0]["update"] = json!(true);
    let changed = apply(&test, wanted).unwrap();
    assert_eq!(actions(&changed), [PlanAction::Update, PlanAction::None, PlanAction::Update]);
    assert_eq!(changed.keys[0].key, None);
    let web = test.cms.keys().authenticate(&key).unwrap();
    assert!(web.actor().rules[0].update);
}

#[test]
fn one_fault_keeps_everything_from_being_applied() {
    type Spoil = fn(&mut PlanRequest);
    let not_valid = json!(["This value is not valid."]);
    let table: [(Spoil, Value); 6] = [
        (
            |wanted| wanted.workflows[0]["states"] = json!(["draft", "a b"]),
            json!({"workflows.editorial": {
                "states[1]": not_valid,
                "transitions[0].tos": not_valid,
            }, "article": {"workflowId": ["This value does not exist in database"]}}),
        ),
        (
            |wanted| wanted.workflows[0]["id"] = json!("publishing"),
            json!({"workflows.publishing": {"id": ["This value is already used"]},
                "article": {"workflowId": ["This value does not exist in database"]}}),
        ),
        (
            |wanted| wanted.content_types[0]["label"] = json!(""),
            json!({"article": {"label": ["Must be at least 1 characters long"]}}),
        ),
        (
            |wanted| wanted.keys[0]["rules"] = json!([]),
            json!({"keys.web": {"rules": ["There must be a minimum of 1 items in the array"]}}),
        ),
        (
            |wanted| wanted.keys.push(wanted.keys[0].clone()),
            json!({"keys.web": {"name": ["This value is already used"]}}),
        ),
        (
            |wanted| {
                wanted.keys[0]["name"] = json!("first");
                wanted.keys[0]["kind"] = json!("read_only");
                wanted.keys[0]["rules"] = json!([]);
            },
            json!({"keys.first": {"kind": ["This key exists with another kind"]}}),
        ),
    ];
    for (spoil, expected) in table {
        let test = TestCms::new();
        let mut first = project();
        first.keys[0]["name"] = json!("first");
        first.content_types.clear();
        first.workflows.clear();
        apply(&test, first).unwrap();
        let before = dump(&test);
        let mut wanted = project();
        spoil(&mut wanted);
        let planned = test.cms.types().plan(&Caller::local(), &wanted).unwrap();
        assert!(planned.summary.blockers > 0, "{expected}");
        let Err(Error::Blocked(blocked)) = apply(&test, wanted) else { panic!("{expected}") };
        let blocked: serde_json::Map<_, _> =
            blocked.into_iter().map(|(name, errors)| (name, json!(errors))).collect();
        assert_eq!(Value::Object(blocked), expected);
        assert_eq!(dump(&test), before, "{expected}");
    }
}

#[test]
fn a_workflow_keeps_the_states_that_objects_are_in() {
    let (test, local) = (TestCms::new(), Caller::local());
    apply(&test, project()).unwrap();
    test.cms.objects().create(&local, "article", map(json!({"title": "a"}))).unwrap();
    let mut wanted = project();
    wanted.workflows[0]["states"] = json!(["public"]);
    wanted.workflows[0]["transitions"] = json!([]);
    let Err(Error::Blocked(blocked)) = apply(&test, wanted.clone()) else { panic!("not blocked") };
    assert_eq!(blocked[0].0, "workflows.editorial");
    assert_eq!(blocked[0].1.at("states"), ["State \"draft\" is used by objects of type: article"]);
    // The same project may take the type out of the workflow first.
    wanted.content_types[0]["workflowId"] = json!("generic");
    apply(&test, wanted).unwrap();
}

#[test]
fn keys_take_an_admin_key() {
    let test = TestCms::new();
    let first = test.cms.keys().ensure_first(&cms_core::FirstKeys::default()).unwrap();
    for key in first {
        let caller = test.cms.keys().authenticate(&key.key).unwrap();
        let is_admin = key.item.name == "admin";
        assert_eq!(test.cms.types().plan(&caller, &project()).is_ok(), is_admin);
        let mut wanted = project();
        wanted.keys.clear();
        let may_administer = key.item.name != "read-only";
        assert_eq!(test.cms.types().plan(&caller, &wanted).is_ok(), may_administer);
    }
}

/// A plan without the key went stale with nobody noticing, and a type was deleted that the plan
/// had shown as kept.
#[test]
fn a_plan_goes_stale_with_the_keys_that_name_types() {
    let (test, local) = (TestCms::new(), Caller::local());
    apply(&test, project()).unwrap();
    let wanted = PlanRequest { prune: true, ..PlanRequest::default() };
    let planned = test.cms.types().plan(&local, &wanted).unwrap();
    assert_eq!(planned.summary.blockers, 1);
    let key = test.cms.keys().list(&local).unwrap().data.remove(0);
    test.cms.keys().revoke(&local, &key.id).unwrap();
    let request = ApplyRequest { wanted, token: Some(planned.token), ..ApplyRequest::default() };
    let stale = test.cms.types().apply(&local, &request);
    assert!(matches!(stale, Err(Error::Conflict(message)) if message == "The plan is stale"));
}

#[test]
fn a_change_of_workflow_is_one_that_readers_notice() {
    let (test, local) = (TestCms::new(), Caller::local());
    apply(&test, project()).unwrap();
    let mut wanted = project();
    wanted.content_types[0]["workflowId"] = json!("publishing");
    let planned = test.cms.types().plan(&local, &wanted).unwrap();
    assert!(planned.content_types[0].breaking);
}

#[test]
fn a_name_that_was_sent_twice_keeps_all_its_faults() {
    let mut wanted = project();
    wanted.content_types[0]["label"] = json!("");
    wanted.content_types.push(wanted.content_types[0].clone());
    let Err(error) = apply(&TestCms::new(), wanted) else { panic!("not blocked") };
    let expected = json!({"article": {
        "label": ["Must be at least 1 characters long"],
        "name": ["This value is already used"],
    }});
    assert_eq!(cms_core::wire::error::body(&error), expected);
}
