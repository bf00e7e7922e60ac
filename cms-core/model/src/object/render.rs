//! A stored object as JSON. The properties are spliced in as they are stored, never parsed.

use std::io::Write;

use super::model::{Internal, StoredObject};
use crate::{
    dates,
    error::{Error, Result},
    limits,
    memory::BufferReservation,
    paging::Page,
};

/// Most bytes by which the text of a response grows at a time.
const GROWTH_BYTES: usize = 32 * 1024 * 1024;
/// What an object takes in a response besides its properties, unless its title is long.
const OBJECT_OVERHEAD: usize = 1024;

/// A good first size for an answer with this many objects, so that it seldom has to grow.
pub fn expected_bytes(objects: u64) -> usize {
    let objects = usize::try_from(objects).unwrap_or(usize::MAX);
    objects.saturating_mul(3 * 1024).clamp(1024, 96 * 1024)
}

/// The size of an object in a response, at most.
pub fn object_bytes(stored: &StoredObject<'_>) -> usize {
    stored.data.len() + 2 * stored.internal.title.len() + OBJECT_OVERHEAD
}

/// Makes room in a response for so many more bytes. Its buffer counts against the memory of the
/// request before it grows, twice: while it grows, the old one is there too.
pub fn make_room(
    out: &mut Vec<u8>,
    bytes: usize,
    buffered: &mut BufferReservation<'_>,
) -> Result<()> {
    require_bounded(out.len())?;
    let (needed, capacity) = (out.len() + bytes, out.capacity());
    if needed > capacity {
        let grown = needed.max(capacity + capacity.min(GROWTH_BYTES));
        buffered.cover(capacity + grown)?;
        out.reserve_exact(grown - out.len());
    }
    Ok(())
}

/// Appends the object: `id`, `internal`, then its properties (contract 3.1).
pub fn object(out: &mut Vec<u8>, content_type: &str, stored: &StoredObject<'_>) {
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
pub fn internal(out: &mut Vec<u8>, content_type: &str, internal: &Internal<'_>) {
    out.extend_from_slice(b"{\"contentType\":\"");
    // Names are made of a-z and _ only.
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

/// Refuses a response that is too large to be put together in memory.
pub fn require_bounded(bytes: usize) -> Result<()> {
    if bytes <= limits::MAX_RESPONSE_BYTES {
        return Ok(());
    }
    let limit = limits::MAX_RESPONSE_BYTES / (1024 * 1024);
    let message = format!("The response would exceed {limit} MiB, use a smaller limit");
    Err(Error::invalid("limit", message))
}

/// Appends the list envelope up to the entries; whoever calls it adds them and `]}`.
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
