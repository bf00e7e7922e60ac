//! Dates of requests and responses, see docs/reference/http.md#dates
//!
//! Parsing is lenient, because clients send many formats. Formatting is handwritten for speed:
//! every object of a response has several dates. The current time comes from [`crate::clock`].

use time::{Date, Month, OffsetDateTime};

use crate::clock::Timestamp;

const SECONDS_PER_DAY: i64 = 86_400;
/// The start of the year 0, the first one of four digits.
pub const MIN_DATE_SECONDS: i64 = -62_167_219_200;
const MICROSECONDS: i64 = 1_000_000;

/// Parses a date of a request in any documented format.
///
/// One pair of enclosing double quotes is stripped; without a time zone, the date is in UTC; form
/// decoding may have turned the `+` of a time zone into a space.
pub fn parse_lenient(text: &str) -> Option<Timestamp> {
    let text = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    match text.strip_prefix('@') {
        Some(seconds) => seconds.parse::<i64>().ok()?.checked_mul(MICROSECONDS).map(Timestamp),
        None => parse_date(text),
    }
}

/// Parses a stored date: `YYYY-MM-DD`, optionally with time, fraction and time zone.
pub fn parse_date(text: &str) -> Option<Timestamp> {
    let mut scan = Scanner(text.as_bytes());
    let year = i32::try_from(scan.digits(4)?).ok()?;
    scan.literal(b"-")?;
    let month = Month::try_from(u8::try_from(scan.digits(2)?).ok()?).ok()?;
    scan.literal(b"-")?;
    let day = u8::try_from(scan.digits(2)?).ok()?;
    let date = Date::from_calendar_date(year, month, day).ok()?;

    let mut seconds = date.midnight().assume_utc().unix_timestamp();
    let mut micros = 0;
    if !scan.is_done() {
        scan.literal(b"Tt ")?;
        seconds += scan.at_most(23)? * 3600;
        scan.literal(b":")?;
        seconds += scan.at_most(59)? * 60;
        if scan.literal(b":").is_some() {
            seconds += scan.at_most(59)?;
            if scan.literal(b".,").is_some() {
                micros = scan.fraction()?;
            }
        }
        seconds -= scan.zone()?;
    }
    scan.is_done().then_some(Timestamp(seconds * MICROSECONDS + micros))
}

/// Appends a date in the format of `internal.*`: `2020-01-22T14:34:36+00:00`.
pub fn push_object_date(seconds: i64, out: &mut Vec<u8>) {
    push_second(seconds, out);
    out.extend_from_slice(b"+00:00");
}

/// Returns a date in the format of `internal.*`.
pub fn object_date(seconds: i64) -> String {
    let mut out = Vec::with_capacity(25);
    push_object_date(seconds, &mut out);
    String::from_utf8(out).expect("only ASCII was pushed")
}

/// Appends a date in the format of search: `2020-01-22T14:34:36.000Z`.
pub fn push_search_date(milliseconds: i64, out: &mut Vec<u8>) {
    push_second(milliseconds.div_euclid(1000), out);
    let mut fraction = *b".000Z";
    put_digits(&mut fraction[1..4], milliseconds.rem_euclid(1000));
    out.extend_from_slice(&fraction);
}

/// Returns a date in the format of content types, versions, keys and changes:
/// `2019-10-25T13:00:50.000000+0000`.
pub fn microsecond_date(at: Timestamp) -> String {
    let mut out = Vec::with_capacity(31);
    push_second(at.seconds(), &mut out);
    let mut fraction = *b".000000+0000";
    put_digits(&mut fraction[1..7], at.0.rem_euclid(MICROSECONDS));
    out.extend_from_slice(&fraction);
    String::from_utf8(out).expect("only ASCII was pushed")
}

/// Appends `YYYY-MM-DDTHH:MM:SS`, clamped to years of four digits.
fn push_second(seconds: i64, out: &mut Vec<u8>) {
    const MAX_DATE_SECONDS: i64 = 253_402_300_799;
    let seconds = seconds.clamp(MIN_DATE_SECONDS, MAX_DATE_SECONDS);
    let (year, month, day) = OffsetDateTime::from_unix_timestamp(seconds)
        .expect("years of four digits are in range")
        .to_calendar_date();
    let second_of_day = seconds.rem_euclid(SECONDS_PER_DAY);
    let mut text = *b"0000-00-00T00:00:00";
    put_digits(&mut text[..4], i64::from(year));
    put_digits(&mut text[5..7], i64::from(u8::from(month)));
    put_digits(&mut text[8..10], i64::from(day));
    put_digits(&mut text[11..13], second_of_day / 3600);
    put_digits(&mut text[14..16], second_of_day / 60 % 60);
    put_digits(&mut text[17..], second_of_day % 60);
    out.extend_from_slice(&text);
}

/// Fills a slice with the last decimal digits of a non-negative number.
fn put_digits(digits: &mut [u8], number: i64) {
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
    }
}

/// The part of a date text that is not parsed yet.
struct Scanner<'a>(&'a [u8]);

