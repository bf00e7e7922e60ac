//! Which index a list uses: the difference between microseconds and seconds on a large type.

use serde_json::json;

use super::{
    Size, count, page,
    support::{Stored, database, insert, plan, properties, target},
    unique_lookup,
};
use crate::query::{ListQuery, filter};

fn query(filters: &serde_json::Value, order: Option<&str>, descending: bool) -> ListQuery {
    let properties = properties();
    ListQuery {
        conditions: filter::parse(&filters.to_string(), &properties).unwrap(),
        order: ListQuery::order(order, &properties),
        descending,
        ..ListQuery::default()
    }
}

#[test]
fn explore() {
    let properties = properties();
    let connection = database(&properties);
    for i in 0..50 {
        insert(
            &connection,
            &Stored {
                id: format!("i{i}"),
                data: json!({"Title": format!("T{i}"), "views": i}),
                ..Stored::default()
            },
        );
    }
    let f = |t: &str, v: serde_json::Value| json!({"type": t, "filter": v});
    for (filters, order, desc) in [
        (json!({}), None, false),
        (json!({}), None, true),
        (json!({}), Some("internal.updatedAt"), false),
        (json!({}), Some("internal.updatedAt"), true),
        (json!({}), Some("id"), true),
        (json!({}), Some("Title"), false),
        (json!({}), Some("Title"), true),
        (json!({"Title": f("equals", json!("Ab"))}), None, false),
        (json!({"Title": f("equals", json!("Ab"))}), None, true),
        (json!({"Title": f("equals", json!(["Ab", "c"]))}), None, false),
        (json!({"Title": f("startsWith", json!("Ab"))}), None, false),
        (json!({"Title": f("contains", json!("Ab"))}), None, false),
        (json!({"Title": f("greaterThan", json!("Ab"))}), None, false),
        (json!({"views": f("greaterThan", json!(3))}), None, false),
        (json!({"views": f("greaterThan", json!(3))}), Some("views"), false),
        (json!({"views": f("greaterThan", json!(3))}), Some("views"), true),
        (json!({"views": f("equals", json!(3))}), Some("Title"), true),
        (json!({"views": f("equals", json!([3, 4]))}), Some("Title"), true),
        (json!({"views": f("notEqual", json!([3, 4]))}), Some("Title"), true),
        (json!({"internal.createdAt": f("greaterThan", json!("2020-01-01"))}), None, false),
        (json!({"internal.updatedAt": f("greaterThan", json!("2020-01-01"))}), None, false),
        (json!({"id": f("equals", json!("a"))}), None, false),
        (json!({"body": f("contains", json!("a"))}), None, false),
    ] {
        let q = query(&filters, order, desc);
        println!(
            "== {filters} {order:?} {desc}\n{}",
            plan(
                &connection,
                &page(
                    &q,
                    target(&properties),
                    Size { matching: 5, live: 50 },
                    "object.id, object.data"
                )
            )
        );
        println!("-- count\n{}", plan(&connection, &count(&q, target(&properties))));
    }
    println!("{}", plan(&connection, &unique_lookup(7, "slug", &json!("Abc"), None).unwrap()));
}
