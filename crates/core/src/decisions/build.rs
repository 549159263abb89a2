//! `build_workflow`: a call that becomes a subtask whose agent draws a task graph. The graph is checked
//! like a workflow that is saved, and sent back until it has no mistakes. The caller gets a reference and a
//! summary; the graph itself is kept separately, in full length.

pub use consort_spec::registry::Registry;
use serde_json::{Value, json};

use crate::chat;
use crate::decisions::finish;
use crate::decisions::next::Plan;
use crate::decisions::own_tool::OwnTool;
use crate::decisions::subtask;
use crate::state::budget::Breach;
use crate::state::conversation::Conversation;
use crate::state::run::Run;
use consort_spec::draft::Ensemble;
use consort_spec::event::EventKind;
use consort_spec::id::Id;
use consort_spec::message::{Call, Outcome};
use consort_spec::schema::Schema;
use consort_spec::workflow::{self, Document};

/// The title of the subtask.
const TITLE: &str = "Build a workflow";

/// Returns the reference of a graph that a call has built.
pub(crate) fn reference(call: &Id) -> String {
    format!("graph:{call}")
}

impl Run {
    fn registry(&self) -> Option<&Registry> {
        self.spec().chat.as_ref()?.registry.as_ref()
    }

    /// Returns whether a conversation draws a workflow.
    pub(crate) fn builds(&self, conversation: &Id) -> bool {
        self.registry().is_some()
            && self
                .slot(conversation)
                .is_some_and(|(call, _)| OwnTool::parse(&call.tool) == Some(OwnTool::BuildWorkflow))
    }

    /// Starts the subtask that draws, or answers with an error.
    pub(crate) fn build(&self, id: &Id, call: &Call, plan: &mut Plan) -> Result<(), Breach> {
        let args: Value = serde_json::from_str(call.args.as_str()).unwrap_or_default();
        let objective = args.get("objective").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let (Some(objective), Some(registry)) = (objective, self.registry()) else {
            let message = json!({ "message": "`objective` must say what the workflow is to achieve" });
            let outcome = Outcome::failed(subtask::error("invalid_arguments", message));
            plan.record(EventKind::returned(id, outcome));
            return Ok(());
        };
        plan.budget.claim_subtask()?;
        plan.record(EventKind::SubtaskStarted {
            call: id.clone(),
            title: TITLE.to_owned(),
            system: registry.prompt().into(),
            user: objective.into(),
            tools: Vec::new(),
            schema: Some(Schema::new(workflow::schema())),
        });
        Ok(())
    }

    /// Returns the outcome of a subtask's result: the result, or all its violations.
    pub(crate) fn handed_over(&self, conversation: &Id, schema: &Schema, args: &str) -> Result<String, Vec<String>> {
        let result = finish::evaluate(schema, args)?;
        if let Some(registry) = self.registry().filter(|_| self.builds(conversation)) {
            read(registry, &result)?;
        }
        Ok(result)
    }

    /// Records the result of checking a graph.
    pub(crate) fn note_plan(&self, conversation: &Id, mistakes: Vec<String>, plan: &mut Plan) {
        plan.record(EventKind::Chat(chat::ChatEventKind::PlanChecked { call: conversation.clone(), mistakes }));
    }

    /// Announces the tasks of an accepted graph, then ends the call with a reference to it.
    pub(crate) fn built(&self, id: &Id, conversation: &Conversation, graph: &str, plan: &mut Plan) {
        let read = self.registry().map(|registry| read(registry, graph));
        let Some(Ok((document, warnings))) = read else { return };
        for task in 0..document.tasks.len() {
            plan.record(EventKind::Chat(chat::ChatEventKind::TaskPlanned { call: id.clone(), task }));
        }
        let summary = document.description.as_ref().unwrap_or(&document.name);
        let answer = json!({ "graph_ref": reference(id), "nodes": document.tasks.len(), "edges": document.edges(),
            "summary": summary, "warnings": warnings });
        let outcome = Outcome::Answer {
            text: answer.to_string().into(),
            data: serde_json::to_value(&document).ok(),
            files: Vec::new(),
        };
        let duration_ms = plan.at.saturating_sub(conversation.used().started_at);
        plan.record(EventKind::ToolReturned { call: id.clone(), outcome, duration_ms, cause: None });
    }

    /// Returns a task of the graph that a conversation has drawn.
    pub(crate) fn planned(&self, conversation: &Id, task: usize) -> Value {
        let graph = self.conversations().get(conversation).map(Conversation::output).unwrap_or_default();
        let graph: Value = serde_json::from_str(graph.as_str()).unwrap_or_default();
        graph.get("tasks").and_then(|tasks| tasks.get(task)).cloned().unwrap_or_default()
    }
}

fn read(registry: &Registry, graph: &str) -> Result<(Document, Vec<String>), Vec<String>> {
    let graph: Value = serde_json::from_str(graph).map_err(|error| vec![error.to_string()])?;
    let document = Document::read(&graph, &Ensemble::default(), &registry.catalog());
    document.map_err(|mistakes| mistakes.iter().map(ToString::to_string).collect())
}
