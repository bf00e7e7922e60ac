//! Rewrites stored objects after a change of their type, and counts the effects for the plan.
//!
//! A [`Rewrite`] is created per change and processes every stored version of every object. It
//! parses only the properties that the change affects ([`super::convert`] converts them), validates
//! only what the change can make invalid (docs/reference/content-types.md#replace-a-content-type),
//! and copies the rest. It knows no storage: the service reads the objects and stores the rewritten
//! versions.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    combinations::{self, Combinations},
    convert::{Converted, ValueOutcome, convert, is_none_or_empty, remove},
    diff::{self, PropertyDiff},
    model::{CONFIGS_PATH, Definition, Property},
    schema::{self, PropertySchema},
    tightened::Tightened,
};
use crate::{
    error::{Error, FieldErrors, Result},
    json, limits, message,
    object::{
        link,
        model::object_bytes,
        path::ValuePath,
        title::object_title,
        validate::{validate_schema, validate_value},
    },
    pattern::StepBudget,
    wire::plan::{PropertyChange, PropertyPlan, ValueSample},
};

/// Maximum number of samples per property in a plan.
const MAX_SAMPLES: usize = 20;

/// A change of a type, applied to its objects one by one.
pub struct Rewrite<'a> {
    steps: Vec<PropertyStep<'a>>,
    /// Index into `steps` by the name of the stored property.
    by_source: HashMap<&'a str, usize>,
    /// The properties of the new definition.
    pub properties: &'a [Property],
    /// The title properties or their values change.
    pub titles_change: bool,
    combinations: Combinations,
    /// An object exceeds the maximum size because of the change.
    has_oversized: bool,
    /// Errors that prevent the change.
    pub blockers: FieldErrors,
}

/// A version of an object, converted to the changed type.
pub struct RewrittenVersion {
    pub title: String,
    /// The properties as JSON.
    pub data: String,
}

impl<'a> Rewrite<'a> {
    /// Prepares the change from a definition with its properties to another one.
    pub fn new(
        (old_definition, before): (&Definition, &'a [Property]),
        (definition, properties): (&Definition, &'a [Property]),
    ) -> Self {
        let diffs = diff::diff((old_definition, before), (definition, properties));
        let schemas = [old_definition, definition].map(Definition::own_schemas);
        let steps: Vec<_> = diffs.iter().map(|diff| PropertyStep::new(*diff, schemas)).collect();
        let by_source =
            steps.iter().enumerate().map(|(index, step)| (step.source, index)).collect();
        let parts = |properties: &'a [Property]| {
            let parts = properties.iter().filter(|property| property.title_part);
            parts.map(|property| property.name.as_str())
        };
        let titles_change = !parts(before).eq(parts(properties))
            || steps.iter().any(|step| {
                step.rewrites() && step.old_and_new().any(|property| property.title_part)
            });
        let alters = |name: &str| combinations::alters(&diffs, name);
        Self {
            steps,
            by_source,
            properties,
            titles_change,
            combinations: Combinations::new(
                (old_definition, before),
                (definition, properties),
                alters,
            ),
            has_oversized: false,
            blockers: FieldErrors::default(),
        }
    }

    /// Returns the differences between the definitions.
    pub fn diffs(&self) -> Vec<PropertyDiff<'a>> {
        self.steps.iter().map(|step| step.diff).collect()
    }

    /// Returns whether stored objects have to be read.
    pub fn reads_objects(&self) -> bool {
        self.titles_change
            || !self.combinations.is_empty()
            || self.steps.iter().any(PropertyStep::may_affect_values)
    }

    /// Returns whether the change affects stored values of a property for which `condition` is true.
    pub fn affects(&self, condition: impl Fn(&Property) -> bool) -> bool {
        let mut steps = self.steps.iter().filter(|step| step.rewrites());
        steps.any(|step| step.old_and_new().any(&condition))
    }

    /// Checks that the link targets in backfill values exist.
    ///
    /// `exists` returns whether the object at an address exists.
    pub fn check_backfills(&mut self, exists: &impl Fn(&str) -> Result<bool>) -> Result<()> {
        for new in self.steps.iter().filter(|step| step.converts).filter_map(|step| step.diff.new) {
            check_backfill(new, CONFIGS_PATH, &mut self.blockers, exists)?;
        }
        Ok(())
    }

