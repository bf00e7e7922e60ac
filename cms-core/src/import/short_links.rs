//! Short links in files: an id in place of a link, where the relation has one target type (see
//! docs/cli.md#links-in-files). The API takes complete links only.

use serde_json::{Map, Value};

use cms_model::{
    error::FieldErrors,
    object::{link, path::ValuePath},
    wire::content_type::ContentType,
};

const NEEDS_LINK: &str =
    "This value needs a link with type and dataUrl: the relation allows every content type";

/// Replaces texts in relations by links, in the published version of an exported object too; returns
/// errors for texts in relations without a target type.
pub fn expand_links(content_type: &ContentType, object: &mut Map<String, Value>) -> FieldErrors {
    let mut errors = FieldErrors::default();
    let root = ValuePath::Root;
    let configs = &content_type.meta_definition["propertiesConfig"];
    expand(configs, object, &root, &mut errors);
    let published = object.get_mut("internal").and_then(|internal| internal.get_mut("published"));
    if let Some(Value::Object(published)) = published {
        expand(configs, published, &root.key("internal").key("published"), &mut errors);
    }
    errors
}

/// Expands the properties of one level.
fn expand(
    configs: &Value,
    object: &mut Map<String, Value>,
    parent: &ValuePath<'_>,
    errors: &mut FieldErrors,
) {
    for (name, value) in object {
        let (config, path) = (&configs[name.as_str()], parent.key(name));
        match (config["inputType"].as_str(), value) {
            (Some("datasource"), value) => {
                let target = config["validation"]["relationContenttype"].as_str();
                expand_relation(target.unwrap_or_default(), value, &path, errors);
            }
            (Some("object"), Value::Array(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Value::Object(item) = item {
                        let nested = &config["items"]["propertiesConfig"];
                        expand(nested, item, &path.index(index), errors);
                    }
                }
            }
            (Some("custom"), Value::Object(nested)) => {
                expand(&config["propertiesConfig"], nested, &path, errors);
            }
            _ => {}
        }
    }
}

/// Expands the value of a relation to objects of the type `target`, or of any type if `target` is
/// empty.
fn expand_relation(
    target: &str,
    value: &mut Value,
    path: &ValuePath<'_>,
    errors: &mut FieldErrors,
) {
    match value {
        Value::String(_) if target.is_empty() => errors.add(path.to_string(), NEEDS_LINK),
        Value::String(text) if text.is_empty() => *value = Value::Array(Vec::new()),
        Value::String(text) => *value = Value::Array(vec![link::from_text(target, text)]),
        Value::Array(items) => {
            if target.is_empty() {
                for (index, _) in items.iter().enumerate().filter(|(_, item)| item.is_string()) {
                    errors.add(path.index(index).to_string(), NEEDS_LINK);
                }
                return;
            }
            items.retain(|item| item != "");
            for item in items {
                if let Value::String(text) = item {
                    *item = link::from_text(target, text);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn content_type() -> ContentType {
        let relation = |target: &str| json!({"inputType": "datasource", "validation": {"relationContenttype": target}});
        let nested = json!({"person": relation("author"), "any": relation("")});
        serde_json::from_value(json!({
            "id": "", "name": "post", "label": "", "workflowId": "generic", "draftPublic": false,
            "internal": false, "featuredImage": [], "deletedAt": null, "createdAt": "",
            "updatedAt": null, "slugs": [], "schemaDefinition": {},
            "metaDefinition": {"propertiesConfig": {
                "title": {"inputType": "text"},
                "author": relation("author"),
                "any": relation(""),
                "list": {"inputType": "object", "items": {"propertiesConfig": nested}},
                "box": {"inputType": "custom", "propertiesConfig": nested},
            }},
        }))
        .unwrap()
    }

    fn expanded(value: &Value) -> std::result::Result<Value, FieldErrors> {
        let mut object = value.as_object().unwrap().clone();
        let errors = expand_links(&content_type(), &mut object);
        if errors.is_empty() { Ok(Value::Object(object)) } else { Err(errors) }
    }

    fn link(id: &str) -> Value {
        json!({"type": "internal", "dataUrl": format!("/api/v1/content/author/{id}")})
    }

    #[test]
    fn texts_of_a_relation_become_links() {
        let path = "/api/v1/content/author/ada%20b";
        let external = json!({"type": "external", "dataUrl": "https://example.com"});
        for (value, wanted) in [
            (json!("ada"), json!([link("ada")])),
            (json!(["ada"]), json!([link("ada")])),
            (json!([link("x y"), "ada", external]), json!([link("x y"), link("ada"), external])),
            (json!(""), json!([])),
            (json!([""]), json!([])),
            (json!([]), json!([])),
            (json!("A-b_c.9"), json!([link("A-b_c.9")])),
            (json!("a b/c?%20’"), json!([link("a%20b%2Fc%3F%2520%E2%80%99")])),
            (json!(path), json!([{"type": "internal", "dataUrl": path}])),
            (json!("/author/ada"), json!([link("%2Fauthor%2Fada")])),
            (json!(5), json!(5)),
            (json!(null), json!(null)),
            (link("ada"), link("ada")),
        ] {
            let sent = |author: &Value| {
                json!({
                    "id": "a", "title": "ada", "author": author, "unknown": "ada",
                    "list": [{"person": author}, "ada"], "box": {"person": author},
                    "internal": {"published": {"author": author}},
                })
            };
            assert_eq!(expanded(&sent(&value)), Ok(sent(&wanted)), "{value}");
        }
    }

    #[test]
    fn text_without_a_target_type_is_refused() {
        let sent = json!({
            "any": "ada", "author": "ada", "box": {"any": [link("ada"), "ada"]},
            "list": [{"any": []}, {"any": ""}], "internal": {"published": {"any": ["x"]}},
        });
        let errors = expanded(&sent).unwrap_err();
        let found: Vec<_> = errors.iter().map(|(path, messages)| (path, messages.len())).collect();
        let paths = ["any", "box.any[1]", "list[1].any", "internal.published.any[0]"];
        assert_eq!(found, paths.map(|path| (path, 1)));
        assert_eq!(errors.at("any"), [NEEDS_LINK]);
    }
}
