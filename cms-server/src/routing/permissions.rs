//! The permissions that routes require of the caller. On routes with a body they are checked before the
//! body is read (`authenticated_request.rs`), on the other routes by the handler or the service; for backups
//! and for sign-out in `request.rs`.

use cms_core::{Access, Permission, paging, wire::working_copy};

use crate::extract::query::Query;

/// What the caller of a request must be allowed to do. The content type is the first parameter of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequiredPermission {
    AnyCaller,
    Session,
    /// Any caller except those that can only read.
    AnyWriter,
    Content(Access),
    /// Update, and the publishing right.
    Publish,
    /// Create media objects.
    Upload,
    /// Create the copy, and read the original.
    Duplicate,
    /// Create, and update with `updateExisting`.
    BatchCreate,
    /// Update; create for an object that does not exist yet.
    WorkingCopy,
    /// Read, and update or delete, as the action of the body needs.
    Bulk,
    /// Create, or update with `id`.
    Validate,
    GraphQl,
    ReadType,
    /// Rights on the objects of the type whose shared views are read or changed.
    Views(Access),
    ChangeType,
    PlanTypes,
    AdministerTypes,
    Admin,
}

impl RequiredPermission {
    /// Returns the permission of the core for a request; `id` is the second parameter of the path.
    pub(crate) fn of_request<'a>(
        self,
        content_type: &'a str,
        id: &str,
        query: &Query<'_>,
    ) -> Permission<'a> {
        let content = |needs| Permission::Content { content_type, needs };
        match self {
            Self::AnyCaller => Permission::AnyCaller,
            Self::Session => Permission::Session,
            Self::AnyWriter => Permission::AnyWriter,
            Self::Content(needs) => content(needs),
            Self::Publish => Permission::Publish { content_type },
            Self::Upload => Permission::Content { content_type: "_media", needs: Access::CREATE },
            Self::Duplicate => content(Access::CREATE | Access::READ),
            Self::BatchCreate if paging::boolean(query.get("updateExisting")) => {
                content(Access::CREATE | Access::UPDATE)
            }
            Self::WorkingCopy => content(working_copy::required_access(id)),
            Self::Bulk => Permission::Bulk { content_type },
            Self::Validate if query.text("id").is_some() => content(Access::UPDATE),
            Self::BatchCreate | Self::Validate => content(Access::CREATE),
            Self::GraphQl => Permission::GraphQl,
            Self::ReadType => Permission::ReadType { content_type },
            Self::Views(needs) => Permission::Views { content_type, needs },
            Self::ChangeType => Permission::ChangeType { content_type },
            Self::PlanTypes => Permission::PlanTypes,
            Self::AdministerTypes => Permission::AdministerTypes,
            Self::Admin => Permission::Admin,
        }
    }

    /// Returns whether requests create objects, and so may keep the dates of imported objects.
    pub(crate) fn creates_objects(self, query: &Query<'_>) -> bool {
        match self {
            Self::BatchCreate | Self::Content(Access::CREATE) => true,
            Self::Validate => query.text("id").is_none(),
            _ => false,
        }
    }

    /// Returns whether POST requests with this permission read `Idempotency-Key`.
    pub(crate) fn takes_idempotency_key(self) -> bool {
        matches!(
            self,
            Self::Content(Access::CREATE) | Self::BatchCreate | Self::Bulk | Self::Duplicate
        )
    }

    /// Returns whether changes with this permission read `If-Match` or `Idempotency-Key`.
    pub(crate) fn has_write_guards(self) -> bool {
        matches!(
            self,
            Self::Content(_)
                | Self::Publish
                | Self::BatchCreate
                | Self::Bulk
                | Self::Validate
                | Self::Duplicate
                | Self::Session
                | Self::WorkingCopy
        )
    }
}
