//! Publishing: the actions of Draft & Public (contract 4).

/// What can be done to the status of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishAction {
    Publish,
    Unpublish,
    Archive,
}

impl PublishAction {
    pub const ALL: [Self; 3] = [Self::Publish, Self::Unpublish, Self::Archive];

    /// The action as paths and messages spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Unpublish => "unpublish",
            Self::Archive => "archive",
        }
    }
}
