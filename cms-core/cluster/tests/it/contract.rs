//! The contract tests of shared databases, on PostgreSQL.

use cms_store::cluster::contract::CASES;

use crate::server::Server;

#[test]
fn postgres_passes_the_contract_tests() {
    let Some(server) = Server::start() else { return };
    for (name, case) in CASES {
        let database = server.create_database(name);
        case(&server.open(&database), &server.open(&database));
    }
}
