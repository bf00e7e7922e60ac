//! What a change of a type does to one stored object, and the account of all of them.
//!
//! A [`Rewrite`] is made once for a change and is shown every stored version of every object. It
//! reads of a text only the properties that the change touches ([`super::convert`] says what
//! becomes of them), checks only what contract 2.6 asks for, and copies the rest. It knows no
//! storage: the service brings the objects and takes the new texts back.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    convert::{Converted, Fate, convert, lacks, remove},
    diff::{self, PropertyDiff},
    model::{CONFIGS_PATH, Definition, Property},
    schema::{self, PropertySchema},
};
use crate::{
    error::{Error, FieldErrors, Result},
    json, message,
    object::{
        link,
        path::ValuePath,
        title::object_title,
        validate::{validate_schema, validate_value},
    },
    pattern::StepBudget,
    wire::plan::{PropertyChange, PropertyPlan, ValueSample},
};

/// Stored values that a plan shows per property.
const SAMPLES: usize = 20;

/// A change of a type, applied to object after object.
pub struct Rewrite<'a> {
    steps: Vec<Step<'a>>,
    /// Steps by the name under which their values are stored.
    by_source: HashMap<&'a str, usize>,
    properties: &'a [Property],
    titles_change: bool,
    /// Why the change must not be kept.
    pub blockers: FieldErrors,
}

/// An object as it is to be stored from now on.
pub struct Rewritten {
    pub title: String,
    pub data: String,
}

impl<'a> Rewrite<'a> {
    /// Prepares a change from `before` to a definition with the given properties.
    pub fn new(
        before: &'a [Property],
        definition: &Definition,
        properties: &'a [Property],
        diffs: &[PropertyDiff<'a>],
    ) -> Self {
        let schemas = &definition.schema_definition["allOf"][1]["properties"];
        let steps: Vec<_> = diffs.iter().map(|diff| Step::new(*diff, schemas)).collect();
        let by_source =
            steps.iter().enumerate().map(|(index, step)| (step.source, index)).collect();
        let parts = |properties: &'a [Property]| {
            let parts = properties.iter().filter(|property| property.title_part);
            parts.map(|property| property.name.as_str())
        };
        let titles_change = !parts(before).eq(parts(properties))
            || steps
                .iter()
                .any(|step| step.rewrites() && step.sides().any(|property| property.title_part));
        Self { steps, by_source, properties, titles_change, blockers: FieldErrors::default() }
    }

    /// Tells whether stored objects have to be looked at.
    pub fn concerns_objects(&self) -> bool {
        self.titles_change || self.steps.iter().any(|step| !step.is_idle())
    }

    /// Tells whether values of such a property change.
    pub fn touches(&self, is_such: impl Fn(&Property) -> bool) -> bool {
        let mut steps = self.steps.iter().filter(|step| step.rewrites());
        steps.any(|step| step.sides().any(&is_such))
    }

    /// Tells whether the titles of objects are made of something else.
    pub fn changes_titles(&self) -> bool {
        self.titles_change
    }