    /// Rewrites one stored version of an object; none when it does not change.
    pub fn rewrite_version(
        &mut self,
        id: &str,
        title: &str,
        data: &str,
        exists: &impl Fn(&str) -> Result<bool>,
    ) -> Result<Option<RewrittenVersion>> {
        let members: Vec<(&str, &str, Option<usize>)> = json::members(data)
            .map(|(name, value)| (name, value, self.by_source.get(name).copied()))
            .collect();
        let mut stored = vec![None; self.steps.len()];
        for (_, value, step) in &members {
            if let Some(step) = step {
                stored[*step] = Some(*value);
            }
        }
        let mut edits = Vec::with_capacity(self.steps.len());
        for (step, stored) in self.steps.iter_mut().zip(&stored) {
            edits.push(step.apply(id, *stored, &mut self.blockers, exists)?);
        }
        let is_same = edits.iter().all(|edit| *edit == MemberEdit::Keep);
        let new_data = (!is_same).then(|| compose(&members, &self.steps, edits, data.len()));
        let text = new_data.as_deref().unwrap_or(data);
        let bytes = object_bytes(id, text.len());
        if text.len() > data.len() && bytes > limits::MAX_OBJECT_BYTES && !self.has_oversized {
            self.has_oversized = true;
            let error = Error::ObjectTooLarge { id: id.to_owned(), bytes };
            self.blockers.add("ctd", error.to_string());
        }
        self.combinations.add(id, text)?;
        let new_title = self.titles_change.then(|| self.title(text)).transpose()?;
        let new_title = new_title.filter(|new| new != title);
        if new_data.is_none() && new_title.is_none() {
            return Ok(None);
        }
        Ok(Some(RewrittenVersion {
            title: new_title.unwrap_or_else(|| title.to_owned()),
            data: new_data.unwrap_or_else(|| data.to_owned()),
        }))
    }

    /// Computes the title of an object, parsing only the title properties.
    fn title(&self, data: &str) -> Result<String> {
        let mut object = Map::new();
        for Property { name, .. } in self.properties.iter().filter(|property| property.title_part) {
            if let Some(value) = json::member(data.as_bytes(), name) {
                object
                    .insert(name.clone(), serde_json::from_slice(value).map_err(Error::internal)?);
            }
        }
        Ok(object_title(self.properties, &object))
    }

    /// Returns the effects per changed property, and the blockers.
    pub fn into_plans(mut self) -> (Vec<PropertyPlan>, FieldErrors) {
        self.combinations.report(&mut self.blockers);
        (self.steps.into_iter().map(PropertyStep::into_plan).collect(), self.blockers)
    }
}

/// The change of one property, and its effects so far.
struct PropertyStep<'a> {
    diff: PropertyDiff<'a>,
    /// Name of the stored property.
    source: &'a str,
    /// Values are converted or filled in.
    converts: bool,
    /// The property and the schema that validate values after a change of type.
    checked: Option<(Property, PropertySchema)>,
    /// The schema that requires the newly required nested properties.
    newly_required: Option<PropertySchema>,
    /// The property with the relations whose link targets must exist.
    relations: Option<Property>,
    /// Counts values that are kept although they are no longer valid.
    tightened: Option<Tightened<'a>>,
    plan: PropertyPlan,
    /// Failed values, then lost, invalid and converted ones.
    samples: [Vec<ValueSample>; 4],
}

/// The edit of one member in the JSON of an object.
#[derive(PartialEq)]
enum MemberEdit {
    /// No change; also for a missing member.
    Keep,
    /// The same value under another name.
    Rename,
    /// A new value, as JSON text.
    Replace(String),
    Remove,
}

impl<'a> PropertyStep<'a> {
    fn new(diff: PropertyDiff<'a>, [old_schemas, schemas]: [&Value; 2]) -> Self {
        let property = diff.new.or(diff.old).expect("a difference has an old or a new property");
        let pair = diff.old.zip(diff.new);
        let is_of_other_type = diff.change == PropertyChange::Type;
        Self {
            diff,
            source: &diff.old.unwrap_or(property).name,
            converts: diff.converts(),
            checked: diff.new.filter(|_| is_of_other_type).map(|new| {
                (
                    without_options_and_uniqueness(new),
                    PropertySchema::of(new, &schemas[new.name.as_str()]),
                )
            }),
            newly_required: pair
                .filter(|(old, new)| diff::has_same_kind(old, new))
                .and_then(|(old, new)| schema::newly_required(old, new)),
            relations: pair.and_then(|(old, new)| narrowed(old, new)),
            tightened: Tightened::of(&diff, old_schemas, schemas),
            plan: PropertyPlan {
                renamed_from: diff.old.filter(|_| diff.is_renamed()).map(|old| old.name.clone()),
                ..PropertyPlan::new(
                    &property.name,
                    diff.change,
                    diff.old.map(Property::kind),
                    diff.new.map(Property::kind),
                )
            },
            samples: Default::default(),
        }
    }

