//! Moves a data directory into a cluster, and a cluster into a data directory.

use std::{collections::HashMap, path::Path, sync::Arc};

use cms_media::files::{Files, StoredFile};
use cms_model::{
    content_type::builtin::MEDIA,
    error::{Error, Result},
    settings::MediaStorage,
};
use cms_store::{
    Reader,
    cluster::{
        database::{Position, SharedDatabase},
        open,
    },
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
/// [`Error::Conflict`] if the shared database has a cluster with other content.
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
        // They may be in the bucket already, as after a restore.
        let stored = to.list(&|| Ok(()))?.len() as u64;
        from.store.read(|reader| require_files(reader, stored))?;
    }
    from.store.create_cluster(database)?;
    transferred.objects = from.store.read(|reader: &Reader<'_>| reader.live_objects())?;
    // Files that were uploaded after the first copy. No more follow: the directory refuses writes now.
    (transferred.files, transferred.bytes) = copy_files(&from.files, &to)?;
    Ok(transferred)
}

/// Copies a cluster, as of one commit, to an empty, standalone data directory. After a failure, the
/// next export into the directory continues with the files that it lacks.
///
/// # Errors
/// [`Error::Conflict`] if the directory has a database.
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
            require_files(reader, transferred.files)?;
        }
        Ok(transferred)
    })
}

/// Fails if the storage has none of the recorded media files: the setting `media` is probably wrong.
fn require_files(reader: &Reader<'_>, found: u64) -> Result<()> {
    if found > 0 {
        return Ok(());
    }
    let objects = reader.media_files_after(MEDIA, "", u32::MAX)?;
    let recorded = objects.iter().filter(|object| object.recorded.is_some()).count();
    if recorded == 0 {
        return Ok(());
    }
    Err(Error::Conflict(format!(
        "none of the {recorded} media files is in the given storage: use the same setting `media` as the server"
    )))
}

/// Copies the files that the other storage lacks; returns number and bytes of all.
///
/// # Errors
/// [`Error::Conflict`] if the other storage has a file of another size.
fn copy_files(from: &Files, to: &Files) -> Result<(u64, u64)> {
    to.connect()?;
    let existing: HashMap<_, _> =
        to.list(&|| Ok(()))?.into_iter().map(|file| (file.id, file.size)).collect();
    let (mut files, mut bytes) = (0, 0);
    for StoredFile { id, size, .. } in from.list(&|| Ok(()))? {
        files += 1;
        bytes += size;
        match existing.get(&id) {
            None => {
                let mut incoming = to.receive_copy()?;
                from.copy(&id, size, &mut incoming)?;
                to.store(&id, &mut incoming)?;
            }
            Some(found) if *found != size => {
                return Err(Error::Conflict(format!(
                    "the file {id} has {size} bytes, but its copy has {found}: remove the damaged one"
                )));
            }
            Some(_) => {}
        }
    }
    Ok((files, bytes))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use cms_model::media::id::FileId;
    use tempfile::TempDir;

    use super::*;

    const LIMIT: usize = 4;

    fn files(folder: &TempDir) -> Files {
        let config =
            CoreConfig { media_file_limit: LIMIT as u64, ..CoreConfig::new(folder.path()) };
        Files::new(config.files(), "space".to_owned())
    }

    fn store(files: &Files, id: &FileId, bytes: &[u8]) {
        let mut incoming = files.receive_copy().unwrap();
        incoming.write_all(bytes).unwrap();
        assert!(files.store(id, &mut incoming).unwrap());
    }

    #[test]
    fn files_above_the_limit_of_uploads_are_copied() {
        let folders = [(); 2].map(|()| TempDir::new().unwrap());
        let [from, to] = [files(&folders[0]), files(&folders[1])];
        let id = FileId::parse("_media-00000000-0000-4000-8000-000000000001").unwrap();
        store(&from, &id, &[1; 2 * LIMIT]);
        for _ in 0..2 {
            assert_eq!(copy_files(&from, &to).unwrap(), (1, 2 * LIMIT as u64));
            let all = || Ok(());
            let [from, to] = [&from, &to].map(|files| files.fingerprint(&id, &all).unwrap());
            assert_eq!(from, to);
        }
    }

    #[test]
    fn truncated_copy_is_a_conflict() {
        let folders = [(); 2].map(|()| TempDir::new().unwrap());
        let [from, to] = [files(&folders[0]), files(&folders[1])];
        let id = FileId::parse("_media-00000000-0000-4000-8000-000000000001").unwrap();
        store(&from, &id, &[1; 3]);
        store(&to, &id, &[1; 2]);
        let copied = copy_files(&from, &to);
        assert!(matches!(copied, Err(Error::Conflict(_))), "{copied:?}");
    }
}
