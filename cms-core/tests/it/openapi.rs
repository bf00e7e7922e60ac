//! The OpenAPI document matches the API, in each version and for each key.

use std::fs;

use cms_core::{
    Caller, Error,
    testing::{TestCms, fixture},
    wire::{
        content_type::TypeListRequest,
        key::KeyKind,
        object::{Direction, ListRequest},
        openapi::{OpenApiRequest, OpenApiVersion},
        plan::{ApplyRequest, PlanRequest},
        publish::PublishAction,
        search::SearchRequest,
    },
};
use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};

use crate::support::{article, article_with, create_batch, key, map, with_type};

const VERSIONS: [OpenApiVersion; 3] =
    [OpenApiVersion::V30, OpenApiVersion::V31, OpenApiVersion::V2];

/// Types of the example site, in an order in which links find their targets.
const SITE: [(&str, &str); 9] = [
    ("_tag", "InternalContentTypeTag/contentObjectTag"),
    ("_media", "InternalContentTypeMedia/contentObjectMedia"),
    ("place", "ContentTypePlace/contentObjectPlace"),
    ("author", "ContentTypeAuthor/contentObjectAuthor"),
    ("product", "ContentTypeProduct/contentObjectProduct"),
    ("event", "ContentTypeEvent/contentObjectEvent"),
    ("post", "ContentTypePost/contentObjectPost"),
    ("about", "ContentTypeAbout/contentObjectAbout"),
    ("contact", "ContentTypeContact/contentObjectContact"),
];

fn request(version: OpenApiVersion) -> OpenApiRequest {
    OpenApiRequest { version, base_url: "http://cms.example".to_owned(), ..Default::default() }
}

fn describe(test: &TestCms, caller: &Caller, request: &OpenApiRequest) -> Value {
    test.cms.openapi().document(caller, request).unwrap().text.to_value()
}

fn schemas(document: &Value) -> &Map<String, Value> {
    let schemas = document.get("definitions").unwrap_or(&document["components"]["schemas"]);
    schemas.as_object().unwrap()
}

/// Ids of all operations, in order.
fn operations(document: &Value) -> Vec<&str> {
    let paths = document["paths"].as_object().unwrap().values();
    paths
        .flat_map(|path| path.as_object().unwrap().values())
        .map(|operation| operation["operationId"].as_str().unwrap())
        .collect()
}

/// A document with strict validators of its schemas.
struct Validators {
    version: OpenApiVersion,
    document: Value,
}

impl Validators {
    fn new(test: &TestCms, version: OpenApiVersion) -> Self {
        let mut document = describe(test, &Caller::local(), &request(version));
        replace_nullable(&mut document);
        Self { version, document }
    }

    fn validator(&self, schema: &Value) -> Validator {
        let mut complete = json!({ "allOf": [schema] });
        for key in ["components", "definitions"] {
            if let Some(part) = self.document.get(key) {
                complete[key] = part.clone();
            }
        }
        let draft =
            if self.version == OpenApiVersion::V31 { Draft::Draft202012 } else { Draft::Draft4 };
        jsonschema::options().with_draft(draft).build(&complete).unwrap()
    }

    fn named(&self, name: &str) -> Validator {
        let path =
            if self.version == OpenApiVersion::V2 { "definitions" } else { "components/schemas" };
        self.validator(&json!({ "$ref": format!("#/{path}/{name}") }))
    }

    fn check(&self, name: &str, values: &[&Value]) {
        let validator = self.named(name);
        for value in values {
            let errors: Vec<_> = validator.iter_errors(value).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{:?} {name}: {errors:?}\n{value:#}", self.version);
        }
    }
}

/// Replaces `nullable` of OpenAPI 3.0, which JSON Schema does not know, by the type `null`.
fn replace_nullable(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if object.get("nullable") == Some(&json!(true)) {
                object["type"] = json!([object["type"], "null"]);
            }
            object.values_mut().for_each(replace_nullable);
        }
        Value::Array(list) => list.iter_mut().for_each(replace_nullable),
        _ => {}
    }
}

