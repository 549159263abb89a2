//! The index of words. Texts get into it in groups, once there are many: one by one they would cost several
//! times as much, and most texts of a server that keeps few runs change or go before. Those that
//! are not in it are searched one by one.

use rusqlite::{Connection, TransactionBehavior, params};

use super::list;

/// The number of texts that a search reads one by one without anybody noticing.
const UNINDEXED_MAX: usize = 1024;
/// The number of texts that are put into the index at a time: an append waits for them.
const AT_ONCE: usize = 128;
/// The number of new texts after which it is worth to count them all.
pub(super) const ENOUGH: usize = UNINDEXED_MAX / 4;

/// Puts the oldest texts into the index, if there are too many; returns their bytes.
pub(super) fn some(db: &mut Connection) -> rusqlite::Result<u64> {
    let count: usize = db.prepare_cached("SELECT count(*) FROM unindexed")?.query_row([], |row| row.get(0))?;
    if count <= UNINDEXED_MAX {
        return Ok(0);
    }
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut bytes = 0;
    let oldest = "SELECT stream, text FROM unindexed ORDER BY stream LIMIT ?";
    let texts = tx
        .prepare_cached(oldest)?
        // One that was damaged must not keep the others out; its checksum still tells.
        .query_map([AT_ONCE], |row| Ok((row.get(0)?, list::text(row, 1)?)))?
        .collect::<rusqlite::Result<Vec<(i64, String)>>>()?;
    for (stream, text) in texts {
        bytes += text.len() as u64;
        tx.prepare_cached("INSERT INTO words (rowid, text) VALUES (?, ?)")?.execute(params![stream, text])?;
        tx.prepare_cached("DELETE FROM unindexed WHERE stream = ?")?.execute([stream])?;
    }
    tx.commit()?;
    Ok(bytes.max(1))
}
