//! The contract of all shared databases.

use cms_store::cluster::contract::CASES;

use crate::server::Server;

#[test]
fn postgres_keeps_the_contract() {
    let Some(server) = Server::start() else { return };
    for (name, case) in CASES {
        let database = server.create_database(name);
        case(&server.open(&database), &server.open(&database));
    }
}
