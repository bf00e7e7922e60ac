//! Parses scheduled publications: converts local time in a time zone to a point in time, see
//! docs/reference/publishing.md#scheduled-publication
//!
//! A local time that a clock change skips is moved forward by the length of the gap. A local time that
//! a clock change repeats stands for the earlier of the two points in time.

use jiff::{civil::DateTime, tz::TimeZone};
use serde_json::{Map, Value};

use crate::{
    clock::Timestamp, error::FieldErrors, message, object::model::Schedule, read::required,
};

/// A publication must be scheduled more than this ahead.
const MIN_LEAD_SECONDS: i64 = 5 * 60;

/// Parses the body of a schedule request.
pub fn parse(
    payload: &Map<String, Value>,
    now: Timestamp,
) -> Result<Schedule<'static>, FieldErrors> {
    let mut errors = FieldErrors::default();
    let local: Option<&str> = required(payload, "scheduledAt", "", &mut errors);
    let zone: Option<&str> = required(payload, "timeZone", "", &mut errors);
    let known = zone.and_then(|name| TimeZone::get(name).ok()).filter(|zone| !zone.is_unknown());
    if zone.is_some() && known.is_none() {
        errors.add("timeZone", message::NOT_VALID);
    }
    let local_time = local.and_then(local_time);
    if local.is_some() && local_time.is_none() {
        errors.add("scheduledAt", message::NOT_VALID);
    }
    let (Some(local_time), Some(known)) = (local_time, known) else { return Err(errors) };
    let at = local_time.to_zoned(known.clone()).map(|zoned| zoned.timestamp().as_second()).ok();
    match at.filter(|at| at * 1_000_000 > now.0 + MIN_LEAD_SECONDS * 1_000_000) {
        Some(at) => {
            let zone = known.iana_name().or(zone).unwrap_or_default();
            Ok(Schedule { at, zone: zone.to_owned().into() })
        }
        None => Err(FieldErrors::one("scheduledAt", message::NOT_VALID)),
    }
}

/// Parses `YYYY-MM-DDTHH:MM[:SS]`.
fn local_time(text: &str) -> Option<DateTime> {
    let has_format = |format: &str| {
        format.len() == text.len()
            && format.bytes().zip(text.bytes()).all(|(wanted, found)| match wanted {
                b'0' => found.is_ascii_digit(),
                _ => found == wanted,
            })
    };
    let formats = ["0000-00-00T00:00", "0000-00-00T00:00:00"];
    // The parser accepts leap seconds.
    let is_valid = formats.into_iter().any(has_format) && !text.ends_with(":60");
    if is_valid { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{dates, testing::START};

    fn parsed(body: &Value) -> Result<(String, String), FieldErrors> {
        let payload = body.as_object().unwrap().clone();
        let schedule = parse(&payload, Timestamp(START * 1_000_000))?;
        Ok((dates::object_date(schedule.at), schedule.zone.into_owned()))
    }

    #[test]
    fn schedule_converts_local_times() {
        // START is 2026-01-02T03:04:05Z.
        for (local, zone, expected) in [
            ("2026-01-02T03:10", "UTC", "2026-01-02T03:10:00+00:00"),
            ("2026-07-01T12:00:30", "Europe/Warsaw", "2026-07-01T10:00:30+00:00"),
            ("2026-12-01T12:00", "Europe/Warsaw", "2026-12-01T11:00:00+00:00"),
            // Clocks go forward from 02:00 to 03:00.
            ("2026-03-29T02:30", "Europe/Warsaw", "2026-03-29T01:30:00+00:00"),
            // Clocks go back from 03:00 to 02:00: 02:30 comes twice.
            ("2026-10-25T02:30", "Europe/Warsaw", "2026-10-25T00:30:00+00:00"),
            ("2026-06-01T00:00", "Asia/Kathmandu", "2026-05-31T18:15:00+00:00"),
        ] {
            let body = json!({"scheduledAt": local, "timeZone": zone});
            assert_eq!(parsed(&body), Ok((expected.to_owned(), zone.to_owned())), "{local} {zone}");
        }
    }

    #[test]
    fn schedule_rejects_invalid_times_and_zones() {
        let not_valid = |path: &str| FieldErrors::one(path, message::NOT_VALID);
        for (local, zone, errors) in [
            // Exactly five minutes ahead, and one second more.
            ("2026-01-02T03:09:05", "UTC", Some(not_valid("scheduledAt"))),
            ("2026-01-02T03:09:06", "UTC", None),
            ("2025-01-02T03:04", "UTC", Some(not_valid("scheduledAt"))),
            ("2026-02-30T03:04", "UTC", Some(not_valid("scheduledAt"))),
            ("2026-05-05", "UTC", Some(not_valid("scheduledAt"))),
            ("2026-05-05T10:00Z", "UTC", Some(not_valid("scheduledAt"))),
            ("2026-05-05T10", "UTC", Some(not_valid("scheduledAt"))),
            ("9999-12-31T23:59", "Etc/GMT+12", Some(not_valid("scheduledAt"))),
            ("2026-05-05T10:00", "Europe/Atlantis", Some(not_valid("timeZone"))),
            ("2026-12-31T23:59:60", "UTC", Some(not_valid("scheduledAt"))),
            ("2026-05-05T10:60", "UTC", Some(not_valid("scheduledAt"))),
            ("2026-05-05T10:00", "Etc/Unknown", Some(not_valid("timeZone"))),
            ("2026-05-05T10:00", "", Some(not_valid("timeZone"))),
        ] {
            let body = json!({"scheduledAt": local, "timeZone": zone});
            assert_eq!(parsed(&body).err(), errors, "{local} {zone}");
        }
        let mut missing = FieldErrors::one("scheduledAt", "The property scheduledAt is required");
        missing.add("timeZone", "Integer value found, but a string is required");
        assert_eq!(parsed(&json!({"timeZone": 1})), Err(missing));
    }
}