    /// The properties of the type from now on.
    pub fn properties(&self) -> &'a [Property] {
        self.properties
    }

    /// Tells whether rewritten objects may link to others than before.
    pub fn changes_links(&self) -> bool {
        let mut steps = self.steps.iter().filter(|step| step.rewrites());
        steps.any(|step| step.sides().any(Property::may_link))
    }

    /// Checks that the links in values that objects may be given lead somewhere.
    ///
    /// `exists` tells whether the object at an address exists.
    pub fn check_backfills(&mut self, exists: &impl Fn(&str) -> Result<bool>) -> Result<()> {
        for new in self.steps.iter().filter(|step| step.converts).filter_map(|step| step.diff.new) {
            check_backfill(new, CONFIGS_PATH, &mut self.blockers, exists)?;
        }
        Ok(())
    }

    /// Takes one stored version of an object; returns what it becomes, none when it stays.
    pub fn object(
        &mut self,
        id: &str,
        title: &str,
        data: &str,
        exists: &impl Fn(&str) -> Result<bool>,
    ) -> Result<Option<Rewritten>> {
        let members: Vec<(&str, &str, Option<usize>)> = json::members(data)
            .map(|(name, value)| (name, value, self.by_source.get(name).copied()))
            .collect();
        let mut stored = vec![None; self.steps.len()];
        for (_, value, step) in &members {
            if let Some(step) = step {
                stored[*step] = Some(*value);
            }
        }
        let mut outcomes = Vec::with_capacity(self.steps.len());
        for (step, stored) in self.steps.iter_mut().zip(&stored) {
            outcomes.push(step.take(id, *stored, &mut self.blockers, exists)?);
        }
        let is_same = outcomes.iter().all(|outcome| *outcome == Outcome::Stays);
        let new_data = (!is_same).then(|| compose(&members, &self.steps, outcomes, data.len()));
        let text = new_data.as_deref().unwrap_or(data);
        let new_title = self.titles_change.then(|| self.title(text)).transpose()?;
        let new_title = new_title.filter(|new| new != title);
        if new_data.is_none() && new_title.is_none() {
            return Ok(None);
        }
        Ok(Some(Rewritten {
            title: new_title.unwrap_or_else(|| title.to_owned()),
            data: new_data.unwrap_or_else(|| data.to_owned()),
        }))
    }

    /// Makes the title of an object anew, from no more than its parts.
    fn title(&self, data: &str) -> Result<String> {
        let mut object = Map::new();
        for Property { name, .. } in self.properties.iter().filter(|property| property.title_part) {
            if let Some(value) = json::member(data.as_bytes(), name) {
                object.insert(name.clone(), serde_json::from_slice(value).map_err(unreadable)?);
            }
        }
        Ok(object_title(self.properties, &object))
    }

    /// Returns the account: one row for each property that is not the same.
    pub fn into_plans(self) -> (Vec<PropertyPlan>, FieldErrors) {
        (self.steps.into_iter().map(Step::into_plan).collect(), self.blockers)
    }
}

/// One property, and what became of its values.
struct Step<'a> {
    diff: PropertyDiff<'a>,
    /// Name under which values are stored.
    source: &'a str,
    /// Values are made anew, or filled in.
    converts: bool,
    /// The new property and its schema, for values of another type.
    checked: Option<(Property, PropertySchema)>,
    /// What nested properties must have from now on.
    demands: Option<PropertySchema>,
    /// The relations whose links have to lead somewhere.
    relations: Option<Property>,
    plan: PropertyPlan,
    failed: Vec<ValueSample>,
    emptied: Vec<ValueSample>,
    converted: Vec<ValueSample>,
}

/// What becomes of one property in the text of an object.
#[derive(PartialEq)]
enum Outcome {
    /// It stays as it is, or stays absent.
    Stays,
    /// The same value under another name.
    Moves,
    /// A new value, as JSON text.
    Becomes(String),
    Goes,
}

impl<'a> Step<'a> {
    fn new(diff: PropertyDiff<'a>, schemas: &Value) -> Self {
        let property = diff.new.or(diff.old).expect("a change has a side");
        let pair = diff.old.zip(diff.new);
        let is_of_other_type = diff.change == PropertyChange::Type;
        Self {
            diff,
            source: &diff.old.unwrap_or(property).name,
            converts: diff.converts(),
            checked: diff.new.filter(|_| is_of_other_type).map(|new| {
                (without_options(new), PropertySchema::of(new, &schemas[new.name.as_str()]))
            }),
            demands: pair
                .filter(|_| !is_of_other_type)
                .and_then(|(old, new)| schema::new_demands(old, new)),
            relations: pair.and_then(|(old, new)| narrowed(old, new)),
            plan: PropertyPlan {
                name: property.name.clone(),
                change: diff.change,
                from: diff.old.map(Property::kind),
                to: diff.new.map(Property::kind),
                renamed_from: diff.old.filter(|_| diff.is_renamed()).map(|old| old.name.clone()),
                kept: 0,
                converted: 0,
                emptied: 0,
                failed: 0,
                samples: Vec::new(),
                nested: Vec::new(),
            },
            failed: Vec::new(),
            emptied: Vec::new(),
            converted: Vec::new(),
        }
    }

