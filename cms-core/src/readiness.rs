//! Which parts of a data folder can serve, for whoever decides where requests go.
//!
//! Everything here is quick: it may be asked every second. What takes time, like storage on another
//! machine, is looked at by [`crate::Media::watch`] and only told here.

use std::error::Error as _;

use cms_model::{error::Error, limits};

use crate::Cms;

/// A part of the folder, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub name: &'static str,
    /// None when it can serve. For logs: it may name paths and places.
    pub fault: Option<String>,
}

impl Cms {
    /// Looks at every part of the folder.
    pub fn readiness(&self) -> [Part; 4] {
        let part = |name, fault| Part { name, fault };
        [
            part("database", self.database_fault()),
            part("index", self.index.fault()),
            part("media", self.files.fault()),
            part("disk", self.disk_fault()),
        ]
    }

    fn database_fault(&self) -> Option<String> {
        let answers = self.store.peek(|reader| reader.revisions().map(drop));
        let damage = self.store.damage().map(|cause| format!("the file is damaged: {cause}"));
        damage.or_else(|| answers.err().map(|error| reason(&error)))
    }

    fn disk_fault(&self) -> Option<String> {
        match fs4::available_space(&self.config.folder) {
            Ok(left) if left >= limits::DISK_RESERVE_BYTES => None,
            Ok(left) => Some(format!("{left} bytes are left")),
            Err(error) => Some(error.to_string()),
        }
    }
}

/// The cause of an error where there is one: the sentence alone hides it.
fn reason(error: &Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::testing::TestCms;

    #[test]
    fn a_part_that_cannot_serve_is_named() {
        let core = TestCms::new();
        let faults = || {
            let parts = core.cms.readiness();
            let faulty = parts.iter().filter(|part| part.fault.is_some());
            faulty.map(|part| part.name).collect::<Vec<_>>()
        };
        assert_eq!(faults(), [""; 0]);
        // A file where a folder should be.
        let media = core.path().join("media");
        fs::remove_dir(&media).unwrap();
        fs::write(&media, "").unwrap();
        assert_eq!(faults(), ["media"]);
        fs::remove_file(&media).unwrap();
        let index = core.path().join("index");
        fs::remove_dir_all(&index).ok();
        fs::write(&index, "").unwrap();
        core.cms.search().advance().unwrap_err();
        assert_eq!(faults(), ["index"]);
        fs::remove_file(&index).unwrap();
        core.cms.search().advance().unwrap();
        assert_eq!(faults(), [""; 0], "what was mended is ready again");
    }
}
