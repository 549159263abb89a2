//! A saved workflow as a chat: its tasks are those of the turn, and the last output is the answer. None of
//! its tasks is a conversation with the user: each stands one level down, under its name, both in frames
//! and in the tree.

use serde_json::{Value, json};

use super::{Order, Rules};
use crate::decisions::own_tool::OwnTool;
use crate::projections::frame::chat::{ChatFrame, Level, TaskEvent};
use crate::projections::frame::merge;
use crate::state::run::{Ended, Run, TaskOutcome};
use consort_spec::catalog::Permission;
use consort_spec::compile::{Catalog, Compiled};
use consort_spec::draft::Ensemble;
use consort_spec::id::Id;
use consort_spec::message::Message;
use consort_spec::mistake::{Code, Mistake};
use consort_spec::request::{self, Submission};
use consort_spec::spec::{Kind, ReviewPolicy, ReviewRule, Spec};
use consort_spec::text::Text;
use consort_spec::workflow::Document;

/// The variables under which a task may use the user's message and the earlier conversation.
const MESSAGE: &str = "message";
const HISTORY: &str = "history";

/// Compiles a turn whose tasks are those of a workflow.
pub fn compile_workflow(
    mut order: Order,
    document: &Document,
    rules: &Rules,
    catalog: &Catalog,
) -> Result<Compiled, Vec<Mistake>> {
    order.turn.allowed_hosts = super::allowed_hosts(rules, catalog);
    order.turn.executes = rules.classes.contains(&Permission::Execute);
    let model = order.model.or_else(|| rules.model.clone());
    let ensemble = Ensemble { name: document.name.clone(), model, limits: rules.limits, ..Ensemble::default() };
    let mut inputs = json!({ MESSAGE: order.turn.content });
    if document.uses(HISTORY) {
        merge(&mut inputs, json!({ HISTORY: transcript(&order.turn.history) }));
    }
    let request = document.request(&json!({ "inputs": inputs })).map_err(|mistake| vec![mistake])?;
    let (Submission::Run(mut compiled) | Submission::DryRun(mut compiled)) =
        request::read(&request, &ensemble, catalog)?;
    if let Some(task) = attended(&compiled.spec) {
        let message = format!("task '{task}' waits for a person; run the workflow with POST /api/workflows/…/runs");
        return Err(vec![Mistake::new(Code::BadRequest, "workflow_id", message)]);
    }
    let spec = &mut compiled.spec;
    spec.kind = Kind::Turn;
    spec.tags.insert("thread".to_owned(), order.turn.thread.clone());
    if let Some(flow) = &order.turn.workflow {
        spec.tags.insert("workflow".to_owned(), flow.id.clone());
        spec.tags.insert("workflowVersion".to_owned(), flow.version.to_string());
    }
    for task in spec.tasks.iter_mut().filter(|task| task.sources.is_empty() && task.handler.is_none()) {
        task.attachments.clone_from(&order.turn.files);
    }
    spec.chat = Some(order.turn);
    Ok(compiled)
}

/// Returns a task that needs a reviewer: a chat asks for permission, not for reviews.
fn attended(spec: &Spec) -> Option<&str> {
    let policy = spec.review.policy != ReviewPolicy::Never;
    let asks = |task: &consort_spec::spec::Task| task.tools.iter().any(|tool| tool == OwnTool::HumanInput.name());
    let waits = |task: &&consort_spec::spec::Task| match task.review {
        Some(ReviewRule::Required) => true,
        Some(ReviewRule::Skip) => asks(task),
        None => policy || asks(task),
    };
    spec.tasks.iter().find(waits).map(|task| task.name.as_str())
}

/// Returns the earlier conversation as text.
fn transcript(history: &[Message]) -> String {
    let line = |message: &Message| match message {
        Message::User { text } => Some(format!("User: {text}")),
        Message::Assistant(reply) if !reply.text().is_empty() => Some(format!("Assistant: {}", reply.text())),
        Message::Assistant(_) | Message::System { .. } | Message::Files { .. } | Message::Tool { .. } => None,
    };
    history.iter().filter_map(line).collect::<Vec<_>>().join("\n\n")
}

impl Run {
    /// Returns whether this is the conversation with the user, and not a task of a workflow.
    pub(crate) fn converses(&self, conversation: &Id) -> bool {
        conversation.parent().is_none() && self.spec().chat.as_ref().is_some_and(|chat| chat.workflow.is_none())
    }

    /// Returns whether this is a task of the workflow that answers.
    pub(crate) fn is_step(&self, conversation: &Id) -> bool {
        conversation.parent().is_none() && self.spec().chat.as_ref().is_some_and(|chat| chat.workflow.is_some())
    }

    /// Returns the name of the parent of a conversation's calls; the conversation with the user has none.
    pub(crate) fn parent_name<'a>(&'a self, conversation: &'a Id) -> Option<&'a str> {
        if self.is_step(conversation) {
            return self.spec().tasks.get(conversation.task_index()).map(|task| task.name.as_str());
        }
        conversation.parent().map(|_| self.chat().name(conversation))
    }

    /// Returns the number of levels below the conversation with the user.
    pub(crate) fn level_of(&self, conversation: &Id) -> u32 {
        let below = self.spec().chat.as_ref().is_some_and(|chat| chat.workflow.is_some());
        conversation.depth() + u32::from(below)
    }

    /// Returns the answer of a workflow that completed.
    pub(crate) fn flow_answer(&self) -> Text {
        let whole = self.stop().is_none() && self.failed() == 0;
        self.last_output().filter(|_| whole).cloned().unwrap_or_default()
    }

    /// Returns the output that came last.
    pub(crate) fn last_output(&self) -> Option<&Text> {
        match &self.last_ended()?.outcome {
            TaskOutcome::Completed { output, .. } => Some(output),
            TaskOutcome::Failed { .. } | TaskOutcome::Cancelled | TaskOutcome::Skipped { .. } => None,
        }
    }

    /// Returns the output of a task, or of its instance.
    pub(crate) fn output_at(&self, conversation: &Id) -> Option<&Text> {
        match &self.ended_at(conversation.site())?.outcome {
            TaskOutcome::Completed { output, .. } => Some(output),
            TaskOutcome::Failed { .. } | TaskOutcome::Cancelled | TaskOutcome::Skipped { .. } => None,
        }
    }

    /// Returns the task whose output came last.
    pub(crate) fn last_ended(&self) -> Option<&Ended> {
        self.outputs().last().and_then(|task| self.tasks().get(task)).map(Box::as_ref)
    }

    /// Returns the frame of a task of the workflow.
    pub(crate) fn step_frame(&self, conversation: &Id, event: TaskEvent, more: Value) -> ChatFrame {
        let task = self.task(conversation);
        let place = conversation.site();
        let names = |position: &usize| self.spec().tasks.get(*position).map(|task| task.name.as_str());
        let context: Vec<&str> = task.into_iter().flat_map(|task| &task.context).filter_map(names).collect();
        let mut shown = json!({ "name": task.map(|task| &task.name), "description": task.map(|task| &task.description),
            "tools": task.map(|task| &task.tools), "context": context });
        merge(&mut shown, place.item.map_or(json!({}), |item| json!({ "item": item })));
        merge(&mut shown, place.round.map_or(json!({}), |round| json!({ "round": round })));
        merge(&mut shown, more);
        ChatFrame::TaskUpdate { level: Level::default(), event, task: shown }
    }
}
