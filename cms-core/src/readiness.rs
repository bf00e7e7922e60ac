//! The readiness of the parts of a data directory, for health checks.
//!
//! Fast enough to be called every second: [`crate::Media::check_storage`] checks slow storage in the
//! background, and its last result is returned here.

use std::{error::Error as _, time::Duration};

use cms_model::{error::Error, limits};

use crate::{Cluster, Cms};

/// A node is not ready if its staleness is larger, see docs/reference/cluster.md#terms. It checks the
/// head ten times a second.
const MAX_STALENESS: Duration = Duration::from_secs(5);

/// A part of the server and its error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadinessPart {
    pub name: &'static str,
    /// None when it is ready. For logs only: it may contain paths.
    pub error: Option<String>,
}

impl Cms {
    /// Checks every part.
    pub fn readiness(&self) -> Vec<ReadinessPart> {
        let part = |name, error| ReadinessPart { name, error };
        let mut parts = vec![
            part("database", self.database_error()),
            part("index", self.index.last_error()),
            part("media", self.files.last_error()),
            part("disk", self.disk_error()),
        ];
        parts.extend(self.cluster().map(|node| part("cluster", cluster_error(node))));
        parts
    }

    fn database_error(&self) -> Option<String> {
        let revisions = self.store.read_autocommit(|reader| reader.revisions().map(drop));
        let damage = self.store.damage().map(|cause| format!("the file is damaged: {cause}"));
        damage.or_else(|| revisions.err().map(|error| reason(&error)))
    }

    fn disk_error(&self) -> Option<String> {
        match fs4::available_space(&self.config.folder) {
            Ok(left) if left >= limits::DISK_RESERVE_BYTES => None,
            Ok(left) => Some(format!("{left} bytes are left")),
            Err(error) => Some(error.to_string()),
        }
    }
}

/// Returns the reason why the reads of a node are older than it promises.
fn cluster_error(node: Cluster<'_>) -> Option<String> {
    if node.replica().is_abandoned() {
        return Some("the replica cannot follow the shared database".to_owned());
    }
    match node.staleness() {
        None => Some("the replica was not compared with the head yet".to_owned()),
        Some(age) if age > MAX_STALENESS => {
            Some(format!("the replica last had the newest commit {} s ago", age.as_secs()))
        }
        Some(_) => None,
    }
}

/// The cause of an error if it has one: its message alone is too general.
fn reason(error: &Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::testing::TestCms;

    #[test]
    fn part_that_is_not_ready_is_reported() {
        let core = TestCms::new();
        let failed = || {
            let parts = core.cms.readiness();
            let failed = parts.iter().filter(|part| part.error.is_some());
            failed.map(|part| part.name).collect::<Vec<_>>()
        };
        assert_eq!(failed(), [""; 0]);
        // A file instead of a directory.
        let media = core.path().join("media");
        fs::remove_dir(&media).unwrap();
        fs::write(&media, "").unwrap();
        assert_eq!(failed(), ["media"]);
        fs::remove_file(&media).unwrap();
        let index = core.path().join("index");
        fs::remove_dir_all(&index).ok();
        fs::write(&index, "").unwrap();
        core.cms.search().index_batch().unwrap_err();
        assert_eq!(failed(), ["index"]);
        fs::remove_file(&index).unwrap();
        core.cms.search().index_batch().unwrap();
        assert_eq!(failed(), [""; 0], "repaired parts are ready again");
    }
}
