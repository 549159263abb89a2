//! The subscription of a client. Frames addressed to it are never held back, so only
//! frames that everyone may see are filtered here.

use serde_json::Value;

use crate::body::Sent;
use consort_inbound::problem::Problem;

/// The maximum number of names in a list; there are fewer types of frames.
const NAMES_MAX: usize = 200;

/// The frames that a client wants: all, to begin with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Subscription {
    /// Only of these types.
    pub(super) types: Option<Vec<String>>,
    /// Only of this run.
    pub(super) run: Option<String>,
}

impl Subscription {
    /// Returns the subscription of a client that gets only what is addressed to it.
    pub(super) fn nothing() -> Subscription {
        Subscription { types: Some(Vec::new()), run: None }
    }

    /// Reads a `subscribe` frame. It means all frames of all runs, unless it lists types;
    /// a position to begin from keeps the run.
    pub(super) fn read(sent: &Sent) -> Result<Subscription, Problem> {
        let run = sent.optional_text("runId")?.map(str::to_owned);
        let begins = sent.object()?.get("from").is_some_and(|from| !from.is_null());
        let types = types(sent)?;
        let run = run.filter(|_| begins || types.is_some());
        Ok(Subscription { types, run })
    }

    /// Returns whether a frame that everyone may see is wanted.
    pub(super) fn admits(&self, kind: &str, run: Option<&str>) -> bool {
        self.lists(kind).unwrap_or(true) && self.of(run)
    }

    /// Returns whether the result of another client's run is wanted.
    pub(super) fn admits_result(&self, run: &str) -> bool {
        self.run.as_deref() == Some(run) || (self.lists("run_result").unwrap_or(false) && self.of(Some(run)))
    }

    /// Returns whether anything of this run may be wanted.
    pub(super) fn concerns(&self, run: &str) -> bool {
        self.types.as_ref().is_none_or(|types| !types.is_empty()) && self.of(Some(run))
    }

    /// Returns whether it lists a type of frames that nobody is sent unasked.
    pub(super) fn names(&self, kind: &str) -> bool {
        self.run.is_none() && self.lists(kind).unwrap_or(false)
    }

    fn of(&self, run: Option<&str>) -> bool {
        match (&self.run, run) {
            (Some(wanted), Some(run)) => wanted == run,
            (Some(_), None) | (None, _) => true,
        }
    }

    /// Returns whether its types include this one, if it has any.
    fn lists(&self, kind: &str) -> Option<bool> {
        self.types.as_ref().map(|types| types.iter().any(|name| name == kind))
    }
}

fn types(sent: &Sent) -> Result<Option<Vec<String>>, Problem> {
    let wrong = || Problem::bad_request(format!("`events` must be a list of at most {NAMES_MAX} names of frames"));
    let names = match sent.object()?.get("events") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(names)) if names.len() <= NAMES_MAX => names,
        Some(_) => return Err(wrong()),
    };
    let names: Option<Vec<String>> = names.iter().map(|name| name.as_str().map(str::to_owned)).collect();
    let names = names.ok_or_else(wrong)?;
    Ok(if names.is_empty() || names.iter().any(|name| name == "*") { None } else { Some(names) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_replaces_the_filter_and_a_star_removes_it_with_its_run() {
        let read = |frame: Value| Subscription::read(&Sent::of(frame)).map_err(|problem| problem.code().word());
        let one = Subscription { types: Some(vec!["task_started".to_owned()]), run: Some("r".to_owned()) };
        assert_eq!(read(json!({ "events": ["task_started"], "runId": "r" })), Ok(one.clone()));
        for all in [json!({ "runId": "r" }), json!({ "events": [], "runId": "r" }), json!({ "events": ["x", "*"] })] {
            assert_eq!(read(all), Ok(Subscription::default()));
        }
        let from = read(json!({ "events": ["*"], "runId": "r", "from": 3 }));
        assert_eq!(from, Ok(Subscription { types: None, run: Some("r".to_owned()) }));
        assert_eq!(read(json!({ "events": "task_started" })), Err("BAD_REQUEST"));
        assert_eq!(read(json!({ "events": [1] })), Err("BAD_REQUEST"));

        assert!(one.concerns("r") && !one.concerns("s") && Subscription::default().concerns("s"));
        assert!(!Subscription { types: Some(Vec::new()), run: None }.concerns("r"), "who wants nothing");
        assert!(one.admits("task_started", Some("r")) && !one.admits("task_started", Some("s")));
        assert!(!one.admits("heartbeat", None) && Subscription::default().admits("heartbeat", None));
        assert!(one.admits_result("r"), "who names a run gets its result");
        assert!(!one.admits_result("s") && !Subscription::default().admits_result("r"));
        let results = Subscription { types: Some(vec!["run_result".to_owned()]), run: None };
        assert!(results.admits_result("r") && results.admits_result("s"));
        assert!(
            results.names("run_result") && !one.names("task_started") && !Subscription::default().names("run_result")
        );
    }
}
