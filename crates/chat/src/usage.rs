//! The usage of turns, for billing. Reads only list rows, no conversation.

use consort_core::chat::Stored;
use consort_core::id::Millis;
use consort_core::spec::Kind;
use consort_core::status::Status;
use consort_log::Query;
use consort_runtime::thread_history::stored;

use super::damaged::unless_damaged;
use super::{Chats, Error};

/// The tag of a turn that holds the owner of its thread.
pub(super) const OWNER: &str = "owner";

/// A turn and its usage so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Spent {
    /// The thread it is in.
    pub thread: String,
    /// The time when it began.
    pub started_at: Millis,
    /// The time when it ended, if it has.
    pub ended_at: Option<Millis>,
    /// The stored turn.
    pub turn: Stored,
}

impl Chats {
    /// Returns the owner's turns, the newest first, and their total number.
    pub async fn spent(&self, owner: &str, offset: usize, limit: usize) -> Result<(Vec<Spent>, usize), Error> {
        let query = Query {
            kind: Some(Kind::Turn.word().to_owned()),
            tags: vec![(OWNER.to_owned(), Some(owner.to_owned()))],
            offset,
            limit,
            ..Query::default()
        };
        let page = self.log().list(query).await?;
        let mut turns = Vec::with_capacity(page.rows.len());
        for (id, row) in page.rows {
            let thread = row.tags.get("thread").cloned().unwrap_or_default();
            let turn = unless_damaged(stored(self.log(), &id, &row).await.map_err(Error::from))?;
            // Of a turn that cannot be read, only the columns of its row are shown.
            let unread = || Stored {
                turn: id.to_string(),
                status: Status::parse(&row.status).unwrap_or_default(),
                ..Stored::default()
            };
            let turn = turn.unwrap_or_else(unread);
            turns.push(Spent { thread, started_at: row.started_at, ended_at: row.ended_at, turn });
        }
        Ok((turns, page.total))
    }
}
