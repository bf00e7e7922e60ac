//! Renders stored objects as JSON. The stored text of the properties is copied without parsing.

use std::io::Write;

use super::model::{Internal, StoredObject};
use crate::{
    dates,
    error::{Error, Result},
    limits,
    memory::BufferReservation,
    paging::Page,
};

/// Maximum number of bytes by which the buffer of a response grows at a time.
const MAX_GROWTH_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of an object in a response besides its properties and title.
const OBJECT_OVERHEAD_BYTES: usize = 1024;

/// Initial capacity of the buffer of a response with this many objects.
pub fn expected_bytes(objects: u64) -> usize {
    let objects = usize::try_from(objects).unwrap_or(usize::MAX);
    objects.saturating_mul(3 * 1024).clamp(1024, 96 * 1024)
}

/// Maximum size of an object in a response.
pub fn object_bytes(stored: &StoredObject<'_>) -> usize {
    stored.data.len() + 2 * stored.internal.title.len() + OBJECT_OVERHEAD_BYTES
}

/// Reserves capacity in a response for this many more bytes, and memory from the budget. While a
/// buffer grows, both the old and the new one count.
pub fn make_room(
    out: &mut Vec<u8>,
    bytes: usize,
    buffered: &mut BufferReservation<'_>,
) -> Result<()> {
    require_bounded(out.len())?;
    let (needed, capacity) = (out.len() + bytes, out.capacity());
    if needed > capacity {
        let grown = needed.max(capacity + capacity.min(MAX_GROWTH_BYTES));
        buffered.grow_to(capacity + grown)?;
        out.reserve_exact(grown - out.len());
    }
    Ok(())
}

/// Appends an object: `id`, `internal`, then its properties.
pub fn object(out: &mut Vec<u8>, content_type: &str, stored: &StoredObject<'_>) {
    out.reserve(stored.data.len() + 512);
    out.extend_from_slice(b"{\"id\":");
    string(out, &stored.id);
    out.extend_from_slice(b",\"internal\":");
    internal(out, content_type, &stored.internal);
    if stored.data.len() > 2 {
        out.push(b',');
    }
    // The stored text ends with the closing brace.
    out.extend_from_slice(&stored.data.as_bytes()[1..]);
}

/// Appends `internal`: always all twelve fields, and the schedule if there is one.
pub fn internal(out: &mut Vec<u8>, content_type: &str, internal: &Internal<'_>) {
    out.extend_from_slice(b"{\"contentType\":\"");
    // Names consist of a-z and _ only.
    out.extend_from_slice(content_type.as_bytes());
    out.extend_from_slice(b"\",\"createdAt\":\"");
    dates::push_object_date(internal.created_at, out);
    out.extend_from_slice(b"\",\"updatedAt\":\"");
    dates::push_object_date(internal.updated_at, out);
    out.extend_from_slice(b"\",\"deletedAt\":\"");
    if let Some(at) = internal.deleted_at {
        dates::push_object_date(at, out);
    }
    out.extend_from_slice(b"\",\"workflowState\":");
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

/// Rejects responses that are too large to be buffered in memory.
pub fn require_bounded(bytes: usize) -> Result<()> {
    if bytes <= limits::MAX_RESPONSE_BYTES {
        return Ok(());
    }
    let limit = limits::MAX_RESPONSE_BYTES / (1024 * 1024);
    let message = format!("The response would exceed {limit} MiB, use a smaller limit");
    Err(Error::invalid("limit", message))
}

/// Appends the list envelope up to the entries; the caller appends these and `]}`.
pub fn push_list_head(out: &mut Vec<u8>, page: Page, total: u64, count: u64) {
    write!(
        out,
        "{{\"total_count\":{total},\"total_pages\":{},\"current_page\":{},\"count\":{count},\"data\":[",
        page.count(total),
        page.number,
    )
    .expect("writing to memory cannot fail");
}

pub fn string(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("writing to memory cannot fail");
}

pub fn integer(out: &mut Vec<u8>, number: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn date(out: &mut Vec<u8>, at: i64) {
    out.push(b'"');
    dates::push_object_date(at, out);
    out.push(b'"');
}
