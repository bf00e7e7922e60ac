//! The indexes that a content type's properties get: wanted × present → statements.
//!
//! The expressions stand here once, for [`super::list_sql`] too: SQLite uses an index on an
//! expression only when a statement spells it the same way. An index of a property begins with
//! its key, then the order of creation, so that both "all objects by this property" and "objects
//! with this value, oldest first" are walks along it; the spelling at its end spares a look at the
//! object when letter case matters. It is partial, `ctd` in it is a literal: entries of one type
//! never make the walk over another type longer.

use std::collections::BTreeSet;

use crate::{
    ctd::model::{Property, SchemaType},
    limits,
    object::model::Edition,
};

/// What a property sorts by and is looked up by. Only for names of declared properties: validation
/// lets nothing but letters, digits and `_` into them.
pub(crate) fn key(property: &str) -> String {
    debug_assert!(property.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
    format!("property_key(data, '{property}')")
}

/// What the key does not say of a text.
pub(crate) fn spelling(property: &str) -> String {
    format!("property_spelling(data, '{property}')")
}

/// An index as the database knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Index {
    pub(crate) name: String,
    /// The statement that makes it.
    pub(crate) sql: String,
}

/// Returns the properties with an index: all unique ones, and the first short scalars of the form.
pub(crate) fn indexed(properties: &[Property]) -> impl Iterator<Item = &Property> {
    let mut scalars = 0;
    properties.iter().filter(move |property| {
        let is_scalar =
            property.input_type.is_indexable() && property.schema_type != SchemaType::Array;
        scalars += usize::from(is_scalar && !property.unique);
        property.unique || (is_scalar && scalars <= limits::INDEXED_PROPERTIES)
    })
}

/// Returns the indexes that a type should have on each of the editions.
pub(crate) fn wanted(ctd: i64, properties: &[Property], editions: &[Edition]) -> Vec<Index> {
    let mut wanted = Vec::new();
    for &edition in editions {
        let table = edition.table();
        wanted.extend(indexed(properties).map(|property| {
            let name = index_name(edition, ctd, &property.name);
            let (key, spelling) = (key(&property.name), spelling(&property.name));
            let sql = format!(
                "CREATE INDEX \"{name}\" ON {table} (ctd, {key}, created_at, pk, {spelling}) \
                 WHERE ctd = {ctd}"
            );
            Index { name, sql }
        }));
    }
    wanted
}

/// Returns the statements that turn the present indexes of a type into the wanted ones.
pub(crate) fn changes(wanted: &[Index], present: &[Index]) -> Vec<String> {
    let wanted: BTreeSet<&Index> = wanted.iter().collect();
    let present: BTreeSet<&Index> = present.iter().collect();
    let drops = present.difference(&wanted).map(|index| format!("DROP INDEX \"{}\"", index.name));
    let creations = wanted.difference(&present).map(|index| index.sql.clone());
    drops.chain(creations).collect()
}

/// Names and statements of the property indexes of a type that exist, in no order;
/// parameters: [`name_prefix`] of both editions.
pub(crate) const PRESENT: &str = "SELECT name, sql FROM sqlite_schema \
    WHERE type = 'index' AND (substr(name, 1, length(?1)) = ?1 OR substr(name, 1, length(?2)) = ?2)";

/// Returns what the names of a type's property indexes on an edition begin with.
pub(crate) fn name_prefix(edition: Edition, ctd: i64) -> String {
    match edition {
        Edition::Current => format!("prop_{ctd}_"),
        Edition::Published => format!("public_prop_{ctd}_"),
    }
}

/// Returns the name of an index. SQLite ignores letter case in names, so upper case is encoded.
pub(crate) fn index_name(edition: Edition, ctd: i64, property: &str) -> String {
    let mut name = name_prefix(edition, ctd);
    for letter in property.chars() {
        if letter.is_ascii_uppercase() {
            name.push('+');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}
