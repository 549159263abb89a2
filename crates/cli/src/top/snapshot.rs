//! The lists of a server at one moment.

use serde_json::{Value, json};

use crate::client::{Call, Client, Failure};
use crate::show::record::Record;

/// Runs under way that are shown: more than anybody looks through.
const ACTIVE_MAX: u64 = 200;
/// Runs that began last, ended ones among them.
const RECENT_MAX: u64 = 20;

/// The lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    /// The runs, those under way first, each once.
    pub(super) runs: Vec<Value>,
    /// The number of runs under way, also of those that are not in the list.
    pub(super) active: u64,
    /// The open reviews, the oldest first.
    pub(super) reviews: Vec<Value>,
    /// The calls of chats that wait for permission.
    pub(super) approvals: Vec<Value>,
}

impl Snapshot {
    /// Asks the server for them.
    pub(crate) async fn take(client: &Client) -> Result<Snapshot, Failure> {
        let ask = async |call: Call| client.read(&client.send(&call).await?);
        let under_way = |status| Call::get(&["runs"]).with("status", Some(status)).with("limit", Some(ACTIVE_MAX));
        let (running, accepted, recent, reviews, approvals) = futures::try_join!(
            ask(under_way("RUNNING")),
            ask(under_way("ACCEPTED")),
            ask(Call::get(&["runs"]).with("limit", Some(RECENT_MAX))),
            ask(Call::get(&["reviews"])),
            ask(Call::get(&["approvals"])),
        )?;
        let active = [&running, &accepted].iter().filter_map(|list| Record(list).count("total")).sum();
        let runs = each_once([running, accepted, recent].into_iter().flat_map(|list| rows(list, "runs")));
        Ok(Snapshot { runs, active, reviews: rows(reviews, "reviews"), approvals: rows(approvals, "approvals") })
    }
}

impl From<Snapshot> for Value {
    fn from(Snapshot { runs, active, reviews, approvals }: Snapshot) -> Value {
        json!({ "active": active, "runs": runs, "reviews": reviews, "approvals": approvals })
    }
}

fn rows(mut answer: Value, name: &str) -> Vec<Value> {
    match answer.get_mut(name).map(Value::take) {
        Some(Value::Array(rows)) => rows,
        Some(_) | None => Vec::new(),
    }
}

/// Leaves out runs that another list had already: one may have begun or ended between two answers.
fn each_once(runs: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut once: Vec<Value> = Vec::new();
    let id = |run: &Value| Record(run).text("runId").to_owned();
    for run in runs {
        if !once.iter().any(|earlier| id(earlier) == id(&run)) {
            once.push(run);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_in_two_lists_is_shown_once() {
        let run = |id: &str, status: &str| json!({ "runId": id, "status": status });
        let lists =
            [run("run-1", "RUNNING"), run("run-2", "ACCEPTED"), run("run-1", "COMPLETED"), run("run-0", "FAILED")];
        let ids: Vec<String> = each_once(lists.into_iter()).iter().map(|run| Record(run).line("runId")).collect();
        assert_eq!(ids, ["run-1", "run-2", "run-0"]);
    }
}
