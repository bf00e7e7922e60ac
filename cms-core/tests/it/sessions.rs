//! Sessions: their cache, other processes on the same data directory, and the times of last use.

use std::sync::Arc;

use cms_core::{
    Caller, Cms, Error, SessionClient,
    paging::PageRequest,
    testing::TestCms,
    wire::user::{User, UserListRequest},
};
use serde_json::{Value, json};

use crate::support::map;

const MINUTE: i64 = 60;

fn viewer(email: &str) -> Value {
    json!({ "email": email, "name": "A", "role": "viewer" })
}

fn user(cms: &Cms, email: &str) -> User {
    let request = UserListRequest { q: Some(email.to_owned()), ..UserListRequest::default() };
    cms.users().list(&Caller::local(), &request).unwrap().data.remove(0)
}

fn is_refused(cms: &Cms, cookie: &str) -> bool {
    matches!(cms.caller_of_session(cookie), Err(Error::Unauthenticated))
}

#[test]
fn session_that_another_process_ends_is_refused_immediately() {
    let core = TestCms::standalone();
    let other = Cms::open(core.cms.config().clone()).unwrap();
    let (first, second) = (core.session(&viewer("a@x")), core.session(&viewer("b@x")));
    for cookie in [&first, &second] {
        assert!(!is_refused(&core.cms, cookie) && !is_refused(&other, cookie));
    }
    let caller = other.caller_of_session(&first).unwrap();
    other.sessions().sign_out(&caller, &SessionClient::default()).unwrap();
    assert!(is_refused(&core.cms, &first) && is_refused(&other, &first));
    let disabled = map(json!({ "disabled": true }));
    other.users().update(&Caller::local(), &user(&other, "b@x").id, &disabled).unwrap();
    assert!(is_refused(&core.cms, &second) && is_refused(&other, &second));
}

#[test]
fn session_that_another_process_uses_does_not_expire() {
    let core = TestCms::standalone();
    let other = Cms::open(core.cms.config().clone()).unwrap();
    let cookie = core.session(&viewer("a@x"));
    assert!(!is_refused(&core.cms, &cookie));
    for _ in 0..3 {
        core.clock.advance(10 * 24 * 60 * MINUTE);
        assert!(!is_refused(&other, &cookie));
        other.clean_up().unwrap();
    }
    // The cached time of last use is a month old.
    assert!(!is_refused(&core.cms, &cookie));
}

#[test]
fn last_use_is_stored_by_the_clean_up() {
    let core = TestCms::new();
    let cookie = core.session(&viewer("a@x"));
    core.clock.advance(MINUTE);
    let caller = core.cms.caller_of_session(&cookie).unwrap();
    assert_eq!(user(&core.cms, "a@x").last_seen_at.unwrap(), "2026-01-02T03:04:05.000000+0000");
    let seen = || {
        core.cms.sessions().list(&caller, PageRequest::default()).unwrap().data[0]
            .last_seen_at
            .clone()
    };
    let later = "2026-01-02T03:05:05.000000+0000";
    assert_eq!(seen(), later);
    // The end of another session clears the cache; the time is kept.
    let other = core.session(&viewer("b@x"));
    let other = core.cms.caller_of_session(&other).unwrap();
    core.cms.sessions().sign_out(&other, &SessionClient::default()).unwrap();
    core.clock.advance(MINUTE);
    core.cms.caller_of_session(&core.open_session("b@x")).unwrap();
    assert_eq!(seen(), later);
    core.cms.clean_up().unwrap();
    assert_eq!(user(&core.cms, "a@x").last_seen_at.unwrap(), later);
    assert_eq!(seen(), later);
}

/// Requests at the same time as a sign-out never bring the session back into the cache.
#[test]
fn ended_session_does_not_return_to_the_cache() {
    let core = TestCms::new();
    for round in 0..20 {
        let cookie = core.session(&viewer(&format!("{round}@x")));
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let (cms, cookie) = (Arc::clone(&core.cms), cookie.clone());
                std::thread::spawn(move || while !is_refused(&cms, &cookie) {})
            })
            .collect();
        let caller = core.cms.caller_of_session(&cookie).unwrap();
        core.cms.sessions().sign_out(&caller, &SessionClient::default()).unwrap();
        assert!(is_refused(&core.cms, &cookie));
        for reader in readers {
            reader.join().unwrap();
        }
        assert!(is_refused(&core.cms, &cookie));
    }
}
