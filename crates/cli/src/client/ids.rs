//! Ids as people type them: the shortest unique beginning of one, or `latest`. This is
//! the one place that finds the whole id, for requests to a server ([`Client::whole`])
//! and for what is stored here ([`whole`]).

use std::collections::BTreeSet;

use super::{Call, Client, Failure};
use crate::show::record::Record;

/// The word for the newest one.
const LATEST: &str = "latest";
/// Rows of one page: as many as a server gives at once.
const PAGE: u64 = 500;
/// The maximum number of pages that are looked through: 50,000 rows are read in seconds, and with
/// more of them the whole id can be pasted.
const PAGES_MAX: usize = 100;
/// Candidates of an ambiguous beginning that are listed: what fits on a screen.
const LISTED_MAX: usize = 10;
/// Characters of the unique part of an id.
const UNIQUE: usize = 32;

/// The things that have ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A run.
    Run,
    /// A chat.
    Thread,
    /// A saved workflow.
    Workflow,
    /// A review that is open.
    Review,
}

/// The reason why a typed id does not stand for exactly one thing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum IdError {
    /// More than one id begins with it.
    #[error("`{typed}` is the beginning of {many}:{listed}")]
    Ambiguous {
        /// The beginning.
        typed: String,
        /// The number of candidates and their kind, in words.
        many: String,
        /// The candidates, each on a line of its own.
        listed: String,
    },
    /// `latest` of nothing.
    #[error("there is no {0} yet, so none is the latest")]
    Nothing(&'static str),
    /// There are too many to look through.
    #[error("there are more than {0} {1}s: give the whole id")]
    TooMany(u64, &'static str),
}

impl Kind {
    /// Returns the kind of thing that a path below `/api` names, by its first part.
    fn of(collection: &str) -> Option<Kind> {
        [Kind::Run, Kind::Thread, Kind::Workflow, Kind::Review].into_iter().find(|kind| kind.path() == collection)
    }

    fn noun(self) -> &'static str {
        match self {
            Kind::Run => "run",
            Kind::Thread => "thread",
            Kind::Workflow => "workflow",
            Kind::Review => "review",
        }
    }

    /// Returns the path of the list, which is also the name of its rows.
    fn path(self) -> &'static str {
        match self {
            Kind::Run => "runs",
            Kind::Thread => "threads",
            Kind::Workflow => "workflows",
            Kind::Review => "reviews",
        }
    }

    fn field(self) -> &'static str {
        match self {
            Kind::Run => "runId",
            Kind::Review => "reviewId",
            Kind::Thread | Kind::Workflow => "id",
        }
    }

    fn has_pages(self) -> bool {
        matches!(self, Kind::Run | Kind::Workflow)
    }

    /// Returns whether this has the form of a whole id, so that nothing needs to be looked up.
    fn is_whole(self, typed: &str) -> bool {
        let id = match self {
            Kind::Review => match typed.rsplit_once("-review-") {
                Some((run, number)) if number.parse::<u32>().is_ok() => run,
                Some(_) | None => return false,
            },
            Kind::Run | Kind::Thread | Kind::Workflow => typed,
        };
        let unique = id.rsplit_once('-').map(|(_, unique)| unique);
        unique.is_some_and(|unique| unique.len() == UNIQUE && unique.bytes().all(|byte| byte.is_ascii_hexdigit()))
    }
}

/// Returns the whole id that is meant among these, the newest first; none begins with
/// what was typed if there is none.
pub(crate) fn whole(kind: Kind, typed: &str, ids: &[String]) -> Result<Option<String>, IdError> {
    if typed == LATEST {
        return ids.first().cloned().map(Some).ok_or(IdError::Nothing(kind.noun()));
    }
    if ids.iter().any(|id| id == typed) {
        return Ok(Some(typed.to_owned()));
    }
    // A row that moved to the next page meanwhile, because something new began, comes twice.
    let mut seen = BTreeSet::new();
    let candidates: Vec<&String> = ids.iter().filter(|id| id.starts_with(typed) && seen.insert(*id)).collect();
    match candidates.as_slice() {
        [] => Ok(None),
        [id] => Ok(Some((*id).clone())),
        several => Err(ambiguous(kind, typed, several)),
    }
}

fn ambiguous(kind: Kind, typed: &str, candidates: &[&String]) -> IdError {
    let mut listed: String = candidates.iter().take(LISTED_MAX).map(|id| format!("\n  {id}")).collect();
    if let Some(more) = candidates.len().checked_sub(LISTED_MAX).filter(|more| *more > 0) {
        listed += &format!("\n  and {more} more");
    }
    IdError::Ambiguous { typed: typed.to_owned(), many: format!("{} {}s", candidates.len(), kind.noun()), listed }
}

