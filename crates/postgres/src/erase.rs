//! Erasing streams, and the removal of what they have left in the files of the tables.

use std::sync::Arc;

use consort_log::Error;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::connection::{Connector, Failure, Pool, WAIT_MAX, bounded};
use crate::text::escape;

/// The tables that hold something of a stream, beside the streams themselves.
const TABLES: [&str; 4] = ["records", "attachments", "claims", "words"];

/// Removes streams.
pub(crate) async fn erase(pool: &Pool, streams: &[Arc<str>]) -> Result<(), Error> {
    let attempts = pool.attempts().await?;
    loop {
        let mut client = attempts.client().await?;
        let done = erase_once(&mut client, streams).await;
        if let Some(known) = attempts.settle(client, done) {
            return known;
        }
    }
}

/// Removes streams in one transaction. The rows of the streams go first: from then on nobody appends to them, and what
/// was appended meanwhile is seen by the statements that follow.
async fn erase_once(client: &mut Client, streams: &[Arc<str>]) -> Result<(), Failure> {
    let names: Vec<String> = streams.iter().map(|name| escape(name).into_owned()).collect();
    let tx = client.transaction().await?;
    let sql = "DELETE FROM streams WHERE name = ANY($1) RETURNING id";
    let rows = bounded(tx.query_typed(sql, &[(&names, Type::TEXT_ARRAY)])).await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
    if ids.is_empty() {
        return Ok(tx.commit().await?);
    }
    for table in TABLES {
        let sql = format!("DELETE FROM {table} WHERE stream = ANY($1)");
        bounded(tx.query_typed(&sql, &[(&ids, Type::INT8_ARRAY)])).await?;
    }
    bounded(tx.commit()).await
}

/// Writes the tables and their statistics anew, without what was erased. Everybody else waits for each of them meanwhile.
pub(crate) async fn compact(connector: &Connector) -> Result<(), Error> {
    let client = connector.connect_within(WAIT_MAX).await?;
    let failed = |error: tokio_postgres::Error| Error::from(Failure::from(error));
    client.batch_execute("SET statement_timeout = 0").await.map_err(failed)?;
    for table in TABLES.iter().chain(["streams"].iter()) {
        client.batch_execute(&format!("VACUUM (FULL, ANALYZE) {table}")).await.map_err(failed)?;
    }
    // Files that nobody uses any more are removed at a checkpoint; who may not ask for one waits for the next.
    let asked = client.batch_execute("CHECKPOINT").await;
    asked.or_else(|error| if error.as_db_error().is_some() { Ok(()) } else { Err(failed(error)) })
}