fn content(name: &str) -> String {
    fs::read_to_string(fixture("content").join(name)).unwrap()
}

/// The example site, and the type of `fixtures/tables/object_messages.json`, which has every kind of
/// property.
fn site() -> TestCms {
    let test = TestCms::new();
    let local = Caller::local();
    let definitions = SITE.iter().filter(|(name, _)| !name.starts_with('_')).map(|(_, file)| {
        let (folder, _) = file.split_once('/').unwrap();
        let text = content(&format!("{folder}/ContentTypeDefinition.json"));
        map(serde_json::from_str(&text).unwrap())
    });
    let table = table();
    let extra = table["types"].as_array().unwrap().iter().cloned().map(map);
    let wanted =
        PlanRequest { content_types: definitions.chain(extra).collect(), ..Default::default() };
    let apply = ApplyRequest { wanted, ..ApplyRequest::default() };
    test.cms.types().apply(&local, &apply).unwrap();
    for (name, _) in SITE {
        let report = create_batch(&test.cms, name, &objects(name));
        assert_eq!(report.batch_error_count, 0, "{name}: {:?}", report.errors);
    }
    for row in table["objects"].as_array().unwrap() {
        let object = map(row["object"].clone());
        test.cms.objects().create(&local, row["type"].as_str().unwrap(), object).unwrap();
    }
    test.cms.objects().create(&local, "example", map(table["base"].clone())).unwrap();
    test
}

