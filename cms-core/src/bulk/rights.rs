//! The rights that a job needs, at its creation and before each transaction.

use cms_model::{
    auth::scope::Access,
    content_type::catalog::CompiledType,
    context::Caller,
    error::{Error, Result},
    message::{self, Reason},
    wire::{bulk::BulkAction, workflow::Transition},
    workflow::model::PUBLIC_STATE,
};

/// The rights on the type.
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
        BulkAction::Transition => {
            transitions(content_type, transition).any(|known| is_public(&known.froms, &known.tos))
        }
        BulkAction::Delete | BulkAction::Patch => false,
    };
    if publishes { caller.require_publish() } else { Ok(()) }
}

/// Rejects an action that the type does not have.
pub(super) fn require_fit(
    content_type: &CompiledType,
    action: BulkAction,
    transition: &str,
) -> Result<()> {
    match action {
        BulkAction::Publish(_) if !content_type.definition.draft_public => {
            Err(Error::Rejected(vec![Reason::NoDraftPublic]))
        }
        BulkAction::Transition if transitions(content_type, transition).next().is_none() => {
            Err(Error::invalid("transition", message::NOT_VALID))
        }
        _ => Ok(()),
    }
}

fn transitions<'t>(
    content_type: &'t CompiledType,
    name: &'t str,
) -> impl Iterator<Item = &'t Transition> {
    content_type.workflow.transitions.iter().filter(move |known| known.name == name)
}

fn is_public(froms: &[String], tos: &[String]) -> bool {
    froms.iter().chain(tos).any(|state| state == PUBLIC_STATE)
}
