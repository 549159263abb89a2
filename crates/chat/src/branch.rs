//! A thread that branches off from another one: it begins with what was said there before a turn, and goes its own way.
//! The other thread stays as it is.

use consort_core::chat::{self, Earlier, Role, Row, Stored};
use consort_core::mistake::{Code, Mistake};
use consort_runtime::thread_history::Turns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Chats, Error, Thread};

/// The bytes of the messages a branch begins with: the newest that fit, as the row of the thread holds them until its
/// first turn does.
const EARLIER_MAX: usize = 2 * 1024 * 1024;

/// The place in another thread at which a thread branches off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Branch {
    /// The other thread.
    thread: String,
    /// The turn before which it branches off.
    before: String,
    /// The messages before that turn, until the first turn of the branch has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<Earlier>,
    /// The sources of those messages that the user did not write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sources: Vec<String>,
}

/// The place in another chat at which one branches off.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Branch")]
pub(super) struct BranchView {
    /// The other chat, which may have been erased since.
    thread_id: String,
    /// The turn of it before which this one branches off.
    turn_id: String,
}

impl Branch {
    pub(super) fn view(&self) -> BranchView {
        BranchView { thread_id: self.thread.clone(), turn_id: self.before.clone() }
    }
}

/// The messages from before a thread's first turn, and their sources that the user did not write.
pub(super) struct Beginning {
    pub(super) earlier: Vec<Earlier>,
    pub(super) sources: Vec<String>,
}

impl Thread {
    /// Takes the messages that a branch begins with, for the turn that follows `last`: none but its first has them.
    pub(super) fn take_beginning(&mut self, last: Option<&Stored>) -> Option<Beginning> {
        let branch = self.branch.as_mut()?;
        let earlier = std::mem::take(&mut branch.earlier);
        let sources = std::mem::take(&mut branch.sources);
        last.is_none().then_some(Beginning { earlier, sources })
    }
}

impl Chats {
    /// Creates a thread that begins with what was said in another thread of the owner before one of its turns. What was
    /// allowed there is asked for again; what was read there counts here, too.
    pub async fn branch(&self, owner: &str, id: &str, before: &str) -> Result<Thread, Error> {
        let other = self.thread(owner, id).await?;
        let Turns { ended, running } = self.0.history.turns(self.log(), id).await?;
        let turns: Vec<&Stored> = ended.turns.iter().map(|turn| &**turn).chain(running.as_ref()).collect();
        let at = turns.iter().position(|turn| turn.turn == before).ok_or_else(|| no_turn(before))?;
        let kept = || turns.iter().take(at).copied();
        let mut thread = Thread::new(owner, None, self.now());
        thread.model = other.model;
        thread.mode = other.mode;
        thread.branch = Some(Branch {
            thread: other.id,
            before: before.to_owned(),
            earlier: newest(kept().flat_map(|turn| &turn.rows).filter_map(earlier).collect()),
            sources: chat::sources(kept()),
        });
        thread.store(self.log(), self.now()).await?;
        Ok(thread)
    }
}

fn no_turn(turn: &str) -> Error {
    Error::Mistake(Mistake::new(Code::BadRequest, "branch_of.before", format!("the thread has no turn '{turn}'")))
}

/// Returns a row as a message from before a thread began; results of tools and empty replies are none.
fn earlier(row: &Row) -> Option<Earlier> {
    let said = if row.is_error { &row.partial } else { &row.content };
    let is_message = row.role != Role::Tool && !said.is_empty();
    is_message.then(|| Earlier { role: row.role, content: said.clone() })
}

/// Returns the newest of these messages that fit together.
fn newest(mut messages: Vec<Earlier>) -> Vec<Earlier> {
    let mut bytes = 0;
    let fits = |message: &&Earlier| {
        bytes += message.content.len();
        bytes <= EARLIER_MAX
    };
    let fitting = messages.iter().rev().take_while(fits).count();
    messages.split_off(messages.len() - fitting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_of_a_long_thread_begins_with_its_newest_messages() {
        let message = |size: usize| Earlier { role: Role::User, content: "x".repeat(size).into() };
        let sizes = |messages: Vec<Earlier>| messages.iter().map(|each| each.content.len()).collect::<Vec<_>>();
        assert_eq!(sizes(newest(vec![message(1), message(2)])), [1, 2]);
        assert_eq!(sizes(newest(vec![message(1), message(EARLIER_MAX - 1), message(1)])), [EARLIER_MAX - 1, 1]);
        assert_eq!(sizes(newest(vec![message(EARLIER_MAX + 1)])), [0_usize; 0]);
    }
}
