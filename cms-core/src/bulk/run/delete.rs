//! Deletes the objects of a bulk job.

use std::iter;

use cms_model::{
    error::{FieldErrors, Result},
    limits, message,
    object::model::{Columns, StoredObject},
};

use super::{Preparation, StepObject, Transaction};
use crate::{
    bulk::rights,
    object::{batch::still_used, write},
};

impl Transaction<'_> {
    /// Deletes objects. Those that others link to are tried once more at the end of the job, together
    /// with the linking objects that the job still has to delete.
    pub(super) fn delete(&mut self, objects: Vec<StepObject>) -> Result<()> {
        let mut wanted = Vec::new();
        let mut positions = Vec::new();
        let in_transaction: Vec<i64> = objects.iter().map(|object| object.pk).collect();
        let is_repeated = objects.last().is_some_and(|last| last.position > self.job.total);
        for StepObject { position, pk, preparation } in objects {
            if let Preparation::Refused(id, errors) = preparation {
                self.refuse(position, &id, &errors)?;
                continue;
            }
            match self.stored(pk, Columns::WithoutProperties)? {
                Some(stored) if !self.may_change(&stored) => {
                    self.refuse(position, &stored.id, &rights::forbidden())?;
                }
                Some(stored) => {
                    wanted.push((stored.id.to_string(), stored));
                    positions.push(position);
                }
                None => self.progress.done += 1,
            }
        }
        if is_repeated {
            self.add_linking_objects(&mut wanted, &in_transaction)?;
        }
        let used = still_used(self.writer, self.content_type, &wanted)?;
        let positions = positions.into_iter().map(Some).chain(iter::repeat(None));
        for ((id, stored), position) in wanted.into_iter().zip(positions) {
            match position {
                _ if !used.contains(&stored.pk) => {
                    write::delete(self.writer, self.content_type, &stored, self.stamp)?;
                    self.progress.succeeded += 1;
                    // An added object counts as done when the job reaches its own position.
                    self.progress.done += u64::from(position.is_some());
                    self.deleted.push(id);
                }
                Some(position) if is_repeated => {
                    self.refuse(position, &id, &FieldErrors::one("id", message::IN_USE))?;
                }
                Some(_) => self.deferred.push(stored.pk),
                None => {}
            }
        }
        Ok(())
    }

    /// Adds objects that the job still has to delete after this transaction, and that link to wanted
    /// ones, directly or through others, up to a maximum number. The transaction has `in_transaction`
    /// already.
    fn add_linking_objects(
        &self,
        wanted: &mut Vec<(String, StoredObject<'static>)>,
        in_transaction: &[i64],
    ) -> Result<()> {
        let name = self.content_type.name();
        let mut later = self.writer.job_objects(self.job.pk)?;
        for pk in in_transaction {
            later.remove(pk);
        }
        let mut index = 0;
        while index < wanted.len() && wanted.len() < limits::MAX_LINKED_BULK_DELETIONS {
            let (id, pk) = (&wanted[index].0, wanted[index].1.pk);
            let sources =
                self.writer.linking_objects((name, id), pk, limits::MAX_LINKED_BULK_DELETIONS)?;
            for source in sources.into_iter().filter(|source| later.remove(source)) {
                let found = self.stored(source, Columns::WithoutProperties)?;
                let found = found.filter(|stored| self.may_change(stored));
                wanted.extend(found.map(|stored| (stored.id.to_string(), stored)));
            }
            index += 1;
        }
        Ok(())
    }
}
