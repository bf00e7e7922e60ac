//! Conditional and partial requests for a file (RFC 9110, contract 7.4).
//!
//! What cannot be understood is ignored: the answer is then the whole file.

use std::{
    ops::Range,
    time::{Duration, SystemTime},
};

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// The last second that an HTTP date can name.
const LAST_DATE: Duration = Duration::from_secs(253_402_300_799);

/// By what a client knows whether it has the current file.
#[derive(Debug)]
pub(crate) struct Validators {
    /// With its quotes.
    etag: String,
    /// As precise as headers have it.
    modified: SystemTime,
}

/// What of a file is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Portion {
    Whole,
    Part(Range<u64>),
    /// Nothing that the file has.
    Unsatisfiable,
}

impl Validators {
    /// Of a strong tag, without its quotes, and a time.
    pub(crate) fn new(etag: &str, modified: SystemTime) -> Self {
        let since = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let seconds = Duration::from_secs(since.as_secs()).min(LAST_DATE);
        Self { etag: format!("\"{etag}\""), modified: SystemTime::UNIX_EPOCH + seconds }
    }

    pub(crate) fn etag(&self) -> HeaderValue {
        HeaderValue::try_from(&self.etag).expect("tags are of visible characters")
    }

    pub(crate) fn last_modified(&self) -> HeaderValue {
        let date = httpdate::fmt_http_date(self.modified);
        HeaderValue::try_from(date).expect("dates are of visible characters")
    }

    /// Tells whether the client has the file. Tags count before dates.
    pub(crate) fn are_known(&self, headers: &HeaderMap) -> bool {
        if !headers.contains_key(header::IF_NONE_MATCH) {
            return date(headers, &header::IF_MODIFIED_SINCE)
                .is_some_and(|since| self.modified <= since);
        }
        knows_tag(headers, &self.etag)
    }

    /// Returns the part that is asked for, of a file of this size. Of several parts none is sent
    /// alone: the whole file is.
    pub(crate) fn portion(&self, headers: &HeaderMap, size: u64) -> Portion {
        let mut ranges = headers.get_all(header::RANGE).iter();
        let range = ranges.next().and_then(|value| value.to_str().ok());
        let is_single = ranges.next().is_none();
        match range.filter(|_| is_single && self.allow_range(headers)) {
            Some(range) => portion(range, size).unwrap_or(Portion::Whole),
            None => Portion::Whole,
        }
    }

    /// A part is only of use to who has other parts of the same file.
    fn allow_range(&self, headers: &HeaderMap) -> bool {
        let Some(condition) = headers.get(header::IF_RANGE) else { return true };
        condition.as_bytes() == self.etag.as_bytes()
            || date(headers, &header::IF_RANGE) == Some(self.modified)
    }
}

/// Tells whether the client has what this tag names, with its quotes.
pub(crate) fn knows_tag(headers: &HeaderMap, etag: &str) -> bool {
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
fn portion(range: &str, size: u64) -> Option<Portion> {
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
    Some(if part.is_empty() { Portion::Unsatisfiable } else { Portion::Part(part) })
}

/// A number of any length; too large ones become the largest there is.
fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}
