//! Renders stored objects as JSON. The stored text of the properties is copied without parsing.

use std::io::Write;

use super::model::{Internal, StoredObject};
use crate::{
    dates,
    error::{Error, RESPONSE_LIMIT_PATH, Result},
    limits,
    memory::BufferReservation,
    paging::PageRequest,
    query::path::InternalField,
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
    for (index, key) in INTERNAL_KEYS.iter().enumerate() {
        let start = out.len();
        out.extend_from_slice(key);
        if !internal_value(out, InternalField::ALL[index], content_type, internal) {
            out.truncate(start);
        }
    }
    out.push(b'}');
}

/// The text before the value of each field, in the order of [`InternalField::ALL`].
const INTERNAL_KEYS: [&[u8]; InternalField::ALL.len()] = [
    b"{\"contentType\":",
    b",\"createdAt\":",
    b",\"updatedAt\":",
    b",\"deletedAt\":",
    b",\"workflowState\":",
    b",\"objectTitle\":",
    b",\"latestVersion\":",
    b",\"workflowPublicVersion\":",
    b",\"workflowPublishedAt\":",
    b",\"status\":",
    b",\"publicVersion\":",
    b",\"publishedAt\":",
    b",\"scheduledAt\":",
    b",\"scheduledAtTimeZone\":",
];

/// Appends the value of one field of `internal`; returns false when it has none.
pub(crate) fn internal_value(
    out: &mut Vec<u8>,
    field: InternalField,
    content_type: &str,
    internal: &Internal<'_>,
) -> bool {
    // Texts of the program need no escapes.
    let plain = |out: &mut Vec<u8>, text: &str| {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    };
    match field {
        InternalField::ContentType => plain(out, content_type),
        InternalField::CreatedAt => date(out, internal.created_at),
        InternalField::UpdatedAt => date(out, internal.updated_at),
        InternalField::DeletedAt => match internal.deleted_at {
            Some(at) => date(out, at),
            None => plain(out, ""),
        },
        InternalField::WorkflowState => string(out, &internal.workflow_state),
        InternalField::ObjectTitle => string(out, &internal.title),
        InternalField::LatestVersion => integer(out, internal.version),
        InternalField::WorkflowPublicVersion => match internal.workflow_public_version {
            Some(version) => integer(out, version),
            None => plain(out, ""),
        },
        InternalField::WorkflowPublishedAt => match internal.workflow_published_at {
            Some(at) => date(out, at),
            None => integer(out, -1),
        },
        InternalField::Status => plain(out, internal.status.as_str()),
        InternalField::PublicVersion => integer(out, internal.public_version.unwrap_or(-1)),
        InternalField::PublishedAt => match internal.published_at {
            Some(at) => date(out, at),
            None => plain(out, ""),
        },
        InternalField::ScheduledAt => match &internal.schedule {
            Some(schedule) => date(out, schedule.at),
            None => return false,
        },
        InternalField::ScheduledAtTimeZone => match &internal.schedule {
            Some(schedule) => string(out, &schedule.zone),
            None => return false,
        },
    }
    true
}

/// Rejects responses that are too large to be buffered in memory.
pub fn require_bounded(bytes: usize) -> Result<()> {
    if bytes <= limits::MAX_RESPONSE_BYTES {
        return Ok(());
    }
    let limit = limits::MAX_RESPONSE_BYTES / (1024 * 1024);
    let message = format!("The response would exceed {limit} MiB, use a smaller limit");
    Err(Error::invalid(RESPONSE_LIMIT_PATH, message))
}

/// Appends the list envelope up to the entries; the caller appends these and `]}`.
pub fn push_list_head(out: &mut Vec<u8>, page: PageRequest, total: u64, count: u64) {
    write!(
        out,
        "{{\"total_count\":{total},\"total_pages\":{},\"current_page\":{},\"count\":{count},\"data\":[",
        page.page_count(total),
        page.number,
    )
    .expect("writing to memory cannot fail");
}

pub fn string(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("writing to memory cannot fail");
}

/// Appends a JSON text as a string. The text has no control characters, as stored JSON has none.
pub fn json_as_string(out: &mut Vec<u8>, json: &[u8]) {
    out.push(b'"');
    let mut copied = 0;
    for at in memchr::memchr2_iter(b'"', b'\\', json) {
        out.extend_from_slice(&json[copied..at]);
        out.push(b'\\');
        copied = at;
    }
    out.extend_from_slice(&json[copied..]);
    out.push(b'"');
}

pub fn integer(out: &mut Vec<u8>, number: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a date in the format of `internal.*`, as JSON.
pub fn date(out: &mut Vec<u8>, at: i64) {
    out.push(b'"');
    dates::push_object_date(at, out);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        #[test]
        fn json_as_string_has_the_escapes_of_any_string(text in any::<String>(), name in "[\"\\\\a]*") {
            let json = json!({ name: [text, {}, "\"quoted\" \\"] }).to_string();
            let mut out = Vec::new();
            json_as_string(&mut out, json.as_bytes());
            prop_assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(&json).unwrap());
        }
    }
}
