//! Tests of the query plans of lists: the right index makes the difference between microseconds and
//! seconds on a large type.

use std::sync::Arc;

use cms_model::{
    clock::Timestamp,
    content_type::{
        builtin,
        catalog::{Catalog, CompiledType, StoredContentType},
        indexed::indexed,
        model::{Definition, Property},
    },
    context::{ActorKind, Caller},
    object::{model::Edition, view::View},
    query::{
        ListQuery, filter,
        linked::{self, LinkScope},
    },
    wire::key::{KeyKind, Rule},
    workflow::model::WorkflowSet,
};
use serde_json::{Value, json};

use super::support::{CTD, Stored, database, insert, listed, plan, properties};
use crate::list_sql::{ListCounts, count, page, unique_lookup};

const FEW: ListCounts = ListCounts { matching: 10, total: 100_000 };
const MANY: ListCounts = ListCounts { matching: 50_000, total: 100_000 };

fn condition(operator: &str, value: impl Into<Value>) -> Value {
    json!({"type": operator, "filter": value.into(), "filter2": "2020-02-01"})
}

/// The query plan of the statement for the page; without `counts`, that of the statement that counts.
/// Both editions have the same plan.
fn plan_of(filters: &Value, order: (&str, bool), counts: Option<ListCounts>) -> String {
    let properties = properties();
    let query = ListQuery {
        conditions: filter::parse(&filters.to_string(), &properties).unwrap(),
        order: ListQuery::order(Some(order.0), &properties),
        descending: order.1,
        ..ListQuery::default()
    };
    plan_of_query(&query, &properties, counts)
}

fn plan_of_query(query: &ListQuery, properties: &[Property], counts: Option<ListCounts>) -> String {
    let connection = database(properties);
    insert(&connection, properties, &Stored::default());
    let [current, published] = Edition::ALL.map(|edition| {
        let query = ListQuery { edition, ..query.clone() };
        let statement = match counts {
            Some(counts) => page(&query, listed(properties), counts, "data").statement,
            None => count(&query, listed(properties)),
        };
        plan(&connection, &statement)
    });
    let renamed = published.replace("published", "object");
    assert_eq!(renamed, current);
    current
}

