//! Limits on failed sign-ins, see docs/reference/sessions.md#rate-limits
//!
//! An attempt counts as failed from its start until it succeeds, so concurrent requests cannot
//! exceed a limit. Times are arguments: durations from an origin that is the same for all calls.

use std::{
    collections::VecDeque,
    convert::Infallible,
    hash::{BuildHasher, RandomState},
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Duration,
};

use cms_core::{Error, Result};
use parking_lot::Mutex;
use quick_cache::sync::Cache;

use super::rate_limit::client_network;

/// Maximum number of counters of a kind; the least recently used ones are evicted.
const MAX_COUNTERS: usize = 50_000;

const QUARTER_HOUR: u32 = 15 * 60;
const DAY: u32 = 24 * 60 * 60;

/// The failed attempts of all clients.
pub(crate) struct SignInLimits {
    /// Of one client address, wrong one-time codes included.
    by_address: FailureCounters,
    /// Of one e-mail address from one client address.
    by_address_and_email: FailureCounters,
    /// Of one e-mail address from all client addresses.
    by_email: FailureCounters,
    hasher: RandomState,
}

/// An attempt that counts as failed unless it ends with [`Self::succeeded`] or
/// [`Self::cancelled`].
pub(crate) struct SignInAttempt<'a> {
    /// The counters with their keys: that of the client address first, then those of the e-mail
    /// address, unless the attempt is with a code.
    counters: Vec<(&'a FailureCounters, u64)>,
    at: u32,
}

impl Default for SignInLimits {
    fn default() -> Self {
        Self {
            by_address: FailureCounters::new(50, QUARTER_HOUR),
            by_address_and_email: FailureCounters::new(10, QUARTER_HOUR),
            by_email: FailureCounters::new(200, DAY),
            hasher: RandomState::new(),
        }
    }
}

impl SignInLimits {
    /// Refuses a client address with too many failed attempts.
    pub(crate) fn check_address(&self, address: Option<IpAddr>, now: Duration) -> Result<()> {
        self.by_address.check(self.address_key(address), seconds(now)).map_err(refused)
    }

    /// Starts an attempt for a normalized e-mail address (`email_key`), or with a code.
    pub(crate) fn start(
        &self,
        address: Option<IpAddr>,
        email: Option<&str>,
        now: Duration,
    ) -> Result<SignInAttempt<'_>> {
        let address = self.address_key(address);
        let mut counters = vec![(&self.by_address, address)];
        counters.extend(email.into_iter().flat_map(|email| self.of_email(address, email)));
        let mut attempt = SignInAttempt { counters: Vec::new(), at: seconds(now) };
        for (counters_of_kind, key) in counters {
            if let Err(wait) = counters_of_kind.add(key, attempt.at) {
                attempt.cancelled();
                return Err(refused(wait));
            }
            attempt.counters.push((counters_of_kind, key));
        }
        Ok(attempt)
    }

    /// A user signed in without a password: earlier failures of the e-mail address do not count any
    /// more.
    pub(crate) fn clear_email(&self, address: Option<IpAddr>, email: &str) {
        for (counters, key) in self.of_email(self.address_key(address), email) {
            counters.failures.remove(&key);
        }
    }

    /// The counters of an e-mail address, with their keys.
    fn of_email(&self, address: u64, email: &str) -> [(&FailureCounters, u64); 2] {
        let email = self.hasher.hash_one(email);
        let both = self.hasher.hash_one((address, email));
        [(&self.by_address_and_email, both), (&self.by_email, email)]
    }

    fn address_key(&self, address: Option<IpAddr>) -> u64 {
        // Tests have no connection.
        let address = address.unwrap_or(Ipv4Addr::UNSPECIFIED.into());
        self.hasher.hash_one(client_network(address))
    }
}

impl SignInAttempt<'_> {
    /// The attempt succeeded: earlier failures of the e-mail address do not count any more.
    pub(crate) fn succeeded(self) {
        let [(by_address, address), of_email @ ..] = &self.counters[..] else { return };
        by_address.remove(*address, self.at);
        for (counters, key) in of_email {
            counters.failures.remove(key);
        }
    }

    /// The attempt ended with an error that says nothing about its password or code.
    pub(crate) fn cancelled(self) {
        for (counters, key) in self.counters {
            counters.remove(key, self.at);
        }
    }
}

/// The times of the failures of each key within a window.
struct FailureCounters {
    maximum: usize,
    window: u32,
    failures: Cache<u64, Arc<Mutex<VecDeque<u32>>>>,
}

impl FailureCounters {
    fn new(maximum: usize, window: u32) -> Self {
        Self { maximum, window, failures: Cache::new(MAX_COUNTERS) }
    }

    /// # Errors
    /// The seconds until another attempt is allowed.
    fn check(&self, key: u64, now: u32) -> std::result::Result<(), u32> {
        let Some(failures) = self.failures.get(&key) else { return Ok(()) };
        self.wait(&mut failures.lock(), now)
    }

    /// Adds a failure, unless the caller has to wait: then returns the seconds, as [`Self::check`].
    fn add(&self, key: u64, now: u32) -> std::result::Result<(), u32> {
        let failures =
            self.failures.get_or_insert_with(&key, || Ok::<_, Infallible>(Arc::default()));
        let Ok(failures) = failures;
        let mut failures = failures.lock();
        self.wait(&mut failures, now)?;
        failures.push_back(now);
        Ok(())
    }

