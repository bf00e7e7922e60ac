//! What an import needs of a data directory.

use cms_core::{
    Caller, Edition, Result,
    import::{ImportTarget, PendingReport, PreparedSave, SaveMode},
    wire::{
        batch::BatchElements,
        list::List,
        object::ListRequest,
        publish::PublishAction,
        workflow::{Workflow, WorkflowState},
    },
};
use serde_json::{Map, Value, json};

use super::{Direct, list};

impl ImportTarget for Direct {
    fn bulk_load(
        &self,
        content_types: &[&str],
        objects: u64,
        send: &mut dyn FnMut(),
    ) -> Result<()> {
        self.cms.bulk_load(content_types, objects, send)
    }

    fn objects(
        &self,
        content_type: &str,
        request: &ListRequest,
        edition: Edition,
    ) -> Result<List<Value>> {
        list(&self.cms.objects().list(self.caller_of(edition), content_type, request)?)
    }

    fn prepare_save(
        &self,
        content_type: &str,
        elements: &[Value],
        SaveMode { update_existing: update, keep_dates }: SaveMode,
    ) -> Result<PreparedSave<'_>> {
        let caller = Caller { keeps_dates: keep_dates, ..self.caller.clone() };
        let (objects, elements) = (self.cms.objects(), BatchElements::of(elements));
        let batch = objects.prepare_batch_create(&caller, content_type, &elements, update)?;
        Ok(Box::new(move || {
            let batch = objects.begin_batch_create(batch)?;
            Ok(Box::new(|| batch.wait()) as PendingReport)
        }))
    }

    fn set_statuses(
        &self,
        content_type: &str,
        ids: &[String],
        action: PublishAction,
    ) -> Result<()> {
        self.cms.publishing().set_statuses(&self.caller, content_type, ids, action)
    }

    fn workflows(&self) -> Result<Vec<Workflow>> {
        Ok(self.cms.workflows().list()?.data)
    }

    fn run_transition(&self, content_type: &str, id: &str, name: &str) -> Result<WorkflowState> {
        let payload = Map::from_iter([("action".to_owned(), json!(name))]);
        self.cms.workflows().run_transition(&self.caller, content_type, id, payload)
    }
}
