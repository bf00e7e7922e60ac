//! Pages of lists, see docs/reference/http.md#pagination

use crate::limits;

/// The requested page of a list; both numbers are within their limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// Counted from 1.
    pub number: u32,
    pub limit: u32,
}

impl PageRequest {
    /// Parses query parameters. Invalid numbers and numbers below 1 become the defaults; a limit above
    /// `maximum` becomes `maximum`.
    pub fn parse(number: Option<&str>, limit: Option<&str>, maximum: u32) -> Self {
        Self {
            number: integer(number).filter(|n| *n >= 1).map_or(1, saturated),
            limit: integer(limit)
                .filter(|n| *n >= 1)
                .map_or(limits::DEFAULT_PAGE_SIZE, saturated)
                .min(maximum),
        }
    }

    /// Number of entries before this page.
    pub fn offset(self) -> u64 {
        u64::from(self.number - 1) * u64::from(self.limit)
    }

    /// Returns the entries of this page.
    pub fn of<T>(self, all: Vec<T>) -> impl Iterator<Item = T> {
        let skipped = usize::try_from(self.offset()).unwrap_or(usize::MAX);
        all.into_iter().skip(skipped).take(self.limit as usize)
    }

    /// Number of pages for `total` entries.
    pub fn page_count(self, total: u64) -> u64 {
        total.div_ceil(u64::from(self.limit))
    }
}

/// A contiguous range of a list, from any offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListRange {
    /// Number of entries before the range.
    pub offset: u64,
    pub limit: u32,
}

impl From<PageRequest> for ListRange {
    fn from(page: PageRequest) -> Self {
        Self { offset: page.offset(), limit: page.limit }
    }
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { number: 1, limit: limits::DEFAULT_PAGE_SIZE }
    }
}

/// Parses a hydration depth: invalid or negative is 0, too deep is the maximum.
pub fn hydration(text: Option<&str>) -> u8 {
    integer(text).map_or(0, |n| {
        u8::try_from(n.clamp(0, i64::from(limits::MAX_HYDRATION_DEPTH))).unwrap_or(0)
    })
}

/// Parses a boolean query parameter: `true` and `1` are true, anything else is false.
pub fn boolean(text: Option<&str>) -> bool {
    text.is_some_and(|t| t == "1" || t.eq_ignore_ascii_case("true"))
}

/// Parses an integer; a number too large for 64 bits becomes the largest.
fn integer(text: Option<&str>) -> Option<i64> {
    let text = text?.trim();
    text.parse().ok().or_else(|| {
        let digits = text.strip_prefix('+').unwrap_or(text);
        (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(i64::MAX)
    })
}

fn saturated(n: i64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_falls_back_for_invalid_numbers() {
        let page = |number, limit| {
            let page = PageRequest::parse(number, limit, limits::MAX_PAGE_SIZE);
            (page.number, page.limit)
        };
        assert_eq!(page(None, None), (1, 20));
        assert_eq!(page(Some("0"), Some("0")), (1, 20));
        assert_eq!(page(Some("-3"), Some("-1")), (1, 20));
        assert_eq!(page(Some("x"), Some("1e3")), (1, 20));
        assert_eq!(page(Some("3"), Some("1001")), (3, 1000));
        assert_eq!(page(Some("99999999999999999999"), Some("5")), (u32::MAX, 5));
        assert_eq!(page(Some(" 2 "), Some("7")), (2, 7));
    }

    #[test]
    fn hydration_and_booleans_never_fail() {
        assert_eq!(
            [None, Some("-1"), Some("1"), Some("9"), Some("x")].map(hydration),
            [0, 0, 1, 2, 0]
        );
        let texts = [None, Some("1"), Some("TRUE"), Some("yes"), Some("0")];
        assert_eq!(texts.map(boolean), [false, true, true, false, false]);
    }
}
