//! Conditional and range requests for a file (RFC 9110).
//!
//! Headers that are not valid are ignored: the response is then the complete file.

use std::{
    ops::Range,
    time::{Duration, SystemTime},
};

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// The latest time of an HTTP date, since the epoch.
const MAX_DATE: Duration = Duration::from_secs(253_402_300_799);

/// The validators of a file: tag and modification time.
#[derive(Debug)]
pub(crate) struct Validators {
    /// With its quotes.
    etag: String,
    /// In whole seconds, as in the header.
    modified: SystemTime,
}

/// The range of a file that a request selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestedRange {
    Full,
    Range(Range<u64>),
    /// Beyond the end of the file.
    Unsatisfiable,
}

impl Validators {
    /// Takes a strong tag without its quotes.
    pub(crate) fn new(etag: &str, modified: SystemTime) -> Self {
        let since = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let seconds = Duration::from_secs(since.as_secs()).min(MAX_DATE);
        Self { etag: format!("\"{etag}\""), modified: SystemTime::UNIX_EPOCH + seconds }
    }

    pub(crate) fn etag(&self) -> HeaderValue {
        HeaderValue::try_from(&self.etag).expect("tags have visible characters only")
    }

    pub(crate) fn last_modified(&self) -> HeaderValue {
        let date = httpdate::fmt_http_date(self.modified);
        HeaderValue::try_from(date).expect("dates have visible characters only")
    }

    /// Returns whether the client has the file. `If-None-Match` precedes `If-Modified-Since`.
    pub(crate) fn match_cached(&self, headers: &HeaderMap) -> bool {
        if !headers.contains_key(header::IF_NONE_MATCH) {
            return date(headers, &header::IF_MODIFIED_SINCE)
                .is_some_and(|since| self.modified <= since);
        }
        has_cached(headers, &self.etag)
    }

    /// Returns the requested range of a file of this size. A request for several ranges gets the
    /// complete file.
    pub(crate) fn range(&self, headers: &HeaderMap, size: u64) -> RequestedRange {
        let mut ranges = headers.get_all(header::RANGE).iter();
        let range = ranges.next().and_then(|value| value.to_str().ok());
        let is_single = ranges.next().is_none();
        match range.filter(|_| is_single && self.allow_range(headers)) {
            Some(range) => parse_range(range, size).unwrap_or(RequestedRange::Full),
            None => RequestedRange::Full,
        }
    }

    /// Returns whether a range may be sent: with `If-Range`, only if the file is still the same.
    fn allow_range(&self, headers: &HeaderMap) -> bool {
        let Some(condition) = headers.get(header::IF_RANGE) else { return true };
        condition.as_bytes() == self.etag.as_bytes()
            || date(headers, &header::IF_RANGE) == Some(self.modified)
    }
}

/// Returns whether the client has a body with this tag, which includes its quotes.
pub(crate) fn has_cached(headers: &HeaderMap, etag: &str) -> bool {
    let values = headers.get_all(header::IF_NONE_MATCH).iter();
    let mut tags = values.filter_map(|value| value.to_str().ok()).flat_map(|v| v.split(','));
    tags.any(|tag| {
        let tag = tag.trim();
        tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag
    })
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok()
}

/// Reads `bytes=first-last`, `bytes=first-` or `bytes=-length`.
fn parse_range(range: &str, size: u64) -> Option<RequestedRange> {
    let (unit, range) = range.split_once('=')?;
    let (first, last) = range.trim().split_once('-')?;
    let part = match (first, last) {
        ("", length) => size.saturating_sub(number(length)?)..size,
        (first, "") => number(first)?..size,
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return None;
            }
            first..size.min(last.saturating_add(1))
        }
    };
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    Some(if part.is_empty() { RequestedRange::Unsatisfiable } else { RequestedRange::Range(part) })
}

/// Parses a number of any length; one that is too large becomes the largest number.
fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}
