//! Operating a server: metrics, readiness, limits, and headers of every response.

use std::{collections::BTreeMap, fs, time::Duration};

use axum::body::{Body, Bytes};
use cms_server::{MetricsAccess, ReloadableSettings, ServerConfig};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::time;

use crate::support::{CallerKind, TestApp, forbidden, generic, not_found, unauthorized};

const ONE: &str = "/api/v1/content/post/one";

fn with(change: impl FnOnce(&mut ServerConfig)) -> TestApp {
    let mut config = ServerConfig::default();
    change(&mut config);
    TestApp::with(&config)
}

/// Parses the text format of Prometheus strictly: each sample follows the help and the type of its
/// family, and no sample is repeated.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let mut samples = BTreeMap::new();
    let mut family = (String::new(), String::new());
    let mut seen = Vec::new();
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(!help.is_empty() && !seen.contains(&name.to_owned()), "{line}");
            seen.push(name.to_owned());
            family = (name.to_owned(), String::new());
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert_eq!((name, ""), (&*family.0, &*family.1), "{line}");
            kind.clone_into(&mut family.1);
        } else {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            let name = sample.split('{').next().unwrap();
            let suffix = name.strip_prefix(&*family.0).unwrap_or_else(|| panic!("{line}"));
            let suffixes: &[&str] =
                if family.1 == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
            assert!(suffixes.contains(&suffix), "{line}");
            assert_eq!(family.1 == "counter", name.ends_with("_total"), "{line}");
            let value = value.parse().unwrap();
            assert_eq!(samples.insert(sample.to_owned(), value), None, "{line}");
        }
    }
    samples
}

#[expect(clippy::float_cmp, reason = "counts are whole numbers")]
#[tokio::test]
async fn metrics_count_requests() {
    let app = TestApp::new();
    app.get(ONE).await;
    app.get("/api/v1/content/post/nosuch").await;
    app.get("/api/v1/content/post/nosuch").await;
    app.get("/no/such/path").await;
    app.send("BREW", "/api/v1/content/post", &[], "").await;
    app.create("post", &json!({ "title": "Two" })).await;
    let reply = app.send("GET", "/metrics", &[], "").await;
    assert_eq!(reply.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let text = String::from_utf8(reply.bytes.to_vec()).unwrap();
    let samples = samples(&text);
    let requests = |labels: &str| samples.get(&format!("cms_http_requests_total{{{labels}}}"));
    let object = "route=\"/api/v1/content/{name}/{id}\"";
    let table = [
        (format!("method=\"GET\",{object},status=\"200\""), 1.0),
        (format!("method=\"GET\",{object},status=\"404\""), 2.0),
        ("method=\"POST\",route=\"/api/v1/content/{name}\",status=\"200\"".to_owned(), 1.0),
        ("method=\"unknown\",route=\"unknown\",status=\"404\"".to_owned(), 1.0),
        ("method=\"unknown\",route=\"unknown\",status=\"401\"".to_owned(), 1.0),
    ];
    for (labels, count) in table {
        assert_eq!(requests(&labels), Some(&count), "{labels}\n{text}");
    }
    assert!(!text.contains("nosuch"), "labels are routes, not paths");
    let count = format!("cms_http_request_duration_seconds_count{{method=\"GET\",{object}}}");
    assert_eq!(samples[&count], 3.0);
    let bucket = |bound: &str| {
        let labels = format!("method=\"GET\",{object},le=\"{bound}\"");
        samples[&format!("cms_http_request_duration_seconds_bucket{{{labels}}}")]
    };
    assert_eq!(bucket("+Inf"), 3.0);
    assert!(bucket("0.0005") <= bucket("10"));
    // Types, keys and objects were written sequentially.
    let writes = samples["cms_writes_total"];
    assert!(writes >= 4.0 && samples["cms_commits_total"] == writes, "{text}");
    assert!(samples["cms_journal_head"] >= 2.0, "{text}");
    assert!(samples["cms_database_bytes"] > 0.0 && samples["cms_disk_free_bytes"] > 0.0, "{text}");
    assert_eq!(samples["cms_permits_used{kind=\"write\"}"], 0.0);
    assert_eq!(samples["cms_webhook_deliveries_pending"], 0.0);
    assert_eq!(samples["cms_backups_total{kind=\"scheduled\",result=\"failed\"}"], 0.0);
    assert_eq!(samples["cms_permits{kind=\"write\"}"], 64.0);
    let page = include_str!("../../../docs/operations.md");
    for family in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, _) = family.split_once(' ').unwrap();
        assert!(name.starts_with("process_") || page.contains(&format!("`{name}")), "{name}");
    }
    #[cfg(target_os = "linux")]
    for name in ["process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds"] {
        assert!(samples.contains_key(name), "{name}");
    }
}

