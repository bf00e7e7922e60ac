//! Differences between two definitions, per property.

use std::collections::HashSet;

use super::{
    model::{Definition, InputType, Property},
    nested::PropertyJson,
};
use crate::wire::plan::PropertyChange;

/// A property that differs between two definitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PropertyDiff<'a> {
    pub change: PropertyChange,
    /// The removed property, or the property whose stored values `new` takes over (for a rename, the property with the
    /// former name). None if `new` takes over no values.
    ///
    /// A plan shows a rename as an added row (`change` is `Add`) with `renamedFrom`; if the values are
    /// converted too, `change` is `Type`.
    pub old: Option<&'a Property>,
    /// None for a removed property.
    pub new: Option<&'a Property>,
}

impl PropertyDiff<'_> {
    /// Returns whether the change makes the property required.
    pub fn newly_required(&self) -> bool {
        self.new.is_some_and(|new| new.required && !self.old.is_some_and(|old| old.required))
    }

    /// Returns whether stored values move to another name.
    pub fn is_renamed(&self) -> bool {
        self.old.zip(self.new).is_some_and(|(old, new)| old.name != new.name)
    }

    /// Returns whether values of the property may have to be written: true for each added property, and for others if
    /// stored values are converted or filled in.
    pub fn converts(&self) -> bool {
        self.new.is_some_and(|new| self.old.is_none_or(|old| converts(old, new)))
    }
}

/// Compares two definitions: changed and added properties in the new order, then removed ones.
///
/// A property with another name is another property, unless it has `renamedFrom`.
pub fn diff<'a>(
    (before, old): (&Definition, &'a [Property]),
    (after, new): (&Definition, &'a [Property]),
) -> Vec<PropertyDiff<'a>> {
    let mut changes = Vec::new();
    let mut sources = HashSet::new();
    for property in new {
        let source = source(property, old, new);
        sources.extend(source.map(|old| old.name.as_str()));
        let json = |definition| PropertyJson::of(definition, &property.name);
        let change = match source {
            None => PropertyChange::Add,
            Some(old) if rewrites_values(old, property) => PropertyChange::Type,
            Some(old) if old.name != property.name => PropertyChange::Add,
            Some(old) if old.required == property.required && json(before) == json(after) => {
                continue;
            }
            Some(_) => PropertyChange::Settings,
        };
        changes.push(PropertyDiff { change, old: source, new: Some(property) });
    }
    let removed = old.iter().filter(|old| !sources.contains(old.name.as_str()));
    changes.extend(removed.map(|old| PropertyDiff {
        change: PropertyChange::Remove,
        old: Some(old),
        new: None,
    }));
    changes
}

/// Returns the property whose stored values a property takes over: the one with its name, or the
/// removed one in `renamedFrom`. `renamedFrom` has no effect if the old type lacks a property of that
/// name, because the rename is already done, or if the new type still has one.
pub(super) fn source<'a>(
    property: &Property,
    old: &'a [Property],
    new: &[Property],
) -> Option<&'a Property> {
    let named = |name: &str| old.iter().find(|old| old.name == name);
    let renamed = || {
        let name = property.conversion.renamed_from.as_deref()?;
        named(name).filter(|_| new.iter().all(|new| new.name != name))
    };
    named(&property.name).or_else(renamed)
}

/// Returns whether stored values have to be read, to convert them or to fill in missing ones.
pub(super) fn converts(old: &Property, new: &Property) -> bool {
    rewrites_values(old, new)
        || (new.required && !old.required && new.conversion.backfill.is_some())
}

/// Returns whether stored values change: the type changes, here or in a nested property, or a nested
/// property is removed or renamed.
fn rewrites_values(old: &Property, new: &Property) -> bool {
    if !has_same_kind(old, new) {
        return true;
    }
    // Without nested properties, the schema alone describes a custom value.
    if new.nested.is_empty() {
        return false;
    }
    let sources: Vec<_> = new
        .nested
        .iter()
        .map(|property| (source(property, &old.nested, &new.nested), property))
        .collect();
    let is_kept = |old: &Property| {
        sources.iter().any(|(source, _)| source.is_some_and(|source| source.name == old.name))
    };
    !old.nested.iter().all(is_kept)
        || sources.into_iter().any(|(old, new)| match old {
            Some(old) => old.name != new.name || converts(old, new),
            None => new.required && new.conversion.backfill.is_some(),
        })
}

