//! The cost of writing posts, through the core and as bare rows with the same indexes.
//! `cargo bench -p cms-core --features testing --bench write`
//!
//! `Full` waits for the disk at every commit, `Normal` does not.

#[path = "../../benches/src/bare.rs"]
#[expect(dead_code, reason = "each bench uses a part")]
mod bare;
#[path = "../../benches/src/corpus.rs"]
#[expect(dead_code, reason = "each bench uses a part")]
mod corpus;
#[path = "support/posts.rs"]
mod posts;

use cms_core::{Caller, Durability, testing::map};
use divan::Bencher;
use serde_json::Value;

fn main() {
    divan::main();
}

/// Posts that do not exist yet.
fn fresh() -> impl FnMut() -> Value {
    let mut number = posts::POSTS;
    move || {
        number += 1;
        corpus::post(number)
    }
}

fn five_hundred() -> impl FnMut() -> Vec<Value> {
    let mut fresh = fresh();
    move || (0..500).map(|_| fresh()).collect()
}

#[divan::bench_group]
mod create {
    use super::{Bencher, Caller, Durability, fresh, map, posts};

    #[divan::bench(args = [Durability::Normal, Durability::Full])]
    fn core(bencher: Bencher, durability: Durability) {
        let (folder, local) = (posts::folder(durability), Caller::local());
        bencher.with_inputs(fresh()).bench_local_values(|post| {
            folder.cms.objects().create(&local, "post", map(post)).expect("it is valid")
        });
    }

    #[divan::bench(args = ["NORMAL", "FULL"])]
    fn rows(bencher: Bencher, synchronous: &str) {
        let (bare, _folder) = posts::bare(synchronous);
        bencher.with_inputs(fresh()).bench_local_values(|post| {
            bare.begin();
            let inserted = bare.insert(&post);
            bare.commit();
            inserted
        });
    }
}

#[divan::bench_group(sample_count = 20, sample_size = 1)]
mod batch_of_500 {
    use super::{Bencher, Durability, five_hundred, posts};

    #[divan::bench]
    fn core(bencher: Bencher) {
        let folder = posts::folder(Durability::Full);
        bencher
            .with_inputs(five_hundred())
            .bench_local_values(|batch| posts::add(&folder, "post", &batch));
    }

    #[divan::bench]
    fn rows(bencher: Bencher) {
        let (bare, _folder) = posts::bare("FULL");
        bencher.with_inputs(five_hundred()).bench_local_values(|batch| bare.insert_all(&batch));
    }
}
