//! The steps of webhooks and media around a write of content:
//!
//! - before the write, synchronous webhooks are called ([`Cms::before_write`]);
//! - in a transaction that changes a webhook, missing deliveries are created before the change, because its
//!   previous settings apply to earlier events;
//! - in a transaction that removes objects permanently, missing deliveries are created before the removal,
//!   because they need the objects;
//! - after the commit of a deletion, rendered images are removed.
//!
//! Missing deliveries are those of the journal rows after the webhook cursor, which are not processed yet. The services
//! of objects, content types, bulk jobs and the trash run these steps. The services of objects and content types must
//! not call services of webhooks or media directly: add new steps to this module.

use cms_model::{
    clock::Timestamp, content_type::builtin::WEBHOOKS, context::Caller, error::Result,
};
use cms_store::WriteTransaction;

pub(crate) use crate::webhook::synchronous::SynchronousCalls;
pub(crate) use cms_model::webhook::synchronous::WriteEvent;

use crate::{cms::Cms, webhook::delivery_creator};

/// Runs inside a transaction that is about to remove deleted objects permanently: creates the
/// deliveries of the unprocessed journal rows, because they need these objects.
pub(crate) fn before_removal(writer: &WriteTransaction<'_>, at: Timestamp) -> Result<()> {
    delivery_creator::catch_up(writer, at)
}

/// Runs inside a transaction that is about to change an object of this type: before a change of a
/// webhook, creates the deliveries of the unprocessed journal rows.
pub(crate) fn before_update(
    writer: &WriteTransaction<'_>,
    content_type: &str,
    at: Timestamp,
) -> Result<()> {
    if content_type == WEBHOOKS { delivery_creator::catch_up(writer, at) } else { Ok(()) }
}

impl Cms {
    /// Prepares the steps before a write of objects of one type; none if no webhook is to be called.
    pub(crate) fn before_write<'a>(
        &'a self,
        caller: &'a Caller,
        content_type: &'a str,
        event: WriteEvent,
    ) -> Result<Option<SynchronousCalls<'a>>> {
        self.webhooks().synchronous_calls(caller, content_type, event)
    }

    /// Runs after the commit that deleted these objects of a type.
    pub(crate) fn after_deletion<'i>(
        &self,
        content_type: &str,
        ids: impl IntoIterator<Item = &'i str>,
    ) {
        self.media().delete_rendered_images(content_type, ids);
    }

    /// Runs after the commit that deleted all objects of a type.
    pub(crate) fn after_purge(&self, content_type: &str, at: Timestamp) {
        self.media().delete_rendered_images_of_purged_type(content_type, at);
    }
}
