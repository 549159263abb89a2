//! The calls of a turn as a tree of lines: active ones, and ended ones. A call and
//! everything below it is printed for good when it ends.

use std::time::Duration;

use consort_core::frame::chat::ToolCallUpdate;
use consort_core::own_tool::OwnTool;
use serde_json::Value;

use crate::show::block::{Line, Tone, spinning};
use crate::show::words::{cut, one_line, span};

/// The maximum number of columns of arguments and of reasons.
const SHORT: usize = 60;
const INDENT: &str = "  ";

/// The calls that are not printed yet, in the order they began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls(Vec<Call>);

/// One call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    id: String,
    /// The subtask that requested it.
    parent: String,
    /// A short description.
    what: String,
    began: Duration,
    took: Duration,
    state: State,
}

/// The state of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It is running.
    Runs,
    /// It waits for a person.
    Waits,
    /// It has a result.
    Done,
    /// It has none, for this reason.
    Failed(String),
}

impl Call {
    /// Reads a call that begins.
    pub(super) fn read(update: &ToolCallUpdate, now: Duration) -> Call {
        let title = update.message.as_option().map(|title| one_line(title)).unwrap_or_default();
        let what = if OwnTool::parse(&update.name) == Some(OwnTool::RunSubtask) && !title.is_empty() {
            format!("subtask {}", cut(&title, SHORT))
        } else {
            format!("{} {}", one_line(&update.name), short(update.args.as_ref())).trim_end().to_owned()
        };
        let id = update.tool_call_id.clone();
        let parent = update.level.parent_id.clone().unwrap_or_default();
        Call { id, parent, what, began: now, took: Duration::ZERO, state: State::Runs }
    }

    fn line(&self, depth: usize, now: Duration) -> Line {
        let (tone, mark, took) = match &self.state {
            State::Runs => (Tone::Busy, spinning(now), now.saturating_sub(self.began)),
            State::Waits => (Tone::Odd, "?", now.saturating_sub(self.began)),
            State::Done => (Tone::Good, "✓", self.took),
            State::Failed(_) => (Tone::Bad, "✗", self.took),
        };
        let mut pieces = vec![
            (tone, format!("{}{mark} ", INDENT.repeat(depth))),
            (Tone::Plain, self.what.clone()),
            (Tone::Faint, format!("  {}", span(took))),
        ];
        if let State::Failed(reason) = &self.state {
            pieces.push((Tone::Bad, format!("  {}", cut(reason, SHORT))));
        }
        Line(pieces)
    }
}

impl Calls {
    /// Adds a call; a repeated beginning is ignored.
    pub(super) fn begin(&mut self, call: Call) {
        if !self.0.iter().any(|known| known.id == call.id) {
            self.0.push(call);
        }
    }

    /// Marks a call that waits for a person.
    pub(super) fn waits(&mut self, id: &str) {
        self.set(id, State::Waits);
    }

    /// Ends a call. Returns the lines of the whole tree, when this was its root.
    pub(super) fn end(&mut self, id: &str, state: State, took: Duration) -> Vec<Line> {
        self.set(id, state);
        let Some(call) = self.0.iter_mut().find(|call| call.id == id) else { return Vec::new() };
        call.took = took;
        if !call.parent.is_empty() {
            return Vec::new();
        }
        let call = call.clone();
        let lines = self.tree(&call, 0, Duration::ZERO);
        self.forget(id);
        lines
    }

    /// Returns all calls that are not printed yet, as lines.
    pub(crate) fn lines(&self, now: Duration) -> Vec<Line> {
        let roots = self.0.iter().filter(|call| call.parent.is_empty());
        roots.flat_map(|call| self.tree(call, 0, now)).collect()
    }

    /// Returns the subtasks around a call, outermost first.
    pub(super) fn above(&self, id: &str) -> Vec<String> {
        let parent = |call: &&Call| self.find(&call.parent);
        let mut above: Vec<String> =
            std::iter::successors(self.find(id), parent).skip(1).map(|call| call.what.clone()).collect();
        above.reverse();
        above
    }

    fn tree(&self, call: &Call, depth: usize, now: Duration) -> Vec<Line> {
        let below = self.0.iter().filter(|below| below.parent == call.id);
        let below = below.flat_map(|below| self.tree(below, depth + 1, now));
        std::iter::once(call.line(depth, now)).chain(below).collect()
    }

    fn forget(&mut self, id: &str) {
        let below: Vec<String> = self.0.iter().filter(|call| call.parent == id).map(|call| call.id.clone()).collect();
        below.iter().for_each(|id| self.forget(id));
        self.0.retain(|call| call.id != id);
    }

    fn find(&self, id: &str) -> Option<&Call> {
        self.0.iter().find(|call| call.id == id)
    }

    fn set(&mut self, id: &str, state: State) {
        self.0.iter_mut().filter(|call| call.id == id).for_each(|call| call.state = state.clone());
    }
}

/// Returns short arguments: the only text there is, else all of them as JSON.
fn short(args: Option<&Value>) -> String {
    let fields = args.and_then(Value::as_object).filter(|fields| fields.len() == 1);
    let only = fields.and_then(|fields| fields.values().next()?.as_str());
    let text = match (only, args) {
        (Some(only), _) => only.to_owned(),
        (None, Some(Value::Object(fields))) if fields.is_empty() => String::new(),
        (None, args) => args.map(ToString::to_string).unwrap_or_default(),
    };
    cut(&one_line(&text), SHORT)
}
