//! A jump of the clock, while the server runs or not, removes nothing permanently.

use rusqlite::Connection;

use super::support::{Cli, Server, client};

/// Moves the dates of content and of the retention clock into the past. To the server, this looks like
/// a clock that jumped ahead.
fn jump(cli: &Cli, years: i64) {
    let database = Connection::open(cli.path("data/cms.db")).unwrap();
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

/// Number of rows in trash and journal. Journal rows about keys do not count, because a server creates its first keys.
fn kept(cli: &Cli) -> (i64, i64) {
    let database = Connection::open(cli.path("data/cms.db")).unwrap();
    let sql = "SELECT (SELECT count(*) FROM trash),
                      (SELECT count(*) FROM journal WHERE kind NOT LIKE 'key.%')";
    database.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

#[test]
fn clock_jump_of_decades_removes_nothing_permanently() {
    let cli = Cli::with_data();
    for id in ["one", "two"] {
        cli.write("tag.json", &format!(r#"{{"id":"{id}","name":"Tag {id}"}}"#));
        cli.run(&["object", "create", "_tag", "tag.json"]).ok();
    }
    cli.run(&["object", "delete", "_tag", "two", "--yes"]).ok();
    cli.run(&["search", "tag"]).ok();
    let before = kept(&cli);
    assert_eq!(before.0, 1);
    for years in [30, 30, 10] {
        jump(&cli, years);
        // A server cleans up when it stops, too.
        let server = Server::start_in(&cli.path(""), &[]);
        let health = client().build().unwrap().get(format!("{}/healthz", server.url)).send();
        assert_eq!(health.unwrap().status(), 200);
        server.terminate();
        assert_eq!(kept(&cli), before, "{years} years");
    }
}
