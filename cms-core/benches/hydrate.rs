//! The cost of replacing links by authors (`hydrate`), through the core and as a join of bare rows.
//! `cargo bench -p cms-core --features testing --bench hydrate`

#[path = "../../benches/src/bare.rs"]
#[expect(dead_code, reason = "each bench uses a part")]
mod bare;
#[path = "../../benches/src/corpus.rs"]
#[expect(dead_code, reason = "each bench uses a part")]
mod corpus;
#[path = "support/posts.rs"]
mod posts;

use cms_core::{
    Caller, Durability,
    wire::{
        graphql::{GraphQlRequest, GraphQlVersion},
        object::ListRequest,
    },
};
use divan::Bencher;

fn main() {
    divan::main();
}

/// Twenty ordered posts; level 0 leaves the links as they are.
#[divan::bench(args = [0, 1, 2])]
fn core(bencher: Bencher, hydrate: u8) {
    let (folder, local) = (posts::folder(Durability::Normal), Caller::local());
    let order_by = Some("rank".to_owned());
    let request = ListRequest { order_by, hydrate, ..ListRequest::default() };
    let list = || folder.cms.objects().list(&local, "post", &request).expect("the list is valid");
    let author = &list().to_value()["data"][0]["author"][0];
    assert_eq!(author["name"].is_string(), hydrate > 0);
    bencher.bench_local(list);
}

/// The same posts with the same authors. The query names all fields of both.
#[divan::bench]
fn graphql(bencher: Bencher) {
    let (folder, local) = (posts::folder(Durability::Normal), Caller::local());
    let internal = "internal { contentType createdAt updatedAt deletedAt workflowState objectTitle \
        latestVersion status publicVersion publishedAt }";
    let request = GraphQlRequest {
        query: format!(
            "{{ postList(order_by: \"rank\") {{ id {internal} title slug category rank date featured \
             excerpt body author {{ id {internal} name bio }} }} }}"
        ),
        ..GraphQlRequest::default()
    };
    let execute = || {
        let response = folder.cms.graphql().execute(&local, GraphQlVersion::Legacy, &request);
        response.expect("the query is executed")
    };
    assert_eq!(execute().status, 200);
    bencher.bench_local(execute);
}

#[divan::bench]
fn rows(bencher: Bencher) {
    let (bare, _folder) = posts::bare("NORMAL");
    bencher.bench_local(|| bare.list(bare::HYDRATED, []));
}
