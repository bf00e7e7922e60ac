//! Creates the document from content types and the rights of a key.

use std::collections::HashSet;

use super::{
    components,
    content::DocumentedType,
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

/// A content type, and the access of the key to its objects.
pub struct TypeAccess<'a> {
    pub definition: &'a Definition,
    pub properties: &'a [Property],
    pub access: Access,
}

/// Prints the document of an API with these types, which are sorted by name.
pub fn document(
    types: &[TypeAccess<'_>],
    may_change_types: bool,
    request: &OpenApiRequest,
) -> serde_json::Result<Vec<u8>> {
    print(&build(types, may_change_types, request), request.version)
}

fn build(types: &[TypeAccess<'_>], may_change_types: bool, request: &OpenApiRequest) -> Document {
    let named = names(types.iter().map(|known| known.definition.name.as_str()));
    // Names do not depend on the rights of the key.
    let documented: Vec<DocumentedType<'_>> = types
        .iter()
        .zip(named)
        .map(|(known, names)| DocumentedType {
            definition: known.definition,
            properties: known.properties,
            names,
            access: known.access,
        })
        .filter(|content_type| content_type.access != Access::NONE)
        .collect();
    let readable = |content_type: &&DocumentedType<'_>| content_type.access.contains(Access::READ);
    let targets: HashSet<&str> =
        documented.iter().filter(readable).map(DocumentedType::name).collect();
    // Relations are links, unless hydrated to a type that the key may read.
    let relations = |target: Option<&str>| match target {
        Some(target) if request.hydrate && targets.contains(target) => Schema::reference(target),
        _ => Schema::reference(DATA_SOURCE),
    };

    let mut schemas = components::shared();
    let mut operations = Vec::new();
    let mut tags: Vec<String> = Vec::new();
    for content_type in &documented {
        schemas.extend(content_type.schemas(&relations));
        operations.extend(content_type.operations());
        // Types may have the same label.
        if !tags.contains(&content_type.tag()) {
            tags.push(content_type.tag());
        }
    }
    let owned = |tags: &[&str]| tags.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>();
    let user_tags = [tags.clone(), owned(&[SEARCH_TAG, MEDIA_TAG])].concat();
    let mut tag_groups = vec![("User API", user_tags.clone())];
    tags = user_tags;
    if !request.user_only {
        let any = |needs| documented.iter().any(|content_type| content_type.access.contains(needs));
        let rights = Rights {
            change_types: may_change_types,
            upload: documented
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
