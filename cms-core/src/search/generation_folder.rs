//! The directory of the generations of an index, and the generation that searches use.
//!
//! A generation is a directory `index/<number>`; the file `index/current` names the one that searches use.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
};

use cms_model::error::{Error, Result};
use cms_search::{Generation, IndexPosition};
use cms_system::{folder, lock};

/// Names the generation that searches use.
const CURRENT_FILE: &str = "current";
/// Locked by the process that writes.
const LOCK_FILE: &str = "lock";

pub(super) struct GenerationFolder(PathBuf);

impl GenerationFolder {
    /// The directory in a data directory.
    pub(super) fn new(data: &Path) -> Self {
        Self(data.join("index"))
    }

    /// Creates the directory if it is missing, and takes its lock; none when another process has it.
    pub(super) fn try_lock(&self) -> Result<Option<File>> {
        fs::create_dir_all(&self.0).map_err(Error::from_io)?;
        lock::try_lock(&self.0.join(LOCK_FILE))
    }

    pub(super) fn path_of(&self, number: u64) -> PathBuf {
        self.0.join(number.to_string())
    }

    /// The number of the generation that searches use.
    pub(super) fn current(&self) -> Option<u64> {
        fs::read_to_string(self.0.join(CURRENT_FILE)).ok()?.trim().parse().ok()
    }

    pub(super) fn set_current(&self, number: u64) -> Result<()> {
        folder::replace_file(&self.0.join(CURRENT_FILE), format!("{number}\n").as_bytes())
            .and_then(|()| folder::sync(&self.0))
            .map_err(Error::from_io)
    }

    /// The generations on disk, oldest first.
    pub(super) fn numbers(&self) -> Result<Vec<u64>> {
        let names = folder::names(&self.0).map_err(Error::from_io)?;
        let numbers = names.iter().filter_map(|name| name.to_str()?.parse().ok());
        let mut numbers: Vec<u64> = numbers.collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub(super) fn remove(&self, number: u64) -> Result<()> {
        fs::remove_dir_all(self.path_of(number)).map_err(Error::from_io)
    }

    /// Makes the current generation unusable: it is removed when the generations are opened again.
    pub(super) fn discard(&self, number: u64) {
        fs::remove_file(self.0.join(CURRENT_FILE)).ok();
        fs::remove_file(self.path_of(number).join("meta.json")).ok();
    }
}

/// An open generation, and the position of its last commit.
pub(super) struct CurrentGeneration {
    pub(super) number: u64,
    pub(super) generation: Arc<Generation>,
    pub(super) position: IndexPosition,
}

impl CurrentGeneration {
    /// A generation on disk. If it was indexed from another state of the database, its position is 0: it covers no
    /// journal row.
    pub(super) fn found(
        (number, generation, position): (u64, Arc<Generation>, IndexPosition),
        is_in_history: bool,
    ) -> Arc<Self> {
        let position = if is_in_history { position } else { IndexPosition::new(0, 0) };
        Arc::new(Self { number, generation, position })
    }
}
