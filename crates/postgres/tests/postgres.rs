//! The log in PostgreSQL, against a real server.

#[cfg(test)]
mod cuts;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod nodes;
#[cfg(test)]
mod proxy;

use std::sync::Arc;

use consort_log::conformance::{Case, cases};
use consort_postgres::PgLog;
use consort_test_postgres::database;

#[tokio::test(flavor = "multi_thread")]
async fn the_log_in_postgresql_conforms() {
    for Case { name, run } in cases() {
        println!("{name}");
        let Some(database) = database().await else { return };
        run(Arc::new(PgLog::open(database.url()).await.unwrap())).await;
    }
}