#[test]
fn page_uses_one_index() {
    const CREATED: (&str, bool) = ("internal.createdAt", false);
    let title = |operator: &str, value: &str| json!({"Title": condition(operator, value)});
    let table = [
        // No conditions.
        (json!({}), CREATED, "object_created (ctd=?)"),
        (json!({}), ("internal.createdAt", true), "object_newest (ctd=?)"),
        (json!({}), ("internal.updatedAt", false), "object_updated (ctd=?)"),
        (json!({}), ("internal.updatedAt", true), "object_updated_desc (ctd=?)"),
        (json!({}), ("id", false), "object_id (ctd=?)"),
        (json!({}), ("id", true), "object_id (ctd=?)"),
        (json!({}), ("unknown", true), "object_created (ctd=?)"),
        (json!({}), ("Title", false), "object_slot_0 (ctd=?)"),
        (json!({}), ("Title", true), "object_slot_0 (ctd=?)"),
        (json!({}), ("views", false), "object_slot_2 (ctd=?)"),
        (json!({}), ("live", true), "object_slot_3 (ctd=?)"),
        // A condition whose index also has the order.
        (title("equals", "Aa"), ("internal.createdAt", true), "object_slot_0 (ctd=? AND <expr>=?)"),
        (title("equals", "Aa"), CREATED, "object_slot_0 (ctd=? AND <expr>=?)"),
        (title("equals", "Aa"), ("Title", false), "object_slot_0 (ctd=? AND <expr>=?)"),
        (title("empty", ""), CREATED, "object_slot_0 (ctd=? AND <expr>=?)"),
        (
            title("startsWith", "Aa"),
            ("Title", false),
            "object_slot_0 (ctd=? AND <expr>>? AND <expr><?)",
        ),
        (
            title("startsWith", "Aa"),
            ("Title", true),
            "object_slot_0 (ctd=? AND <expr>>? AND <expr><?)",
        ),
        (title("contains", "Aa"), ("Title", false), "object_slot_0 (ctd=?)"),
        (json!({"views": condition("equals", "3")}), CREATED, "object_slot_2 (ctd=? AND <expr>=?)"),
        (json!({"live": condition("equals", true)}), CREATED, "object_slot_3 (ctd=? AND <expr>=?)"),
        (
            json!({"views": condition("greaterThan", 3)}),
            ("views", true),
            "object_slot_2 (ctd=? AND <expr>>?)",
        ),
        (
            json!({"at": condition("inRange", "2020-01-01")}),
            ("at", false),
            "object_slot_4 (ctd=? AND <expr>>? AND <expr><?)",
        ),
        (
            json!({"internal.createdAt": condition("greaterThan", "2020-01-01")}),
            CREATED,
            "object_created (ctd=? AND created_at>?)",
        ),
        (
            json!({"internal.updatedAt": condition("inRange", "2020-01-01")}),
            ("internal.updatedAt", false),
            "object_updated (ctd=? AND updated_at>? AND updated_at<?)",
        ),
    ];
    for (filters, order, index) in table {
        for counts in [FEW, MANY] {
            let plan = plan_of(&filters, order, Some(counts));
            let expected = format!("SEARCH object USING COVERING INDEX {index}");
            assert!(plan.contains(&expected), "{filters} {order:?}\n{plan}");
            // Objects with one value, newest first: those with the same second are sorted.
            let sorted = order == ("internal.createdAt", true) && index.starts_with("object_slot");
            assert_eq!(plan.contains("TEMP B-TREE"), sorted, "{filters} {order:?}\n{plan}");
            assert!(!sorted || plan.contains("FOR LAST TERM"), "{filters} {order:?}\n{plan}");
        }
    }
}

/// Nothing is sorted, in either direction.
#[test]
fn page_is_read_in_index_order_in_both_directions() {
    let properties = properties();
    let slots = indexed(&properties).enumerate();
    let table = slots
        .map(|(slot, property)| (property.name.clone(), [(); 2].map(|()| format!("slot_{slot}"))))
        .chain([("internal.updatedAt".to_owned(), ["updated", "updated_desc"].map(str::to_owned))]);
    for (order, indexes) in table {
        for (descending, index) in [false, true].into_iter().zip(indexes) {
            for empty_first in [false, true] {
                let query = ListQuery {
                    order: ListQuery::order(Some(&order), &properties),
                    descending,
                    empty_first,
                    ..ListQuery::default()
                };
                let plan = plan_of_query(&query, &properties, Some(MANY));
                let expected = format!("SEARCH object USING COVERING INDEX object_{index} ");
                assert!(plan.contains(&expected), "{query:?}\n{plan}");
                assert!(!plan.contains("TEMP B-TREE"), "{query:?}\n{plan}");
            }
        }
    }
}

/// Every lookup of a group reads one range of the index: it does not read the groups before it again,
/// and does not search behind the last one.
#[test]
fn descending_page_looks_up_groups_in_the_ascending_index() {
    let in_range = json!({"type": "inRange", "filter": 3, "filter2": 5});
    let table = [
        (
            json!({}),
            "COVERING INDEX object_slot_2",
            vec!["", " AND <expr><?", " AND <expr>=? AND created_at>?", " AND <expr>=?"],
        ),
        (
            json!({"body": condition("contains", "a")}),
            "INDEX object_slot_2",
            vec!["", " AND <expr><?", " AND <expr>=? AND created_at>?", " AND <expr>=?"],
        ),
        (
            json!({ "views": in_range }),
            "COVERING INDEX object_slot_2",
            vec![
                " AND <expr>>? AND <expr><?",
                " AND <expr>>? AND <expr><?",
                // The lowest value of the range.
                " AND <expr>>? AND <expr><?",
                " AND <expr>=? AND created_at>?",
                " AND <expr>=?",
            ],
        ),
    ];
    for (filters, index, ranges) in table {
        let plan = plan_of(&filters, ("views", true), Some(MANY));
        let reads: Vec<&str> = plan.lines().filter(|line| line.contains(" object ")).collect();
        let mut expected: Vec<String> = ranges
            .iter()
            .map(|range| format!("SEARCH object USING {index} (ctd=?{range})"))
            .collect();
        expected.push("SEARCH object USING INTEGER PRIMARY KEY (rowid=?)".to_owned());
        assert_eq!(reads, expected, "{filters}\n{plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{filters}\n{plan}");
    }
}