fn table() -> Value {
    let text = fs::read_to_string(fixture("tables/object_messages.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Objects of the example site, as request bodies.
fn objects(name: &str) -> Vec<Value> {
    let (_, file) = SITE.iter().find(|(known, _)| *known == name).unwrap();
    let text = content(&format!("{file}.json"));
    let objects = text.lines().filter(|line| !line.is_empty()).map(|line| {
        let mut object = map(serde_json::from_str(line).unwrap());
        object.shift_remove("internal");
        if name == "author" {
            // Links to a product, which links back.
            object.shift_remove("favourite");
        }
        Value::Object(object)
    });
    objects.collect()
}

#[test]
fn requests_and_responses_match_their_schema() {
    let test = site();
    let (cms, local) = (&test.cms, Caller::local());
    let everything = ListRequest::default();
    for version in VERSIONS {
        let validators = Validators::new(&test, version);
        let names: Vec<&str> = SITE.iter().map(|(name, _)| *name).chain(["example"]).collect();
        for name in names {
            let sent =
                if name == "example" { vec![table()["base"].clone()] } else { objects(name) };
            validators.check(&format!("{name}WithoutInternal"), &sent.iter().collect::<Vec<_>>());
            let part = json!({ "id": sent[0]["id"] });
            validators.check(&format!("{name}WithoutRequired"), &[&json!({}), &part]);

            let list = cms.objects().list(&local, name, &everything).unwrap().to_value();
            validators.check(&format!("{name}List"), &[&list]);
            let id = sent[0]["id"].as_str().unwrap();
            let patched = cms.objects().patch(&local, name, id, Map::new()).unwrap().to_value();
            let page = cms_core::paging::PageRequest::default();
            let versions = cms.objects().versions(&local, name, id, page, Direction::Ascending);
            let old = cms.objects().version(&local, name, id, "1").unwrap().to_value();
            validators.check(name, &[&patched, &old]);
            validators.check(&format!("{name}VersionsList"), &[&versions.unwrap().to_value()]);
        }
        let invalid = [json!({ "id": "a b" }), json!({ "id": 1, "nope": {} }), json!("text")];
        let report = create_batch(cms, "post", &invalid);
        validators.check("BatchResponseError", &[&json!(report)]);
        let report = create_batch(cms, "_tag", &[]);
        validators.check("BatchResponseSuccess", &[&json!(report)]);

        let types = cms.types().list(&local, &TypeListRequest::default()).unwrap();
        validators.check("ContentTypeListResponse", &[&json!(types)]);
        let search = SearchRequest {
            q: Some("coffee".to_owned()),
            aggregate_by: vec!["kind".to_owned()],
            aggregate_by_numeric: vec!["price".to_owned()],
            ..SearchRequest::default()
        };
        validators
            .check("SearchResponse", &[&cms.search().search(&local, &search).unwrap().to_value()]);
    }
}

#[test]
fn objects_match_their_schema_in_every_state() {
    let (test, local) = (TestCms::new(), Caller::local());
    let cms = &test.cms;
    let create = |name: &str, key: &str, value: Value| {
        let mut definition = article_with(json!({ "name": name }));
        definition.insert(key.to_owned(), value);
        cms.types().create(&local, definition).unwrap();
        cms.objects().create(&local, name, map(json!({ "id": "one", "title": name }))).unwrap();
    };
    create("news", "draftPublic", json!(true));
    create("memo", "workflowId", json!("publishing"));
    let mut states = Vec::new();
    let mut note = |name: &'static str| {
        let shown = cms.objects().get(&local, name, "one", 0).unwrap().to_value();
        states.push((name, shown));
    };
    note("news");
    note("memo");
    let schedule = json!({ "scheduledAt": "2027-01-01T00:00", "timeZone": "Europe/Berlin" });
    cms.publishing().schedule(&local, "news", "one", map(schedule)).unwrap();
    note("news");
    for action in [PublishAction::Publish, PublishAction::Archive] {
        cms.publishing().set_status(&local, "news", "one", action, false).unwrap();
        note("news");
    }
    for action in ["_draft_review", "_review_public", "_public_archive"] {
        let action = map(json!({ "action": action }));
        cms.workflows().run_transition(&local, "memo", "one", action).unwrap();
        note("memo");
    }
    for version in VERSIONS {
        let validators = Validators::new(&test, version);
        for (name, shown) in &states {
            validators.check(name, &[shown]);
        }
        assert!(!validators.named("news").is_valid(&json!({ "id": "one" })));
    }
}

#[test]
fn newest_version_refuses_undeclared_properties() {
    let test = site();
    let mut wrong = objects("_tag")[0].clone();
    wrong["nope"] = json!(1);
    for (version, valid) in VERSIONS.into_iter().zip([true, false, true]) {
        let validators = Validators::new(&test, version);
        assert_eq!(validators.named("_tagWithoutInternal").is_valid(&wrong), valid, "{version:?}");
        assert!(!validators.named("_tagWithoutInternal").is_valid(&json!({ "id": "x" })));
        assert!(!validators.named("postWithoutRequired").is_valid(&json!({ "author": 1 })));
    }
}

#[test]
fn examples_match_their_schema() {
    let test = site();
    for version in VERSIONS {
        let validators = Validators::new(&test, version);
        for (name, schema) in schemas(&validators.document) {
            let example = schema.get("example").or_else(|| schema["examples"].get(0));
            if let Some(example) = example {
                validators.check(name, &[example]);
            }
        }
    }
}

#[test]
fn example_meets_the_rules_of_each_property() {
    let test = TestCms::new();
    let mut definition = article();
    let properties = [
        ("title", json!({ "type": "string", "minLength": 7 }), "text", json!("titleti")),
        ("rank", json!({ "type": "number", "minimum": 5 }), "number", json!(5)),
        ("low", json!({ "type": "integer", "maximum": -2 }), "number", json!(-2)),
        ("words", strings(&json!({ "minItems": 2 })), "simpleList", json!(["words", "words"])),
        ("many", strings(&json!({ "minItems": 5000 })), "simpleList", Value::Null),
        ("code", json!({ "type": "string", "pattern": "^[0-9]+$" }), "text", Value::Null),
        (
            "zip",
            json!({ "type": "string", "pattern": "^[0-9]+$", "default": "123" }),
            "text",
            json!("123"),
        ),
    ];
    for (name, schema, input_type, _) in &properties {
        definition["schemaDefinition"]["allOf"][1]["properties"][name] = schema.clone();
        definition["metaDefinition"]["propertiesConfig"][name] =
            json!({ "label": name, "inputType": input_type });
    }
    let names: Vec<&str> = properties.iter().map(|(name, ..)| *name).collect();
    definition["metaDefinition"]["order"] = json!([&names[..], &["related", "parts"]].concat());
    definition["schemaDefinition"]["allOf"][1]["properties"]["related"]["minItems"] = json!(2);
    test.cms.types().create(&Caller::local(), definition.clone()).unwrap();
    let example = |name: &str| {
        let document = describe(&test, &Caller::local(), &request(OpenApiVersion::V30));
        schemas(&document)[name].get("example").cloned()
    };
    let found = example("articleWithoutInternal").unwrap();
    for (name, _, _, expected) in &properties {
        assert_eq!(found.get(name).unwrap_or(&Value::Null), expected, "{name}");
    }
    let addresses = [1, 2].map(|number| found["related"][number - 1]["dataUrl"].clone());
    assert_eq!(addresses, ["/api/v1/content/_media/_media-1", "/api/v1/content/_media/_media-2"]);

    definition["schemaDefinition"]["required"] = json!(["title", "code"]);
    test.cms.types().update(&Caller::local(), "article", definition).unwrap();
    assert_eq!(example("article"), None);
    assert_eq!(example("articleWithoutRequired").unwrap()["title"], "titleti");
}

fn strings(rules: &Value) -> Value {
    let mut schema = json!({ "type": "array", "items": { "type": "string" } });
    schema.as_object_mut().unwrap().extend(map(rules.clone()));
    schema
}

/// Differences of one type between the versions.
#[test]
fn openapi_versions_have_their_own_syntax() {
    let test = TestCms::new();
    let mut definition = article();
    definition["metaDefinition"]["propertiesConfig"]["title"]["helpText"] = json!("A few words");
    definition["metaDefinition"]["propertiesConfig"]["related"]["validation"] =
        json!({ "relationContenttype": "article", "relationMultiple": false });
    test.cms.types().create(&Caller::local(), definition).unwrap();
    let shown = VERSIONS.map(|version| {
        let hydrated = OpenApiRequest { hydrate: true, user_only: true, ..request(version) };
        let document = describe(&test, &Caller::local(), &hydrated);
        let of_type = |name: &&String| name.starts_with("article");
        let schemas: Map<_, _> = schemas(&document)
            .iter()
            .filter(|(name, _)| of_type(name) || *name == "DataSource")
            .map(|(name, schema)| (name.clone(), schema.clone()))
            .collect();
        let mut head = map(document.clone());
        let paths = ["/api/v1/content/article", "/api/v1/content/article/batch-delete"];
        let paths = paths.map(|path| (path, document["paths"][path].clone()));
        for key in ["paths", "definitions", "components", "tags", "x-tagGroups"] {
            head.shift_remove(key);
        }
        json!({ "head": head, "schemas": schemas, "paths": Map::from_iter(paths.map(|(p, v)| (p.to_owned(), v))) })
    });
    for (version, shown) in VERSIONS.into_iter().zip(shown) {
        insta::assert_json_snapshot!(format!("openapi_{}", version.as_str()), shown);
    }
}

#[test]
fn document_for_scoped_keys_has_allowed_operations() {
    let test = with_type(article());
    let table = [
        ("c", "create batchCreate validate getWorkingCopy putWorkingCopy deleteWorkingCopy"),
        ("r", "list get listVersion getVersions incoming"),
        ("u", "update patch batchPatch validate getWorkingCopy putWorkingCopy deleteWorkingCopy"),
        ("d", "delete batchDelete"),
        ("rd", "list get delete batchDelete listVersion getVersions getRemoved incoming"),
        (
            "cr",
            "create batchCreate list get listVersion getVersions duplicate incoming validate \
             getWorkingCopy putWorkingCopy deleteWorkingCopy",
        ),
    ];
    for (rights, wanted) in table {
        let created = test.create_key(rights, KeyKind::Scoped, &[("article", rights)]);
        let caller = test.cms.caller_of_key(&created.key).unwrap();
        let document = describe(&test, &caller, &request(OpenApiVersion::V30));
        let (own, others): (Vec<&str>, Vec<&str>) =
            operations(&document).into_iter().partition(|id| id.starts_with("Article_"));
        let mut own: Vec<&str> = own.iter().map(|id| id.trim_start_matches("Article_")).collect();
        let mut wanted: Vec<&str> = wanted.split(' ').collect();
        own.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(own, wanted, "{rights}");
        assert!(others.contains(&"search") && !others.contains(&"postMedia"), "{others:?}");
        assert!(
            others.iter().all(|id| !id.ends_with("tContentDefinition") || id.starts_with("get"))
        );
        assert!(!schemas(&document).contains_key("_media"));
    }

    // All other kinds of keys get the same document.
    let kinds = [KeyKind::ReadOnly, KeyKind::ReadWrite, KeyKind::Admin].map(|kind| {
        let (_, caller) = key(&test, kind.as_str(), kind);
        test.cms.openapi().document(&caller, &request(OpenApiVersion::V31)).unwrap().tag
    });
    assert!(kinds.iter().all(|tag| *tag == kinds[0]));
}

#[test]
fn document_depends_on_role_and_publishing_right() {
    let test = TestCms::new();
    let news = article_with(json!({ "name": "news", "draftPublic": true }));
    test.cms.types().create(&Caller::local(), news).unwrap();
    let publishing = [
        "News_publish",
        "News_unpublish",
        "News_archive",
        "News_batchPublish",
        "News_batchUnpublish",
        "News_batchArchive",
        "News_schedule",
        "News_unschedule",
    ];
    let rule = json!({ "ctd": "news", "create": true, "read": true, "update": true });
    let complete = describe(&test, &Caller::local(), &request(OpenApiVersion::V30));
    // In this order, so that a document of other rights is not taken from the cache.
    for (role, may_publish, may_change_types) in [
        ("editor", true, false),
        ("author", false, false),
        ("viewer", true, true),
        ("developer", true, true),
        ("custom", false, false),
        ("admin", true, true),
    ] {
        let mut user =
            json!({ "email": format!("{role}@example.com"), "name": role, "role": role });
        if role == "custom" {
            user["rules"] = json!([rule]);
        }
        let cookie = test.session(&user);
        let caller = test.cms.caller_of_session(&cookie).unwrap();
        let document = describe(&test, &caller, &request(OpenApiVersion::V30));
        let operations = operations(&document);
        for id in publishing {
            assert_eq!(operations.contains(&id), may_publish, "{role} {id}");
        }
        assert!(operations.contains(&"News_create"), "{role}");
        let changes_types = operations.contains(&"postContentDefinition");
        assert_eq!(changes_types, may_change_types, "{role}");
        assert_eq!(document == complete, may_change_types, "{role}");
    }
}

#[test]
fn user_only_leaves_out_system_operations() {
    let test = site();
    for version in VERSIONS {
        let complete = describe(&test, &Caller::local(), &request(version));
        let user_only = OpenApiRequest { user_only: true, ..request(version) };
        let user = describe(&test, &Caller::local(), &user_only);
        assert!(operations(&user).iter().all(|id| id.contains('_')));
        let system: Vec<&str> = operations(&complete)
            .into_iter()
            .filter(|id| !operations(&user).contains(id))
            .collect();
        assert_eq!(
            system.join(" "),
            "getContentDefinitions postContentDefinition getContentDefinition putContentDefinition \
             deleteContentDefinition search graphQL graphQLByAddress graphQLSchema postMedia \
             getMedia getWorkflows getWorkflowState putWorkflowState"
        );
        let gone: Vec<_> =
            schemas(&complete).keys().filter(|k| !schemas(&user).contains_key(*k)).collect();
        assert_eq!(
            gone,
            [
                "ContentTypeDefinitionSchema",
                "AbstractContentTypeMetaDefinition",
                "AbstractPropertiesConfig",
                "SearchResponse",
                "ContentTypeListResponse",
            ]
        );
    }
}

#[test]
fn document_follows_type_changes() {
    let (test, local) = (TestCms::new(), Caller::local());
    let openapi = test.cms.openapi();
    let wanted = request(OpenApiVersion::V30);
    let before = openapi.document(&local, &wanted).unwrap();
    assert_eq!(openapi.document(&local, &wanted).unwrap(), before);
    test.cms.types().create(&local, article()).unwrap();
    let after = openapi.document(&local, &wanted).unwrap();
    assert_ne!(after.tag, before.tag);
    assert!(schemas(&after.text.to_value()).contains_key("articleList"));

    // A relation to a deleted type is described as links.
    let hydrated = OpenApiRequest { hydrate: true, ..wanted };
    let mut definition = article();
    definition["metaDefinition"]["propertiesConfig"]["related"]["validation"] =
        json!({ "relationContenttype": "project", "relationMultiple": true });
    test.cms.types().update(&local, "article", definition).unwrap();
    let items = || {
        let document = describe(&test, &local, &hydrated);
        schemas(&document)["article"]["allOf"][1]["properties"]["related"]["items"].clone()
    };
    assert_eq!(items(), json!({ "$ref": "#/components/schemas/project" }));
    test.cms.types().delete(&local, "project").unwrap();
    assert_eq!(items(), json!({ "$ref": "#/components/schemas/DataSource" }));
}

#[test]
fn version_parameter_has_several_spellings() {
    for (text, wanted) in [
        (None, OpenApiVersion::V30),
        (Some("3.0"), OpenApiVersion::V30),
        (Some("3.1"), OpenApiVersion::V31),
        (Some("2.0"), OpenApiVersion::V2),
    ] {
        assert_eq!(OpenApiVersion::parse(text).unwrap(), wanted);
    }
    for version in VERSIONS {
        assert_eq!(OpenApiVersion::parse(Some(version.as_str())).unwrap(), version);
    }
    for text in ["4", "3.2", "latest"] {
        let Err(Error::Invalid(errors)) = OpenApiVersion::parse(Some(text)) else {
            panic!("{text}")
        };
        assert_eq!(json!(errors), json!({ "version": ["This value is not valid."] }));
    }
}

#[test]
fn header_parameters_have_patterns() {
    let test = TestCms::new();
    let tags = r#"^(\*|(W/)?"[^"]*"( *, *(W/)?"[^"]*")*)$"#;
    let expected = json!({
        "Idempotency-Key": "^[ -~]{1,255}$",
        "If-Match": tags,
        "If-None-Match": tags,
        "X-CMS-Keep-Dates": "^1$",
    });
    for version in VERSIONS {
        let document = describe(&test, &Caller::local(), &request(version));
        let mut found = Map::new();
        let operations = document["paths"].as_object().unwrap().values();
        for operation in operations.flat_map(|path| path.as_object().unwrap().values()) {
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                if parameter["in"] == "header" {
                    let schema = parameter.get("schema").unwrap_or(parameter);
                    let name = parameter["name"].as_str().unwrap().to_owned();
                    let pattern = schema["pattern"].clone();
                    let other = found.insert(name, pattern.clone());
                    assert!(other.is_none_or(|other| other == pattern), "{parameter}");
                }
            }
        }
        found.sort_keys();
        assert_eq!(Value::Object(found), expected, "{version:?}");
    }
}