    fn old_and_new(&self) -> impl Iterator<Item = &'a Property> + use<'a> {
        self.diff.old.into_iter().chain(self.diff.new)
    }

    /// Returns whether the change may affect stored values: any but an added optional property.
    fn may_affect_values(&self) -> bool {
        self.diff.old.is_some() || self.diff.new.is_none_or(|new| new.required)
    }

    /// Returns whether stored versions of objects may change.
    fn rewrites(&self) -> bool {
        self.may_affect_values()
            && (self.converts || self.diff.new.is_none() || self.diff.is_renamed())
    }

    /// Converts and validates one value, and counts the effect.
    fn apply(
        &mut self,
        id: &str,
        stored: Option<&str>,
        blockers: &mut FieldErrors,
        exists: &impl Fn(&str) -> Result<bool>,
    ) -> Result<MemberEdit> {
        if !self.may_affect_values() {
            return Ok(MemberEdit::Keep);
        }
        let is_read = self.converts
            || self.diff.new.is_none()
            || self.newly_required.is_some()
            || self.relations.is_some()
            || self.tightened.is_some();
        if !is_read {
            return self.count_unparsed(id, stored, blockers);
        }
        let before = stored.map(parse).transpose()?;
        let Converted { value, outcome } = match (self.diff.old, self.diff.new) {
            (Some(old), None) => remove(old, before.as_ref()),
            (old, Some(new)) if self.converts => convert(old, new, before.as_ref()),
            _ => Converted {
                value: before.clone(),
                outcome: before.as_ref().map(|_| ValueOutcome::Kept),
            },
        };
        let mut errors = FieldErrors::default();
        let bytes = stored.map_or(0, str::len);
        self.check((value.as_ref(), bytes), &mut errors, exists)?;
        let edit = match &value {
            None if stored.is_none() => MemberEdit::Keep,
            None => MemberEdit::Remove,
            Some(_) if outcome == Some(ValueOutcome::Kept) => self.unchanged(),
            Some(value) => MemberEdit::Replace(value.to_string()),
        };
        let has_failed = !errors.is_empty();
        let is_invalid =
            |value| self.tightened.as_ref().is_some_and(|it| it.invalidates(value, bytes));
        let is_invalid = !has_failed && value.as_ref().is_some_and(is_invalid);
        self.count(id, outcome, (has_failed, is_invalid), before, value);
        blockers.merge(errors);
        Ok(edit)
    }

    /// Counts a value that does not have to be parsed.
    fn count_unparsed(
        &mut self,
        id: &str,
        stored: Option<&str>,
        blockers: &mut FieldErrors,
    ) -> Result<MemberEdit> {
        let is_lacking = || stored.is_none_or(|text| matches!(text, "null" | "\"\"" | "[]"));
        if self.diff.newly_required() && is_lacking() {
            blockers.add(&self.plan.name, message::required(&self.plan.name));
            let value = stored.map(parse).transpose()?;
            let outcome = stored.map(|_| ValueOutcome::Kept);
            self.count(id, outcome, (true, false), value.clone(), value);
        } else if stored.is_some() {
            self.plan.kept += 1;
        }
        Ok(if stored.is_some() { self.unchanged() } else { MemberEdit::Keep })
    }

    fn unchanged(&self) -> MemberEdit {
        if self.diff.is_renamed() { MemberEdit::Rename } else { MemberEdit::Keep }
    }

    /// Validates a value as far as the change can make it invalid. `bytes`, its stored size, limits
    /// the work.
    fn check(
        &self,
        (value, bytes): (Option<&Value>, usize),
        errors: &mut FieldErrors,
        exists: &impl Fn(&str) -> Result<bool>,
    ) -> Result<()> {
        let Some(new) = self.diff.new else { return Ok(()) };
        let needs_value = new.required && (self.checked.is_some() || self.diff.newly_required());
        if needs_value && is_none_or_empty(value) {
            errors.add(&new.name, message::required(&new.name));
            return Ok(());
        }
        let Some(value) = value else { return Ok(()) };
        if let Some((property, schema)) = &self.checked {
            let budget = &mut StepBudget::of_bytes(bytes);
            validate_value(property, schema, value, Some(budget), errors);
        }
        if let Some(schema) = &self.newly_required {
            validate_schema(new, schema, value, errors);
        }
        if let Some(relations) = &self.relations {
            for (path, data_url) in addresses(relations, value) {
                if !exists(&data_url)? {
                    // The space at the end is part of the message.
                    errors.add(format!("co.{path}"), format!("Object: {data_url} doesn't exists "));
                }
            }
        }
        Ok(())
    }

