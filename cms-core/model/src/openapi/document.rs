//! Creates the document from content types and the rights of the caller.

use std::collections::HashSet;

use super::{
    components,
    content::DocumentedType,
    ir::{Document, Schema},
    management::{
        self, EDITING_TAG, Grants, MANAGEMENT_TAG, ManagementRights, SESSION_TAG, schemas,
    },
    names::names,
    print::print,
    property::DATA_SOURCE,
    system::{self, GRAPHQL_TAG, INTERNAL_TAG, MEDIA_TAG, OperationRights, SEARCH_TAG},
};
use crate::{
    auth::scope::Access,
    content_type::{
        builtin::MEDIA,
        model::{Definition, Property},
    },
    wire::openapi::OpenApiRequest,
};

/// A content type, and the access of the caller to its objects.
pub struct TypeAccess<'a> {
    pub definition: &'a Definition,
    pub properties: &'a [Property],
    pub access: Access,
    /// The type has no paths of its own.
    pub is_hidden: bool,
}

/// The rights of the caller that do not concern one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerRights {
    /// Create, change and delete content types.
    pub change_types: bool,
    pub publish: bool,
    /// None without the parameter `management`.
    pub management: Option<ManagementRights>,
}

/// Prints the document of an API with these types, which are sorted by name.
pub fn document(
    types: &[TypeAccess<'_>],
    rights: CallerRights,
    request: &OpenApiRequest,
) -> serde_json::Result<Vec<u8>> {
    print(&build(types, rights, request), request.version)
}

fn build(types: &[TypeAccess<'_>], rights: CallerRights, request: &OpenApiRequest) -> Document {
    let shown = || types.iter().filter(|content_type| !content_type.is_hidden);
    let named = names(shown().map(|content_type| content_type.definition.name.as_str()));
    // Names do not depend on the rights of the caller.
    let documented: Vec<DocumentedType<'_>> = shown()
        .zip(named)
        .map(|(content_type, names)| DocumentedType {
            definition: content_type.definition,
            properties: content_type.properties,
            names,
            access: content_type.access,
        })
        .filter(|content_type| content_type.access != Access::NONE)
        .collect();
    let readable = |content_type: &&DocumentedType<'_>| content_type.access.contains(Access::READ);
    let targets: HashSet<&str> =
        documented.iter().filter(readable).map(DocumentedType::name).collect();
    // Relations are links, unless hydrated to a type that the caller may read.
    let relations = |target: Option<&str>| match target {
        Some(target) if request.hydrate && targets.contains(target) => Schema::reference(target),
        _ => Schema::reference(DATA_SOURCE),
    };

    let mut schemas = components::shared();
    let mut operations = Vec::new();
    let mut tags: Vec<String> = Vec::new();
    for content_type in &documented {
        schemas.extend(content_type.schemas(&relations, request.hydrate));
        operations.extend(content_type.operations(rights.publish));
        // Types may have the same label.
        if !tags.contains(&content_type.tag()) {
            tags.push(content_type.tag());
        }
    }
    let owned = |tags: &[&str]| tags.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>();
    let user_tags = [tags.clone(), owned(&[SEARCH_TAG, MEDIA_TAG])].concat();
    let mut tag_groups = vec![("User API", user_tags.clone())];
    tags = user_tags;
    let may_upload =
        documented.iter().any(|s| s.name() == MEDIA && s.access.contains(Access::CREATE));
    if !request.user_only || rights.management.is_some() {
        let any = |needs| documented.iter().any(|content_type| content_type.access.contains(needs));
        let rights = OperationRights {
            change_types: rights.change_types,
            upload: may_upload,
            read: any(Access::READ),
            update: any(Access::UPDATE),
        };
        schemas.extend(components::system());
        operations.extend(system::operations(rights));
        tag_groups.push(("System API", owned(&[SEARCH_TAG, INTERNAL_TAG, MEDIA_TAG, GRAPHQL_TAG])));
        tags.extend(owned(&[INTERNAL_TAG, GRAPHQL_TAG]));
    }
    if let Some(rights) = rights.management {
        let accesses: Vec<Access> = types.iter().map(|content_type| content_type.access).collect();
        management::extend(&mut operations);
        operations.push(system::changes());
        let grants = Grants { rights, accesses: &accesses, may_upload };
        operations.extend(management::operations(&grants));
        schemas.extend(schemas::all());
        let added = owned(&[EDITING_TAG, SESSION_TAG, MANAGEMENT_TAG]);
        tag_groups.push(("Management API", added.clone()));
        tags.extend(added);
    }
    Document {
        base_url: request.base_url.clone(),
        tags,
        tag_groups,
        operations,
        schemas,
        sessions: rights.management.is_some(),
    }
}
