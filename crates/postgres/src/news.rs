//! News of streams that somebody follows: of this process's own appends at once, of everybody
//! else's by one query for all of them together, as long as somebody follows any.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;
use tokio_postgres::types::Type;

use crate::connection::Pool;
use crate::text::{escape, unescape};

/// The interval at which the changes of others are looked for.
const POLL: Duration = Duration::from_millis(400);

/// The last change of a stream: the id of its last append and its epoch; absent for a stream that is not there.
pub(crate) type Change = Option<(Vec<u8>, i64)>;

/// A stream that somebody follows.
struct Followed {
    number: watch::Sender<u64>,
    /// The change that its followers have been told of; unknown at first.
    told: Option<Change>,
}

/// The streams that somebody follows, by their names.
#[derive(Default)]
pub(crate) struct News(Mutex<HashMap<Arc<str>, Followed>>);

impl News {
    /// Returns the number that changes with a stream.
    pub(crate) fn follow(&self, stream: &str) -> watch::Receiver<u64> {
        let fresh = || Followed { number: watch::Sender::new(0), told: None };
        self.streams().entry(stream.into()).or_insert_with(fresh).number.subscribe()
    }

    /// Tells the followers of a stream of a change that this process made.
    pub(crate) fn tell(&self, stream: &str, change: Change) {
        if let Some(followed) = self.streams().get_mut(stream) {
            followed.told = Some(change);
            followed.number.send_modify(|number| *number += 1);
        }
    }

    /// Looks for the changes of others until the log is gone.
    pub(crate) async fn poll(news: Weak<News>, readers: Weak<Pool>) {
        loop {
            sleep(POLL).await;
            let (Some(news), Some(readers)) = (news.upgrade(), readers.upgrade()) else { return };
            let before = news.followed();
            if before.is_empty() {
                continue;
            }
            let names: Vec<String> = before.keys().map(|name| escape(name).into_owned()).collect();
            let sql = "SELECT name, append, epoch FROM streams WHERE name = ANY($1)";
            match readers.query(sql, &[(&names, Type::TEXT_ARRAY)]).await {
                Ok(rows) => {
                    let now = rows.iter().map(|row| (unescape(row.get(0)).into_owned(), (row.get(1), row.get(2))));
                    news.compare(&before, &now.collect());
                }
                // Those who read hear of it themselves.
                Err(error) => tracing::debug!(%error, "the changes of other nodes cannot be seen"),
            }
        }
    }

    /// Returns what the followers know, without the streams that nobody follows any more.
    fn followed(&self) -> HashMap<Arc<str>, Option<Change>> {
        let mut streams = self.streams();
        streams.retain(|_, followed| followed.number.receiver_count() > 0);
        streams.iter().map(|(name, followed)| (name.clone(), followed.told.clone())).collect()
    }

    fn compare(&self, before: &HashMap<Arc<str>, Option<Change>>, now: &HashMap<String, (Vec<u8>, i64)>) {
        let mut streams = self.streams();
        for (name, told) in before {
            let Some(followed) = streams.get_mut(name) else { continue };
            let change = now.get(&**name).cloned();
            // What was told meanwhile may be newer than what was found.
            if followed.told == *told && *told != Some(change.clone()) {
                followed.told = Some(change);
                followed.number.send_modify(|number| *number += 1);
            }
        }
    }

    fn streams(&self) -> MutexGuard<'_, HashMap<Arc<str>, Followed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn followers_hear_of_a_change_once_and_of_nothing_that_is_older_than_what_they_know() {
        let news = News::default();
        let mut number = news.follow("a");
        let first = HashMap::from([("a".to_owned(), (vec![1], 0))]);
        let unknown = news.followed();
        news.compare(&unknown, &first);
        assert!(number.has_changed().unwrap(), "somebody may have written before the first look");
        number.mark_unchanged();
        let before = news.followed();
        news.compare(&before, &first);
        assert!(!number.has_changed().unwrap());
        news.tell("a", Some((vec![2], 0)));
        number.mark_unchanged();
        news.compare(&before, &first);
        assert!(!number.has_changed().unwrap(), "it was looked for before this process wrote");
        news.compare(&news.followed(), &HashMap::new());
        assert!(number.has_changed().unwrap(), "it was erased");
        drop(number);
        assert!(news.followed().is_empty());
    }
}
