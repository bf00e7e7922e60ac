//! Responses from the cache, while several processes write to one data directory.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
};

use serde_json::{Value, json};

use super::support::{Cli, Server, client};

const POST: &str = "\
version: 1
contentTypes:
  - name: post
    properties:
      number: {type: number}
      next: {type: datasource, to: post}
";
const WRITES: u64 = 300;

struct Reader<'a> {
    client: reqwest::blocking::Client,
    server: &'a Server,
    queries: AtomicU64,
}

impl<'a> Reader<'a> {
    fn of(server: &'a Server) -> Self {
        Self { client: client().build().unwrap(), server, queries: AtomicU64::default() }
    }

    fn get(&self, path: &str) -> Value {
        let request = self.client.get(format!("{}{path}", self.server.url));
        let response = request.header("x-auth-token", &self.server.key).send().unwrap();
        serde_json::from_str(&response.text().unwrap()).unwrap()
    }

    /// The number of the object, by each kind of read.
    fn numbers(&self) -> [u64; 4] {
        let object = self.get("/api/v1/content/post/one");
        let list = self.get("/api/v1/content/post?limit=1");
        let hydrated = self.get("/api/v1/content/post/two?hydrate=1");
        // With a unique query string, the response is not cached, but the linked object may be.
        let query = self.queries.fetch_add(1, Ordering::Relaxed);
        let linked = self.get(&format!("/api/v1/content/post/two?hydrate=1&query={query}"));
        let objects = [&object, &list["data"][0], &hydrated["next"][0], &linked["next"][0]];
        objects.map(|object| object["number"].as_u64().unwrap())
    }
}

#[test]
fn cached_response_is_never_older_than_an_acknowledged_write_of_another_process() {
    let cli = Cli::empty();
    let servers = [(); 2].map(|()| Server::start_in(&cli.path(""), &[]));
    cli.write("project.yaml", POST);
    cli.run(&["ctd", "apply", "project.yaml", "--data", "data"]).ok();
    servers[0].post("content/post", json!({ "id": "one", "number": 0 }).to_string());
    let link = json!([{ "type": "internal", "dataUrl": "/api/v1/content/post/one" }]);
    servers[0].post("content/post", json!({ "id": "two", "next": link }).to_string());
    let (acknowledged, is_done) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for server in servers.iter().chain(&servers) {
            scope.spawn(|| {
                let reader = Reader::of(server);
                while !is_done.load(Ordering::Relaxed) {
                    let wanted = acknowledged.load(Ordering::SeqCst);
                    let numbers = reader.numbers();
                    assert!(numbers.iter().all(|number| *number >= wanted), "{numbers:?} {wanted}");
                }
            });
        }
        let _done = SetOnDrop(&is_done);
        for number in 1..=WRITES {
            let writer = &servers[usize::from(number % 2 == 0)];
            let path = format!("{}/api/v1/content/post/one", writer.url);
            let request = client().build().unwrap().patch(path);
            let request = request.header("x-auth-token", &writer.key);
            let request = request.header("content-type", "application/json");
            let body = json!({ "number": number }).to_string();
            let response = request.body(body).send().unwrap();
            assert_eq!(response.status(), 200);
            acknowledged.store(number, Ordering::SeqCst);
        }
    });
    for server in &servers {
        let reader = Reader::of(server);
        assert_eq!((reader.numbers(), reader.numbers()), ([WRITES; 4], [WRITES; 4]));
        let hits: f64 = server.metric("cms_response_cache_hits_total").parse().unwrap();
        assert!(hits > 0.0);
    }
}

/// Ends the readers also when a write fails.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
