//! Support of the tests of lists: a database with two types.

use cms_model::{
    content_type::{
        indexed::IndexedProperties,
        model::{InputType, Property, Relation, SchemaType},
    },
    object::link,
    query::ListQuery,
};
use rusqlite::{Connection, params_from_iter};
use serde_json::{Value, json};

use crate::{
    functions,
    list_sql::{ListCounts, ListedType, Statement, count, page},
    slots,
};

pub(super) const CTD: i64 = 7;

pub(super) fn property(name: &str, schema_type: SchemaType, input_type: InputType) -> Property {
    Property::plain(name, schema_type, input_type)
}

/// Properties of all kinds.
pub(super) fn properties() -> Vec<Property> {
    let mut slug = property("slug", SchemaType::String, InputType::Text);
    slug.unique = true;
    let mut rows = property("rows", SchemaType::Array, InputType::Object);
    rows.nested = vec![
        property("name", SchemaType::String, InputType::Text),
        property("day", SchemaType::String, InputType::DateTime),
        links(),
    ];
    vec![
        property("Title", SchemaType::String, InputType::Text),
        slug,
        property("views", SchemaType::Number, InputType::Number),
        property("live", SchemaType::Boolean, InputType::Checkbox),
        property("at", SchemaType::String, InputType::DateTime),
        property("body", SchemaType::String, InputType::RichText),
        property("tags", SchemaType::Array, InputType::SimpleList),
        links(),
        property("geo", SchemaType::Object, InputType::Geo),
        rows,
    ]
}

fn links() -> Property {
    let relation = Some(Relation { target: None, multiple: true });
    Property { relation, ..property("links", SchemaType::Array, InputType::Datasource) }
}

/// A stored object.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) id: String,
    pub(super) created_at: i64,
    pub(super) updated_at: i64,
    pub(super) version: i64,
    pub(super) status: &'static str,
    pub(super) public_version: Option<i64>,
    pub(super) published_at: Option<i64>,
    pub(super) workflow_state: &'static str,
    pub(super) title: String,
    pub(super) data: Value,
}

impl Default for Stored {
    fn default() -> Self {
        Self {
            id: String::new(),
            created_at: 1_600_000_000,
            updated_at: 1_600_000_000,
            version: 1,
            status: "public",
            public_version: None,
            published_at: None,
            workflow_state: "saved",
            title: String::new(),
            data: json!({}),
        }
    }
}

/// Opens an empty database with the tables, the functions and two types that have the properties.
pub(super) fn database(properties: &[Property]) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    functions::register(&connection).unwrap();
    for migration in [
        include_str!("../../../migrations/V1__base.sql"),
        include_str!("../../../migrations/V2__publishing.sql"),
        include_str!("../../../migrations/V5__descending.sql"),
        include_str!("../../../migrations/V12__link_sources.sql"),
    ] {
        connection.execute_batch(migration).unwrap();
    }
    for ctd in [CTD - 1, CTD] {
        connection.execute("INSERT INTO ctd VALUES (?1, ?1, ?1, '{}', 1, 0, NULL)", [ctd]).unwrap();
    }
    for (_, sql) in slots::indexes(IndexedProperties::without_combinations(properties).count()) {
        connection.execute_batch(&sql).unwrap();
    }
    connection
}

/// Stores an object of the type, and a twin of the other type, which no list may return. Objects
/// with status `public` are published in this version.
pub(super) fn insert(connection: &Connection, properties: &[Property], object: &Stored) {
    let slots = IndexedProperties::without_combinations(properties);
    for ctd in [CTD - 1, CTD] {
        connection
            .prepare_cached(
                "INSERT INTO object (ctd, id, created_at, updated_at, version, version_at, status,
                     public_version, published_at, workflow_state, title, data, slots, slot_count)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?4, ?6, ?7, ?8, ?9, ?10, ?11,
                     property_slots(?11, ?12), ?13)",
            )
            .unwrap()
            .execute((
                ctd,
                &object.id,
                object.created_at,
                object.updated_at,
                object.version,
                object.status,
                object.public_version,
                object.published_at,
                object.workflow_state,
                &object.title,
                object.data.to_string(),
                slots.json(),
                slots.count(),
            ))
            .unwrap();
        let pk = connection.last_insert_rowid();
        let Value::Object(data) = &object.data else { panic!("the data is an object") };
        for link in link::links(properties, data) {
            connection
                .execute(
                    "INSERT OR IGNORE INTO link VALUES (?1, ?2, ?3, ?4)",
                    (link.content_type, link.id, pk, ctd),
                )
                .unwrap();
        }
        connection
            .execute(
                "INSERT INTO published
                 SELECT * FROM object WHERE pk = ?1 AND status = 'public'",
                [pk],
            )
            .unwrap();
    }
}

pub(super) fn listed(properties: &[Property]) -> ListedType<'_> {
    ListedType { ctd: CTD, name: "post", properties }
}

/// Runs both statements: ids of the page in order, and the total.
pub(super) fn list(
    connection: &Connection,
    query: &ListQuery,
    counts: ListCounts,
    properties: &[Property],
) -> (Vec<String>, i64) {
    let count = count(query, listed(properties));
    let total: i64 = run(connection, &count, |row| row.get(0))[0];
    let page = page(query, listed(properties), counts, "id").statement;
    (run(connection, &page, |row| row.get(0)), total)
}

pub(super) fn run<T>(
    connection: &Connection,
    statement: &Statement,
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Vec<T> {
    connection
        .prepare_cached(&statement.sql)
        .unwrap_or_else(|error| panic!("{error}: {}", statement.sql))
        .query_map(params_from_iter(&statement.parameters), read)
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap_or_else(|error| panic!("{error}: {statement:?}"))
}

/// The steps of a query plan, as text.
pub(super) fn plan(connection: &Connection, statement: &Statement) -> String {
    let explained = Statement {
        sql: format!("EXPLAIN QUERY PLAN {}", statement.sql),
        parameters: statement.parameters.clone(),
    };
    run(connection, &explained, |row| row.get::<_, String>(3)).join("\n")
}
