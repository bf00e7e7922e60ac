//! A clock that jumps while the server is down or runs: nothing is removed for good by that.

use rusqlite::Connection;

use super::support::{Place, Server, client};

/// Makes everything in a database older, as it looks to a server whose clock jumped ahead.
fn jump(place: &Place, years: i64) {
    let database = Connection::open(place.path("data/cms.db")).unwrap();
    let ago = years * 365 * 86_400 * 1_000_000;
    for (table, column) in [
        ("trash", "deleted_at"),
        ("journal", "at"),
        ("meta", "clock_seen_at"),
        ("meta", "clock_trusted_at"),
    ] {
        database.execute(&format!("UPDATE {table} SET {column} = {column} - {ago}"), []).unwrap();
    }
}

fn kept(place: &Place) -> (i64, i64) {
    let database = Connection::open(place.path("data/cms.db")).unwrap();
    let sql = "SELECT (SELECT count(*) FROM trash), (SELECT count(*) FROM journal)";
    database.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

#[test]
fn clock_that_jumps_decades_ahead_removes_nothing_for_good() {
    let place = Place::with_data();
    for id in ["one", "two"] {
        place.write("tag.json", &format!(r#"{{"id":"{id}","name":"Tag {id}"}}"#));
        place.run(&["object", "create", "_tag", "tag.json"]).ok();
    }
    place.run(&["object", "delete", "_tag", "two", "--yes"]).ok();
    place.run(&["search", "tag"]).ok();
    let before = kept(&place);
    assert_eq!(before.0, 1);
    for years in [30, 30, 10] {
        jump(&place, years);
        // A server cleans up when it stops, too.
        let server = Server::start_in(&place.path(""), &[]);
        let health = client().build().unwrap().get(format!("{}/healthz", server.url)).send();
        assert_eq!(health.unwrap().status(), 200);
        server.terminate();
        assert_eq!(kept(&place), before, "{years} years");
    }
}
