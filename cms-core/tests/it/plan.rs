//! A plan is what an apply would do, and nothing of it stays.

use cms_core::{
    Caller, Error,
    testing::TestCms,
    wire::plan::{ApplyRequest, DataLossConsent, PlanRequest},
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::{add_property, article, dump, map, remove_property};

/// What may be wanted of a type; the last two cannot be had.
#[derive(Clone, Copy, Debug)]
enum Wish {
    Absent,
    AsItIs,
    Wider,
    Narrower,
    Relabelled,
    Stricter,
    OtherType,
    Invalid,
}

fn wish() -> impl Strategy<Value = Wish> {
    use Wish::{Absent, AsItIs, Invalid, Narrower, OtherType, Relabelled, Stricter, Wider};
    prop::sample::select(vec![
        Absent, AsItIs, AsItIs, Wider, Wider, Narrower, Relabelled, Stricter, OtherType, Invalid,
    ])
}

fn payload(name: &str, wish: Wish) -> Option<Map<String, Value>> {
    let mut payload = named(name);
    match wish {
        Wish::Absent => return None,
        Wish::AsItIs => {}
        Wish::Wider => add_property(&mut payload, "color", json!({ "type": "string" }), "text"),
        Wish::Narrower => remove_property(&mut payload, "rank"),
        Wish::Relabelled => payload["label"] = json!("Renamed"),
        Wish::Stricter => payload["schemaDefinition"]["required"] = json!(["title", "rank"]),
        Wish::OtherType => {
            remove_property(&mut payload, "rank");
            add_property(&mut payload, "rank", json!({ "type": "boolean" }), "checkbox");
        }
        Wish::Invalid => payload["label"] = json!(""),
    }
    Some(payload)
}

fn named(name: &str) -> Map<String, Value> {
    let mut payload = article();
    payload["name"] = json!(name);
    payload
}

/// The types `full`, with objects, and `empty`; `fresh` does not exist.
fn folder() -> TestCms {
    let (test, local) = (TestCms::new(), Caller::local());
    for name in ["full", "empty"] {
        test.cms.types().create(&local, named(name)).unwrap();
    }
    for object in
        [json!({ "id": "a", "title": "A", "rank": 1 }), json!({ "id": "b", "title": "B" })]
    {
        test.cms.objects().create(&local, "full", map(object)).unwrap();
    }
    test
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_leaves_nothing_and_tells_what_an_apply_does(
        full in wish(), empty in wish(), fresh in wish(), prune: bool,
    ) {
        let (test, local) = (folder(), Caller::local());
        let types = test.cms.types();
        let wishes = [("full", full), ("empty", empty), ("fresh", fresh)];
        let content_types = wishes.into_iter().filter_map(|(name, wish)| payload(name, wish));
        let wanted = PlanRequest {
            content_types: content_types.collect(),
            prune,
            ..PlanRequest::default()
        };
        let before = dump(&test);
        let plan = types.plan(&local, &wanted).unwrap();
        prop_assert_eq!(&dump(&test), &before);
        prop_assert_eq!(&types.plan(&local, &wanted).unwrap(), &plan);

        let token = Some(plan.token.clone());
        let careful = ApplyRequest { wanted: wanted.clone(), token: token.clone(), allow_data_loss: None };
        let agreed = ApplyRequest { allow_data_loss: Some(DataLossConsent::All(true)), ..careful.clone() };
        let is_blocked = plan.summary.blockers > 0;
        if is_blocked || plan.summary.values_lost > 0 {
            match types.apply(&local, &careful) {
                Err(Error::Blocked(_)) => prop_assert!(is_blocked),
                Err(Error::DataLoss(lost)) => {
                    prop_assert!(!is_blocked);
                    prop_assert_eq!(lost, ["full.rank"]);
                }
                other => prop_assert!(false, "{:?}", other),
            }
            prop_assert_eq!(&dump(&test), &before);
        }
        if is_blocked {
            return Ok(());
        }
        prop_assert_eq!(&types.apply(&local, &agreed).unwrap(), &plan);
        prop_assert_eq!(dump(&test) != before, plan.has_changes());
        // What was applied is as it should be, and the plan of the time before is stale.
        let again = types.plan(&local, &wanted).unwrap();
        prop_assert!(!again.has_changes(), "{again:?}");
        if plan.has_changes() {
            prop_assert!(matches!(types.apply(&local, &agreed), Err(Error::Conflict(_))));
        }
    }
}
