//! Publishing: the actions of Draft & Public (contract 4) and the body of a schedule (13.3).

use serde::{Deserialize, Serialize};

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

/// When an object is to be published: local time of a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleRequest {
    /// `YYYY-MM-DDTHH:MM[:SS]`.
    pub scheduled_at: String,
    /// IANA name.
    pub time_zone: String,
}
