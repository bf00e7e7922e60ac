//! A plan predicts the apply and changes nothing.

use cms_core::{
    Caller, Error,
    testing::TestCms,
    wire::plan::{ApplyRequest, DataLossConsent, PlanRequest},
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::{add_property, article, dump, map, remove_property};

/// A variant of a type to apply; the last two are refused.
#[derive(Clone, Copy, Debug)]
enum Variant {
    Absent,
    AsItIs,
    Wider,
    Narrower,
    Relabelled,
    Stricter,
    OtherType,
    Invalid,
}

fn variant() -> impl Strategy<Value = Variant> {
    use Variant::{Absent, AsItIs, Invalid, Narrower, OtherType, Relabelled, Stricter, Wider};
    prop::sample::select(vec![
        Absent, AsItIs, AsItIs, Wider, Wider, Narrower, Relabelled, Stricter, OtherType, Invalid,
    ])
}

fn payload(name: &str, variant: Variant) -> Option<Map<String, Value>> {
    let mut payload = named(name);
    match variant {
        Variant::Absent => return None,
        Variant::AsItIs => {}
        Variant::Wider => add_property(&mut payload, "color", json!({ "type": "string" }), "text"),
        Variant::Narrower => remove_property(&mut payload, "rank"),
        Variant::Relabelled => payload["label"] = json!("Renamed"),
        Variant::Stricter => payload["schemaDefinition"]["required"] = json!(["title", "rank"]),
        Variant::OtherType => {
            remove_property(&mut payload, "rank");
            add_property(&mut payload, "rank", json!({ "type": "boolean" }), "checkbox");
        }
        Variant::Invalid => payload["label"] = json!(""),
    }
    Some(payload)
}

fn named(name: &str) -> Map<String, Value> {
    let mut payload = article();
    payload["name"] = json!(name);
    payload
}

/// The types `full`, with objects, and `empty`; `fresh` does not exist.
fn with_types() -> TestCms {
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
    fn plan_changes_nothing_and_predicts_the_apply(
        full in variant(), empty in variant(), fresh in variant(), prune: bool,
    ) {
        let (test, local) = (with_types(), Caller::local());
        let types = test.cms.types();
        let wishes = [("full", full), ("empty", empty), ("fresh", fresh)];
        let content_types = wishes.into_iter().filter_map(|(name, variant)| payload(name, variant));
        let request = PlanRequest {
            content_types: content_types.collect(),
            prune,
            ..PlanRequest::default()
        };
        let before = dump(&test);
        let plan = types.plan(&local, &request).unwrap();
        prop_assert_eq!(&dump(&test), &before);
        prop_assert_eq!(&types.plan(&local, &request).unwrap(), &plan);

        let token = Some(plan.token.clone());
        let careful = ApplyRequest { wanted: request.clone(), token: token.clone(), allow_data_loss: None };
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
        // A second plan has no changes, and the earlier plan is stale.
        let again = types.plan(&local, &request).unwrap();
        prop_assert!(!again.has_changes(), "{again:?}");
        if plan.has_changes() {
            prop_assert!(matches!(types.apply(&local, &agreed), Err(Error::Conflict(_))));
        }
    }
}