#[test]
fn access_path_depends_on_the_number_of_matches() {
    let table = [
        (
            json!({"Title": condition("equals", "Aa")}),
            "views",
            "object_slot_0 (ctd=? AND <expr>=?)",
            "object_slot_2 (ctd=?)",
        ),
        (
            json!({"Title": condition("equals", json!(["Aa", "b"]))}),
            "id",
            "object_slot_0 (ctd=? AND <expr>=?)",
            "object_id (ctd=?)",
        ),
        (
            json!({"views": condition("greaterThan", 3)}),
            "Title",
            "object_slot_2 (ctd=? AND <expr>>?)",
            "object_slot_0 (ctd=?)",
        ),
        (
            json!({"at": condition("greaterThan", "2020-01-01")}),
            "unknown",
            "object_slot_4 (ctd=? AND <expr>>?)",
            "object_created (ctd=?)",
        ),
        (
            json!({"slug": condition("startsWith", "a")}),
            "unknown",
            "object_slot_1 (ctd=? AND <expr>>? AND <expr><?)",
            "object_created (ctd=?)",
        ),
        (
            json!({"slug": condition("contains", "a")}),
            "unknown",
            "object_slot_1 (ctd=?)",
            "object_created (ctd=?)",
        ),
        (
            json!({"id": condition("equals", "a")}),
            "Title",
            "object_id (ctd=? AND id=?)",
            "object_slot_0 (ctd=?)",
        ),
        (
            json!({"tags": condition("includes", "a")}),
            "Title",
            "object_slot_0 (ctd=?)",
            "object_slot_0 (ctd=?)",
        ),
    ];
    for (filters, order, by_condition, by_order) in table {
        for (counts, index) in [(ListCounts { matching: 3, ..FEW }, by_condition), (MANY, by_order)]
        {
            let plan = plan_of(&filters, (order, false), Some(counts));
            assert!(
                plan.contains(&format!("INDEX {index}")),
                "{filters} {order} {counts:?}\n{plan}"
            );
            let sorts = plan.contains("TEMP B-TREE");
            assert_eq!(sorts, index != by_order, "{filters} {order} {counts:?}\n{plan}");
        }
    }
}

#[test]
fn counts_use_covering_indexes() {
    let table = [
        (json!({}), ""),
        (json!({"Title": condition("equals", "Aa")}), "object_slot_0 (ctd=? AND <expr>=?)"),
        (
            json!({"Title": condition("equals", json!(["Aa", "b"]))}),
            "object_slot_0 (ctd=? AND <expr>=?)",
        ),
        (json!({"Title": condition("notEqual", "Aa")}), "object_slot_0 (ctd=?)"),
        (json!({"Title": condition("contains", "Aa")}), "object_slot_0 (ctd=?)"),
        (json!({"Title": condition("endsWith", "Aa")}), "object_slot_0 (ctd=?)"),
        (json!({"Title": condition("greaterThan", "Aa")}), "object_slot_0 (ctd=?)"),
        (json!({"Title": condition("greaterThan", "5")}), "object_slot_0 (ctd=?)"),
        (json!({"views": condition("lessThan", 2)}), "object_slot_2 (ctd=? AND <expr><?)"),
        (json!({"at": condition("lessThan", "2020-01-22")}), "object_slot_4 (ctd=? AND <expr><?)"),
        (json!({"live": condition("equals", "1")}), "object_slot_3 (ctd=? AND <expr>=?)"),
        (json!({"id": condition("equals", "a")}), "object_id (ctd=? AND id=?)"),
    ];
    for (filters, index) in table {
        let plan = plan_of(&filters, ("id", false), None);
        assert!(plan.contains(&format!("USING COVERING INDEX {index}")), "{filters}\n{plan}");
    }
}