    fn wait(&self, failures: &mut VecDeque<u32>, now: u32) -> std::result::Result<(), u32> {
        while failures.front().is_some_and(|at| at + self.window <= now) {
            failures.pop_front();
        }
        match failures.front() {
            Some(oldest) if failures.len() >= self.maximum => Err(oldest + self.window - now),
            _ => Ok(()),
        }
    }

    /// Removes a failure that was added at this time.
    fn remove(&self, key: u64, at: u32) {
        let Some(failures) = self.failures.get(&key) else { return };
        let mut failures = failures.lock();
        if let Some(index) = failures.iter().rposition(|added| *added == at) {
            failures.remove(index);
        }
    }
}

fn seconds(time: Duration) -> u32 {
    // Half of the maximum, so that adding a period does not overflow.
    u32::try_from(time.as_secs()).unwrap_or(u32::MAX / 2)
}

fn refused(wait: u32) -> Error {
    Error::TooManyRequests { retry_after_seconds: u64::from(wait) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Option<IpAddr> {
        text.parse().ok()
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// Makes a failed attempt. Returns the seconds to wait if the limits refuse the attempt.
    fn fail(limits: &SignInLimits, from: &str, email: Option<&str>, now: u64) -> Option<u64> {
        match limits.start(address(from), email, at(now)) {
            Ok(_) => None,
            Err(Error::TooManyRequests { retry_after_seconds }) => Some(retry_after_seconds),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn email_address_is_limited_from_one_client() {
        let limits = SignInLimits::default();
        for second in 0..10 {
            assert_eq!(fail(&limits, "192.0.2.1", Some("a@x"), second), None);
        }
        assert_eq!(fail(&limits, "192.0.2.1", Some("a@x"), 10), Some(890));
        assert_eq!(fail(&limits, "192.0.2.1", Some("b@x"), 10), None);
        assert_eq!(fail(&limits, "192.0.2.2", Some("a@x"), 10), None);
        assert_eq!(fail(&limits, "192.0.2.1", Some("a@x"), 899), Some(1));
        assert_eq!(fail(&limits, "192.0.2.1", Some("a@x"), 900), None);
        assert_eq!(fail(&limits, "192.0.2.1", Some("a@x"), 900), Some(1));
    }

    #[test]
    fn client_address_is_limited_over_codes_and_email_addresses() {
        let limits = SignInLimits::default();
        for number in 0..50 {
            let email = format!("{number}@x");
            let email = (number % 2 == 0).then_some(&*email);
            // Addresses of one IPv6 network are one client.
            assert_eq!(fail(&limits, &format!("2001:db8::{number:x}"), email, 0), None);
        }
        assert!(limits.check_address(address("2001:db8::ffff"), at(899)).is_err());
        assert_eq!(fail(&limits, "2001:db8::ffff", None, 100), Some(800));
        assert!(limits.check_address(address("2001:db8::ffff"), at(900)).is_ok());
        assert!(limits.check_address(address("2001:db8:0:1::1"), at(1)).is_ok());
    }

    #[test]
    fn email_address_is_limited_from_all_clients_for_a_day() {
        let limits = SignInLimits::default();
        for number in 0..200 {
            assert_eq!(fail(&limits, &format!("192.0.2.{number}"), Some("a@x"), number), None);
        }
        assert_eq!(fail(&limits, "198.51.100.1", Some("a@x"), 200), Some(86_200));
        // A refused attempt counts nowhere.
        for _ in 0..100 {
            assert_eq!(fail(&limits, "198.51.100.1", Some("a@x"), 1000), Some(85_400));
        }
        assert!(limits.check_address(address("198.51.100.1"), at(1000)).is_ok());
        assert_eq!(fail(&limits, "198.51.100.1", Some("a@x"), 86_400), None);
    }

    #[test]
    fn success_clears_the_failures_of_the_email_address() {
        let limits = SignInLimits::default();
        for round in 0..5 {
            for _ in 0..9 {
                assert_eq!(fail(&limits, "192.0.2.1", Some("a@x"), round), None);
            }
            limits.start(address("192.0.2.1"), Some("a@x"), at(round)).unwrap().succeeded();
        }
        // The client address has 45 failures.
        for _ in 0..5 {
            assert_eq!(fail(&limits, "192.0.2.1", None, 5), None);
        }
        assert_eq!(fail(&limits, "192.0.2.1", None, 5), Some(895));
    }

    #[test]
    fn failures_of_the_email_address_are_cleared_without_a_password() {
        let limits = SignInLimits::default();
        for _ in 0..10 {
            assert_eq!(fail(&limits, "192.0.2.1", Some("a@x"), 0), None);
        }
        assert_eq!(fail(&limits, "192.0.2.1", Some("a@x"), 0), Some(900));
        limits.clear_email(address("192.0.2.1"), "a@x");
        assert_eq!(fail(&limits, "192.0.2.1", Some("a@x"), 0), None);
    }

    #[test]
    fn cancelled_attempts_do_not_count() {
        let limits = SignInLimits::default();
        for _ in 0..300 {
            limits.start(address("192.0.2.1"), Some("a@x"), at(1)).unwrap().cancelled();
        }
        assert_eq!(fail(&limits, "192.0.2.1", Some("a@x"), 1), None);
    }

    #[test]
    fn attempts_at_the_same_time_do_not_exceed_a_limit() {
        let limits = SignInLimits::default();
        let running: Vec<_> = (0..20)
            .filter_map(|_| limits.start(address("192.0.2.1"), Some("a@x"), at(0)).ok())
            .collect();
        assert_eq!(running.len(), 10);
    }
}
