//! Creates one object, optionally together with related rows of other tables.

use cms_model::{
    auth::scope::Access,
    content_type::defaults,
    context::Caller,
    error::{Error, Result},
    pattern::StepBudget,
    wire::object::Json,
};
use cms_store::{PendingCommit, WriteTransaction};
use serde_json::{Map, Value};

use super::{
    service::{Objects, require_quota, to_json, with_budget},
    write::{self, Context, PreparedObject},
};

impl Objects<'_> {
    /// Creates an object (see docs/reference/objects.md#create-replace-patch).
    pub fn create(&self, caller: &Caller, name: &str, payload: Map<String, Value>) -> Result<Json> {
        self.begin_create(caller, name, payload)?.wait().map(Json)
    }

    /// Validates a new object and queues its write; its JSON is available after the commit.
    ///
    /// # Errors
    /// Validation errors. [`Error::WouldBlock`] if only fast work is accepted, but there are synchronous webhooks
    /// to call, patterns that take many steps, or defaults of the items of lists.
    pub fn begin_create(
        &self,
        caller: &Caller,
        name: &str,
        payload: Map<String, Value>,
    ) -> Result<PendingCommit<Vec<u8>>> {
        self.begin_create_with(caller, name, payload, |_| Ok(()))
    }

    /// As [`Self::begin_create`], and writes related rows in the same transaction.
    pub(crate) fn begin_create_with(
        &self,
        caller: &Caller,
        name: &str,
        payload: Map<String, Value>,
        also: impl FnOnce(&WriteTransaction<'_>) -> Result<()> + Send + 'static,
    ) -> Result<PendingCommit<Vec<u8>>> {
        let content_type = self.content_type(caller, name, Access::CREATE)?;
        caller.require_right_to_keep_dates()?;
        if let Some(response) = self.stored_response(caller)? {
            return Ok(PendingCommit::completed(Ok(response)));
        }
        if caller.fast_only
            && defaults::can_multiply(&content_type.definition, &content_type.properties)
        {
            return Err(Error::WouldBlock);
        }
        let payload = self.before_create(caller, name, payload)?;
        let config = &self.cms.config;
        let context = Context::new(caller, config).keeping_dates(caller);
        let mut prepared = with_budget(caller, |budget| {
            PreparedObject::new(&content_type, payload, &*config.ids, &context, budget)
        })?;
        if !prepared.errors.is_empty() {
            // The write is not queued. The caller gets these errors together with those that the database finds.
            return self.cms.read_with_catalog(|reader, catalog| {
                prepared.check_id(reader, &content_type)?;
                prepared.check_against_database(reader, catalog, &content_type, None)?;
                Err(Error::Invalid(prepared.errors))
            });
        }
        let quota = config.max_objects;
        self.begin_once(caller, name, move |writer, catalog, content_type| {
            let mut prepared =
                prepared.renewed(content_type, &context, &mut StepBudget::per_write())?;
            prepared.check_id(writer, content_type)?;
            prepared.check_against_database(writer, catalog, content_type, None)?;
            let prepared = prepared.into_valid()?;
            require_quota(writer, quota, u64::from(prepared.dates.deleted.is_none()))?;
            let stored = write::insert(writer, content_type, prepared, &context)?;
            also(writer)?;
            Ok(to_json(content_type, &stored).0)
        })
    }
}
