//! Dates that a request sets (`X-CMS-Keep-Dates`), so that migrated content keeps them, see
//! docs/reference/objects.md#keep-dates

use serde_json::Value;

use crate::{
    clock::Timestamp,
    dates::{MIN_DATE_SECONDS, parse_lenient},
    error::FieldErrors,
    message,
};

const CREATED_AT: &str = "createdAt";
const UPDATED_AT: &str = "updatedAt";
const DELETED_AT: &str = "deletedAt";

/// Dates in a request that creates or replaces an object; none means the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptDates {
    /// In seconds since the epoch.
    pub created: Option<i64>,
    /// In seconds since the epoch.
    pub updated: Option<i64>,
    /// The object is stored as deleted at this time.
    pub deleted: Option<Timestamp>,
}

impl KeptDates {
    /// Reads the dates from `internal` of a request. No date may be in the future; created, updated
    /// and deleted must be in this order. `created_at` is the default date of creation.
    pub fn read(
        internal: Option<&Value>,
        created_at: i64,
        now: Timestamp,
        errors: &mut FieldErrors,
    ) -> Self {
        let mut dates = Self::default();
        let Some(Value::Object(internal)) = internal else { return dates };
        let mut earliest = created_at;
        for name in [CREATED_AT, UPDATED_AT, DELETED_AT] {
            let Some(value) = internal.get(name) else { continue };
            if name == DELETED_AT && value == "" {
                continue;
            }
            if name == CREATED_AT {
                earliest = MIN_DATE_SECONDS;
            }
            match value.as_str().and_then(parse_lenient) {
                None => errors.add(format!("internal.{name}"), message::WRONG_DATE),
                Some(at) if at > now || at.seconds() < earliest => {
                    errors.add(format!("internal.{name}"), message::NOT_VALID);
                }
                Some(at) => {
                    earliest = at.seconds();
                    match name {
                        CREATED_AT => dates.created = Some(earliest),
                        UPDATED_AT => dates.updated = Some(earliest),
                        _ => dates.deleted = Some(at),
                    }
                }
            }
        }
        dates
    }

    /// `updatedAt` of the object after a change at `now`.
    pub fn updated_at(&self, now: Timestamp) -> i64 {
        let default = self.deleted.unwrap_or(now).seconds();
        self.updated.unwrap_or(default)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_000_000_000;

    /// The dates, in seconds, and the errors.
    fn read(internal: &Value) -> ([Option<i64>; 3], Value) {
        let mut errors = FieldErrors::default();
        let now = Timestamp(NOW * 1_000_000 + 400_000);
        let dates = KeptDates::read(Some(internal), 900_000_000, now, &mut errors);
        let deleted = dates.deleted.map(Timestamp::seconds);
        ([dates.created, dates.updated, deleted], json!(errors))
    }

    #[test]
    fn kept_dates_are_read() {
        let table = [
            (json!({}), [None; 3]),
            (json!("text"), [None; 3]),
            (json!({"deletedAt": ""}), [None; 3]),
            (json!({"createdAt": "@5"}), [Some(5), None, None]),
            // Not before the default date of creation.
            (json!({"updatedAt": "@900000000"}), [None, Some(900_000_000), None]),
            (
                json!({"createdAt": "2000-01-01", "updatedAt": "2000-01-01 00:00:01.9",
                    "deletedAt": "2001-01-01T01:00:00+01:00", "status": 5}),
                [Some(946_684_800), Some(946_684_801), Some(978_307_200)],
            ),
            (
                json!({"createdAt": "@1000000000", "updatedAt": "@1000000000",
                    "deletedAt": "@1000000000"}),
                [Some(NOW); 3],
            ),
        ];
        for (internal, wanted) in table {
            assert_eq!(read(&internal), (wanted, json!({})), "{internal}");
        }
    }

    #[test]
    fn kept_dates_that_are_malformed_or_out_of_order_are_rejected() {
        let (format, invalid) = ("Wrong date format", "This value is not valid.");
        let table = [
            (json!({"createdAt": ""}), json!({"internal.createdAt": [format]})),
            (json!({"createdAt": 5}), json!({"internal.createdAt": [format]})),
            (json!({"updatedAt": null}), json!({"internal.updatedAt": [format]})),
            (json!({"deletedAt": null}), json!({"internal.deletedAt": [format]})),
            (json!({"createdAt": "@1000000001"}), json!({"internal.createdAt": [invalid]})),
            (json!({"createdAt": "@-62167219201"}), json!({"internal.createdAt": [invalid]})),
            (json!({"updatedAt": "@899999999"}), json!({"internal.updatedAt": [invalid]})),
            (json!({"deletedAt": "@899999999"}), json!({"internal.deletedAt": [invalid]})),
            (
                json!({"createdAt": "@8", "updatedAt": "@7", "deletedAt": "@7"}),
                json!({"internal.updatedAt": [invalid], "internal.deletedAt": [invalid]}),
            ),
            // Malformed dates do not affect the others.
            (
                json!({"createdAt": "soon", "updatedAt": "@7", "deletedAt": "@6"}),
                json!({"internal.createdAt": [format], "internal.deletedAt": [invalid]}),
            ),
        ];
        for (internal, wanted) in table {
            assert_eq!(read(&internal).1, wanted, "{internal}");
        }
    }
}
