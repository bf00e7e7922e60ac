//! [`FileId`]: the names of stored files.

use std::fmt;

use uuid::Uuid;

use crate::ids::IdSource;

/// The id of a media object that can have a file: `_media-<uuid>`, in lower case.
///
/// Objects with other ids have no file. So only these 43 characters become part of a path on disk,
/// whatever a request contains.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(Uuid);

const PREFIX: &str = "_media-";

impl FileId {
    pub fn new(ids: &dyn IdSource) -> Self {
        Self(ids.uuid().parse().expect("an id source makes UUIDs"))
    }

    /// Parses the id of an object, ignoring case as for all ids.
    pub fn parse(id: &str) -> Option<Self> {
        let (prefix, uuid) = id.split_at_checked(PREFIX.len())?;
        // Of the forms of a UUID only the one with hyphens has this length.
        let is_plain = prefix.eq_ignore_ascii_case(PREFIX) && uuid.len() == 36;
        Uuid::try_parse(uuid).ok().filter(|_| is_plain).map(Self)
    }
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0.hyphenated())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_ids_are_uuids() {
        let plain = "_media-448eab50-efc1-46ef-83f2-b910b8cc58e0";
        assert_eq!(FileId::parse(plain).unwrap().to_string(), plain);
        assert_eq!(FileId::parse(&plain.to_uppercase()).unwrap().to_string(), plain);
        for other in [
            "",
            "_media-",
            "_media-photo",
            "448eab50-efc1-46ef-83f2-b910b8cc58e0",
            "_media-448eab50efc146ef83f2b910b8cc58e0",
            "_media-{448eab50-efc1-46ef-83f2-b910b8cc58e0}",
            "_media-448eab50-efc1-46ef-83f2-b910b8cc58e",
            "_media-../../../../../../../../etc/passwd0",
            "_mediä-448eab50-efc1-46ef-83f2-b910b8cc58e",
            "_media/448eab50-efc1-46ef-83f2-b910b8cc58e0",
        ] {
            assert_eq!(FileId::parse(other), None, "{other}");
        }
    }
}
