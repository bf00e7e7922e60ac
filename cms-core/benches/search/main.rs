//! Searches among 100,000 posts of 2 KB, and indexing them, compared with a bare index of the same
//! engine in the same run; and the duration of a search after a write.
//! `cargo bench -p cms-core --features testing --bench search`
//!
//! Queries alternate between both indexes, so that the conditions are equal. Figures are milliseconds.

#![expect(clippy::print_stdout, reason = "a bench shows its figures")]

mod bare;
mod corpus;

use std::time::{Duration, Instant};

use cms_core::{
    Caller, CoreConfig, Durability,
    testing::{TestCms, map},
    wire::{
        batch::BatchElements,
        search::{QueryMode, SearchRequest},
    },
};
use serde_json::{Value, json};
use tempfile::TempDir;

use self::{
    bare::{Bare, BareReader, Shown},
    corpus::Numbers,
};

const POSTS: usize = 100_000;
const QUERIES: usize = 1_000;
const WRITES: usize = 300;

fn main() {
    let folder = folder();
    let bare_folder = TempDir::new().expect("a temporary folder can be made");
    let bare = index(&folder, &bare_folder);
    queries(&folder, &bare);
    fresh(&folder);
}

fn folder() -> TestCms {
    // The first search indexes all posts, so it needs a long timeout.
    let folder = TestCms::with(|config: &mut CoreConfig| {
        config.durability = Durability::Normal;
        config.search_wait = Duration::from_hours(1);
    });
    let local = Caller::local();
    folder.cms.types().create(&local, map(corpus::content_type())).expect("the type is valid");
    for first in (0..POSTS).step_by(1000) {
        let posts: Vec<Value> = (first..first + 1000).map(|n| corpus::post(n).to_json()).collect();
        let report =
            folder.cms.objects().batch_create(&local, "post", &BatchElements::of(&posts), false);
        assert_eq!(report.expect("the call is valid").batch_error_count, 0);
    }
    folder
}

fn index(folder: &TestCms, bare_folder: &TempDir) -> BareReader {
    let started = Instant::now();
    let mut bare = Bare::create(bare_folder.path());
    (0..POSTS).for_each(|number| bare.add(&corpus::post(number)));
    bare.commit();
    let bare_time = started.elapsed();
    let bare = bare.finish();
    let started = Instant::now();
    search(folder, &request(&[]));
    let time = started.elapsed();
    let rate = |time: Duration| format!("{:.0}/s", as_f64(POSTS) / time.as_secs_f64());
    let ratio = time.as_secs_f64() / bare_time.as_secs_f64();
    println!("indexing        {:>10}  bare {:>10}  ratio {ratio:.2}", rate(time), rate(bare_time));
    // Waits for the merges of the index of cms, which run in the background.
    std::thread::sleep(Duration::from_secs(5));
    bare
}

fn request(words: &[String]) -> SearchRequest {
    SearchRequest { q: Some(words.join(" ")), ..SearchRequest::default() }
}

fn search(folder: &TestCms, request: &SearchRequest) -> Vec<u8> {
    folder.cms.search().search(&Caller::local(), request).expect("the request is valid").0
}

fn queries(folder: &TestCms, bare: &BareReader) {
    compare("two words", folder, request, |words| bare.words(words));
    let facets = |words: &[String]| SearchRequest {
        aggregate_by: vec!["category".to_owned(), "tags".to_owned()],
        aggregate_by_numeric: vec!["rank".to_owned()],
        ..request(words)
    };
    compare("three facets", folder, facets, |words| bare.facets(words));
    let near = |words: &[String]| SearchRequest {
        geo_filters: vec![("place".to_owned(), "geo_distance,300km,50,10".to_owned())],
        order_by: Some("_geo_distance".to_owned()),
        ..request(words)
    };
    compare("near, by distance", folder, near, |words| bare.near(words, (50.0, 10.0), 300_000.0));
    let fuzzy = |words: &[String]| SearchRequest { mode: QueryMode::Fuzzy, ..request(words) };
    compare("fuzzy", folder, fuzzy, |words| bare.fuzzy(words));
}

fn compare(
    name: &str,
    folder: &TestCms,
    request: impl Fn(&[String]) -> SearchRequest,
    bare: impl Fn(&[String]) -> Shown,
) {
    let mut numbers = Numbers(42);
    let (mut times, mut bare_times) = (Vec::new(), Vec::new());
    let (mut found, mut bare_found) = (0, 0);
    for round in 0..QUERIES + 50 {
        let words = [numbers.medium_frequency_word(), numbers.medium_frequency_word()];
        let request = request(&words);
        let started = Instant::now();
        let response = std::hint::black_box(search(folder, &request));
        let time = started.elapsed();
        let started = Instant::now();
        let shown = std::hint::black_box(bare(&words));
        let bare_time = started.elapsed();
        // The first queries read everything from the disk.
        if round >= 50 {
            times.push(time);
            bare_times.push(bare_time);
            found += response.len();
            bare_found += shown.bytes + shown.count;
        }
    }
    assert!(found > 0 && bare_found > 0, "{name}: both find something");
    let line = |share: f64, times: &mut [Duration]| percentile(times, share).as_secs_f64() * 1e3;
    for share in [0.5, 0.99] {
        let (ours, bare) = (line(share, &mut times), line(share, &mut bare_times));
        let share = share * 100.0;
        println!("{name:<18} p{share:<3} {ours:>8.3}  bare {bare:>8.3}  ratio {:.2}", ours / bare);
    }
}

/// A write, and immediately a search that must find it.
fn fresh(folder: &TestCms) {
    let mut times = Vec::new();
    for number in 0..WRITES {
        let mut post = corpus::post(POSTS + number).to_json();
        let word = format!("fresh{number}");
        post["title"] = json!(word);
        folder.cms.objects().create(&Caller::local(), "post", map(post)).expect("it is valid");
        let started = Instant::now();
        let response = search(folder, &request(std::slice::from_ref(&word)));
        times.push(started.elapsed());
        let response: Value = serde_json::from_slice(&response).expect("responses are JSON");
        assert_eq!(response["total_count"], 1, "{word}");
    }
    let [p50, p99] = [0.5, 0.99].map(|share| percentile(&mut times, share).as_secs_f64() * 1e3);
    println!("search after a write  p50 {p50:.1}  p99 {p99:.1}");
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length")]
fn percentile(times: &mut [Duration], share: f64) -> Duration {
    times.sort_unstable();
    times[(as_f64(times.len() - 1) * share) as usize]
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn as_f64(number: usize) -> f64 {
    number as f64
}
