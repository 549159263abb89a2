//! The fold of frames in the visualiser, run by run: its rules, as far as they decide what is on the screen.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// One run on the screen.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Screen {
    started: Value,
    completed: Value,
    tasks: Vec<Task>,
    delegations: Vec<Value>,
    reviews: Vec<Value>,
    metrics: BTreeMap<String, Value>,
    conversations: BTreeMap<String, Vec<Value>>,
}

#[derive(Debug, Default, PartialEq)]
struct Task {
    index: u64,
    status: &'static str,
    ends: Vec<Value>,
    tools: Vec<Value>,
    words: String,
}

/// All runs.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Screens(BTreeMap<String, Screen>);

impl Screens {
    pub(super) fn greet(&mut self, hello: &Value) {
        for frame in hello["snapshotTrace"].as_array().unwrap() {
            self.apply(frame);
        }
        for pair in hello["recentIterations"].as_array().unwrap() {
            self.apply(&pair["started"]);
            pair.get("completed").into_iter().for_each(|completed| self.apply(completed));
        }
    }

    pub(super) fn apply(&mut self, frame: &Value) {
        if let Some(run) = frame["runId"].as_str() {
            self.0.entry(run.to_owned()).or_default().apply(frame);
        }
    }

    /// Returns whether this many runs are over.
    pub(super) fn over(&self, runs: usize) -> bool {
        self.0.values().filter(|screen| !screen.completed.is_null()).count() == runs
    }
}

impl Screen {
    fn apply(&mut self, frame: &Value) {
        match frame["type"].as_str().unwrap() {
            "ensemble_started" => *self = Screen { started: frame.clone(), ..Screen::default() },
            "ensemble_completed" => self.completed = frame.clone(),
            "task_started" => self.start(frame),
            "task_input" => self.task(frame).ends.push(frame.clone()),
            "task_completed" => self.end(frame, "completed"),
            "task_failed" => self.end(frame, "failed"),
            "tool_called" => self.task(frame).tools.push(frame.clone()),
            "token" => self.task(frame).words.push_str(frame["token"].as_str().unwrap()),
            "delegation_started" | "delegation_completed" | "delegation_failed" => self.delegations.push(frame.clone()),
            "review_requested" => self.reviews.push(frame.clone()),
            "metrics_snapshot" => drop(self.metrics.insert(frame["agentRole"].to_string(), frame.clone())),
            "llm_iteration_started" => self.asked(frame),
            "llm_iteration_completed" => {
                let said = json!(["assistant", frame.get("responseText"), frame.get("toolRequests")]);
                self.conversation(frame).push(said);
            }
            _ => {}
        }
    }

    fn start(&mut self, frame: &Value) {
        let index = frame["taskIndex"].as_u64().unwrap();
        if !self.tasks.iter().any(|task| task.index == index && task.status == "running") {
            self.tasks.push(Task { index, status: "running", ends: vec![frame.clone()], ..Task::default() });
        }
    }

    fn end(&mut self, frame: &Value, status: &'static str) {
        let task = self.task(frame);
        task.status = status;
        task.words.clear();
        task.ends.push(frame.clone());
    }

    fn task(&mut self, frame: &Value) -> &mut Task {
        let index = frame["taskIndex"].as_u64().unwrap();
        self.tasks.iter_mut().rfind(|task| task.index == index).unwrap()
    }

    /// Messages beyond those it has are new; when it has more than it is told
    /// about, it starts over.
    fn asked(&mut self, frame: &Value) {
        let told: Vec<Value> = frame["messages"].as_array().unwrap().iter().map(message).collect();
        let held = self.conversation(frame);
        if held.len() > told.len() {
            *held = told;
        } else {
            held.extend_from_slice(&told[held.len()..]);
        }
    }

    fn conversation(&mut self, frame: &Value) -> &mut Vec<Value> {
        self.conversations.entry(format!("{}:{}", frame["agentRole"], frame["taskDescription"])).or_default()
    }
}

fn message(message: &Value) -> Value {
    json!([message["role"], message["content"], message["toolCalls"]])
}
