//! What a request is about, for what people are told when it is not there.

/// What a request is about, for "not found".
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) what: &'static str,
    pub(super) name: &'a str,
}

pub(super) const SERVER: About<'_> = About { what: "server", name: "" };

pub(super) fn type_named(name: &str) -> About<'_> {
    About { what: "content type", name }
}

pub(super) fn object_named(name: &str) -> About<'_> {
    About { what: "object", name }
}

pub(super) fn webhook_named(id: &str) -> About<'_> {
    About { what: "webhook", name: id }
}

pub(super) fn workflow_named(id: &str) -> About<'_> {
    About { what: "workflow", name: id }
}
