//! Hints for a plan: the locations of blockers, and the settings of properties (`renamedFrom`,
//! `convert`, `backfill`) that keep or supply values.

use cms_core::wire::plan::{
    NestedPlan, PlanAction, PlanRequest, ProjectPlan, PropertyChange, PropertyPlan, TypePlan,
};
use serde_json::Value;

use super::plan_text::{RequestedProperty, is_summary, lacks_values, parses_text, payload};
use crate::project::{Locations, did_you_mean};

/// Returns hints, in the order of the plan.
pub(super) fn hints(
    plan: &ProjectPlan,
    wanted: &PlanRequest,
    locations: &Locations,
) -> Vec<String> {
    let mut hints = Vec::new();
    for planned in plan.workflows.iter().filter(|planned| !planned.blockers.is_empty()) {
        let location = locations.get(&format!("workflows.{}", planned.id));
        hints.extend(location.map(|at| format!("workflow {} is defined at {at}", planned.id)));
    }
    for planned in &plan.content_types {
        let mut hinted = Vec::new();
        if planned.action == PlanAction::Update {
            let type_hints = TypeHints { planned, locations };
            for property in &planned.properties {
                let wanted = RequestedProperty::of(property, payload(wanted, &planned.name));
                if let Some(hint) = type_hints.of(property, &wanted) {
                    hinted.push(property.name.as_str());
                    hints.push(hint);
                }
                hints.extend(type_hints.of_nested(property));
            }
        }
        for (path, _) in planned.blockers.iter() {
            if hinted.contains(&path) || is_summary(planned, path) {
                continue;
            }
            let hint = locations.find(&planned.name, path);
            let hint = hint.map(|(name, at)| format!("{name} is defined at {at}"));
            hints.extend(hint.filter(|hint| !hints.contains(hint)));
        }
    }
    hints
}

/// Hints for the properties of one type.
struct TypeHints<'a> {
    planned: &'a TypePlan,
    locations: &'a Locations,
}

impl TypeHints<'_> {
    fn of(&self, property: &PropertyPlan, wanted: &RequestedProperty<'_>) -> Option<String> {
        let location = self.location(&property.name);
        if let Some(old) = self.likely_old_name(property) {
            return Some(rename_hint(old, &location));
        }
        if let Some(old) = wanted.config["renamedFrom"].as_str()
            && property.change == PropertyChange::Add
            && property.renamed_from.is_none()
        {
            let near = did_you_mean(old, self.removed().map(|removed| removed.name.as_str()));
            let location = self.location(&format!("{}.renamedFrom", property.name));
            return Some(format!("unknown property \"{old}\" in renamedFrom at {location}{near}"));
        }
        if lacks_values(property, &self.planned.blockers) {
            return Some(format!("add \"backfill: VALUE\" at {location} to supply missing values"));
        }
        if property.invalid > 0 {
            let values = format!("{}.{}", self.planned.name, property.name);
            return Some(format!(
                "objects keep values of {values} that are no longer valid, and cannot be saved with \
                 them: replace them with `cms object update {} --patch --filters JSON`, or keep them \
                 allowed at {location}",
                self.planned.name
            ));
        }
        if property.change != PropertyChange::Type || property.lost == 0 {
            return None;
        }
        match (wanted.config.get("convert"), parses_text(property)) {
            (None, true) => {
                Some(format!("add \"convert: parse\" at {location} to keep parsable values"))
            }
            (Some(Value::String(way)), false) => {
                let location = self.location(&format!("{}.convert", property.name));
                Some(format!(
                    "\"convert: {way}\" at {location} has no effect: it converts text to numbers and \
                     checkboxes"
                ))
            }
            _ => None,
        }
    }

    /// Hints for renamed nested properties of a property that would lose values.
    fn of_nested(&self, property: &PropertyPlan) -> Vec<String> {
        let added = property.nested.iter().filter(|_| property.lost > 0);
        let hint = |added: &NestedPlan| {
            let old = likely_old_nested(&property.nested, added)?;
            Some(rename_hint(old, &self.location(&added.name.replace('.', ".items."))))
        };
        added.filter_map(hint).collect()
    }

    fn location(&self, path: &str) -> String {
        match self.locations.find(&self.planned.name, path) {
            Some((name, location)) => format!("{name} ({location})"),
            None => format!("{}.{path}", self.planned.name),
        }
    }

    fn removed(&self) -> impl Iterator<Item = &PropertyPlan> {
        self.planned.properties.iter().filter(|property| property.change == PropertyChange::Remove)
    }

    /// Returns the probable old name of an added property: the only removed property of the same
    /// type that loses values, if no other property of this type is added.
    fn likely_old_name(&self, added: &PropertyPlan) -> Option<&str> {
        let is_new = |property: &&PropertyPlan| {
            property.change == PropertyChange::Add && property.renamed_from.is_none()
        };
        let mut alike = self.planned.properties.iter().filter(is_new).filter(|p| p.to == added.to);
        if alike.next()?.name != added.name || alike.next().is_some() {
            return None;
        }
        let mut removed = self.removed().filter(|r| r.from == added.to && r.lost > 0);
        let old = removed.next()?;
        removed.next().is_none().then_some(old.name.as_str())
    }
}

fn rename_hint(old: &str, location: &str) -> String {
    format!("if {old} was renamed, add \"renamedFrom: {old}\" at {location} to keep its values")
}

/// Returns the probable old name of an added nested property: the only removed one of the same type
/// beside it, if no other one of this type is added there.
fn likely_old_nested<'a>(nested: &'a [NestedPlan], added: &NestedPlan) -> Option<&'a str> {
    let (level, _) = added.name.rsplit_once('.')?;
    let beside = || {
        nested.iter().filter_map(move |other| {
            let (at, name) = other.name.rsplit_once('.')?;
            (at == level).then_some((other, name))
        })
    };
    let is_new = |other: &NestedPlan| {
        other.change == PropertyChange::Add && other.renamed_from.is_none() && other.to == added.to
    };
    if !is_new(added) || beside().filter(|(other, _)| is_new(other)).count() > 1 {
        return None;
    }
    let mut removed = beside()
        .filter(|(other, _)| other.change == PropertyChange::Remove && other.from == added.to);
    let (_, old) = removed.next()?;
    removed.next().is_none().then_some(old)
}