/// Long reads leave database connections to fast ones, which run on connection threads.
#[tokio::test]
async fn long_reads_leave_connections_to_fast_ones() {
    let app = TestApp::new();
    let ServerConfig { reads, workers, .. } = ServerConfig::default();
    let readers = app.core.cms.statistics().unwrap().readers;
    assert!(reads + workers <= readers, "{reads} {workers} {readers}");
}

#[tokio::test]
async fn metrics_access_is_configured() {
    let get = async |app: &TestApp, caller| {
        let reply = app.get_as(caller, "/metrics").await;
        if reply.status == 200 { (200, Value::Null) } else { reply.status_and_body() }
    };
    let admin = with(|config| config.metrics = MetricsAccess::Admin);
    for (caller, wanted) in [
        (CallerKind::Anonymous, unauthorized()),
        (CallerKind::Unknown, unauthorized()),
        (CallerKind::ReadWrite, forbidden()),
        (CallerKind::Admin, (200, Value::Null)),
    ] {
        assert_eq!(get(&admin, caller).await, wanted, "{caller:?}");
    }
    let off = with(|config| config.metrics = MetricsAccess::Off);
    assert_eq!(get(&off, CallerKind::Admin).await, not_found());
}

#[tokio::test]
async fn readiness_lists_the_part_that_is_not_ready() {
    let app = TestApp::new();
    let parts = |broken| {
        let names = ["server", "database", "index", "media", "disk"];
        let states = names.map(|name| {
            let state = if name == broken { "not ready" } else { "ok" };
            (name.to_owned(), Value::from(state))
        });
        Value::Object(states.into_iter().collect())
    };
    let reply = app.send("GET", "/readyz", &[], "").await;
    assert_eq!(reply.status_and_body(), (200, json!({ "status": "ok", "parts": parts("") })));
    let media = app.core.path().join("media");
    fs::remove_dir(&media).ok();
    fs::write(&media, "").unwrap();
    let reply = app.send("GET", "/readyz", &[], "").await;
    let mut body = generic(503, "Service Unavailable");
    body["status"] = json!("not ready");
    body["parts"] = parts("media");
    assert_eq!(reply.header("retry-after"), Some("1"));
    assert_eq!(reply.status_and_body(), (503, body));
    fs::remove_file(&media).unwrap();
    assert_eq!(app.send("GET", "/readyz", &[], "").await.status, 200);
}

/// `send` asserts the request id of each response.
#[tokio::test]
async fn response_has_a_request_id_and_nosniff() {
    let app = with(|config| config.body_limit = 10);
    let key = ("x-auth-token", app.key(CallerKind::ReadWrite).unwrap());
    let json = ("content-type", "application/json");
    let table = [
        ("GET", ONE, vec![key], "", 200),
        ("HEAD", ONE, vec![key], "", 200),
        ("OPTIONS", ONE, vec![], "", 204),
        ("GET", ONE, vec![], "", 401),
        ("GET", "/no/such", vec![], "", 404),
        ("PATCH", "/api/v1/content/post", vec![key], "", 405),
        ("POST", "/api/v1/content/post", vec![key, json], "{", 400),
        ("POST", "/api/v1/content/post", vec![key, json], "{\"title\":\"long\"}", 413),
        ("POST", "/api/v1/content/post", vec![key], "{}", 415),
        ("GET", "/image/1x1/a/b.png", vec![], "", 404),
        ("GET", "/healthz", vec![], "", 200),
        ("GET", "/metrics", vec![], "", 200),
        ("GET", "/docs", vec![], "", 200),
        ("POST", "/api/graphql", vec![], "", 401),
    ];
    for (method, path, headers, body, status) in table {
        let reply = app.send(method, path, &headers, body).await;
        assert_eq!(reply.status, status, "{method} {path}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{method} {path}");
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"), "{method} {path}");
    }
}

