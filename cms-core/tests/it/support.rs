//! The content type and the callers of the tests, and the database file.

pub(crate) use cms_core::testing::map;
use cms_core::{
    Caller, Cms, Difference, compare_directory,
    testing::TestCms,
    wire::{
        batch::{BatchElements, BatchReport},
        key::KeyKind,
        publish::PublishAction,
    },
};
use rusqlite::{Connection, OpenFlags, types::Value as Sql};
use serde_json::{Map, Value, json};

/// A type with a title, a rank, links to its own kind, and links inside a list.
pub(crate) fn article() -> Map<String, Value> {
    let links = json!({ "type": "array", "items": { "$ref": "#/components/schemas/DataSource" } });
    let target = json!({ "relationContenttype": "", "relationMultiple": true });
    let related = json!({ "label": "Related", "inputType": "datasource", "validation": target });
    let item = json!({ "type": "object", "properties": { "sources": links } });
    map(json!({
        "name": "article",
        "label": "Article",
        "schemaDefinition": {
            "type": "object",
            "allOf": [
                { "$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition" },
                { "type": "object", "properties": {
                    "title": { "type": "string", "minLength": 1 },
                    "rank": { "type": "number" },
                    "related": links,
                    "parts": { "type": "array", "items": item },
                } },
            ],
            "required": ["title"],
            "additionalProperties": false,
        },
        "metaDefinition": {
            "order": ["title", "rank", "related", "parts"],
            "propertiesConfig": {
                "title": { "label": "Title", "inputType": "text", "unique": true, "isTitlePart": true },
                "rank": { "label": "Rank", "inputType": "number" },
                "related": related,
                "parts": { "label": "Parts", "inputType": "object", "items": {
                    "order": ["sources"], "propertiesConfig": { "sources": related },
                } },
            },
        },
    }))
}

#[track_caller]
pub(crate) fn publish(cms: &Cms, content_type: &str, id: &str) {
    let action = PublishAction::Publish;
    cms.publishing().set_status(&local(), content_type, id, action, false).unwrap();
}

/// The type [`article`] with other settings.
pub(crate) fn article_with(settings: Value) -> Map<String, Value> {
    let mut definition = article();
    definition.extend(map(settings));
    definition
}

/// An empty data directory with one type.
#[track_caller]
pub(crate) fn with_type(definition: Map<String, Value>) -> TestCms {
    let test = TestCms::new();
    test.cms.types().create(&local(), definition).unwrap();
    test
}

#[track_caller]
pub(crate) fn create_object(cms: &Cms, content_type: &str, object: Value) {
    cms.objects().create(&local(), content_type, map(object)).unwrap();
}

/// Creates objects in one call, which may refuse some of them.
#[track_caller]
pub(crate) fn create_batch(cms: &Cms, content_type: &str, objects: &[Value]) -> BatchReport {
    let elements = BatchElements::of(objects);
    cms.objects().batch_create(&local(), content_type, &elements, false).unwrap()
}

pub(crate) fn local() -> Caller {
    Caller::local()
}

/// A new key without rules: its id, and the caller that it authenticates.
#[track_caller]
pub(crate) fn key(test: &TestCms, name: &str, kind: KeyKind) -> (String, Caller) {
    let key = test.create_key(name, kind, &[]);
    (key.item.id, test.cms.caller_of_key(&key.key).unwrap())
}

/// Adds a property to a definition.
pub(crate) fn add_property(
    definition: &mut Map<String, Value>,
    name: &str,
    schema: Value,
    input: &str,
) {
    definition["schemaDefinition"]["allOf"][1]["properties"][name] = schema;
    let meta = &mut definition["metaDefinition"];
    meta["order"].as_array_mut().unwrap().push(json!(name));
    meta["propertiesConfig"][name] = json!({ "label": name, "inputType": input });
}

/// Removes a property from a definition.
pub(crate) fn remove_property(definition: &mut Map<String, Value>, name: &str) {
    let properties = &mut definition["schemaDefinition"]["allOf"][1]["properties"];
    properties.as_object_mut().unwrap().shift_remove(name).unwrap();
    let meta = &mut definition["metaDefinition"];
    meta["order"].as_array_mut().unwrap().retain(|known| known != name);
    meta["propertiesConfig"].as_object_mut().unwrap().shift_remove(name).unwrap();
}

pub(crate) fn link(content_type: &str, id: &str) -> Value {
    json!({ "type": "internal", "dataUrl": format!("/api/v1/content/{content_type}/{id}") })
}

/// A connection to the database file, which may change it.
pub(crate) fn database(test: &TestCms) -> Connection {
    Connection::open(test.path().join("cms.db")).unwrap()
}

/// The rows of a query, their columns joined by spaces.
pub(crate) fn rows(test: &TestCms, sql: &str) -> Vec<String> {
    let database = test.path().join("cms.db");
    let database = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut statement = database.prepare(sql).unwrap();
    let columns = statement.column_count();
    let text = |value| match value {
        Sql::Null => "null".to_owned(),
        Sql::Integer(number) => number.to_string(),
        Sql::Real(number) => number.to_string(),
        Sql::Text(text) => text,
        Sql::Blob(bytes) => format!("{bytes:?}"),
    };
    let rows = statement.query_map([], |row| {
        (0..columns).map(|column| row.get(column).map(text)).collect::<rusqlite::Result<Vec<_>>>()
    });
    rows.unwrap().map(|row| row.unwrap().join(" ")).collect()
}

/// The content of the database, including its schema.
pub(crate) fn dump(test: &TestCms) -> Vec<String> {
    let mut dump = rows(test, "SELECT type, name, sql FROM sqlite_schema ORDER BY name");
    for table in rows(test, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
        let content = rows(test, &format!("SELECT * FROM {table}"));
        dump.extend(content.into_iter().map(|row| format!("{table}: {row}")));
    }
    dump
}

/// Returns the rows that differ between a node and the shared database.
pub(crate) fn compare_with_cluster(cms: &Cms) -> Vec<Difference> {
    let database = &cms.config().cluster.as_ref().unwrap().database;
    compare_directory(&cms.config().folder, &**database).unwrap()
}