    fn count(
        &mut self,
        id: &str,
        outcome: Option<ValueOutcome>,
        (has_failed, is_invalid): (bool, bool),
        before: Option<Value>,
        after: Option<Value>,
    ) {
        let plan = &mut self.plan;
        match outcome {
            Some(ValueOutcome::Kept) => plan.kept += 1,
            Some(ValueOutcome::Converted) => plan.converted += 1,
            Some(ValueOutcome::Lost) => plan.lost += 1,
            None => {}
        }
        plan.failed += u64::from(has_failed);
        plan.invalid += u64::from(is_invalid);
        let [failed, lost, invalid, converted] = &mut self.samples;
        let samples = match outcome {
            _ if has_failed => failed,
            Some(ValueOutcome::Lost) => lost,
            _ if is_invalid => invalid,
            Some(ValueOutcome::Converted) => converted,
            Some(ValueOutcome::Kept) | None => return,
        };
        if samples.len() < MAX_SAMPLES {
            let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
            samples.push(ValueSample { id: id.to_owned(), before, after });
        }
    }

    fn into_plan(self) -> PropertyPlan {
        let samples = self.samples.into_iter().flatten().take(MAX_SAMPLES);
        PropertyPlan { samples: samples.collect(), ..self.plan }
    }
}

/// Builds the new JSON of an object.
fn compose(
    members: &[(&str, &str, Option<usize>)],
    steps: &[PropertyStep<'_>],
    mut edits: Vec<MemberEdit>,
    size: usize,
) -> String {
    let mut text = String::with_capacity(size + 64);
    text.push('{');
    let mut push = |name: &str, value: &str| json::push_member(&mut text, name, value);
    for (name, value, step) in members {
        let edit = step.map(|step| (step, std::mem::replace(&mut edits[step], MemberEdit::Keep)));
        match edit {
            None | Some((_, MemberEdit::Keep)) => push(name, value),
            Some((step, MemberEdit::Rename)) => push(&steps[step].plan.name, value),
            Some((step, MemberEdit::Replace(value))) => push(&steps[step].plan.name, &value),
            Some((_, MemberEdit::Remove)) => {}
        }
    }
    // The remaining edits add members.
    for (step, edit) in steps.iter().zip(&edits) {
        if let MemberEdit::Replace(value) = edit {
            push(&step.plan.name, value);
        }
    }
    text.push('}');
    text
}

/// Checks the link targets of the backfill values of a property and its nested properties.
fn check_backfill(
    property: &Property,
    path: &str,
    blockers: &mut FieldErrors,
    exists: &impl Fn(&str) -> Result<bool>,
) -> Result<()> {
    let path = format!("{path}.{}", property.name);
    let backfill = property.conversion.backfill.as_ref().filter(|_| property.required);
    for (_, data_url) in backfill.into_iter().flat_map(|value| addresses(property, value)) {
        if !exists(&data_url)? {
            blockers.add(format!("{path}.backfill"), message::NOT_VALID);
        }
    }
    let nested = property.nested_configs(&path);
    property.nested.iter().try_for_each(|inner| check_backfill(inner, &nested, blockers, exists))
}

/// Returns the addresses of the links in a value, each with the path of its relation.
fn addresses(property: &Property, value: &Value) -> Vec<(String, String)> {
    let object = Map::from_iter([(property.name.clone(), value.clone())]);
    let mut found = Vec::new();
    link::visit(
        std::slice::from_ref(property),
        &object,
        &ValuePath::Root,
        &mut |path, data_url| {
            found.push((path.to_string(), data_url.to_owned()));
        },
    );
    found
}

/// Returns a property without its options, and without unique values in lists: such values are kept, and
/// validated at the next write of the object.
fn without_options_and_uniqueness(property: &Property) -> Property {
    let nested = property.nested.iter().map(without_options_and_uniqueness).collect();
    Property { options: Vec::new(), unique: false, nested, ..property.clone() }
}

/// Returns a property with only those of its relations whose `validation` changed.
fn narrowed(old: &Property, new: &Property) -> Option<Property> {
    let changed = old.relation.is_some() && new.relation.is_some() && old.relation != new.relation;
    let nested = new.nested.iter().filter_map(|property| {
        let before = diff::source(property, &old.nested, &new.nested)?;
        narrowed(before, property)
    });
    let nested: Vec<Property> = nested.collect();
    (changed || !nested.is_empty()).then(|| Property { nested, ..new.clone() })
}

fn parse(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(Error::internal)
}