#[test]
fn addresses_of_links_use_the_link_index() {
    let one = "/api/v1/content/tag/a";
    let both = json!([one, "/api/v1/content/_media/a%20b"]);
    for path in ["links[*].dataUrl", "links", "links[0]", "rows[*].links[*].dataUrl"] {
        for (operator, value) in
            [("equals", json!(one)), ("equals", both.clone()), ("includes", both.clone())]
        {
            let filters = json!({path: condition(operator, value)});
            for order in ["internal.createdAt", "Title", "unknown"] {
                let lookup = "SEARCH link USING PRIMARY KEY (target_type=? AND target_id=?)";
                for counts in [None, Some(FEW)] {
                    let plan = plan_of(&filters, (order, false), counts);
                    assert!(plan.contains(lookup), "{filters} {order}\n{plan}");
                    let rows = "SEARCH object USING INTEGER PRIMARY KEY (rowid=?)";
                    assert!(plan.contains(rows), "{filters} {order}\n{plan}");
                }
                let plan = plan_of(&filters, (order, false), Some(MANY));
                assert!(plan.contains(lookup), "{filters} {order}\n{plan}");
            }
        }
    }
    let scan = "SEARCH object USING INDEX object_created (ctd=?)";
    for (operator, value) in [("contains", one), ("equals", "tag/a")] {
        let filters = json!({"links[*].dataUrl": condition(operator, value)});
        assert_eq!(plan_of(&filters, ("id", false), None), scan, "{filters}");
    }
    // All objects, except those that the links find.
    let filters = json!({"links[*].dataUrl": condition("notEqual", one)});
    let plan = plan_of(&filters, ("id", false), None);
    assert!(plan.starts_with(scan) && !plan.contains("SCAN link"), "{plan}");
}

/// The plan of the count of a list with a condition on linked objects. Types are the built-in ones.
fn plan_of_linked(filters: &Value) -> String {
    plan_as(&Caller::local(), false, filters)
}

fn plan_as(caller: &Caller, draft_public: bool, filters: &Value) -> String {
    let properties = properties();
    let workflows = WorkflowSet::default();
    let stored = |(pk, definition): (i64, Definition)| StoredContentType {
        pk,
        uid: definition.name.clone(),
        definition: Definition { draft_public, ..definition },
        rev: 1,
        created_at: Timestamp(0),
        updated_at: None,
    };
    let types = (CTD + 1..).zip(builtin::definitions()).map(stored);
    let types = types.map(|stored| Arc::new(CompiledType::new(stored, &workflows))).collect();
    let catalog = Catalog::new(1, types, WorkflowSet::default());
    let scope = LinkScope { catalog: &catalog, caller, view: View::for_list };
    let view = View { edition: Edition::Current, only_approved: false, masked: false };
    let conditions = filter::parse(&filters.to_string(), &properties).unwrap();
    let mut query = ListQuery::default();
    linked::add_conditions(&mut query, conditions, (&properties, view), scope).unwrap();
    let connection = database(&properties);
    plan(&connection, &count(&query, listed(&properties)))
}

