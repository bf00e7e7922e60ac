//! Creates one object, optionally together with related rows of other tables.

use cms_model::{
    auth::scope::Access, context::Caller, error::Result, pattern::StepBudget, wire::object::Json,
};
use cms_store::WriteTransaction;
use serde_json::{Map, Value};

use super::{
    service::{Objects, require_quota, to_json},
    write::{self, Context, PreparedObject},
};

impl Objects<'_> {
    /// Creates an object (see docs/reference/objects.md#create-replace-patch).
    pub fn create(&self, caller: &Caller, name: &str, payload: Map<String, Value>) -> Result<Json> {
        self.create_with(caller, name, payload, |_| Ok(()))
    }

    /// Creates an object, and writes related rows in the same transaction.
    pub(crate) fn create_with(
        &self,
        caller: &Caller,
        name: &str,
        payload: Map<String, Value>,
        also: impl FnOnce(&WriteTransaction<'_>) -> Result<()> + Send + 'static,
    ) -> Result<Json> {
        let content_type = self.content_type(caller, name, Access::CREATE)?;
        caller.require_right_to_keep_dates()?;
        if let Some(response) = self.stored_response(caller)? {
            return Ok(Json(response));
        }
        let payload = self.before_create(caller, name, payload)?;
        let config = &self.cms.config;
        let context = Context::new(caller, config).keeping_dates(caller);
        let mut prepared = PreparedObject::new(
            &content_type,
            payload,
            &*config.ids,
            &context,
            &mut StepBudget::per_object(),
        )?;
        if !prepared.errors.is_empty() {
            return self.cms.store.read(|reader| {
                let catalog = self.cms.catalog.at(reader)?;
                prepared.check_id(reader, &content_type)?;
                prepared.check_alone(reader, &catalog, &content_type, None)?;
                prepared.into_valid().map(|_| Json(Vec::new()))
            });
        }
        let quota = config.max_objects;
        let response = self.write_once(caller, name, move |writer, catalog, content_type| {
            let mut prepared =
                prepared.renewed(content_type, &context, &mut StepBudget::per_write())?;
            prepared.check_id(writer, content_type)?;
            prepared.check_alone(writer, catalog, content_type, None)?;
            let prepared = prepared.into_valid()?;
            require_quota(writer, quota, u64::from(prepared.dates.deleted.is_none()))?;
            let stored = write::insert(writer, content_type, prepared, &context)?;
            also(writer)?;
            Ok(to_json(content_type, &stored).0)
        });
        response.map(Json)
    }
}
