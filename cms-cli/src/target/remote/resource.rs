//! The resource of a request, for "not found" errors.

/// The kind and the name of a resource.
#[derive(Clone, Copy)]
pub(super) struct Resource<'a> {
    pub(super) what: &'static str,
    pub(super) name: &'a str,
}

pub(super) const SERVER: Resource<'_> = Resource { what: "server", name: "" };

pub(super) fn type_named(name: &str) -> Resource<'_> {
    Resource { what: "content type", name }
}

pub(super) fn object_named(name: &str) -> Resource<'_> {
    Resource { what: "object", name }
}

pub(super) fn user_named(id: &str) -> Resource<'_> {
    Resource { what: "user", name: id }
}

pub(super) fn webhook_named(id: &str) -> Resource<'_> {
    Resource { what: "webhook", name: id }
}

pub(super) fn workflow_named(id: &str) -> Resource<'_> {
    Resource { what: "workflow", name: id }
}

pub(super) fn trash_named(entry: &str) -> Resource<'_> {
    Resource { what: "trash entry", name: entry }
}
