//! What can be done about a plan: where in the files that stands what blocks it, and which key would
//! spare the values that it loses or lacks (contract 2.8).

use cms_core::wire::plan::{
    NestedPlan, PlanAction, PlanRequest, ProjectPlan, PropertyChange, PropertyPlan, TypePlan,
};
use serde_json::Value;

use super::plan_text::{Wish, is_of_objects, lacks_values, payload, reads_text};
use crate::project::{Places, did_you_mean};

/// Returns hints, in the order of the plan.
pub(super) fn hints(plan: &ProjectPlan, wanted: &PlanRequest, places: &Places) -> Vec<String> {
    let mut hints = Vec::new();
    for planned in plan.workflows.iter().filter(|planned| !planned.blockers.is_empty()) {
        let place = places.get(&format!("workflows.{}", planned.id));
        hints.extend(place.map(|place| format!("workflow {} stands at {place}", planned.id)));
    }
    for planned in &plan.content_types {
        let mut cured = Vec::new();
        if planned.action == PlanAction::Update {
            let cures = Cures { planned, places };
            for property in &planned.properties {
                let wish = Wish::of(property, payload(wanted, &planned.name));
                if let Some(cure) = cures.of(property, &wish) {
                    cured.push(property.name.as_str());
                    hints.push(cure);
                }
                hints.extend(cures.of_nested(property));
            }
        }
        for (path, _) in planned.blockers.iter() {
            if cured.contains(&path) || is_of_objects(planned, path) {
                continue;
            }
            let hint = places.find(&planned.name, path);
            let hint = hint.map(|(name, place)| format!("{name} stands at {place}"));
            hints.extend(hint.filter(|hint| !hints.contains(hint)));
        }
    }
    hints
}

/// What helps the properties of one type.
struct Cures<'a> {
    planned: &'a TypePlan,
    places: &'a Places,
}

impl Cures<'_> {
    fn of(&self, property: &PropertyPlan, wish: &Wish<'_>) -> Option<String> {
        let place = self.place(&property.name);
        if let Some(old) = self.likely_old_name(property) {
            return Some(rename_hint(old, &place));
        }
        if let Some(old) = wish.config["renamedFrom"].as_str()
            && property.change == PropertyChange::Add
            && property.renamed_from.is_none()
        {
            let near = did_you_mean(old, self.removed().map(|removed| removed.name.as_str()));
            let place = self.place(&format!("{}.renamedFrom", property.name));
            return Some(format!("there is no property \"{old}\" to rename at {place}{near}"));
        }
        if lacks_values(property, &self.planned.blockers) {
            return Some(format!("\"backfill: VALUE\" at {place} gives a value to who has none"));
        }
        if property.change != PropertyChange::Type || property.emptied == 0 {
            return None;
        }
        match (wish.config.get("convert"), reads_text(property)) {
            (None, true) => Some(format!("\"convert: parse\" at {place} keeps what can be read")),
            (Some(Value::String(way)), false) => {
                let place = self.place(&format!("{}.convert", property.name));
                Some(format!(
                    "\"convert: {way}\" at {place} does nothing: it makes numbers and checkboxes \
                     of text"
                ))
            }
            _ => None,
        }
    }

    /// Renames inside a property that would lose values.
    fn of_nested(&self, property: &PropertyPlan) -> Vec<String> {
        let added = property.nested.iter().filter(|_| property.emptied > 0);
        let hint = |added: &NestedPlan| {
            let old = likely_old_nested(&property.nested, added)?;
            Some(rename_hint(old, &self.place(&added.name.replace('.', ".items."))))
        };
        added.filter_map(hint).collect()
    }

    fn place(&self, path: &str) -> String {
        match self.places.find(&self.planned.name, path) {
            Some((name, place)) => format!("{name}, {place},"),
            None => format!("{}.{path}", self.planned.name),
        }
    }

    fn removed(&self) -> impl Iterator<Item = &PropertyPlan> {
        self.planned.properties.iter().filter(|property| property.change == PropertyChange::Remove)
    }

    /// The one property of the same kind that loses its values when this one, the only one of its
    /// kind, is added.
    fn likely_old_name(&self, added: &PropertyPlan) -> Option<&str> {
        let is_new = |property: &&PropertyPlan| {
            property.change == PropertyChange::Add && property.renamed_from.is_none()
        };
        let mut alike = self.planned.properties.iter().filter(is_new).filter(|p| p.to == added.to);
        if alike.next()?.name != added.name || alike.next().is_some() {
            return None;
        }
        let mut removed = self.removed().filter(|r| r.from == added.to && r.emptied > 0);
        let old = removed.next()?;
        removed.next().is_none().then_some(old.name.as_str())
    }
}

fn rename_hint(old: &str, place: &str) -> String {
    format!("\"renamedFrom: {old}\" at {place} keeps the values, if {old} has that name now")
}

/// The one nested property of the same kind that is removed where this one, the only one of its kind,
/// is added.
fn likely_old_nested<'a>(nested: &'a [NestedPlan], added: &NestedPlan) -> Option<&'a str> {
    let (level, _) = added.name.rsplit_once('.')?;
    let beside = || {
        nested.iter().filter_map(move |other| {
            other
                .name
                .rsplit_once('.')
                .filter(|(at, _)| *at == level)
                .map(|(_, name)| (other, name))
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
