//! Project files: expansion of the short form, and errors.

use cms_core::wire::content_type::ContentType;
use serde_json::{Value, json};

use super::*;

/// Loads a text as `project.yaml`; the target has the types `_media` and `_tag`.
fn load_text(text: &str) -> std::result::Result<Project, Vec<String>> {
    let mut loader = Loader::default();
    loader.text("project.yaml", text.to_owned(), None);
    loader.check_references(&ExistingDefinitions {
        types: vec!["_media".to_owned(), "_tag".to_owned()],
        workflows: vec!["stored".to_owned()],
    });
    let diagnostics = loader.expander.diagnostics.0;
    if diagnostics.is_empty() {
        Ok(loader.project)
    } else {
        Err(diagnostics
            .into_iter()
            .map(|diagnostic| format!("{}: {}", diagnostic.location, diagnostic.message))
            .collect())
    }
}

/// Expands one property; returns its schema, its config and the required names.
fn expand(property: &str) -> (Value, Value, Value) {
    let text = format!("{{name: t, properties: {{f: {property}}}}}");
    let project =
        load_text(&text).unwrap_or_else(|diagnostics| panic!("{property}: {diagnostics:?}"));
    let payload = Value::Object(project.types[0].clone());
    (
        payload["schemaDefinition"]["allOf"][1]["properties"]["f"].clone(),
        payload["metaDefinition"]["propertiesConfig"]["f"].clone(),
        payload["schemaDefinition"]["required"].clone(),
    )
}

