//! Differences between nested properties, by path, for plans.
//!
//! Stored values are counted per top-level property ([`super::rewrite`]).

use serde_json::Value;

use super::{
    diff::{PropertyDiff, has_same_kind, source},
    model::{Definition, Property},
    stored_level::StoredLevel,
};
use crate::wire::plan::{NestedPlan, PropertyChange};

/// Schema and config of a property as JSON.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct PropertyJson<'a> {
    schema: &'a Value,
    config: &'a Value,
    is_required: bool,
}

impl<'a> PropertyJson<'a> {
    pub(super) fn of(definition: &'a Definition, name: &str) -> Self {
        Self::at(StoredLevel::of(definition), name, false)
    }

    /// A nested property.
    fn member(self, parent: &Property, property: &Property) -> Self {
        let level = StoredLevel::nested(parent, self.schema, self.config);
        Self::at(level, &property.name, property.required)
    }

    fn at(level: StoredLevel<'a>, name: &str, is_required: bool) -> Self {
        Self { schema: &level.schemas[name], config: &level.configs[name], is_required }
    }
}

/// Returns the differences inside a property: changed and added properties in the new order, then
/// removed ones; none if the property itself changes its type.
pub fn changes(
    diff: &PropertyDiff<'_>,
    before: &Definition,
    after: &Definition,
) -> Vec<NestedPlan> {
    let Some((old, new)) = diff.old.zip(diff.new) else { return Vec::new() };
    let mut found = Vec::new();
    let json = (PropertyJson::of(before, &old.name), PropertyJson::of(after, &new.name));
    collect((old, new), json, &new.name, &mut found);
    found
}

fn collect(
    (old, new): (&Property, &Property),
    (json_before, json_after): (PropertyJson<'_>, PropertyJson<'_>),
    path: &str,
    found: &mut Vec<NestedPlan>,
) {
    if new.nested.is_empty() || !has_same_kind(old, new) {
        return;
    }
    let mut sources = Vec::new();
    for property in &new.nested {
        let name = format!("{path}.{}", property.name);
        let Some(stored) = source(property, &old.nested, &new.nested) else {
            found.push(planned(name, PropertyChange::Add, None, Some(property)));
            continue;
        };
        sources.push(stored.name.as_str());
        let json = (json_before.member(old, stored), json_after.member(new, property));
        let is_renamed = stored.name != property.name;
        let before = found.len();
        collect((stored, property), json, &name, found);
        let change = if !has_same_kind(stored, property) {
            PropertyChange::Type
        } else if is_renamed {
            PropertyChange::Add
        } else if json.0 != json.1 && found.len() == before {
            PropertyChange::Settings
        } else {
            continue;
        };
        found.insert(before, planned(name, change, Some(stored), Some(property)));
    }
    for removed in old.nested.iter().filter(|old| !sources.contains(&old.name.as_str())) {
        let name = format!("{path}.{}", removed.name);
        found.push(planned(name, PropertyChange::Remove, Some(removed), None));
    }
}

fn planned(
    name: String,
    change: PropertyChange,
    old: Option<&Property>,
    new: Option<&Property>,
) -> NestedPlan {
    let renamed = old.zip(new).filter(|(old, new)| old.name != new.name);
    NestedPlan {
        name,
        change,
        from: old.map(Property::kind),
        to: new.map(Property::kind),
        renamed_from: renamed.map(|(old, _)| old.name.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        content_type::{diff::diff, parse},
        workflow::model::WorkflowSet,
    };

    /// A type with a list `rows`, from the schemas and configs of its items.
    fn definition(schemas: &Value, configs: &Value, required: &Value) -> Definition {
        let payload = json!({
            "name": "t", "label": "T", "workflowId": "generic",
            "schemaDefinition": {
                "type": "object",
                "allOf": [
                    { "$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition" },
                    { "type": "object", "properties": { "rows": {
                        "type": "array",
                        "items": { "type": "object", "properties": schemas, "required": required },
                    } } },
                ],
                "required": [],
                "additionalProperties": false,
            },
            "metaDefinition": {
                "order": ["rows"],
                "propertiesConfig": { "rows": {
                    "label": "Rows", "inputType": "object", "unique": false,
                    "items": { "order": names(configs), "propertiesConfig": configs },
                } },
            },
        });
        let set = WorkflowSet::built_in();
        parse::definition(payload.as_object().unwrap(), None, &set)
            .expect("the definition is valid")
    }

    fn names(configs: &Value) -> Vec<&String> {
        configs.as_object().unwrap().keys().collect()
    }

    fn config(input_type: &str) -> Value {
        json!({ "label": "L", "inputType": input_type, "unique": false })
    }

    fn changes_between(before: &Definition, after: &Definition) -> Vec<String> {
        let (old, new) = (before.properties(), after.properties());
        let diffs = diff((before, &old), (after, &new));
        let found = diffs.iter().flat_map(|diff| changes(diff, before, after));
        found
            .map(|nested| {
                let kind = |kind: Option<String>| kind.unwrap_or_else(|| "-".to_owned());
                let NestedPlan { name, change, from, to, renamed_from } = nested;
                let from_name = renamed_from.map(|old| format!(" was {old}")).unwrap_or_default();
                format!("{change:?} {name} {} {}{from_name}", kind(from), kind(to))
            })
            .collect()
    }

    #[test]
    fn nested_changes_have_paths() {
        let before = definition(
            &json!({"a": {"type": "string"}, "b": {"type": "number"}, "c": {"type": "string"},
                "d": {"type": "string"}, "e": {"type": "string"}, "m": {"type": "string"}}),
            &json!({"a": config("text"), "b": config("number"), "c": config("text"),
                "d": config("text"), "e": config("text"), "m": config("markdown")}),
            &json!([]),
        );
        assert!(changes_between(&before, &before).is_empty());
        let mut renamed = config("text");
        renamed["renamedFrom"] = json!("c");
        let after = definition(
            &json!({"a": {"type": "number"}, "n": {"type": "number"}, "new": {"type": "string"},
                "d": {"type": "string", "minLength": 2}, "e": {"type": "string"}, "m": {"type": "string"}}),
            &json!({"a": config("number"), "n": config("number"), "new": renamed,
                "d": config("text"), "e": config("text"), "m": config("textMarkdown")}),
            &json!(["e"]),
        );
        assert_eq!(
            changes_between(&before, &after),
            [
                "Type rows.a string/text number/number",
                "Add rows.n - number/number",
                "Add rows.new string/text string/text was c",
                "Settings rows.d string/text string/text",
                "Settings rows.e string/text string/text",
                "Settings rows.m string/markdown string/textMarkdown",
                "Remove rows.b number/number -",
            ]
        );
    }
}
