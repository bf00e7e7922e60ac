//! Jumps of the clock, forward and back: writes, publications, the change feed and backups
//! continue.

use cms_core::{
    Cms, OrphanCleanUp,
    paging::PageRequest,
    testing::TestCms,
    wire::{
        change::{ChangesRequest, Position},
        check::CheckRequest,
        media::UploadRequest,
        object::Direction,
        search::SearchRequest,
    },
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    media::{image, upload},
    support::{article, article_with, create_object, local, map, rows},
};

const DAY: i64 = 86_400;

/// Changes an object, and checks the new state in a read and a search.
fn change(cms: &Cms, rank: usize) {
    let title = format!("Title {rank}");
    let patch = map(json!({ "title": title, "rank": rank }));
    let patched = cms.objects().patch(&local(), "page", "one", patch).unwrap().to_value();
    assert_eq!(patched["rank"], rank);
    let read = cms.objects().get(&local(), "page", "one", 0).unwrap().to_value();
    assert_eq!((&read["rank"], &read["title"]), (&json!(rank), &json!(title)));
    let request = SearchRequest { q: Some(format!("\"{title}\"")), ..SearchRequest::default() };
    let found: Value = cms.search().search(&local(), &request).unwrap().to_value();
    assert_eq!(found["total_count"], 1, "{found}");
}

/// Numbers and versions of the changes after a position, oldest first.
fn changes(cms: &Cms, since: Position) -> (Vec<(i64, Option<i64>)>, Position) {
    let request = ChangesRequest { since: Some(since), content_types: None, limit: 1000 };
    let page = cms.changes().after(&local(), &request).unwrap();
    (page.data.iter().map(|change| (change.seq, change.version)).collect(), page.next)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn writes_continue_after_clock_jumps(jumps in prop::collection::vec(-400_i64..400, 1..8)) {
        let core = TestCms::new();
        let cms = &core.cms;
        let page = article_with(json!({ "name": "page" }));
        cms.types().create(&local(), page).unwrap();
        create_object(cms, "page", json!({ "id": "one", "title": "Title 0", "rank": 0 }));
        let mut position =
            cms.changes().after(&local(), &ChangesRequest { since: None, content_types: None, limit: 1 }).unwrap().next;
        let mut last = 0;
        for (rank, jump) in (1..).zip(&jumps) {
            core.clock.advance(jump * DAY);
            change(cms, rank);
            // Clean-up removes no recent rows.
            cms.clean_up().unwrap();
            let (seen, next) = changes(cms, position);
            prop_assert_eq!(seen.len(), 1);
            prop_assert!(seen[0].0 > last);
            (last, position) = (seen[0].0, next);
        }
        let versions = cms.objects().versions(&local(), "page", "one", PageRequest { number: 1, limit: 100 }, Direction::Ascending).unwrap();
        let versions = versions.to_value();
        let ranks: Vec<&Value> = versions["data"].as_array().unwrap().iter().map(|version| &version["rank"]).collect();
        prop_assert_eq!(ranks.len(), jumps.len() + 1, "{}", versions);
        let check = cms.check(&CheckRequest::default()).unwrap();
        prop_assert!(check.is_sound() && check.findings.is_empty(), "{:?}", check);
    }
}

#[test]
fn scheduled_publication_runs_once_despite_clock_jumps() {
    let core = TestCms::new();
    let cms = &core.cms;
    let page = article_with(json!({ "name": "page", "draftPublic": true }));
    cms.types().create(&local(), page).unwrap();
    cms.objects().create(&local(), "page", map(json!({ "id": "one", "title": "One" }))).unwrap();
    let at = map(json!({ "scheduledAt": "2026-02-01T00:00", "timeZone": "UTC" }));
    cms.publishing().schedule(&local(), "page", "one", at).unwrap();
    let status = || {
        let read = cms.objects().get(&local(), "page", "one", 0).unwrap();
        read.to_value()["internal"]["status"].clone()
    };
    core.clock.advance(-30 * DAY);
    cms.publishing().publish_due().unwrap();
    assert_eq!(status(), "draft", "not yet");
    core.clock.advance(100 * DAY);
    cms.publishing().publish_due().unwrap();
    assert_eq!(status(), "public");
    core.clock.advance(-100 * DAY);
    cms.publishing().publish_due().unwrap();
    assert_eq!(status(), "public", "a published object stays public");
    let versions = cms.objects().versions(
        &local(),
        "page",
        "one",
        PageRequest { number: 1, limit: 9 },
        Direction::Ascending,
    );
    assert_eq!(versions.unwrap().to_value()["total_count"], 1);
}

/// Number of rows in trash and journal.
fn kept(core: &TestCms) -> Vec<String> {
    rows(core, "SELECT (SELECT count(*) FROM trash), (SELECT count(*) FROM journal)")
}

/// A data directory with an object in the trash and a complete index.
fn with_trash() -> TestCms {
    let core = TestCms::with(|config| config.activity_days = 7);
    let cms = &core.cms;
    cms.types().create(&local(), article()).unwrap();
    for id in ["one", "two"] {
        create_object(cms, "article", json!({ "id": id, "title": format!("Title {id}") }));
    }
    cms.objects().delete(&local(), "article", "two").unwrap();
    while cms.search().index_batch().unwrap() {}
    core
}

#[test]
fn clock_jump_removes_nothing_from_trash_and_journal() {
    let core = with_trash();
    let before = kept(&core);
    core.cms.clean_up().unwrap();
    for _ in 0..3 {
        core.clock.advance(40 * 365 * DAY);
        for _ in 0..60 {
            core.clock.advance(60);
            core.cms.clean_up().unwrap();
            assert_eq!(kept(&core), before);
        }
        core.clock.advance(-40 * 365 * DAY);
        core.cms.clean_up().unwrap();
        assert_eq!(kept(&core), before);
    }
    core.run_for(61 * DAY);
    assert_eq!(kept(&core), ["0 2"], "rows that are really old are removed");
}

#[test]
fn long_downtime_delays_clean_up_by_a_day() {
    let core = with_trash();
    let before = kept(&core);
    core.clock.advance(365 * DAY);
    core.cms.clean_up().unwrap();
    for _ in 1..24 {
        core.clock.advance(3600);
        core.cms.clean_up().unwrap();
        assert_eq!(kept(&core), before);
    }
    core.clock.advance(3600);
    core.cms.clean_up().unwrap();
    // The journal has the last row that the index contains, and the removal from the trash.
    assert_eq!(kept(&core), ["0 2"]);
}

#[test]
fn clock_jump_removes_no_orphaned_files() {
    let core = TestCms::new();
    let cms = &core.cms;
    let kind = Some("file".to_owned());
    let file = |save| UploadRequest { kind: kind.clone(), save, ..image("a.txt") };
    for number in 0..20 {
        upload(cms, b"a text", &file(number > 0)).unwrap();
    }
    core.to_real_time(0);
    let nothing = OrphanCleanUp { files: 20, ..OrphanCleanUp::default() };
    assert_eq!(cms.media().clean_up().unwrap(), nothing);
    core.clock.advance(40 * 365 * DAY);
    for _ in 0..23 {
        assert_eq!(cms.media().clean_up().unwrap(), nothing);
        core.clock.advance(3600);
    }
    upload(cms, b"a text", &file(false)).unwrap();
    for _ in 0..2 {
        core.clock.advance(3600);
        cms.media().clean_up().unwrap();
    }
    // The first one has been waiting for a day, the other one has not.
    assert_eq!(cms.check(&CheckRequest::default()).unwrap().media.waiting, 1);
}
