//! What changed between two definitions, property by property.

use std::collections::HashMap;

use serde_json::Value;

use super::model::{Definition, InputType, Property};
use crate::wire::plan::Change;

/// A property that is not the same in both definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PropertyDiff {
    pub(crate) name: String,
    pub(crate) change: Change,
    /// `type/inputType` before; none for an added property.
    pub(crate) from: Option<String>,
    /// `type/inputType` after; none for a removed property.
    pub(crate) to: Option<String>,
    /// Stored objects may lack a value that is required from now on.
    pub(crate) newly_required: bool,
}

/// Compares two definitions: changed and added properties in the new order, then removed ones.
///
/// A property with another name is another property.
pub(crate) fn diff(before: &Definition, after: &Definition) -> Vec<PropertyDiff> {
    let (old, new) = (before.properties(), after.properties());
    let old_by_name: HashMap<_, _> = old.iter().map(|p| (p.name.as_str(), p)).collect();
    let new_by_name: HashMap<_, _> = new.iter().map(|p| (p.name.as_str(), p)).collect();

    let mut changes = Vec::new();
    for property in &new {
        let (change, from, newly_required) = match old_by_name.get(property.name.as_str()) {
            None => (Change::Add, None, property.required),
            Some(old) => {
                let change = if changes_type(old, property) {
                    Change::Type
                } else if is_same(&property.name, old.required == property.required, before, after)
                {
                    continue;
                } else {
                    Change::Settings
                };
                (change, Some(old.kind()), property.required && !old.required)
            }
        };
        let (name, to) = (property.name.clone(), Some(property.kind()));
        changes.push(PropertyDiff { name, change, from, to, newly_required });
    }
    let removed = old.iter().filter(|old| !new_by_name.contains_key(old.name.as_str()));
    changes.extend(removed.map(|old| PropertyDiff {
        name: old.name.clone(),
        change: Change::Remove,
        from: Some(old.kind()),
        to: None,
        newly_required: false,
    }));
    changes
}

/// Tells whether stored values would have to be converted, here or in a nested property.
fn changes_type(old: &Property, new: &Property) -> bool {
    let pair = |property: &Property| (property.schema_type, without_synonym(property.input_type));
    pair(old) != pair(new) || common(old, new).any(|(old, new)| changes_type(old, new))
}

/// `markdown` and `textMarkdown` are one input type in two spellings (contract 2.5).
fn without_synonym(input_type: InputType) -> InputType {
    if input_type == InputType::Markdown { InputType::TextMarkdown } else { input_type }
}

/// Pairs of nested properties that have the same name.
fn common<'a>(
    old: &'a Property,
    new: &'a Property,
) -> impl Iterator<Item = (&'a Property, &'a Property)> {
    new.nested.iter().filter_map(|new| {
        let old = old.nested.iter().find(|old| old.name == new.name)?;
        Some((old, new))
    })
}

fn is_same(name: &str, same_required: bool, before: &Definition, after: &Definition) -> bool {
    same_required && sent(before, name) == sent(after, name)
}

/// Schema and config of a property as they were sent.
fn sent<'a>(definition: &'a Definition, name: &str) -> (&'a Value, &'a Value) {
    (
        &definition.schema_definition["allOf"][1]["properties"][name],
        &definition.meta_definition["propertiesConfig"][name],
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{ctd::parse, testing::table::Table, workflow::model::WorkflowSet};

    const SCHEMAS: &str = "/schemaDefinition/allOf/1/properties";
    const CONFIGS: &str = "/metaDefinition/propertiesConfig";

    fn parsed(payload: &Value) -> Definition {
        parse::definition(payload.as_object().unwrap(), None, &WorkflowSet::built_in())
            .expect("the definition is valid")
    }

    /// Spoils the base payload of the table and describes the changes.
    fn changes(spoil: impl FnOnce(&mut Value)) -> Vec<String> {
        let base = Table::read("ctd_messages").base;
        let mut changed = base.clone();
        spoil(&mut changed);
        let describe = |c: PropertyDiff| {
            let kind = |kind: Option<String>| kind.unwrap_or_else(|| "-".to_owned());
            let mark = if c.newly_required { " required" } else { "" };
            format!("{:?} {} {} {}{mark}", c.change, c.name, kind(c.from), kind(c.to))
        };
        diff(&parsed(&base), &parsed(&changed)).into_iter().map(describe).collect()
    }

    fn at<'a>(payload: &'a mut Value, pointer: &str) -> &'a mut Value {
        payload.pointer_mut(pointer).expect("the base payload has it")
    }

    #[test]
    fn equal_definitions_have_no_changes() {
        assert!(changes(|_| {}).is_empty());
        let reordered = changes(|payload| {
            at(payload, "/metaDefinition/order").as_array_mut().unwrap().reverse();
        });
        assert!(reordered.is_empty());
    }

    #[test]
    fn settings_are_whatever_is_sent_with_a_property() {
        let found = changes(|payload| {
            at(payload, CONFIGS)["score"]["helpText"] = json!("Points");
            at(payload, SCHEMAS)["kind"]["default"] = json!("a");
            at(payload, "/schemaDefinition")["required"] = json!(["words"]);
        });
        let expected = [
            "Settings title string/text string/text",
            "Settings score number/number number/number",
            "Settings kind string/radio string/radio",
            "Settings words array/simpleList array/simpleList required",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_renamed_property_is_removed_and_added() {
        let found = changes(|payload| {
            *payload =
                serde_json::from_str(&payload.to_string().replace("words", "terms")).unwrap();
            at(payload, "/schemaDefinition")["required"] = json!(["title", "terms"]);
        });
        let expected = ["Add terms - array/simpleList required", "Remove words array/simpleList -"];
        assert_eq!(found, expected);
    }

    #[test]
    fn another_pair_is_another_type_at_every_depth() {
        let found = changes(|payload| {
            at(payload, SCHEMAS)["score"]["type"] = json!("string");
            at(payload, CONFIGS)["score"]["inputType"] = json!("text");
            at(payload, SCHEMAS)["rows"]["items"]["properties"]["cell"] = json!({"type": "number"});
            at(payload, CONFIGS)["rows"]["items"]["propertiesConfig"]["cell"]["inputType"] =
                json!("number");
        });
        let expected =
            ["Type score number/number string/text", "Type rows array/object array/object"];
        assert_eq!(found, expected);
    }

    #[test]
    fn nested_changes_are_settings() {
        let found = changes(|payload| {
            at(payload, SCHEMAS)["rows"]["items"]["required"] = json!(["cell", "images"]);
        });
        assert_eq!(found, ["Settings rows array/object array/object"]);
    }

    #[test]
    fn the_two_spellings_of_markdown_are_one_type() {
        let spelt = |spelling: &str| {
            let mut payload = Table::read("ctd_messages").base;
            at(&mut payload, CONFIGS)["title"]["inputType"] = json!(spelling);
            parsed(&payload)
        };
        let found = diff(&spelt("markdown"), &spelt("textMarkdown"));
        assert_eq!(found[0].change, Change::Settings);
    }
}
