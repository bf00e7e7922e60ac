//! stub
use super::model::Property;
use crate::wire::plan::Change;
pub(crate) struct PropertyDiff { pub(crate) name: String, pub(crate) change: Change, pub(crate) from: Option<String>, pub(crate) to: Option<String>, pub(crate) newly_required: bool }
pub(crate) fn diff(before: &[Property], after: &[Property]) -> Vec<PropertyDiff> {
    let mut out = Vec::new();
    for b in before { match after.iter().find(|a| a.name == b.name) {
        None => out.push(PropertyDiff{name:b.name.clone(), change: Change::Remove, from: Some(b.kind()), to: None, newly_required:false}),
        Some(a) if a != b => out.push(PropertyDiff{name:b.name.clone(), change: if a.kind()==b.kind() {Change::Settings} else {Change::Type}, from: Some(b.kind()), to: Some(a.kind()), newly_required: a.required && !b.required}),
        _ => {} } }
    for a in after { if !before.iter().any(|b| a.name == b.name) { out.push(PropertyDiff{name:a.name.clone(), change: Change::Add, from: None, to: Some(a.kind()), newly_required:a.required}) } }
    out
}