#[test]
fn property_types_expand_to_schema_and_config() {
    let link = json!({"$ref": "#/components/schemas/DataSource"});
    let table = [
        ("{type: text}", json!({"type": "string"}), json!({"inputType": "text"})),
        (
            "{type: text, required: true, unique: true, titlePart: true, helpText: h}",
            json!({"type": "string", "minLength": 1}),
            json!({"inputType": "text", "unique": true, "isTitlePart": true, "helpText": "h"}),
        ),
        (
            "{type: textarea, pattern: ^a, minLength: 3, maxLength: 9, default: abc}",
            json!({"type": "string", "minLength": 3, "maxLength": 9, "pattern": "^a", "default": "abc"}),
            json!({"inputType": "textarea"}),
        ),
        (
            "{type: markdown, hidden: true}",
            json!({"type": "string"}),
            json!({"inputType": "markdown", "hidden": true}),
        ),
        ("{type: textMarkdown}", json!({"type": "string"}), json!({"inputType": "textMarkdown"})),
        (
            "{type: richtext, readonly: true}",
            json!({"type": "string"}),
            json!({"inputType": "richtext", "readonly": true}),
        ),
        (
            "{type: email, pattern: x}",
            json!({"type": "string", "pattern": "x"}),
            json!({"inputType": "email"}),
        ),
        (
            "{type: dateTime, pattern: x, showTime: true}",
            json!({"type": "string", "pattern": "x"}),
            json!({"inputType": "dateTime", "showTime": true}),
        ),
        (
            "{type: number, minimum: 0, maximum: 9, convert: parse}",
            json!({"type": "number", "minimum": 0, "maximum": 9}),
            json!({"inputType": "number", "convert": "parse"}),
        ),
        (
            "{type: integer, required: true}",
            json!({"type": "integer"}),
            json!({"inputType": "number"}),
        ),
        (
            "{type: checkbox, default: true}",
            json!({"type": "boolean", "default": true}),
            json!({"inputType": "checkbox"}),
        ),
        (
            "{type: text, admin: {group: Prices}}",
            json!({"type": "string"}),
            json!({"inputType": "text", "admin": {"group": "Prices"}}),
        ),
        (
            "{type: radio, options: [a, b]}",
            json!({"type": "string"}),
            json!({"inputType": "radio", "options": ["a", "b"]}),
        ),
        (
            "{type: select, required: true, options: [a]}",
            json!({"type": "string", "minLength": 1}),
            json!({"inputType": "select", "options": ["a"], "multiple": false}),
        ),
        (
            "{type: select, multiple: true, options: [{value: a, label: A}]}",
            json!({"type": "array", "items": {"type": "string"}, "minItems": 0}),
            json!({"inputType": "select", "multiple": true, "options": [],
                "useOptionsWithLabels": true, "optionsWithLabels": [{"value": "a", "label": "A"}]}),
        ),
        (
            "{type: datasource, to: _tag, many: true, required: true}",
            json!({"type": "array", "items": link, "minItems": 1}),
            json!({"inputType": "datasource",
                "validation": {"relationMultiple": true, "relationContenttype": "_tag"}}),
        ),
        (
            "{type: datasource}",
            json!({"type": "array", "items": link, "minItems": 0}),
            json!({"inputType": "datasource",
                "validation": {"relationMultiple": false, "relationContenttype": ""}}),
        ),
        (
            "{type: object, items: {n: {type: text, required: true}}}",
            json!({"type": "array", "minItems": 0, "items": {"type": "object", "required": ["n"],
                "properties": {"n": {"type": "string", "minLength": 1}}}}),
            json!({"inputType": "object", "items": {"order": ["n"],
                "propertiesConfig": {"n": {"label": "N", "inputType": "text", "unique": false}}}}),
        ),
        (
            "{type: simpleList, minItems: 2}",
            json!({"type": "array", "items": {"type": "string"}, "minItems": 2}),
            json!({"inputType": "simpleList"}),
        ),
        (
            "{type: geo}",
            json!({"type": "object", "additionalProperties": false,
                "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}}),
            json!({"inputType": "geo"}),
        ),
        (
            "{type: geo, required: true}",
            json!({"type": "object", "additionalProperties": false, "required": ["lat", "lon"],
                "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}}),
            json!({"inputType": "geo"}),
        ),
    ];
    for (property, schema, config) in table {
        let (actual_schema, actual_config, required) = expand(property);
        assert_eq!(actual_schema, schema, "schema of {property}");
        let mut wanted = json!({"label": "F", "unique": false});
        wanted.as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
        assert_eq!(actual_config, wanted, "config of {property}");
        let is_required = property.contains("required: true") && !property.contains("items: {n");
        assert_eq!(required, if is_required { json!(["f"]) } else { json!([]) }, "{property}");
    }
}

#[test]
fn emails_and_dates_have_default_patterns() {
    for kind in ["email", "dateTime"] {
        let (schema, ..) = expand(&format!("{{type: {kind}}}"));
        assert!(schema["pattern"].as_str().is_some_and(|p| p.starts_with('^')), "{kind}");
    }
    let (schema, config, _) = expand("{type: block, blocks: [header]}");
    assert_eq!(
        schema["properties"]["blocks"]["items"]["properties"]["data"]["additionalProperties"],
        true
    );
    assert_eq!(config["blockEditorTypes"], json!(["header"]));
}

#[test]
fn types_expand_with_defaults() {
    let project = load_text(
        "version: 1\ncontentTypes:\n  - name: blog_post\n    slugs: {slug: title}\n    properties:\n      \
         title: {type: text}\n      slug: {type: text}\n",
    )
    .unwrap();
    let payload = Value::Object(project.types[0].clone());
    assert_eq!(payload["label"], "Blog post");
    assert_eq!(payload["workflowId"], "generic");
    assert_eq!(payload["draftPublic"], false);
    assert_eq!(payload["metaDefinition"]["order"], json!(["title", "slug"]));
    assert_eq!(payload["slugs"], json!([{"source": "title", "target": "slug", "active": true}]));
}

#[test]
fn hints_for_forms_expand_and_are_shortened_to_the_same() {
    let table = [
        ("single: true", json!({"single": true})),
        ("single: false", Value::Null),
        ("admin: {}", json!({})),
        ("admin: {group: Site}", json!({"group": "Site"})),
        ("admin: {single: false}", json!({"single": false})),
        ("single: true, admin: {group: Site}", json!({"group": "Site", "single": true})),
    ];
    for (keys, admin) in table {
        let text =
            format!("{{name: t, {keys}, properties: {{f: {{type: text, admin: {{x: 1}}}}}}}}");
        let payload = load_text(&text).unwrap().types.remove(0);
        assert_eq!(payload["metaDefinition"]["admin"], admin, "{keys}");
        let printed = print(&[content_type(payload.clone())], &[]);
        assert!(!printed.contains("schemaDefinition"), "the short form is complete:\n{printed}");
        assert_eq!(load_text(&printed).unwrap().types, [payload], "{keys}");
    }
}

#[test]
fn labels_follow_from_names() {
    let table = [
        ("name", "Name"),
        ("story_image", "Story image"),
        ("headerImage", "Header image"),
        ("__translations", "Translations"),
        ("_", ""),
    ];
    for (name, label) in table {
        assert_eq!(label::label(name), label);
    }
}

#[test]
fn errors_have_their_locations() {
    let table: [(&str, &[&str]); 23] = [
        (
            "version: 1\ncontentType: []\n",
            &["project.yaml:2:1: unknown key \"contentType\", did you mean \"contentTypes\"?"],
        ),
        ("version: 2\n", &["project.yaml:1:10: version 2 is not supported: use 1"]),
        ("contentTypes: []\n", &["project.yaml:1:1: \"version\" is missing: add \"version: 1\""]),
        ("version: 1\nversion: 1\n", &["project.yaml:2:1: the key \"version\" is repeated"]),
        ("version: 1\ncontentTypes: {}\n", &["project.yaml:2:15: {} is not valid: use a list"]),
        (
            "version: 1\nworkflows: [{id: a}, {id: generic, states: []}, {id: a, states: [x]}]\n",
            &[
                "project.yaml:2:13: \"states\" is missing",
                "project.yaml:2:27: workflow \"generic\" is built in and cannot be changed: use another id",
                "project.yaml:2:44: \"states\" is empty: add a state",
                "project.yaml:2:49: workflow \"a\" is already defined at project.yaml:2:13",
            ],
        ),
        (
            "version: 1\nworkflows:\n  - id: a\n    states: [draft, public]\n    initial: drft\n    transitions: [draft>pulic, draft, {froms: [public], tos: [draf]}]\n    transtions: []\n",
            &[
                "project.yaml:7:5: unknown key \"transtions\", did you mean \"transitions\"?",
                "project.yaml:5:14: unknown state \"drft\", did you mean \"draft\"?",
                "project.yaml:6:19: unknown state \"pulic\", did you mean \"public\"?",
                "project.yaml:6:32: transition \"draft\" is not valid: use \"from>to\"",
                "project.yaml:6:63: unknown state \"draf\", did you mean \"draft\"?",
            ],
        ),
        (
            "version: 1\nworkflows:\n  - id: \"b ad\"\n    name: \"\"\n    states: [a, a, \"x y\", 5, a_b, b_c, c]\n    transitions:\n    - a>c\n    - a > c\n    - a_b>c\n    - a>b_c\n    - {froms: [a], tos: [c, a]}\n    - {froms: [], tos: [7]}\n    - {froms: [c]}\n    - {froms: [c], tos: [a], name: go}\n  - {id: b, states: [], transitions: [a>b]}\n  - {id: c, states: x, transitions: [a>b]}\n",
            &[
                "project.yaml:3:9: workflow id \"b ad\" is not valid: use letters, digits, \"-\" and \"_\"",
                "project.yaml:4:11: \"name\" is empty",
                "project.yaml:5:27: 5 is not valid: use text",
                "project.yaml:5:17: state \"a\" is repeated",
                "project.yaml:5:20: state \"x y\" is not valid: use letters, digits, \"-\" and \"_\"",
                "project.yaml:8:7: transition a>c is repeated",
                "project.yaml:10:7: transition a>b_c has the same name as a_b>c: \"_a_b_c\"",
                "project.yaml:11:25: [\"c\",\"a\"] is not valid: use a list of one state",
                "project.yaml:12:15: [] is not valid: use a list of one state",
                "project.yaml:12:25: 7 is not valid: use text",
                "project.yaml:13:7: \"tos\" is missing",
                "project.yaml:14:36: transition name \"go\" is not valid: use \"_c_a\"",
                "project.yaml:15:21: \"states\" is empty: add a state",
                "project.yaml:16:21: \"x\" is not valid: use a list",
            ],
        ),
        ("version: 1\nworkflows: {}\n", &["project.yaml:2:12: {} is not valid: use a list"]),
        (
            "version: 1\nworkflows: [{id: editorial, states: [s]}]\ncontentTypes:\n  - {name: t, workflow: editoral, properties: {}}\n",
            &["project.yaml:4:25: unknown workflow \"editoral\", did you mean \"editorial\"?"],
        ),
        (
            "{name: t, workflow: storred, properties: {}}\n",
            &["project.yaml:1:21: unknown workflow \"storred\", did you mean \"stored\"?"],
        ),
        (
            "name: t\nproperties:\n  a: {type: txt, uniqe: true}\n  b: {type: text, requird: true}\n  c: {type: text, unique: yes please}\n",
            &[
                "project.yaml:3:13: unknown property type \"txt\", did you mean \"text\"?",
                "project.yaml:3:18: unknown key \"uniqe\", did you mean \"unique\"?",
                "project.yaml:4:19: unknown key \"requird\", did you mean \"required\"?",
                "project.yaml:5:27: \"yes please\" is not valid: use true or false",
            ],
        ),
        (
            "name: t\nproperties:\n  a: {type: number, convert: pars}\n  b: {type: number, convert: guess}\n  c: {type: text, renamedFrom: c}\n  d: {type: text, renamedFrom: 5}\n",
            &[
                "project.yaml:3:30: unknown conversion \"pars\", did you mean \"parse\"?",
                "project.yaml:4:30: unknown conversion \"guess\": use parse",
                "project.yaml:5:32: renamedFrom \"c\" is the property itself: use its old name",
                "project.yaml:6:32: 5 is not valid: use text",
            ],
        ),
        (
            "name: t\nproperties:\n  first name: {type: text}\n  é: {type: text}\n",
            &[
                "project.yaml:3:15: property name \"first name\" is not valid: use letters (a to z, A to Z), digits and \"_\"",
                "project.yaml:4:6: property name \"é\" is not valid: use letters (a to z, A to Z), digits and \"_\"",
            ],
        ),
        ("properties: {}\nname: \"\"\n", &["project.yaml:2:7: \"name\" is empty"]),
        (
            "- {name: blogPost, properties: {a: {type: datasource, to: blogPost}}}\n- {name: v2, properties: {}}\n",
            &[
                "project.yaml:1:10: type name \"blogPost\" is not valid: use lower-case letters (a to z) and \"_\"",
                "project.yaml:2:10: type name \"v2\" is not valid: use lower-case letters (a to z) and \"_\"",
            ],
        ),
        ("name: t\n", &["project.yaml:1:1: \"properties\" is missing"]),
        (
            "name: t\nsingle: 1\nadmin: x\nproperties: {a: {type: text, admin: [y]}}\n",
            &[
                "project.yaml:4:37: [\"y\"] is not valid: use a mapping",
                "project.yaml:3:8: \"x\" is not valid: use a mapping",
                "project.yaml:2:9: 1 is not valid: use true or false",
            ],
        ),
        (
            "name: t\nproperties: {a: {type: datasource, to: _tags}}\n",
            &["project.yaml:2:40: unknown content type \"_tags\", did you mean \"_tag\"?"],
        ),
        (
            "name: t\nproperties: {a: {type: object}}\n",
            &["project.yaml:2:17: \"items\" is missing"],
        ),
        (
            "- {name: t, properties: {}}\n- {name: t, properties: {}}\n",
            &["project.yaml:2:3: type \"t\" is already defined at project.yaml:1:3"],
        ),
        (
            "name: t\nschemaDefinition: {}\nmetaDefintion: {}\n",
            &["project.yaml:3:1: unknown key \"metaDefintion\", did you mean \"metaDefinition\"?"],
        ),
        (
            "version: 1\nkeys: [{name: w, kind: scopd, rules: {a: rx}}]\n",
            &[
                "project.yaml:2:24: unknown kind of key \"scopd\", did you mean \"scoped\"?",
                "project.yaml:2:42: right \"x\" in \"rx\" is not valid: use letters of \"crud\"",
                "project.yaml:2:8: \"rules\" do not match the kind: a scoped key needs them, other keys have none",
            ],
        ),
    ];
    for (text, wanted) in table {
        assert_eq!(load_text(text).map(|_| ()).unwrap_err(), wanted, "{text}");
    }
}

#[test]
fn types_may_be_in_separate_files() {
    let folder = tempfile::TempDir::new().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    write(
        "types/a.json",
        r#"{"name": "a", "label": "A", "schemaDefinition": {}, "metaDefinition": {}}"#,
    );
    let bad = write("types/b.yaml", "name: b\nproperties: {f: {type: txt}}\n");
    let good = write("p.yaml", "version: 1\ncontentTypes: [{file: types/a.json}]\n");
    let project = load(&[good], &ExistingDefinitions::default()).unwrap();
    assert_eq!(project.types[0]["label"], "A");

    let faulty =
        write("q.yml", "version: 1\ncontentTypes: [{file: types/b.yaml}, {file: none.yaml}]\n");
    let Err(Failure { kind: FailureKind::InvalidInput(diagnostics), .. }) =
        load(std::slice::from_ref(&faulty), &ExistingDefinitions::default())
    else {
        panic!("errors are reported");
    };
    let locations: Vec<&str> =
        diagnostics.iter().map(|diagnostic| diagnostic.location.as_str()).collect();
    assert_eq!(
        locations,
        [format!("{}:2:24", bad.display()), format!("{}:2:45", faulty.display())]
    );

    // A directory means its project files, without those of its subdirectories.
    let Err(failure) = load(&[folder.path().to_owned()], &ExistingDefinitions::default()) else {
        panic!("q.yml is in it")
    };
    assert!(
        matches!(failure.kind, FailureKind::InvalidInput(diagnostics) if diagnostics.len() == 2)
    );
}

#[test]
fn keys_are_read_with_their_rules() {
    let project = load_text(
        "version: 1\nkeys: [{name: web, kind: scoped, rules: {product: r, '*': crud}}]\n",
    )
    .unwrap();
    let rules = project.keys[0]["rules"].clone();
    assert_eq!(
        rules[0],
        json!({"ctd": "product", "create": false, "read": true, "update": false, "delete": false})
    );
    assert_eq!(
        rules[1],
        json!({"ctd": "*", "create": true, "read": true, "update": true, "delete": true})
    );
}

/// The content type of a payload.
fn content_type(payload: Map<String, Value>) -> ContentType {
    let mut all = json!({
        "id": "i", "featuredImage": [], "deletedAt": null, "createdAt": "", "updatedAt": null,
    });
    all.as_object_mut().unwrap().extend(payload);
    serde_json::from_value(all).unwrap()
}

const EVERYTHING: &str = "
version: 1
contentTypes:
  - name: product
    label: Goods
    draftPublic: true
    slugs: {slug: title}
    applyDefaults: true
    uniqueTogether: [[slug, kind], [title, price]]
    properties:
      title: {type: text, label: Name, required: true, unique: true, titlePart: true}
      slug: {type: text, pattern: '^[a-z-]*$', minLength: 2}
      mail: {type: email, maxLength: 80}
      price: {type: number, minimum: 0}
      count: {type: integer}
      when: {type: dateTime, showTime: true}
      sizes: {type: select, options: [S, M], multiple: true}
      kind: {type: radio, options: [a]}
      level: {type: select, options: [{value: a, label: A}]}
      tags: {type: datasource, to: _tag, many: true, minItems: 2}
      location: {type: geo, required: true}
      body: {type: block, blocks: [header, list]}
      words: {type: simpleList}
      sold: {type: checkbox, default: false}
      parts: {type: object, items: {name: {type: text, required: true}, pic: {type: datasource, to: _media}}}
";

#[test]
fn expanded_types_are_shortened_to_the_same() {
    let payload = load_text(EVERYTHING).unwrap().types.remove(0);
    let printed = print(&[content_type(payload.clone())], &[]);
    assert!(!printed.contains("schemaDefinition"), "the short form is complete:\n{printed}");
    assert_eq!(load_text(&printed).unwrap().types, [payload]);
}

#[test]
fn types_without_a_short_form_stay_in_the_api_form() {
    let mut payload =
        load_text("{name: t, properties: {f: {type: text}}}").unwrap().types.remove(0);
    payload["metaDefinition"]["propertiesConfig"]["f"]["isPassword"] = json!(true);
    let printed = print(&[content_type(payload.clone())], &[]);
    assert!(printed.contains("isPassword: true"), "{printed}");
    assert_eq!(load_text(&printed).unwrap().types, [payload]);
}

#[test]
fn workflows_expand_and_are_shortened_to_the_same() {
    let project = load_text(
        "version: 1\nworkflows:\n  - {id: plain, states: [only]}\n  - id: full\n    name: Full\n    \
         initial: b\n    states: [a, b]\n    transitions: [a>b, b > a]\n",
    )
    .unwrap();
    let wanted = [
        json!({"id": "plain", "name": "plain", "initial_state": "only", "states": ["only"],
            "transitions": []}),
        json!({"id": "full", "name": "Full", "initial_state": "b", "states": ["a", "b"],
        "transitions": [
            {"name": "_a_b", "froms": ["a"], "tos": ["b"]},
            {"name": "_b_a", "froms": ["b"], "tos": ["a"]},
        ]}),
    ];
    assert_eq!(json!(project.workflows), json!(wanted));

    // The API form is allowed too, and built-in workflows are not written.
    let sent = json!({"version": 1, "workflows": wanted}).to_string();
    assert_eq!(load_text(&sent).unwrap().workflows, project.workflows);
    let mut workflows: Vec<Workflow> =
        wanted.into_iter().map(|value| serde_json::from_value(value).unwrap()).collect();
    workflows.push(Workflow { id: "generic".to_owned(), ..workflows[0].clone() });
    let printed = print(&[], &workflows);
    assert!(printed.contains("- a>b") && !printed.contains("generic"), "{printed}");
    assert_eq!(load_text(&printed).unwrap().workflows, project.workflows);
}

#[test]
fn schema_of_project_files_lists_all_property_types() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let listed = &schema["$defs"]["property"]["properties"]["type"]["enum"];
    for kind in expand::PROPERTY_KINDS {
        assert!(listed.as_array().unwrap().contains(&json!(kind.name)), "{}", kind.name);
    }
    assert_eq!(listed.as_array().unwrap().len(), expand::PROPERTY_KINDS.len());
    let keys = schema["$defs"]["contentType"]["properties"].as_object().unwrap().keys();
    assert_eq!(keys.collect::<Vec<_>>(), expand::TYPE_KEYS);
    let keys = schema["$defs"]["workflow"]["properties"].as_object().unwrap().keys();
    assert_eq!(keys.collect::<Vec<_>>(), workflow::KEYS);
}
