//! From content types and the rights of a key to the whole description.

use std::collections::HashSet;

use super::{
    components,
    content::Subject,
    ir::{Document, Schema},
    names::names,
    print::print,
    property::DATA_SOURCE,
    system::{self, GRAPHQL_TAG, INTERNAL_TAG, MEDIA_TAG, Rights, SEARCH_TAG},
};
use crate::{
    auth::scope::Access,
    content_type::model::{Definition, Property},
    wire::openapi::OpenApiRequest,
};

/// A content type, and what the key may do with its objects.
pub struct Described<'a> {
    pub definition: &'a Definition,
    pub properties: &'a [Property],
    pub access: Access,
}

/// Prints the description of an API with these types, which come in the order of their names.
pub fn document(
    types: &[Described<'_>],
    may_change_types: bool,
    request: &OpenApiRequest,
) -> serde_json::Result<Vec<u8>> {
    print(&describe(types, may_change_types, request), request.version)
}

fn describe(types: &[Described<'_>], may_change_types: bool, request: &OpenApiRequest) -> Document {
    let named = names(types.iter().map(|known| known.definition.name.as_str()));
    // A type keeps its names whatever a key may do with it.
    let subjects: Vec<Subject<'_>> = types
        .iter()
        .zip(named)
        .map(|(known, names)| Subject {
            definition: known.definition,
            properties: known.properties,
            names,
            access: known.access,
        })
        .filter(|subject| subject.access != Access::NONE)
        .collect();
    let readable = |subject: &&Subject<'_>| subject.access.contains(Access::READ);
    let targets: HashSet<&str> = subjects.iter().filter(readable).map(Subject::name).collect();
    // What stays a link: without hydration all, with it what has no type or no right to be read.
    let relations = |target: Option<&str>| match target {
        Some(target) if request.hydrate && targets.contains(target) => Schema::reference(target),
        _ => Schema::reference(DATA_SOURCE),
    };

    let mut schemas = components::shared();
    let mut operations = Vec::new();
    let mut tags: Vec<String> = Vec::new();
    for subject in &subjects {
        schemas.extend(subject.schemas(&relations));
        operations.extend(subject.operations());
        // Two types may have the same label.
        if !tags.contains(&subject.tag()) {
            tags.push(subject.tag());
        }
    }
    let owned = |tags: &[&str]| tags.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>();
    let user_tags = [tags.clone(), owned(&[SEARCH_TAG, MEDIA_TAG])].concat();
    let mut tag_groups = vec![("User API", user_tags.clone())];
    tags = user_tags;
    if !request.user_only {
        let any = |needs| subjects.iter().any(|subject| subject.access.contains(needs));
        let rights = Rights {
            change_types: may_change_types,
            upload: subjects
                .iter()
                .any(|s| s.name() == "_media" && s.access.contains(Access::CREATE)),
            read: any(Access::READ),
            update: any(Access::UPDATE),
        };
        schemas.extend(components::system());
        operations.extend(system::operations(rights));
        tag_groups.push(("System API", owned(&[SEARCH_TAG, INTERNAL_TAG, MEDIA_TAG, GRAPHQL_TAG])));
        tags.extend(owned(&[INTERNAL_TAG, GRAPHQL_TAG]));
    }
    Document { base_url: request.base_url.clone(), tags, tag_groups, operations, schemas }
}
