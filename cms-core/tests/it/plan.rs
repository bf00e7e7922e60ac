//! A plan predicts the apply and changes nothing.

use std::{
    sync::{Arc, mpsc},
    thread,
};

use cms_core::{
    Caller, Error, Progress,
    testing::TestCms,
    wire::plan::{ApplyRequest, DataLossConsent, PlanPhase, PlanProgress, PlanRequest},
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::{add_property, article_with, dump, map, remove_property};

/// A variant of a type to apply. `Invalid` is refused, and `Stricter` if an object has no rank.
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
    article_with(json!({ "name": name }))
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

/// The token of a plan names the state that its values come from, whatever others write meanwhile.
#[test]
fn plan_during_writes_equals_the_apply_or_is_stale() {
    const ROUNDS: usize = 60;
    let (test, local) = (with_types(), Caller::local());
    let (types, objects) = (test.cms.types(), test.cms.objects());
    let mut applied = 0;
    thread::scope(|scope| {
        let (start, writes) = mpsc::channel::<usize>();
        let (local, objects) = (&local, &objects);
        scope.spawn(move || {
            for number in writes {
                let id = format!("new-{number}");
                // Refused while `rank` is a boolean.
                let new = json!({ "id": id, "title": id, "rank": number });
                objects.create(local, "full", map(new)).ok();
            }
        });
        for round in 0..ROUNDS {
            let variant = if round % 4 < 2 { Variant::OtherType } else { Variant::AsItIs };
            let content_types = payload("full", variant).into_iter().collect();
            let wanted = PlanRequest { content_types, ..PlanRequest::default() };
            if round % 2 == 1 {
                start.send(round).unwrap();
            }
            let plan = types.plan(local, &wanted).unwrap();
            let token = Some(plan.token.clone());
            let allow_data_loss = Some(DataLossConsent::All(true));
            match types.apply(local, &ApplyRequest { wanted, token, allow_data_loss }) {
                Ok(done) => {
                    assert_eq!(done, plan);
                    applied += 1;
                }
                Err(Error::Conflict(_)) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
    });
    assert!(applied > 0);
}

#[test]
fn cancelled_plan_fails_and_a_cancelled_apply_continues() {
    let (test, local) = (with_types(), Caller::local());
    let types = test.cms.types();
    let content_types = payload("full", Variant::Narrower).into_iter().collect();
    let wanted = PlanRequest { content_types, ..PlanRequest::default() };
    let progress = Arc::<Progress>::default();
    progress.cancel();
    let plan = types.plan_with_progress(&local, &wanted, &progress);
    assert!(matches!(plan, Err(Error::Busy(_))), "{plan:?}");
    assert_eq!(progress.get().unwrap().done, 0);

    let plan = types.plan(&local, &wanted).unwrap();
    let consent = Some(DataLossConsent::All(true));
    let request = ApplyRequest { wanted, token: None, allow_data_loss: consent };
    let applied = types.apply_with_progress(&local, &request, Arc::clone(&progress)).unwrap();
    assert_eq!(applied, plan);
    let done = PlanProgress {
        content_type: "full".to_owned(),
        phase: PlanPhase::Objects,
        done: 2,
        total: 2,
    };
    assert_eq!(progress.get(), Some(done));
}
