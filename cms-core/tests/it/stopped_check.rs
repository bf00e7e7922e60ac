//! A check that has to stop ends soon at every stage, and leaves no traces.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use cms_core::{
    Caller, Cms, CoreConfig, EnsureRunning, Error, Result,
    testing::TestCms,
    wire::{
        check::{CheckReport, CheckRequest},
        media::UploadRequest,
    },
};
use serde_json::json;

use crate::{
    media::{image, upload},
    support::{article, create_object, database, link, map, rows},
};

/// Articles with links, and two files, one of several chunks.
fn with_content() -> TestCms {
    let core = TestCms::standalone();
    core.cms.types().create(&Caller::local(), article()).unwrap();
    for number in 0..50_u32 {
        let linked = (number > 0).then(|| link("article", &format!("a-{}", number / 2)));
        let related: Vec<_> = linked.into_iter().collect();
        let object =
            json!({ "id": format!("a-{number}"), "title": number.to_string(), "related": related });
        core.cms.objects().create(&Caller::local(), "article", map(object)).unwrap();
    }
    for length in [10, 9 * 1024 * 1024] {
        let request = UploadRequest { kind: Some("file".to_owned()), ..image("a.txt") };
        upload(&core.cms, &vec![b'x'; length], &request).unwrap();
    }
    core
}

/// Damages everything that a repair rebuilds, and removes the records of the files.
fn damage(core: &TestCms) {
    let sql = "DELETE FROM link WHERE object % 2 = 0; UPDATE ctd_state SET live = live + 3;
               UPDATE object SET workflow_state = 'public' WHERE id = 'a-1'; DELETE FROM stored_file";
    database(core).execute_batch(sql).unwrap();
}

/// Runs a check whose `ensure_running` fails after a number of calls; returns the result, and the
/// number of calls.
fn check_until(cms: &Cms, request: &CheckRequest, stop: usize) -> (Result<CheckReport>, usize) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let ensure_running: EnsureRunning = Arc::new(move || {
        if counter.fetch_add(1, Ordering::Relaxed) < stop {
            return Ok(());
        }
        Err(Error::Busy("stopped by the test".to_owned()))
    });
    let result = cms.check_while(request, &ensure_running);
    (result, calls.load(Ordering::Relaxed))
}

#[test]
fn check_stops_at_every_stage() {
    let core = with_content();
    let request = CheckRequest { repair: false, digests: true };
    let mut stop = 0;
    loop {
        let (result, calls) = check_until(&core.cms, &request, stop);
        match result {
            Err(Error::Busy(_)) => assert!(calls <= stop + 2, "{stop}: continued until {calls}"),
            Ok(report) => {
                assert!(report.is_sound(), "{report:?}");
                break;
            }
            Err(error) => panic!("{stop}: {error:?}"),
        }
        stop += 1 + stop / 8;
    }
    assert!(stop > 30, "only {stop} calls");
}

/// The columns of the objects that a repair must not change.
fn content(core: &TestCms) -> Vec<String> {
    rows(core, "SELECT id, version, data FROM object WHERE id LIKE 'a-%' ORDER BY id")
}

#[test]
fn stopped_repair_is_completed_by_the_next_and_disturbs_no_writer() {
    let core = with_content();
    let before = content(&core);
    let repair = CheckRequest { repair: true, digests: true };
    let write = |round: usize| {
        for number in 0..5 {
            create_object(
                &core.cms,
                "article",
                json!({ "title": format!("new {round} {number}") }),
            );
        }
    };
    let mut stop = 0;
    loop {
        damage(&core);
        let (result, _) = thread::scope(|scope| {
            scope.spawn(|| write(stop));
            check_until(&core.cms, &repair, stop)
        });
        if let Ok(report) = result {
            assert!(report.is_sound(), "{report:?}");
            break;
        }
        assert!(matches!(result, Err(Error::Busy(_))), "{stop}: {result:?}");
        stop += 1 + stop / 4;
    }
    assert!(stop > 30, "only {stop} calls");
    let report = core.cms.check(&repair).unwrap();
    assert!(report.is_sound(), "{report:?}");
    assert_eq!(content(&core), before);
}

#[test]
fn check_stops_between_the_chunks_of_a_file() {
    let core = with_content();
    let calls = |digests| {
        let (result, calls) =
            check_until(&core.cms, &CheckRequest { repair: false, digests }, usize::MAX);
        assert!(result.unwrap().is_sound());
        calls
    };
    calls(false);
    // Two chunks of the large file, one of the small one.
    assert!(calls(true) >= calls(false) + 3);
}

/// Another process has the lock of the index, and does not update it.
#[test]
fn check_stops_while_it_waits_for_the_index() {
    let core = with_content();
    assert!(core.cms.check(&CheckRequest::default()).unwrap().is_sound());
    create_object(&core.cms, "article", json!({ "title": "Late" }));
    let other = Cms::open(CoreConfig::new(core.path())).unwrap();
    let begun = Instant::now();
    let ensure_running: EnsureRunning = Arc::new(move || {
        if begun.elapsed() < Duration::from_secs(1) {
            return Ok(());
        }
        Err(Error::Busy("stopped by the test".to_owned()))
    });
    let result = other.check_while(&CheckRequest::default(), &ensure_running);
    assert!(matches!(result, Err(Error::Busy(_))), "{result:?}");
    let elapsed = begun.elapsed();
    assert!(elapsed >= Duration::from_secs(1), "it did not wait: {elapsed:?}");
    assert!(elapsed < Duration::from_secs(10), "{elapsed:?}");
}

/// The check calls `ensure_running` for each file that it lists.
#[test]
fn check_stops_while_it_lists_files() {
    let core = TestCms::standalone();
    let calls = || {
        let (result, calls) = check_until(&core.cms, &CheckRequest::default(), usize::MAX);
        result.unwrap();
        calls
    };
    calls();
    let before = calls();
    fs::create_dir_all(core.path().join("media")).unwrap();
    for number in 0..100 {
        fs::write(core.path().join(format!("media/{number}")), "").unwrap();
    }
    assert!(calls() >= before + 100);
}
