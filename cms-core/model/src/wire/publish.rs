//! The actions of Draft & Public, see docs/reference/publishing.md#statuses

/// An action that changes the status of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishAction {
    Publish,
    Unpublish,
    Archive,
}

impl PublishAction {
    pub const ALL: [Self; 3] = [Self::Publish, Self::Unpublish, Self::Archive];

    /// The name in paths and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Unpublish => "unpublish",
            Self::Archive => "archive",
        }
    }
}
