//! The measured operations: requests for the server, and their counterparts for the baseline.

use std::sync::Arc;

use serde_json::json;

use crate::{
    client::{self, MakeRequest},
    corpus,
    server::KEY,
};

/// Number of different requests of an operation that does not always send the same request.
const DISTINCT_REQUESTS: u64 = 2_000;
/// Number of posts that a range of `rank` contains.
const POSTS_PER_RANGE: u64 = 200;

/// An operation, with its requests for the server and for the baseline.
pub(crate) struct Operation {
    pub(crate) name: String,
    pub(crate) cms: MakeRequest,
    pub(crate) bare: MakeRequest,
    /// Numbers of connections to measure with, if not those of the command line.
    pub(crate) connections: Option<&'static [usize]>,
}

impl Operation {
    /// Reads that are always the same request.
    fn hot(name: &str, cms: &str, bare: &str) -> Self {
        let always = |path: &str| -> MakeRequest {
            let request = client::get(path, KEY);
            Arc::new(move |_| request.clone())
        };
        Self { name: name.to_owned(), cms: always(cms), bare: always(bare), connections: None }
    }

    /// Reads by paths that are made from the number of the request.
    fn different(
        name: &str,
        cms: impl Fn(u64) -> String + Send + Sync + 'static,
        bare: impl Fn(u64) -> String + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: format!("{name}, {DISTINCT_REQUESTS} different"),
            cms: Arc::new(move |n| client::get(&cms(n % DISTINCT_REQUESTS), KEY)),
            bare: Arc::new(move |n| client::get(&bare(n % DISTINCT_REQUESTS), KEY)),
            connections: None,
        }
    }
}

/// All operations on this number of posts; `image` is the path of a rendered image.
pub(crate) fn all(posts: usize, image: &str) -> Vec<Operation> {
    let posts = posts as u64;
    let list = "/api/v1/content/post?limit=20";
    let filter = encoded(&json!({"category": {"type": "equals", "filter": "category-7"}}));
    let mut operations = vec![
        Operation::hot("by id", "/api/v1/content/post/post-7", "/id/post-7"),
        Operation::different(
            "by id",
            move |n| path(n, posts),
            move |n| format!("/id/{}", id(n, posts)),
        ),
        Operation::hot("20 ordered by a property", &format!("{list}&order_by=rank"), "/ordered"),
        Operation::hot("20 filtered", &format!("{list}&filters={filter}"), "/filtered"),
        Operation::hot("20 hydrated", &format!("{list}&order_by=rank&hydrate=1"), "/hydrated"),
        Operation::hot("page 400", &format!("{list}&order_by=rank&page=400"), "/page"),
    ];
    for (name, path, bare) in [
        ("20 ordered in a range", "&order_by=rank", "/range"),
        ("20 hydrated in a range", "&order_by=rank&hydrate=1", "/range-hydrated"),
        ("20 filtered by a range", "", "/range-filtered"),
    ] {
        operations.push(Operation::different(
            name,
            move |n| {
                let (from, to) = range(n, posts);
                let filter = json!({"type": "inRange", "filter": from, "filter2": to});
                format!("{list}{path}&filters={}", encoded(&json!({"rank": filter})))
            },
            move |n| {
                let (from, to) = range(n, posts);
                format!("{bare}/{from}/{to}")
            },
        ));
    }
    let words = "river+granite+lantern";
    let search = |words: &str| format!("/api/v1/search?content_type[]=post&limit=20&q={words}");
    operations.extend([
        Operation::hot("search", &search(words), &format!("/search/{words}")),
        Operation::different(
            "search",
            move |n| search(&corpus::words(n, 3).replace(' ', "+")),
            |n| format!("/search/{}", corpus::words(n, 3).replace(' ', "+")),
        ),
        Operation::hot("a rendered image", image, "/image"),
        Operation::hot("a rendered image, from disk", image, "/image-on-disk"),
        create(),
    ]);
    operations.extend(directions(list, &format!("&filters={filter}")));
    operations
}

/// The path of one of the posts; consecutive numbers are far apart.
pub(crate) fn path(number: u64, posts: u64) -> String {
    format!("/api/v1/content/post/{}", id(number, posts))
}

fn id(number: u64, posts: u64) -> String {
    format!("post-{}", number.wrapping_mul(7_919) % posts)
}

/// Creates of new posts.
pub(crate) fn create() -> Operation {
    let post = |number: u64| {
        let number = usize::try_from(number).unwrap_or_default();
        corpus::post(number + 1_000_000_000).to_string()
    };
    Operation {
        name: "create".to_owned(),
        cms: Arc::new(move |n| client::post("/api/v1/content/post", KEY, &post(n))),
        bare: Arc::new(move |n| client::post("/create", KEY, &post(n))),
        connections: Some(&[1, 8]),
    }
}

/// The range of `rank` of a request; both ends are included.
fn range(number: u64, posts: u64) -> (u64, u64) {
    let width = corpus::RANKS * POSTS_PER_RANGE / posts;
    let from = (corpus::RANKS - width) * number / DISTINCT_REQUESTS;
    (from, from + width)
}

/// A JSON text as a value of a query string.
fn encoded(filters: &serde_json::Value) -> String {
    let encode = |byte: u8| match byte {
        b'"' | b'{' | b'}' => format!("%{byte:02X}"),
        byte => char::from(byte).to_string(),
    };
    filters.to_string().bytes().map(encode).collect()
}

/// Ascending and descending lists, by properties with many and with few values. The baseline reads
/// its ascending list for both, so that the ratios of a pair are comparable.
fn directions(list: &str, filter: &str) -> Vec<Operation> {
    const ORDERS: [(&str, &str); 5] = [
        ("rank", "order_by=rank"),
        ("date", "order_by=date"),
        ("featured", "order_by=featured"),
        ("creation", "order_by=internal.createdAt"),
        ("update", "order_by=internal.updatedAt"),
    ];
    let in_category = format!("order_by=internal.createdAt{filter}");
    let orders = ORDERS.into_iter().chain([("creation in a category", in_category.as_str())]);
    let mut operations = Vec::new();
    for (name, order) in orders {
        for (page, bare) in [(1, "/ordered"), (400, "/page")] {
            for direction in ["asc", "desc"] {
                let path = format!("{list}&{order}&order_direction={direction}&page={page}");
                let name = format!("page {page} by {name}, {direction}");
                let connections: Option<&[usize]> = Some(&[1]);
                operations.push(Operation { connections, ..Operation::hot(&name, &path, bare) });
            }
        }
    }
    operations
}
