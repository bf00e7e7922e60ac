//! TypeScript types of content types, for clients (see docs/how-to/typescript.md).
//!
//! [`file()`] prints one file without imports: the types that every file has, a map of the content
//! types, and an interface and input types for each. `value` converts one property, `name` chooses
//! identifiers, `syntax` prints literals and comments. The same content types give the same text,
//! whatever else the server has.

mod name;
mod syntax;
#[cfg(test)]
mod tests;
mod value;

use std::fmt::Write as _;

use self::{
    syntax::{Member, comment, object, quoted, union},
    value::members,
};
use crate::{
    content_type::{defaults, model::Definition, stored_level::StoredLevel},
    wire::content_type::ContentType,
};

/// Links, metadata, blocks and inputs, which do not depend on content types.
const SUPPORT: &str = include_str!("support.ts");

const HEADER: &str = "\
// Written by `cms types typescript`. Changes are overwritten.

";

/// Prints the types of content types, which are sorted by name.
pub fn file(types: &[ContentType]) -> String {
    let names = name::identifiers(types.iter().map(|content_type| content_type.name.as_str()));
    let known: Vec<(Definition, String)> = types.iter().map(Definition::of).zip(names).collect();
    let mut text = format!("{HEADER}{SUPPORT}\n{}", map(&known));
    for (definition, identifier) in &known {
        text.push('\n');
        text.push_str(&declarations(definition, identifier));
    }
    text
}

/// The map from names to types, which clients take as a type argument.
fn map(known: &[(Definition, String)]) -> String {
    let entry = |(definition, identifier): &(Definition, String)| {
        let draft_public = definition.draft_public;
        let value = format!(
            "{{ object: {identifier}; create: {identifier}Create; update: {identifier}Update; \
             draftPublic: {draft_public} }}"
        );
        Member::required(&definition.name, value)
    };
    let entries: Vec<Member> = known.iter().map(entry).collect();
    format!(
        "/** The content types by name. */\nexport interface ContentTypes {}\n",
        object(&entries, 0)
    )
}

/// The interface of a type and its inputs.
fn declarations(definition: &Definition, identifier: &str) -> String {
    let properties = definition.properties();
    let mut fields = vec![
        Member::required("id", "string".to_owned()),
        Member::required("internal", format!("Internal<{}>", quoted(&definition.name))),
    ];
    fields.extend(members(&properties, StoredLevel::of(definition), 0));
    // `filled`: what the server fills in on creation. `kept`: what it keeps or fills in when an
    // object is replaced.
    let filled = defaults::filled(definition, &properties);
    let kept = properties
        .iter()
        .filter(|property| definition.has_slug(&property.name) || property.readonly);
    let kept: Vec<&str> = kept.map(|property| property.name.as_str()).collect();
    let mut text = comment(&value::notes(&definition.name, Some(&definition.label), None), 0);
    let input = |optional: &[&str]| match optional {
        [] => format!("Input<{identifier}>"),
        names => format!("Input<{identifier}, {}>", union(names)),
    };
    let (create, update) = (input(&filled), input(&kept));
    write!(
        text,
        "export interface {identifier} {}\n\n\
         export type {identifier}Create = {create};\n\
         export type {identifier}Update = {update};\n",
        object(&fields, 0)
    )
    .expect("a String takes any text");
    text
}