impl Scanner<'_> {
    fn is_done(&self) -> bool {
        self.0.is_empty()
    }

    /// Consumes one character if it is in `any_of`.
    fn literal(&mut self, any_of: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        any_of.contains(first).then(|| {
            self.0 = rest;
            *first
        })
    }

    /// Consumes exactly `count` digits.
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let number = digits.iter().try_fold(0, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0'))
        })?;
        self.0 = rest;
        Some(number)
    }

    /// Consumes two digits, a number of at most `bound`.
    fn at_most(&mut self, bound: i64) -> Option<i64> {
        self.digits(2).filter(|number| *number <= bound)
    }

    /// Consumes a fraction of a second, truncated to microseconds.
    fn fraction(&mut self) -> Option<i64> {
        let mut micros = self.digits(1)? * 100_000;
        let mut weight = 10_000;
        while let Some(digit) = self.digits(1) {
            micros += digit * weight;
            weight /= 10;
        }
        Some(micros)
    }

    /// Consumes a time zone and returns its offset from UTC in seconds; without one, 0.
    fn zone(&mut self) -> Option<i64> {
        if self.is_done() || self.literal(b"Zz").is_some() {
            return Some(0);
        }
        let sign = if self.literal(b"+- ")? == b'-' { -1 } else { 1 };
        let hours = self.at_most(23)?;
        let minutes = if self.is_done() {
            0
        } else {
            self.literal(b":");
            self.at_most(59)?
        };
        Some(sign * (hours * 3600 + minutes * 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_parsed_in_every_documented_format() {
        const AT: i64 = 1_579_703_676_000_000;
        let table = [
            ("2020-01-22", 1_579_651_200_000_000),
            ("2020-01-22 14:34", 1_579_703_640_000_000),
            ("2020-01-22 14:34:36", AT),
            ("2020-01-22T14:34:36", AT),
            ("2020-01-22T14:34", 1_579_703_640_000_000),
            ("2020-01-22T14:34:36Z", AT),
            ("2020-01-22T14:34:36+00:00", AT),
            ("2020-01-22T14:34:36+0000", AT),
            ("2020-01-22T14:34:36 00:00", AT),
            ("2020-01-22T15:34:36 01:00", AT),
            ("2020-01-22T15:34:36+01:00", AT),
            ("2020-01-22T15:34:36+0100", AT),
            ("2020-01-22T15:34:36+01", AT),
            ("2020-01-22T09:04:36-0530", AT),
            ("2020-01-22 15:34:36.000 0100", AT),
            ("2020-01-22T14:34:36.5Z", AT + 500_000),
            ("2020-01-22T14:34:36.123456789+00:00", AT + 123_456),
            ("\"2020-01-22T14:34:36+00:00\"", AT),
            ("\"2020-01-22\"", 1_579_651_200_000_000),
            ("@1579703676", AT),
            ("@-1", -1_000_000),
            ("\"@1579703676\"", AT),
            ("1969-12-31T23:59:59.25", -750_000),
            ("2020-02-29", 1_582_934_400_000_000),
            ("0000-01-01", -62_167_219_200_000_000),
            ("9999-12-31T23:59:59", 253_402_300_799_000_000),
        ];
        for (text, micros) in table {
            assert_eq!(parse_lenient(text), Some(Timestamp(micros)), "{text}");
        }
    }

    #[test]
    fn dates_in_other_formats_are_rejected() {
        let table = [
            "",
            "\"",
            "\"\"",
            "@",
            "@x",
            "@1.5",
            "@9223372036854775807",
            "2020",
            "2020-1-2",
            "2020-13-01",
            "2020-00-01",
            "2020-02-30",
            "2019-02-29",
            "2020-01-22T",
            "2020-01-22T14",
            "2020-01-22T24:00",
            "2020-01-22T14:60",
            "2020-01-22T14:34:60",
            "2020-01-22T14:34:36.",
            "2020-01-22T14:34:36+1",
            "2020-01-22T14:34:36+01:",
            "2020-01-22T14:34:36+01:00x",
            "2020-01-22+01:00",
            "2020-01-22x14:34",
            " 2020-01-22",
            "2020-01-22 ",
            "٢٠٢٠-01-22",
            "today",
        ];
        for text in table {
            assert_eq!(parse_lenient(text), None, "{text}");
        }
        assert_eq!(parse_date("\"2020-01-22\""), None);
        assert_eq!(parse_date("@0"), None);
    }

    #[test]
    fn dates_have_the_documented_formats() {
        assert_eq!(object_date(1_579_703_676), "2020-01-22T14:34:36+00:00");
        assert_eq!(object_date(0), "1970-01-01T00:00:00+00:00");
        assert_eq!(object_date(-1), "1969-12-31T23:59:59+00:00");
        assert_eq!(object_date(i64::MAX), "9999-12-31T23:59:59+00:00");
        assert_eq!(object_date(i64::MIN), "0000-01-01T00:00:00+00:00");
        let date = |micros| microsecond_date(Timestamp(micros));
        assert_eq!(date(1_572_008_450_000_000), "2019-10-25T13:00:50.000000+0000");
        assert_eq!(date(-1), "1969-12-31T23:59:59.999999+0000");
    }

    proptest::proptest! {
        #[test]
        fn formatted_dates_are_parsed_back(seconds in -62_167_219_200_i64..253_402_300_800) {
            let written = object_date(seconds);
            let at = Timestamp(seconds * 1_000_000);
            proptest::prop_assert_eq!(parse_lenient(&written), Some(at));
            let at = Timestamp(at.0 + 654_321);
            proptest::prop_assert_eq!(parse_lenient(&microsecond_date(at)), Some(at));
        }

        #[test]
        fn parser_never_panics(text in "\\PC*|[0-9:TZ+ .@\"-]{0,30}") {
            parse_lenient(&text);
        }
    }
}
