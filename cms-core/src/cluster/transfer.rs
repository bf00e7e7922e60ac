//! Moves a data directory into a cluster, and a cluster into a data directory.

use std::{collections::HashSet, path::Path, sync::Arc};

use cms_media::files::Files;
use cms_model::{error::Result, settings::MediaStorage};
use cms_store::cluster::{
    database::{Position, SharedDatabase},
    open,
};

use crate::{Cms, CoreConfig};

/// What a transfer has copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transferred {
    /// Live objects.
    pub objects: u64,
    /// Stored files.
    pub files: u64,
    /// Bytes of all files.
    pub bytes: u64,
}

/// Counts what [`create_cluster`] would copy.
pub fn count_transfer(from: &Cms) -> Result<Transferred> {
    let stored = from.files.list(&|| Ok(()))?;
    let (files, bytes) = (stored.len() as u64, stored.iter().map(|file| file.size).sum());
    from.store.read(|reader| Ok(Transferred { objects: reader.live_objects()?, files, bytes }))
}

/// Creates a cluster with the content of a data directory. Files are copied first, while other processes
/// may write to the directory; then the rows, while writes wait; then the files that are new since. Once
/// the rows are copied, the directory refuses writes. A call that was interrupted is completed by the next
/// one, unless the directory or the cluster was changed in between.
///
/// # Errors
/// [`Error::Conflict`](cms_model::error::Error::Conflict) if the shared database has a cluster with other content.
pub fn create_cluster(
    from: &Cms,
    database: &Arc<dyn SharedDatabase>,
    media: &MediaStorage,
) -> Result<Transferred> {
    let mut transferred = count_transfer(from)?;
    let space = from.store.read(|reader| Ok(reader.space_ids()?.space))?;
    let settings = CoreConfig { media: media.clone(), ..from.config.clone() };
    let to = Files::new(settings.files(), space);
    if !database.is_created()? {
        copy_files(&from.files, &to)?;
    }
    from.store.create_cluster(database)?;
    // Files that were uploaded after the first copy. No more follow: the directory refuses writes now.
    (transferred.files, transferred.bytes) = copy_files(&from.files, &to)?;
    Ok(transferred)
}

/// Copies a cluster, as of one commit, to an empty data directory that stands alone. After a failure, the
/// next export into the directory continues with the files that it lacks.
///
/// # Errors
/// [`Error::Conflict`](cms_model::error::Error::Conflict) if the directory has a database.
pub fn export_cluster(
    folder: &Path,
    database: &dyn SharedDatabase,
    media: Option<&MediaStorage>,
) -> Result<(Position, Transferred)> {
    let alone = CoreConfig::new(folder);
    open::export(folder, database, |reader| {
        let mut transferred =
            Transferred { objects: reader.live_objects()?, ..Transferred::default() };
        if let Some(media) = media {
            let space = reader.space_ids()?.space;
            let shared = CoreConfig { media: media.clone(), ..alone.clone() };
            let from = Files::new(shared.files(), space.clone());
            let to = Files::new(alone.files(), space);
            (transferred.files, transferred.bytes) = copy_files(&from, &to)?;
        }
        Ok(transferred)
    })
}

/// Copies the files that the other storage lacks; returns number and bytes of all.
fn copy_files(from: &Files, to: &Files) -> Result<(u64, u64)> {
    to.connect()?;
    let existing: HashSet<_> =
        to.list(&|| Ok(()))?.into_iter().map(|file| (file.id, file.size)).collect();
    let (mut files, mut bytes) = (0, 0);
    for file in from.list(&|| Ok(()))? {
        files += 1;
        bytes += file.size;
        if existing.contains(&(file.id.clone(), file.size)) {
            continue;
        }
        let mut incoming = to.receive()?;
        from.copy(&file.id, file.size, &mut incoming)?;
        to.store(&file.id, &mut incoming)?;
    }
    Ok((files, bytes))
}
