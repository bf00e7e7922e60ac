//! Finds objects that share a unique combination when their type changes, see
//! docs/reference/content-types.md#unique-combinations
//!
//! After the change, each write looks its combinations up in an index.

use std::collections::HashMap;

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use super::{
    diff::PropertyDiff,
    indexed::combination,
    model::{Definition, Property},
};
use crate::{
    error::{Error, FieldErrors, Result},
    json, message,
};

/// Maximum number of ids in a message.
const MAX_IDS: usize = 20;

/// The combinations to check, because a change makes them unique or changes their values; and the
/// values of the objects that were added so far.
pub(super) struct Combinations {
    checks: Vec<Combination>,
    /// Ordinal and id of the current object.
    object: (u64, String),
}

#[derive(Default)]
struct Combination {
    names: Vec<String>,
    /// The hash of each value, mapped to the ordinal of the first object that has the value.
    seen: HashMap<u128, u64>,
    /// Number of objects with a value that an earlier object has, too.
    duplicates: u64,
    /// Ordinal of the last object counted in `duplicates`.
    last_duplicate: u64,
    ids: Vec<String>,
}

impl Combinations {
    /// Selects the combinations to check. `rewrites` returns whether the values of a property change.
    pub(super) fn new(
        (before, old): (&Definition, &[Property]),
        (after, new): (&Definition, &[Property]),
        rewrites: impl Fn(&str) -> bool,
    ) -> Self {
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        let known: Vec<_> = before.unique_together(old).into_iter().map(sorted).collect();
        let needs_check = |names: &Vec<String>| {
            !known.contains(&sorted(names.clone())) || names.iter().any(|name| rewrites(name))
        };
        let to_check = after.unique_together(new).into_iter().filter(needs_check);
        let check = |names| Combination { names, ..Combination::default() };
        Self { checks: to_check.map(check).collect(), object: (0, String::new()) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.checks.is_empty()
    }

    /// Adds a version of an object, as JSON. All versions of an object must be added in succession.
    pub(super) fn add(&mut self, id: &str, data: &str) -> Result<()> {
        if self.object.1 != id {
            self.object = (self.object.0 + 1, id.to_owned());
        }
        for check in &mut self.checks {
            let values = check.names.iter().map(|name| {
                let value = json::member(data.as_bytes(), name);
                value.map(serde_json::from_slice::<Value>).transpose()
            });
            let values: serde_json::Result<Vec<_>> = values.collect();
            let values = values.map_err(Error::internal)?;
            let Some(value) = combination(values.into_iter()) else { continue };
            let first = check.seen.entry(xxh3_128(value.to_string().as_bytes()));
            let (object, _) = self.object;
            if *first.or_insert(object) == object || check.last_duplicate == object {
                continue;
            }
            check.last_duplicate = object;
            check.duplicates += 1;
            if check.ids.len() < MAX_IDS {
                check.ids.push(id.to_owned());
            }
        }
        Ok(())
    }

    /// Adds an error per combination that is not unique.
    pub(super) fn report(&self, blockers: &mut FieldErrors) {
        for Combination { names, duplicates, ids, .. } in &self.checks {
            if *duplicates == 0 {
                continue;
            }
            let message = message::used_together(&names[1..]);
            let more = if *duplicates > ids.len() as u64 { ", ..." } else { "" };
            let ids = ids.join(", ");
            blockers.add(&names[0], format!("{message}, by {duplicates} objects: {ids}{more}"));
        }
    }
}

/// Returns whether a change converts or renames the property that is called `name` afterwards.
pub(super) fn alters(diffs: &[PropertyDiff<'_>], name: &str) -> bool {
    diffs.iter().any(|diff| {
        diff.new.is_some_and(|new| new.name == name) && (diff.converts() || diff.is_renamed())
    })
}