#[tokio::test(start_paused = true)]
async fn rate_limit_returns_429() {
    let reloadable = ReloadableSettings {
        key_rate: Some("2/3".parse().unwrap()),
        ..ReloadableSettings::default()
    };
    let app = with(|config| config.reloadable = reloadable);
    let get = async |caller, path| {
        let reply = app.get_as(caller, path).await;
        if reply.status == 429 {
            assert_eq!(reply.header("retry-after"), Some("1"));
            assert_eq!(reply.json(), generic(429, "Too Many Requests"));
        }
        reply.status
    };
    for status in [200, 200, 200, 429, 429] {
        assert_eq!(get(CallerKind::ReadOnly, ONE).await, status);
    }
    assert_eq!(get(CallerKind::ReadOnly, "/api/v1/changes").await, 429);
    assert_eq!(get(CallerKind::Admin, ONE).await, 200, "each key has its own limit");
    assert_eq!(get(CallerKind::Unknown, ONE).await, 401, "unknown keys have no limit");
    assert_eq!(get(CallerKind::ReadOnly, "/healthz").await, 200);
    time::advance(Duration::from_millis(500)).await;
    for status in [200, 429] {
        assert_eq!(get(CallerKind::ReadOnly, ONE).await, status);
    }
}

/// Large bodies share permits; small requests need none.
#[tokio::test(start_paused = true)]
async fn large_bodies_wait_for_a_permit() {
    let app = with(|config| {
        config.bodies = 1;
        config.min_transfer_rate = 0;
    });
    let headers = [
        ("x-auth-token", app.key(CallerKind::ReadWrite).unwrap()),
        ("content-type", "application/json"),
    ];
    let batch = |id: &str| {
        let objects =
            (0..100).map(|n| json!({ "id": format!("{id}{n}"), "title": "x".repeat(50_000) }));
        Bytes::from(objects.collect::<Value>().to_string())
    };
    let send = |path, body| app.send("POST", path, &headers, body);
    let slow = |body: Bytes, pause| {
        let chunks =
            stream::iter(body.chunks(500_000).map(Bytes::copy_from_slice).collect::<Vec<_>>());
        Body::from_stream(chunks.then(move |chunk| async move {
            time::sleep(pause).await;
            Ok::<_, std::io::Error>(chunk)
        }))
    };
    let path = "/api/v1/content/post/batch";
    // Pause between the chunks of the first body, and the status of the second.
    for (round, (pause, status)) in [(5, 200), (29, 503)].into_iter().enumerate() {
        let first = send(path, slow(batch(&format!("a{round}-")), Duration::from_secs(pause)));
        let second = async {
            time::sleep(Duration::from_secs(4 * pause)).await;
            let small = json!([{ "title": format!("small {round}") }]).to_string();
            assert_eq!(send(path, small.into()).await.status, 200);
            send(path, batch(&format!("b{round}-")).into()).await
        };
        let (first, second) = tokio::join!(first, second);
        assert_eq!((first.status, second.status), (200, status), "{pause}");
    }
}

/// A body below the minimum transfer rate is refused: JSON, and a form.
#[tokio::test(start_paused = true)]
async fn slow_body_returns_400() {
    let app = TestApp::new();
    let key = ("x-auth-token", app.key(CallerKind::ReadWrite).unwrap());
    let json = ("content-type", "application/json");
    let form = ("content-type", "multipart/form-data; boundary=x");
    let drip = || {
        Body::from_stream(stream::unfold((), |()| async {
            time::sleep(Duration::from_secs(10)).await;
            Some((Ok::<_, std::io::Error>(Bytes::from_static(b" ")), ()))
        }))
    };
    for (path, kind) in [("/api/v1/content/post", json), ("/api/media", form)] {
        let started = time::Instant::now();
        assert_eq!(app.send("POST", path, &[key, kind], drip()).await.status, 400, "{path}");
        assert!(started.elapsed() < Duration::from_secs(45), "{path}: {:?}", started.elapsed());
    }
}
