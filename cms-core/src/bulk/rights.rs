//! The rights that a job needs, at its creation and before each transaction.

use cms_model::{
    auth::scope::Access,
    content_type::catalog::CompiledType,
    context::Caller,
    error::{Error, FieldErrors, Result},
    message::{self, Reason},
    publish::right::{ChangeKind, is_public_transition},
    wire::bulk::BulkAction,
};

/// Returns the rights on the type that an action needs.
pub(super) fn needs(action: BulkAction) -> Access {
    match action {
        BulkAction::Delete => Access::READ | Access::DELETE,
        BulkAction::Publish(_) | BulkAction::Patch | BulkAction::Transition => {
            Access::READ | Access::UPDATE
        }
    }
}

/// Rejects callers without the rights of an action.
pub(super) fn require(
    caller: &Caller,
    content_type: &CompiledType,
    action: BulkAction,
    transition: &str,
) -> Result<()> {
    caller.require_write()?;
    caller.require(needs(action), content_type.name())?;
    let publishes = match action {
        BulkAction::Publish(_) => true,
        BulkAction::Transition => is_public_transition(&content_type.workflow, transition),
        BulkAction::Delete | BulkAction::Patch => false,
    };
    if publishes { caller.require_publish() } else { Ok(()) }
}

/// Rejects an action that the type does not have.
pub(super) fn require_supported(
    content_type: &CompiledType,
    action: BulkAction,
    transition: &str,
) -> Result<()> {
    match action {
        BulkAction::Publish(_) if !content_type.definition.draft_public => {
            Err(Error::Rejected(vec![Reason::NoDraftPublic]))
        }
        BulkAction::Transition
            if !content_type
                .workflow
                .transitions
                .iter()
                .any(|defined| defined.name == transition) =>
        {
            Err(Error::invalid("transition", message::NOT_VALID))
        }
        _ => Ok(()),
    }
}

/// The kind of change, for the check of the publishing right per object.
pub(super) fn kind(action: BulkAction) -> ChangeKind {
    match action {
        BulkAction::Patch => ChangeKind::Edit,
        BulkAction::Delete => ChangeKind::Delete,
        // [`require`] checks the publishing right for these actions.
        BulkAction::Publish(_) | BulkAction::Transition => ChangeKind::Status,
    }
}

/// The errors of an object that the caller may not change.
pub(super) fn forbidden() -> FieldErrors {
    FieldErrors::one("id", message::FORBIDDEN)
}
