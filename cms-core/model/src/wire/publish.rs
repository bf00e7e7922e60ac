//! The actions of Draft & Public, see docs/reference/publishing.md#statuses

crate::named_enum! {
    /// An action that changes the status of an object.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PublishAction {
        Publish => "publish",
        Unpublish => "unpublish",
        Archive => "archive",
    }
}
