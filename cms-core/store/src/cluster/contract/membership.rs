//! Tests of nodes and duties.

use std::time::Duration;

use super::create;
use crate::cluster::database::{NodeReport, SharedDatabase};

pub(super) fn duty_has_one_holder(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    create(a, &[]).expect("the cluster is created");
    let minute = Duration::from_mins(1);
    assert_eq!(a.duties().expect("a list"), []);
    assert!(a.acquire("sweep", "a", minute).expect("a response"));
    assert!(!b.acquire("sweep", "b", minute).expect("a response"));
    assert!(b.acquire("backup", "b", minute).expect("a response"));
    assert!(a.acquire("sweep", "a", minute).expect("the lease is renewed"));
    let mut holders = b.duties().expect("a list");
    holders.sort_by(|a, b| a.duty.cmp(&b.duty));
    let names: Vec<_> = holders.iter().map(|d| (d.duty.as_str(), d.node.as_str())).collect();
    assert_eq!(names, [("backup", "b"), ("sweep", "a")]);
    b.release("sweep", "b").expect("nothing to release");
    assert!(!b.acquire("sweep", "b", minute).expect("a response"));
    a.release("sweep", "a").expect("released");
    assert!(b.acquire("sweep", "b", minute).expect("a response"));
    // A lease that has ended.
    assert!(b.acquire("sweep", "b", Duration::ZERO).expect("a response"));
    assert_eq!(a.duties().expect("a list").len(), 1);
    assert!(a.acquire("sweep", "a", minute).expect("a response"));
}

pub(super) fn nodes_are_listed(a: &dyn SharedDatabase, b: &dyn SharedDatabase) {
    create(a, &[]).expect("the cluster is created");
    let mut report = NodeReport {
        id: "a".to_owned(),
        name: "node 1".to_owned(),
        version: "0.1.0".to_owned(),
        accepted_schema: 12,
        address: None,
        token: "secret".to_owned(),
        applied: 0,
        index_seq: 3,
        staleness_ms: 0,
        read_bound_ms: 2000,
    };
    let before = a.report(&report).expect("a time");
    report.applied = 8;
    report.address = Some("http://127.0.0.1:8080".to_owned());
    let after = a.report(&report).expect("a time");
    assert!(after >= before);
    let other = NodeReport { id: "b".to_owned(), name: "node 2".to_owned(), ..report.clone() };
    b.report(&other).expect("a time");
    let mut nodes = a.nodes().expect("a list");
    nodes.sort_by(|a, b| a.report.id.cmp(&b.report.id));
    assert_eq!(nodes.len(), 2);
    assert_eq!((&nodes[0].report, nodes[0].seen_at, nodes[0].is_live), (&report, after, true));
    assert_eq!(nodes[1].report, other);
    let engine = a.database_info().expect("a description");
    assert!(!engine.version.is_empty() && engine.bytes >= 0, "{engine:?}");
}
