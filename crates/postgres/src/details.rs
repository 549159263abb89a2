//! The rest of what the database knows of a stream, for copies, who uses it, and the mark of one
//! whose content was moved.

use consort_log::Error;
use consort_log::transfer::{Detailed, Details};
use futures::future::{BoxFuture, FutureExt};
use tokio_postgres::types::Type;

use crate::PgLog;
use crate::cluster::NOW;
use crate::text::{escape, unescape};

impl Detailed for PgLog {
    fn details(&self, stream: &str) -> BoxFuture<'_, Result<Option<Details>, Error>> {
        let name = escape(stream).into_owned();
        let sql = "SELECT s.epoch, (SELECT text FROM words w WHERE w.stream = s.id),
            ARRAY(SELECT key FROM claims c WHERE c.stream = s.id ORDER BY key) FROM streams s WHERE s.name = $1";
        async move {
            let rows = self.readers.query(sql, &[(&name, Type::TEXT)]).await?;
            Ok(rows.first().map(|row| Details {
                epoch: u64::try_from(row.get::<_, i64>(0)).unwrap_or_default(),
                claims: row.get::<_, Vec<&str>>(2).into_iter().map(|key| unescape(key).into_owned()).collect(),
                words: row.get::<_, Option<&str>>(1).map(|text| unescape(text).into()),
            }))
        }
        .boxed()
    }
}

impl PgLog {
    /// Returns the names of the nodes that use the database at the moment.
    pub async fn live_nodes(&self) -> Result<Vec<String>, Error> {
        let sql = format!("SELECT name FROM nodes WHERE evicted_at IS NULL AND lease_until > {NOW} ORDER BY name");
        Ok(self.readers.query(&sql, &[]).await?.iter().map(|row| row.get(0)).collect())
    }

    /// Returns the place that the content of the database was moved to, if it was: then it may not be used any more.
    pub async fn moved(&self) -> Result<Option<String>, Error> {
        let rows = self.readers.query("SELECT moved FROM meta", &[]).await?;
        Ok(rows.first().and_then(|row| row.get(0)))
    }

    /// Marks a database as moved elsewhere: from then on no node joins it.
    pub async fn retire(&self, to: &str) -> Result<(), Error> {
        self.readers.query("UPDATE meta SET moved = $1", &[(&to, Type::TEXT)]).await.map(drop)
    }

    /// Returns how far a commit of this log's sessions has come when it is acknowledged.
    pub async fn synchronous_commit(&self) -> Result<String, Error> {
        let rows = self.readers.query("SELECT current_setting('synchronous_commit')", &[]).await?;
        Ok(rows.first().map(|row| row.get(0)).unwrap_or_default())
    }
}