    fn sides(&self) -> impl Iterator<Item = &'a Property> + use<'a> {
        self.diff.old.into_iter().chain(self.diff.new)
    }

    /// Nothing is stored of a property that was added, and nothing needs to be.
    fn is_idle(&self) -> bool {
        self.diff.old.is_none() && self.diff.new.is_some_and(|new| !new.required)
    }

    /// Texts of objects change.
    fn rewrites(&self) -> bool {
        !self.is_idle() && (self.converts || self.diff.new.is_none() || self.diff.is_renamed())
    }

    /// Carries one value over, checks what comes out, and counts.
    fn take(
        &mut self,
        id: &str,
        stored: Option<&str>,
        blockers: &mut FieldErrors,
        exists: &impl Fn(&str) -> Result<bool>,
    ) -> Result<Outcome> {
        if self.is_idle() {
            return Ok(Outcome::Stays);
        }
        let is_read = self.converts
            || self.diff.new.is_none()
            || self.demands.is_some()
            || self.relations.is_some();
        if !is_read {
            return self.look(id, stored, blockers);
        }
        let before = stored.map(parse).transpose()?;
        let Converted { value, fate } = match (self.diff.old, self.diff.new) {
            (Some(old), None) => remove(old, before.as_ref()),
            (old, Some(new)) if self.converts => convert(old, new, before.as_ref()),
            _ => Converted { value: before.clone(), fate: before.as_ref().map(|_| Fate::Kept) },
        };
        let mut faults = FieldErrors::default();
        let bytes = stored.map_or(0, str::len);
        self.check((value.as_ref(), bytes), &mut faults, exists)?;
        let outcome = match &value {
            None if stored.is_none() => Outcome::Stays,
            None => Outcome::Goes,
            Some(_) if fate == Some(Fate::Kept) => self.unchanged(),
            Some(value) => Outcome::Becomes(value.to_string()),
        };
        self.count(id, fate, !faults.is_empty(), before, value);
        blockers.merge(faults);
        Ok(outcome)
    }

    /// Counts a value that nobody needs to read.
    fn look(
        &mut self,
        id: &str,
        stored: Option<&str>,
        blockers: &mut FieldErrors,
    ) -> Result<Outcome> {
        let is_lacking = || stored.is_none_or(|text| matches!(text, "null" | "\"\"" | "[]"));
        if self.diff.newly_required() && is_lacking() {
            blockers.add(&self.plan.name, message::required(&self.plan.name));
            let value = stored.map(parse).transpose()?;
            self.count(id, stored.map(|_| Fate::Kept), true, value.clone(), value);
        } else if stored.is_some() {
            self.plan.kept += 1;
        }
        Ok(if stored.is_some() { self.unchanged() } else { Outcome::Stays })
    }

    fn unchanged(&self) -> Outcome {
        if self.diff.is_renamed() { Outcome::Moves } else { Outcome::Stays }
    }

    /// Finds what is wrong with a value, as far as the change is to blame. Work is bounded by the
    /// bytes that were stored.
    fn check(
        &self,
        (value, bytes): (Option<&Value>, usize),
        faults: &mut FieldErrors,
        exists: &impl Fn(&str) -> Result<bool>,
    ) -> Result<()> {
        let Some(new) = self.diff.new else { return Ok(()) };
        let needs_value = new.required && (self.checked.is_some() || self.diff.newly_required());
        if needs_value && lacks(value) {
            faults.add(&new.name, message::required(&new.name));
            return Ok(());
        }
        let Some(value) = value else { return Ok(()) };
        if let Some((property, schema)) = &self.checked {
            let budget = &mut StepBudget::of_bytes(bytes);
            validate_value(property, schema, value, Some(budget), faults);
        }
        if let Some(demands) = &self.demands {
            validate_schema(new, demands, value, faults);
        }
        if let Some(relations) = &self.relations {
            for (path, data_url) in addresses(relations, value) {
                if !exists(&data_url)? {
                    // The blank at the end is part of the message (contract 2.6).
                    faults.add(format!("co.{path}"), format!("Object: {data_url} doesn't exists "));
                }
            }
        }
        Ok(())
    }

