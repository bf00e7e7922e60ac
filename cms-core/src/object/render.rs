//! A stored object as JSON. The properties are spliced in as they are stored, never parsed.

use std::io::Write;

use super::model::{Internal, Stored};
use crate::{
    dates,
    error::{Error, Result},
    limits,
    paging::Page,
};

/// A good first size for an answer with this many objects, so that it seldom has to grow.
pub(crate) fn expected_bytes(objects: u64) -> usize {
    let objects = usize::try_from(objects).unwrap_or(usize::MAX);
    objects.saturating_mul(3 * 1024).clamp(1024, 96 * 1024)
}

/// Appends the object: `id`, `internal`, then its properties (contract 3.1).
pub(crate) fn object(out: &mut Vec<u8>, content_type: &str, stored: &Stored<'_>) {
    out.reserve(stored.data.len() + 512);
    out.extend_from_slice(b"{\"id\":");
    string(out, &stored.id);
    out.extend_from_slice(b",\"internal\":");
    internal(out, content_type, &stored.internal);
    if stored.data.len() > 2 {
        out.push(b',');
    }
    // The stored text is an object, so it ends the one that began here.
    out.extend_from_slice(&stored.data.as_bytes()[1..]);
}

/// Appends the `internal` object: always all twelve fields, and the schedule while there
/// is one.
pub(crate) fn internal(out: &mut Vec<u8>, content_type: &str, internal: &Internal<'_>) {
    out.extend_from_slice(b"{\"contentType\":\"");
    // Names are made of a-z and _ only.
    out.extend_from_slice(content_type.as_bytes());
    out.extend_from_slice(b"\",\"createdAt\":\"");
    dates::push_object_date(internal.created_at, out);
    out.extend_from_slice(b"\",\"updatedAt\":\"");
    dates::push_object_date(internal.updated_at, out);
    out.extend_from_slice(b"\",\"deletedAt\":\"\",\"workflowState\":");
    string(out, &internal.workflow_state);
    out.extend_from_slice(b",\"objectTitle\":");
    string(out, &internal.title);
    out.extend_from_slice(b",\"latestVersion\":");
    integer(out, internal.version);
    out.extend_from_slice(b",\"workflowPublicVersion\":");
    match internal.workflow_public_version {
        Some(version) => integer(out, version),
        None => out.extend_from_slice(b"\"\""),
    }
    out.extend_from_slice(b",\"workflowPublishedAt\":");
    match internal.workflow_published_at {
        Some(at) => date(out, at),
        None => out.extend_from_slice(b"-1"),
    }
    out.extend_from_slice(b",\"status\":\"");
    out.extend_from_slice(internal.status.as_str().as_bytes());
    out.extend_from_slice(b"\",\"publicVersion\":");
    integer(out, internal.public_version.unwrap_or(-1));
    out.extend_from_slice(b",\"publishedAt\":");
    match internal.published_at {
        Some(at) => date(out, at),
        None => out.extend_from_slice(b"\"\""),
    }
    if let Some(schedule) = &internal.schedule {
        out.extend_from_slice(b",\"scheduledAt\":");
        date(out, schedule.at);
        out.extend_from_slice(b",\"scheduledAtTimeZone\":");
        string(out, &schedule.zone);
    }
    out.push(b'}');
}

/// Refuses a response that is too large to be put together in memory.
pub(crate) fn require_bounded(bytes: usize) -> Result<()> {
    let limit = limits::ANSWER_BYTES;
    if bytes <= limit {
        return Ok(());
    }
    let limit = limit / (1024 * 1024);
    let message = format!("The response would exceed {limit} MiB, use a smaller limit");
    Err(Error::invalid("limit", message))
}

/// Appends the list envelope up to the entries; whoever calls it adds them and `]}`.
pub(crate) fn list_head(out: &mut Vec<u8>, page: Page, total: u64, count: u64) {
    write!(
        out,
        "{{\"total_count\":{total},\"total_pages\":{},\"current_page\":{},\"count\":{count},\"data\":[",
        page.count(total),
        page.number,
    )
    .expect("writing to memory cannot fail");
}

pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("writing to memory cannot fail");
}

pub(crate) fn integer(out: &mut Vec<u8>, number: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn date(out: &mut Vec<u8>, at: i64) {
    out.push(b'"');
    dates::push_object_date(at, out);
    out.push(b'"');
}