/// Returns whether the types are the same, except for synonyms.
pub(super) fn has_same_kind(old: &Property, new: &Property) -> bool {
    let pair = |property: &Property| (property.schema_type, without_synonym(property.input_type));
    pair(old) == pair(new)
}

/// `markdown` and `textMarkdown` are synonyms.
fn without_synonym(input_type: InputType) -> InputType {
    if input_type == InputType::Markdown { InputType::TextMarkdown } else { input_type }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{content_type::parse, testing::table::Table, workflow::model::WorkflowSet};

    const SCHEMAS: &str = "/schemaDefinition/allOf/1/properties";
    const CONFIGS: &str = "/metaDefinition/propertiesConfig";

    fn parsed(payload: &Value) -> Definition {
        parse::definition(payload.as_object().unwrap(), None, &WorkflowSet::built_in())
            .expect("the definition is valid")
    }

    /// Describes the differences after an edit of the base payload.
    fn changes(edit: impl FnOnce(&mut Value)) -> Vec<String> {
        let base = Table::read("ctd_messages").base;
        let mut changed = base.clone();
        edit(&mut changed);
        let describe = |c: PropertyDiff| {
            let kind = |p: Option<&Property>| p.map_or_else(|| "-".to_owned(), Property::kind);
            let name = &c.new.or(c.old).expect("a difference has an old or a new property").name;
            let mark = if c.newly_required() { " required" } else { "" };
            let from = if c.is_renamed() { " renamed" } else { "" };
            format!("{:?} {name} {} {}{from}{mark}", c.change, kind(c.old), kind(c.new))
        };
        let (base, changed) = (parsed(&base), parsed(&changed));
        let (old, new) = (base.properties(), changed.properties());
        diff((&base, &old), (&changed, &new)).into_iter().map(describe).collect()
    }

    fn at<'a>(payload: &'a mut Value, pointer: &str) -> &'a mut Value {
        payload.pointer_mut(pointer).expect("the base payload has it")
    }

    #[test]
    fn diff_of_equal_definitions_is_empty() {
        assert!(changes(|_| {}).is_empty());
        let reordered = changes(|payload| {
            at(payload, "/metaDefinition/order").as_array_mut().unwrap().reverse();
        });
        assert!(reordered.is_empty());
    }

    #[test]
    fn diff_reports_changes_of_schema_and_config_as_settings() {
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
    fn property_with_another_name_is_removed_and_added() {
        let found = changes(|payload| {
            *payload =
                serde_json::from_str(&payload.to_string().replace("words", "terms")).unwrap();
            at(payload, "/schemaDefinition")["required"] = json!(["title", "terms"]);
        });
        let expected = ["Add terms - array/simpleList required", "Remove words array/simpleList -"];
        assert_eq!(found, expected);
    }

    #[test]
    fn diff_reports_type_changes_at_every_depth() {
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
    fn diff_reports_nested_changes_as_settings() {
        let found = changes(|payload| {
            at(payload, SCHEMAS)["rows"]["items"]["required"] = json!(["cell", "images"]);
        });
        assert_eq!(found, ["Settings rows array/object array/object"]);
    }

    #[test]
    fn markdown_synonyms_are_one_type() {
        let spelt = |spelling: &str| {
            let mut payload = Table::read("ctd_messages").base;
            at(&mut payload, CONFIGS)["title"]["inputType"] = json!(spelling);
            parsed(&payload)
        };
        let (before, after) = (spelt("markdown"), spelt("textMarkdown"));
        let (old, new) = (before.properties(), after.properties());
        let found = diff((&before, &old), (&after, &new));
        assert_eq!(found[0].change, PropertyChange::Settings);
    }
}