impl Client {
    /// Returns the request with whole ids in it.
    pub(crate) async fn whole(&self, call: &Call) -> Result<Call, Failure> {
        let mut call = call.clone();
        if let [collection, id, ..] = call.path.as_mut_slice()
            && let Some(kind) = Kind::of(collection)
        {
            *id = self.whole_id(kind, id).await?;
        }
        for (_, id) in call.query.iter_mut().filter(|(name, _)| *name == Kind::Run.field()) {
            *id = self.whole_id(Kind::Run, id).await?;
        }
        Ok(call)
    }

    /// Returns the whole id of what was typed. What no id begins with is returned as it
    /// is: the server says that there is no such thing.
    pub(crate) async fn whole_id(&self, kind: Kind, typed: &str) -> Result<String, Failure> {
        if kind.is_whole(typed) {
            return Ok(typed.to_owned());
        }
        let ids = self.ids(kind, typed == LATEST).await?;
        Ok(whole(kind, typed, &ids)?.unwrap_or_else(|| typed.to_owned()))
    }

    /// Returns the newest ids of a kind, at most this many.
    pub(crate) async fn newest_ids(&self, kind: Kind, most: usize) -> Result<Vec<String>, Failure> {
        let list = Call::get(&[kind.path()]).with("limit", kind.has_pages().then_some(most));
        let answer = self.read(&self.send(&list).await?)?;
        let mut ids: Vec<String> =
            Record(&answer).list(kind.path()).map(|row| row.text(kind.field()).to_owned()).collect();
        if kind == Kind::Review {
            ids.reverse();
        }
        ids.truncate(most);
        Ok(ids)
    }

    /// Returns all ids of a kind, the newest first; only some of them if the newest is
    /// all that matters.
    async fn ids(&self, kind: Kind, newest: bool) -> Result<Vec<String>, Failure> {
        let mut ids = Vec::new();
        for _page in 0..PAGES_MAX {
            let mut list = Call::get(&[kind.path()]);
            if kind.has_pages() {
                list = list.with("limit", Some(if newest { 1 } else { PAGE })).with("offset", Some(ids.len()));
            }
            let answer = self.read(&self.send(&list).await?)?;
            let before = ids.len();
            ids.extend(Record(&answer).list(kind.path()).map(|row| row.text(kind.field()).to_owned()));
            let total = Record(&answer).count("total").unwrap_or_default();
            if newest || !kind.has_pages() || ids.len() == before || ids.len() as u64 >= total {
                if kind == Kind::Review {
                    // The only list that begins with the oldest.
                    ids.reverse();
                }
                return Ok(ids);
            }
        }
        Err(IdError::TooMany(PAGE * PAGES_MAX as u64, kind.noun()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn a_beginning_means_the_one_id_that_has_it() {
        let runs = ids(&["run-3a", "run-31", "run-3", "run-2"]);
        let found = |typed: &str| whole(Kind::Run, typed, &runs);
        assert_eq!(found("run-2"), Ok(Some("run-2".to_owned())));
        assert_eq!(found("run-3a"), Ok(Some("run-3a".to_owned())));
        assert_eq!(found("run-3"), Ok(Some("run-3".to_owned())), "a whole id is meant, whatever begins with it");
        assert_eq!(found("latest"), Ok(Some("run-3a".to_owned())));
        assert_eq!(found("run-4"), Ok(None));
        assert_eq!(
            found("run-").unwrap_err().to_string(),
            "`run-` is the beginning of 4 runs:\n  run-3a\n  run-31\n  run-3\n  run-2"
        );
    }

    #[test]
    fn many_candidates_are_counted_and_none_is_no_latest() {
        let many: Vec<String> = (10..25).map(|number| format!("thread-{number}")).collect();
        let words = whole(Kind::Thread, "thread-1", &many).unwrap_err().to_string();
        assert!(words.starts_with("`thread-1` is the beginning of 10 threads:\n  thread-10\n"), "{words}");
        let words = whole(Kind::Thread, "t", &many).unwrap_err().to_string();
        assert!(words.ends_with("\n  thread-19\n  and 5 more"), "{words}");
        let words = whole(Kind::Workflow, "latest", &[]).unwrap_err().to_string();
        assert_eq!(words, "there is no workflow yet, so none is the latest");
    }

    #[test]
    fn a_whole_id_needs_no_look_at_the_list() {
        let id = format!("run-{}", "0a".repeat(16));
        assert!(Kind::Run.is_whole(&id) && Kind::Review.is_whole(&format!("{id}-review-12")));
        assert!(!Kind::Review.is_whole(&id), "a run may have more than one");
        assert!(!Kind::Review.is_whole(&format!("{id}-review-")) && !Kind::Run.is_whole("run-0a"));
        assert!(!Kind::Run.is_whole("latest") && !Kind::Run.is_whole(""));
    }
}
