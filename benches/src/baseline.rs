//! The baseline: bare axum routes with one prepared rusqlite statement each, on the same posts, and
//! a bare index for searches.
//!
//! It has no keys, no validation and no visibility, and counts matches for ranges and searches only.
//! Searches do not find created posts. Reads run on the worker threads with a connection each; writes
//! go to one thread with durable group commits. The statements are in [`super::bare`].

use std::{
    cell::RefCell,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, mpsc},
};

use axum::{
    Router,
    body::Body,
    extract::{Path as UrlPath, State},
    http::header::CONTENT_TYPE,
    response::Response,
    routing::{get, post},
};
use bytes::Bytes;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::{
    bare::{self, Bare},
    search::{self, SearchIndex},
};

/// The file beside the database that is served from memory and from disk.
pub(crate) const IMAGE: &str = "image.jpg";

struct Create {
    object: Value,
    done: oneshot::Sender<String>,
}

#[derive(Clone)]
struct Shared {
    path: PathBuf,
    creates: mpsc::Sender<Create>,
    index: Arc<SearchIndex>,
}

thread_local! {
    static READER: RefCell<Option<Bare>> = const { RefCell::new(None) };
}

/// Runs the routes until the process is killed; prints the address.
#[expect(clippy::print_stdout, reason = "the parent process reads the address")]
pub(crate) async fn serve(path: PathBuf) {
    let file = path.with_file_name(IMAGE);
    let from_disk = move || std::fs::read(&file).expect("it is beside the database");
    let image = Bytes::from(from_disk());
    let (creates, queue) = mpsc::channel();
    let index = Arc::new(SearchIndex::open(&path.with_file_name(search::FOLDER)));
    let writer = Bare::open(&path, "FULL");
    std::thread::spawn(move || write(&writer, &queue));
    let app = Router::new()
        .route("/id/{id}", get(by_id))
        .route("/ordered", get(|s: State<Shared>| async move { list(&s, bare::ORDERED) }))
        .route("/filtered", get(|s: State<Shared>| async move { list(&s, bare::FILTERED) }))
        .route("/hydrated", get(|s: State<Shared>| async move { list(&s, bare::HYDRATED) }))
        .route("/page", get(|s: State<Shared>| async move { list(&s, bare::PAGE_400) }))
        .route("/range/{from}/{to}", get(|s, r| async move { range(&s, bare::RANGE, r) }))
        .route(
            "/range-hydrated/{from}/{to}",
            get(|s, r| async move { range(&s, bare::RANGE_HYDRATED, r) }),
        )
        .route(
            "/range-filtered/{from}/{to}",
            get(|s, r| async move { range(&s, bare::RANGE_FILTERED, r) }),
        )
        .route("/search/{words}", get(search))
        .route("/image", get(move || async move { image }))
        .route("/image-on-disk", get(move || async move { from_disk() }))
        .route("/create", post(create_post))
        .with_state(Shared { path, creates, index });
    let listener = tokio::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0)))
        .await
        .expect("a port is free");
    println!("listening on http://{}", listener.local_addr().expect("it is bound"));
    axum::serve(listener, app).await.expect("serving does not end");
}

fn with_reader<T>(shared: &Shared, read: impl FnOnce(&Bare) -> T) -> T {
    READER.with_borrow_mut(|reader| {
        read(reader.get_or_insert_with(|| Bare::open(&shared.path, "FULL")))
    })
}

fn json(body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(CONTENT_TYPE, "application/json".parse().expect("a valid value"));
    response
}

async fn by_id(State(shared): State<Shared>, UrlPath(id): UrlPath<String>) -> Response {
    json(with_reader(&shared, |reader| reader.by_id(&id)))
}

fn list(shared: &Shared, sql: &str) -> Response {
    json(with_reader(shared, |reader| reader.list(sql, [])))
}

/// A page of the posts in a range of `rank`, and their number.
fn range(
    State(shared): &State<Shared>,
    sql: &str,
    UrlPath((from, to)): UrlPath<(u64, u64)>,
) -> Response {
    json(with_reader(shared, |reader| {
        let mut body = reader.list(sql, [from, to]);
        body.pop();
        body.extend_from_slice(format!(",\"count\":{}}}", reader.count([from, to])).as_bytes());
        body
    }))
}

/// The 20 best posts with any of the words, and the number of all.
async fn search(State(shared): State<Shared>, UrlPath(words): UrlPath<String>) -> Response {
    let (pks, count) = shared.index.best(&words);
    json(with_reader(&shared, |reader| {
        let mut body = reader.by_pks(&pks);
        body.pop();
        body.extend_from_slice(format!(",\"count\":{count}}}").as_bytes());
        body
    }))
}

async fn create_post(State(shared): State<Shared>, body: Bytes) -> Response {
    let object = serde_json::from_slice(&body).expect("bodies are JSON");
    let (done, response) = oneshot::channel();
    shared.creates.send(Create { object, done }).expect("the writer runs");
    json(response.await.expect("the writer responds"))
}

/// Writes all queued objects in one commit, then responds to all.
fn write(writer: &Bare, queue: &mpsc::Receiver<Create>) {
    while let Ok(first) = queue.recv() {
        writer.begin();
        let mut responses = Vec::new();
        for create in std::iter::once(first).chain(queue.try_iter().take(255)) {
            responses.push((writer.insert(&create.object), create.done));
        }
        writer.commit();
        for (text, done) in responses {
            drop(done.send(text));
        }
    }
}
