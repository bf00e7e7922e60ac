//! Request rate limits by key and by address: 429, only when an operator configures them.
//!
//! A leaky bucket of [`Rate::burst`] requests that drains at [`Rate::per_second`] is stored as one
//! number: the time at which it is empty. Existing crates never evict the entry of a client and cannot
//! change a rate, so they are not used. Time is an argument, so that tests choose it.

use std::{
    convert::Infallible,
    fmt,
    hash::Hash,
    net::{IpAddr, Ipv6Addr},
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use quick_cache::sync::Cache;

/// Maximum number of buckets of one limiter: some ten megabytes.
const MAX_BUCKETS: usize = 50_000;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// A limit as operators write it: `100` requests per second, or `100/500` with a burst of 500.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// At least 1.
    pub per_second: u32,
    /// Maximum burst of requests; at least 1.
    pub burst: u32,
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (rate, burst) = text.split_once('/').unwrap_or((text, text));
        let number = |text: &str| text.trim().parse().ok().filter(|number| *number > 0);
        match (number(rate), number(burst)) {
            (Some(per_second), Some(burst)) => Ok(Self { per_second, burst }),
            _ => Err("use a number of requests per second, or RATE/BURST: 100 or 100/500".into()),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.per_second, self.burst)
    }
}

/// The buckets of all clients of one kind: keys or addresses.
pub(crate) struct RateLimiter<K> {
    /// Rate and burst as [`packed`]; 0 without a limit.
    rate: AtomicU64,
    /// When the bucket of each client is empty, in nanoseconds since an arbitrary origin, the same
    /// for all calls. The least recently used bucket is evicted when there are too many, so memory
    /// is bounded.
    empty_at: Cache<K, Arc<AtomicU64>>,
}

impl<K: Hash + Eq + Clone> RateLimiter<K> {
    pub(crate) fn new(rate: Option<Rate>) -> Self {
        Self { rate: AtomicU64::new(packed(rate)), empty_at: Cache::new(MAX_BUCKETS) }
    }

    /// Changes the limit. If it changes, all buckets are cleared: a stored time stands for a different number of
    /// requests at a different rate.
    pub(crate) fn set(&self, rate: Option<Rate>) {
        if self.rate.swap(packed(rate), Ordering::Relaxed) != packed(rate) {
            self.empty_at.clear();
        }
    }

    /// Returns whether a client may send a request now, and counts the request if so.
    pub(crate) fn admits(&self, client: &K, now: impl FnOnce() -> Duration) -> bool {
        let rate = self.rate.load(Ordering::Relaxed);
        if rate == 0 {
            return true;
        }
        let (per_second, burst) = (rate >> 32, rate & u64::from(u32::MAX));
        let each = (NANOS_PER_SECOND / per_second).max(1);
        let now = u64::try_from(now().as_nanos()).unwrap_or(u64::MAX);
        let full_at = now.saturating_add(each * burst);
        let bucket =
            self.empty_at.get_or_insert_with(client, || Ok::<_, Infallible>(Arc::default()));
        let Ok(bucket) = bucket;
        let filled = |empty_at: u64| {
            let filled_to = empty_at.max(now).saturating_add(each);
            (filled_to <= full_at).then_some(filled_to)
        };
        bucket.fetch_update(Ordering::Relaxed, Ordering::Relaxed, filled).is_ok()
    }
}

/// A rate as one number, so that it changes without a lock.
fn packed(rate: Option<Rate>) -> u64 {
    rate.map_or(0, |Rate { per_second, burst }| u64::from(per_second) << 32 | u64::from(burst))
}

/// Returns the address by which a client is counted: for IPv6, the /64 network of a customer.
pub(crate) fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(per_second: u32, burst: u32) -> Rate {
        Rate { per_second, burst }
    }

    #[test]
    fn rate_is_parsed() {
        for (text, wanted) in [
            ("100", Some(rate(100, 100))),
            ("100/500", Some(rate(100, 500))),
            (" 1 / 2 ", Some(rate(1, 2))),
            ("0", None),
            ("1/0", None),
            ("-1", None),
            ("1.5", None),
            ("", None),
            ("/", None),
            ("99999999999", None),
        ] {
            assert_eq!(text.parse().ok(), wanted, "{text}");
        }
        assert_eq!(rate(1, 2).to_string().parse(), Ok(rate(1, 2)));
    }

    #[test]
    fn rate_limit_refuses_requests_over_the_burst() {
        let limiter = RateLimiter::new(Some(rate(10, 3)));
        // milliseconds, client, admitted
        let table = [
            (0, "a", true),
            (0, "a", true),
            (0, "a", true),
            (0, "a", false),
            (0, "b", true),
            (99, "a", false),
            (100, "a", true),
            (100, "a", false),
            (250, "a", true),
            (250, "a", false),
            (9_000, "a", true),
            (9_000, "a", true),
            (9_000, "a", true),
            (9_000, "a", false),
        ];
        for (row, (at, client, admitted)) in table.into_iter().enumerate() {
            let now = Duration::from_millis(at);
            assert_eq!(limiter.admits(&client, || now), admitted, "row {row}");
        }
        // A higher rate admits a client that has used up the lower one.
        let now = || Duration::from_secs(9);
        limiter.set(Some(rate(10, 3)));
        assert!(!limiter.admits(&"a", now), "the same rate changes nothing");
        limiter.set(Some(rate(1000, 3)));
        assert!(limiter.admits(&"a", now));
        limiter.set(None);
        assert!(limiter.admits(&"a", now));
    }

    #[test]
    fn rate_limit_holds_over_time() {
        let limiter = RateLimiter::new(Some(rate(50, 20)));
        let requests = (0..10_000).map(Duration::from_millis);
        let admitted = requests.filter(|now| limiter.admits(&(), || *now)).count();
        assert_eq!(admitted, 20 + 10 * 50 - 1);
    }

    /// New addresses neither fill the memory nor evict a client that keeps sending requests.
    #[test]
    fn rate_limiter_memory_is_bounded() {
        let limiter = RateLimiter::new(Some(rate(1, 1)));
        let mut admitted = 0;
        for client in 1..=3 * MAX_BUCKETS {
            assert!(limiter.admits(&client, || Duration::ZERO));
            admitted += usize::from(limiter.admits(&0, || Duration::ZERO));
        }
        assert_eq!(admitted, 1);
        assert!(limiter.empty_at.len() <= MAX_BUCKETS, "{}", limiter.empty_at.len());
    }

    #[test]
    fn ipv6_network_counts_as_one_address() {
        for (address, counted) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ] {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(client_network(address).to_string(), counted);
        }
    }
}
