//! The activity log (`GET /api/v1/activity`), see docs/reference/activity.md

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::author::Author;
use crate::{
    clock::Timestamp,
    dates,
    error::{Error, FieldErrors, Result},
    message,
    read::digits,
};

/// The requested entries; a part that is none matches all entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActivityRequest {
    pub content_types: Option<Vec<String>>,
    /// Id of an object, or of a key, user or workflow.
    pub id: Option<String>,
    /// Id of a user or key.
    pub by: Option<String>,
    pub actions: Option<Vec<String>>,
    /// Start of the period, inclusive; the text as sent.
    pub from: Option<String>,
    /// End of the period, exclusive; the text as sent.
    pub to: Option<String>,
    /// Entries with smaller numbers: `next` of another page.
    pub before: Option<i64>,
    /// Maximum number of entries.
    pub limit: u32,
}

impl ActivityRequest {
    /// Parses the parameter `before`.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a text that is no `next` of a page.
    pub fn cursor(text: &str) -> Result<i64> {
        digits(text).ok_or_else(|| Error::invalid("before", message::NOT_VALID))
    }

    /// Parses `from` and `to`; none if neither is given.
    pub fn times(&self) -> Result<Option<Range<Timestamp>>> {
        let mut errors = FieldErrors::default();
        let mut parse = |name, text: &Option<String>| {
            let time = dates::parse_lenient(text.as_deref()?);
            if time.is_none() {
                errors.add(name, message::NOT_VALID);
            }
            time
        };
        let (from, to) = (parse("from", &self.from), parse("to", &self.to));
        errors.into_result()?;
        Ok((from.is_some() || to.is_some()).then(|| Range {
            start: from.unwrap_or(Timestamp(i64::MIN)),
            end: to.unwrap_or(Timestamp(i64::MAX)),
        }))
    }
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    pub seq: i64,
    pub at: String,
    /// An action of the change feed, `restore`, `unschedule` or `trash.remove`; for admins also
    /// actions on users, keys, workflows and sessions.
    pub action: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// The title at the time of the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_title: Option<String>,
    /// The changed properties of a new version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Vec<String>>,
    pub by: Author,
}

/// A page of entries, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivityPage {
    pub data: Vec<Activity>,
    /// The parameter `before` of the next page; none at the end.
    pub next: Option<String>,
    /// Whether there may be older entries.
    pub more: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activity_cursor_is_a_number() {
        assert_eq!(ActivityRequest::cursor("812").unwrap(), 812);
        for text in ["", "-1", "+1", "1-2", "x", "99999999999999999999"] {
            assert!(matches!(ActivityRequest::cursor(text), Err(Error::Invalid(_))), "{text}");
        }
    }

    #[test]
    fn activity_times_are_dates_in_utc() {
        let times = |from: Option<&str>, to: Option<&str>| {
            let text = |text: Option<&str>| text.map(str::to_owned);
            ActivityRequest { from: text(from), to: text(to), ..ActivityRequest::default() }.times()
        };
        let day = Timestamp(1_579_651_200_000_000);
        assert_eq!(times(None, None).unwrap(), None);
        let range = times(Some("2020-01-22"), Some("2020-01-22T01:00:00+01:00")).unwrap();
        assert_eq!(range, Some(day..day));
        assert_eq!(times(None, Some("2020-01-22")).unwrap().unwrap().start.0, i64::MIN);
        let Err(Error::Invalid(errors)) = times(Some("soon"), Some("")) else {
            panic!("both texts are no dates");
        };
        let paths: Vec<_> = errors.iter().map(|(path, _)| path.to_owned()).collect();
        assert_eq!(paths, ["from", "to"]);
    }
}
