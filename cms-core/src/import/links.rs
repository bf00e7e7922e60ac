//! Links between imported objects: finds those that have to wait, and orders objects and content types
//! by links.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::object::{ObjectAddress, address};
use cms_model::{object::link, wire::content_type::ContentType};

/// Returns the object without the optional properties that link to a pending object, or none if there
/// are no such properties. Required and read-only properties stay: they cannot be set later.
pub(super) fn without_pending_links(
    value: &Value,
    content_type: &ContentType,
    is_pending: &dyn Fn(&ObjectAddress) -> bool,
) -> Option<Value> {
    let object = value.as_object()?;
    let required = &content_type.schema_definition["required"];
    let configs = &content_type.meta_definition["propertiesConfig"];
    let must_stay = |name: &str| {
        required.as_array().is_some_and(|names| names.iter().any(|n| n == name))
            || configs[name]["readonly"] == true
    };
    let must_wait = |name: &str, value: &Value| !must_stay(name) && has_link(value, is_pending);
    if !object.iter().any(|(name, value)| must_wait(name, value)) {
        return None;
    }
    let kept = object.iter().filter(|(name, value)| !must_wait(name, value));
    Some(Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect()))
}

/// Returns whether a value contains, at any depth, a link whose address satisfies `is_wanted`.
pub(super) fn has_link(value: &Value, is_wanted: &dyn Fn(&ObjectAddress) -> bool) -> bool {
    targets_of(value).iter().any(is_wanted)
}

/// Orders objects after those that they link to; apart from that, their order stays. So each of them
/// finds its targets when all are saved once in this order, except in cycles.
pub(super) fn targets_first<T>(
    objects: Vec<T>,
    address_of: impl Fn(&T) -> Option<ObjectAddress>,
    value_of: impl Fn(&T) -> &Value,
) -> Vec<T> {
    let addresses = objects.iter().enumerate();
    let indexes: HashMap<ObjectAddress, usize> =
        addresses.filter_map(|(index, object)| Some((address_of(object)?, index))).collect();
    let targets: Vec<Vec<usize>> = objects
        .iter()
        .map(|object| {
            let targets = targets_of(value_of(object));
            targets.iter().filter_map(|address| indexes.get(address).copied()).collect()
        })
        .collect();
    let mut order = Vec::with_capacity(objects.len());
    let mut is_visited = vec![false; objects.len()];
    // The path of a depth-first search: indexes of objects, each with the number of its visited
    // targets. Not the call stack, because the path may contain all objects.
    let mut path: Vec<(usize, usize)> = Vec::new();
    for first in 0..objects.len() {
        if !std::mem::replace(&mut is_visited[first], true) {
            path.push((first, 0));
        }
        while let Some((index, visited)) = path.last_mut() {
            if let Some(&target) = targets[*index].get(*visited) {
                *visited += 1;
                if !std::mem::replace(&mut is_visited[target], true) {
                    path.push((target, 0));
                }
            } else {
                order.push(*index);
                path.pop();
            }
        }
    }
    let mut objects: Vec<Option<T>> = objects.into_iter().map(Some).collect();
    order.into_iter().filter_map(|index| objects[index].take()).collect()
}

/// The objects that the links in a value point to, at any depth.
fn targets_of(value: &Value) -> Vec<ObjectAddress> {
    let mut found = Vec::new();
    collect_links(value, &mut found);
    found
}

fn collect_links(value: &Value, found: &mut Vec<ObjectAddress>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_links(item, found)),
        Value::Object(members) => {
            found.extend(link_target(members));
            members.values().for_each(|member| collect_links(member, found));
        }
        _ => {}
    }
}

/// The object that a link points to.
fn link_target(members: &Map<String, Value>) -> Option<ObjectAddress> {
    let target = link::parse(members.get("dataUrl")?.as_str()?)?;
    Some(address(target.content_type, &target.id))
}

/// Orders items after those whose content types they link to. In a cycle, required links decide.
pub fn order_by_links<T>(mut items: Vec<T>, content_type: impl Fn(&T) -> &ContentType) -> Vec<T> {
    let mut ordered: Vec<T> = Vec::new();
    while !items.is_empty() {
        let is_free = |item: &T, only_required: bool| {
            let item = content_type(item);
            let targets = linked_types(item, only_required);
            let mut others = items.iter().map(|other| &content_type(other).name);
            !others.any(|name| *name != item.name && targets.contains(name))
        };
        let next = [false, true]
            .into_iter()
            .find_map(|only_required| items.iter().position(|item| is_free(item, only_required)));
        ordered.push(items.remove(next.unwrap_or(0)));
    }
    ordered
}

/// Names of the types that a type links to, inside lists too.
fn linked_types(content_type: &ContentType, only_required: bool) -> Vec<String> {
    let required = &content_type.schema_definition["required"];
    let configs = content_type.meta_definition["propertiesConfig"].as_object();
    let mut names = Vec::new();
    for (name, config) in configs.into_iter().flatten() {
        let is_included = !only_required
            || required.as_array().is_some_and(|required| required.contains(&json!(name)));
        if is_included {
            collect_targets(config, &mut names);
        }
    }
    names
}

fn collect_targets(config: &Value, names: &mut Vec<String>) {
    let target = config["validation"]["relationContenttype"].as_str();
    names.extend(target.map(str::to_owned));
    for nested in config["items"]["propertiesConfig"].as_object().into_iter().flatten() {
        collect_targets(nested.1, names);
    }
}