/// Both sides are read once, in the order of their indexes: also of a type that may link to itself,
/// and for a caller that may read only one of the types with links.
#[test]
fn unlinked_objects_are_counted_by_a_merge() {
    let rule = Rule {
        content_type: "project".to_owned(),
        create: false,
        read: true,
        update: false,
        delete: false,
    };
    let mut actor = (*Caller::local().actor).clone();
    (actor.kind, actor.rules) = (ActorKind::Key(KeyKind::Scoped), vec![rule]);
    for caller in [Caller::local(), Caller::new(Arc::new(actor))] {
        for (operator, merge) in [("empty", "MERGE (EXCEPT)"), ("notEmpty", "MERGE (INTERSECT)")] {
            let filters = json!({"internal.incoming": {"type": operator}});
            let plan = plan_as(&caller, false, &filters);
            for step in [
                merge,
                "SEARCH object USING COVERING INDEX object_id (ctd=?)",
                "SEARCH link USING PRIMARY KEY (target_type=?)",
                // Of a few objects, each is looked up.
                " USING PRIMARY KEY (target_type=? AND target_id=?)",
            ] {
                assert!(plan.contains(step), "{step}\n{plan}");
            }
            assert_eq!(plan.matches("MERGE").count(), 1, "{plan}");
            assert!(!plan.contains("TEMP B-TREE") && !plan.contains("source"), "{plan}");
        }
    }
}

/// Objects that are not published have no links in the public view.
#[test]
fn links_of_published_versions_are_counted_by_a_merge() {
    let filters = json!({"internal.incoming": {"type": "empty"}});
    let plan = plan_as(&Caller::local(), true, &filters);
    for step in [
        "MERGE (EXCEPT)",
        "SEARCH link USING PRIMARY KEY (target_type=?)",
        "SEARCH published USING COVERING INDEX published_created (ctd=?)",
        // The targets of modified objects are looked up.
        "SEARCH link USING COVERING INDEX link_object (object=? AND target_type=?)",
        "SEARCH source USING INTEGER PRIMARY KEY (rowid=?)",
    ] {
        assert!(plan.contains(step), "{step}\n{plan}");
    }
    assert_eq!(plan.matches("MERGE").count(), 1, "{plan}");
}

#[test]
fn linked_objects_are_found_by_indexes() {
    let is_indexed = |plan: &str| !plan.lines().any(|line| line.starts_with("SCAN object"));
    let plan = plan_of_linked(&json!({"links.name": condition("equals", "Brewing")}));
    for step in [
        "SEARCH object USING INTEGER PRIMARY KEY (rowid=?)",
        "_slot_0",
        "SEARCH link USING PRIMARY KEY (target_type=? AND target_id=?)",
        "SEARCH source USING INTEGER PRIMARY KEY (rowid=?)",
    ] {
        assert!(plan.contains(step), "{step}\n{plan}");
    }
    assert!(is_indexed(&plan), "{plan}");
    let address = "/api/v1/content/project/a";
    let plan =
        plan_of_linked(&json!({"internal.incoming[*].dataUrl": condition("equals", address)}));
    for step in [
        "SEARCH object USING INTEGER PRIMARY KEY (rowid=?)",
        "SEARCH source USING COVERING INDEX object_id (ctd=? AND id=?)",
        "SEARCH link USING COVERING INDEX link_object (object=? AND target_type=?)",
        "SEARCH listed USING COVERING INDEX object_id (ctd=? AND id=?)",
    ] {
        assert!(plan.contains(step), "{step}\n{plan}");
    }
}

#[test]
fn unique_lookup_uses_the_index() {
    let properties = properties();
    let connection = database(&properties);
    for (edition, expected) in [
        (Edition::Current, "object USING COVERING INDEX object_slot_1"),
        (Edition::Published, "published USING COVERING INDEX published_slot_1"),
    ] {
        let lookup = unique_lookup(edition, CTD, 1, &json!("Aa"), Some(1)).unwrap();
        let plan = plan(&connection, &lookup);
        assert_eq!(plan, format!("SEARCH {expected} (ctd=? AND <expr>=?)"));
    }
}
