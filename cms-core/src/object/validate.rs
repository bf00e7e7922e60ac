//! Validates a write of an object without writing (see docs/reference/objects.md#validate).

use cms_model::{
    auth::scope::Access,
    context::Caller,
    error::{Error, Result},
    message,
    pattern::StepBudget,
    wire::object::ValidateRequest,
};
use serde_json::{Map, Value};

use super::{
    service::{Objects, prepare_edit, require_quota},
    write::{Context, Edit, PreparedObject},
};

impl Objects<'_> {
    /// Succeeds when a write of this object would succeed at this moment, else fails as the write
    /// would. Synchronous webhooks are not called.
    pub fn validate(
        &self,
        caller: &Caller,
        name: &str,
        request: &ValidateRequest,
        payload: Map<String, Value>,
    ) -> Result<()> {
        let Some(id) = &request.id else {
            self.content_type(caller, name, Access::CREATE)?;
            if request.patch {
                return Err(Error::invalid("id", message::required("id")));
            }
            return self.validate_new(caller, name, payload);
        };
        let edit = if request.patch { Edit::Patch } else { Edit::Replace };
        let context = Context::new(caller, &self.cms.config);
        self.read(caller, name, Access::UPDATE, |reader, catalog, content_type| {
            let (mut prepared, stored) =
                prepare_edit(reader, content_type, caller, (id, edit, payload), &context)?;
            prepared.check_against_database(reader, catalog, content_type, Some(stored.pk))?;
            prepared.into_valid().map(drop)
        })
    }

    fn validate_new(&self, caller: &Caller, name: &str, payload: Map<String, Value>) -> Result<()> {
        caller.require_right_to_keep_dates()?;
        let config = &self.cms.config;
        let context = Context::new(caller, config).keeping_dates(caller);
        self.read(caller, name, Access::CREATE, |reader, catalog, content_type| {
            let budget = &mut StepBudget::per_object();
            let mut prepared =
                PreparedObject::new(content_type, payload, &*config.ids, &context, budget)?;
            prepared.check_id(reader, content_type)?;
            prepared.check_against_database(reader, catalog, content_type, None)?;
            let prepared = prepared.into_valid()?;
            require_quota(reader, config.max_objects, u64::from(prepared.dates.deleted.is_none()))
        })
    }
}
