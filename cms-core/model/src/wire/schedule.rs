//! Scheduled publications, see docs/reference/publishing.md#list-schedules

use serde::{Deserialize, Serialize};

use super::author::Author;
use crate::paging::PageRequest;

/// `GET /api/v1/schedule`. Dates are as sent.
#[derive(Clone, Debug, Default)]
pub struct SchedulesRequest {
    pub page: PageRequest,
    /// Only objects of these types.
    pub content_types: Option<Vec<String>>,
    /// The first time.
    pub from: Option<String>,
    /// The last time.
    pub to: Option<String>,
}

/// An object whose publication is scheduled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduledObject {
    pub content_type: String,
    pub id: String,
    pub object_title: String,
    pub status: String,
    pub scheduled_at: String,
    pub scheduled_at_time_zone: String,
    /// The author of the schedule.
    pub by: Author,
}