    fn count(
        &mut self,
        id: &str,
        fate: Option<Fate>,
        has_failed: bool,
        before: Option<Value>,
        after: Option<Value>,
    ) {
        let plan = &mut self.plan;
        match fate {
            Some(Fate::Kept) => plan.kept += 1,
            Some(Fate::Converted) => plan.converted += 1,
            Some(Fate::Emptied) => plan.emptied += 1,
            None => {}
        }
        plan.failed += u64::from(has_failed);
        let samples = match fate {
            _ if has_failed => &mut self.failed,
            Some(Fate::Emptied) => &mut self.emptied,
            Some(Fate::Converted) => &mut self.converted,
            Some(Fate::Kept) | None => return,
        };
        if samples.len() < SAMPLES {
            let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
            samples.push(ValueSample { id: id.to_owned(), before, after });
        }
    }

    /// Samples begin with what is worst.
    fn into_plan(self) -> PropertyPlan {
        let samples = self.failed.into_iter().chain(self.emptied).chain(self.converted);
        PropertyPlan { samples: samples.take(SAMPLES).collect(), ..self.plan }
    }
}

/// Puts the text of an object together again.
fn compose(
    members: &[(&str, &str, Option<usize>)],
    steps: &[Step<'_>],
    mut outcomes: Vec<Outcome>,
    size: usize,
) -> String {
    let mut text = String::with_capacity(size + 64);
    let mut push = |name: &str, value: &str| {
        text.push_str(if text.is_empty() { "{\"" } else { ",\"" });
        text.push_str(name);
        text.push_str("\":");
        text.push_str(value);
    };
    for (name, value, step) in members {
        let outcome =
            step.map(|step| (step, std::mem::replace(&mut outcomes[step], Outcome::Stays)));
        match outcome {
            None | Some((_, Outcome::Stays)) => push(name, value),
            Some((step, Outcome::Moves)) => push(&steps[step].plan.name, value),
            Some((step, Outcome::Becomes(value))) => push(&steps[step].plan.name, &value),
            Some((_, Outcome::Goes)) => {}
        }
    }
    // What is left are values where none were.
    for (step, outcome) in steps.iter().zip(&outcomes) {
        if let Outcome::Becomes(value) = outcome {
            push(&step.plan.name, value);
        }
    }
    text.push_str(if text.is_empty() { "{}" } else { "}" });
    text
}

/// Checks the links of what fills in a property, here and in nested ones.
fn check_backfill(
    property: &Property,
    path: &str,
    blockers: &mut FieldErrors,
    exists: &impl Fn(&str) -> Result<bool>,
) -> Result<()> {
    let path = format!("{path}.{}", property.name);
    let backfill = property.migration.backfill.as_ref().filter(|_| property.required);
    for (_, data_url) in backfill.into_iter().flat_map(|value| addresses(property, value)) {
        if !exists(&data_url)? {
            blockers.add(format!("{path}.backfill"), message::NOT_VALID);
        }
    }
    let nested = property.nested_configs(&path);
    property.nested.iter().try_for_each(|inner| check_backfill(inner, &nested, blockers, exists))
}

/// Returns the addresses that a value of a property links to, each with the path of its relation.
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

/// A value outside the options is kept, and judged when it is written next (contract 2.6).
fn without_options(property: &Property) -> Property {
    let nested = property.nested.iter().map(without_options).collect();
    Property { options: Vec::new(), nested, ..property.clone() }
}

/// Returns a property with those of its relations whose `validation` changed, if there are any.
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
    serde_json::from_str(text).map_err(unreadable)
}

fn unreadable(error: serde_json::Error) -> Error {
    Error::Internal(Box::new(error))
}
