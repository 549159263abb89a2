//! The `run_subtask` tool: a call of it becomes a conversation of its own, a child of the one that asked,
//! in the same run and the same budget.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::decisions::next::Plan;
use crate::decisions::own_tool::OwnTool;
use crate::decisions::prompt;
use crate::projections::frame::merge;
use crate::state::budget::Breach;
use crate::state::conversation::Conversation;
use crate::state::run::Run;
use consort_spec::cause::{Cause, TaskFailure};
use consort_spec::event::EventKind;
use consort_spec::id::Id;
use consort_spec::message::{Call, Outcome};
use consort_spec::schema::Schema;

/// The arguments of the caller.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    #[serde(alias = "description")]
    title: String,
    #[serde(alias = "prompt")]
    instructions: String,
    #[serde(default)]
    tools: Option<Vec<String>>,
    #[serde(default)]
    output_schema: Option<Value>,
}

/// The reason why no subtask was started: a code and its data.
struct Refusal(&'static str, Value);

impl Order {
    fn parse(args: &str) -> Result<Order, Refusal> {
        let order: Order = serde_json::from_str(args).map_err(|error| {
            let message = format!("{error}; needed are `title` and `instructions`");
            Refusal("invalid_arguments", json!({ "message": message }))
        })?;
        if order.instructions.trim().is_empty() {
            return Err(Refusal("missing_instructions", json!({ "message": "`instructions` must say what to do" })));
        }
        Ok(order)
    }

    fn schema(&mut self) -> Result<Option<Schema>, Refusal> {
        let schema = self.output_schema.take().filter(|schema| !schema.is_null()).map(Schema::parse).transpose();
        schema.map_err(|message| Refusal("invalid_output_schema", json!({ "message": message })))
    }
}

impl Run {
    /// Returns whether a call of `run_subtask` is handled here. Where subtasks nest too deep the tool is not offered,
    /// but its name is still recognized.
    pub(crate) fn takes_subtasks(&self, id: &Id, conversation: &Conversation) -> bool {
        let known =
            self.spec().chat.is_some() || (id.depth() > 1 && self.belt().contains_key(OwnTool::RunSubtask.name()));
        let too_deep = known && id.depth() > self.spec().limits.depth;
        too_deep || conversation.has(OwnTool::RunSubtask)
    }

    /// Starts a subtask, or answers with an error.
    pub(crate) fn delegate(
        &self,
        id: &Id,
        conversation: &Conversation,
        call: &Call,
        plan: &mut Plan,
    ) -> Result<(), Breach> {
        match self.order(id, call) {
            Ok((order, schema)) => {
                plan.budget.claim_subtask()?;
                self.start_subtask(id, conversation, (order, schema), plan);
            }
            Err(Refusal(code, fields)) => {
                let outcome = Outcome::failed(error(code, fields));
                plan.record(EventKind::returned(id, outcome));
            }
        }
        Ok(())
    }

    fn order(&self, id: &Id, call: &Call) -> Result<(Order, Option<Schema>), Refusal> {
        let mut order = Order::parse(call.args.as_str())?;
        let depth = id.depth().saturating_sub(1);
        let max = self.spec().limits.depth;
        if depth >= max {
            let message = format!("subtasks may nest {max} deep; do this part yourself, at this level");
            let fields = json!({ "depth": depth, "max_depth": max, "message": message });
            return Err(Refusal("max_recursion_depth_reached", fields));
        }
        let schema = order.schema()?;
        Ok((order, schema))
    }

    fn start_subtask(
        &self,
        id: &Id,
        conversation: &Conversation,
        (order, schema): (Order, Option<Schema>),
        plan: &mut Plan,
    ) {
        let Some(task) = self.spec().tasks.get(conversation.worker()) else { return };
        let tools = self.subtask_tools(id, conversation, order.tools);
        let terms = prompt::SubtaskTerms { tools: &tools, has_schema: schema.is_some() };
        let system = prompt::subtask_system(task, &order.title, &terms);
        plan.record(EventKind::SubtaskStarted {
            call: id.clone(),
            title: order.title,
            system: system.into(),
            user: order.instructions.into(),
            tools,
            schema,
        });
    }

    /// Returns the names of the tools of a subtask: those of its caller that were asked for, or all.
    fn subtask_tools(&self, id: &Id, conversation: &Conversation, wanted: Option<Vec<String>>) -> Vec<String> {
        let wanted = wanted.filter(|tools| !tools.is_empty());
        let deeper = id.depth() < self.spec().limits.depth;
        let is_wanted = |name: &String| wanted.as_ref().is_none_or(|wanted| wanted.contains(name));
        let inherited = |name: &String| match OwnTool::parse(name) {
            Some(OwnTool::RunSubtask) => deeper,
            Some(OwnTool::FinishSubtask) => false,
            Some(OwnTool::MemoryList | OwnTool::MemoryRead | OwnTool::MemoryWrite | OwnTool::ReadResult) => true,
            Some(
                OwnTool::Delegate
                | OwnTool::DelegateTask
                | OwnTool::HumanInput
                | OwnTool::BuildWorkflow
                | OwnTool::MemoryRecall
                | OwnTool::MemoryStore
                | OwnTool::SearchCollections,
            )
            | None => is_wanted(name),
        };
        conversation.tools().iter().map(|tool| tool.name.clone()).filter(inherited).collect()
    }
}

/// Returns the error of a failed subtask, for its caller.
pub(crate) fn failure(conversation: &Conversation, failure: &TaskFailure) -> String {
    let mut fields = json!({ "title": conversation.title(), "message": failure.message() });
    if let Cause::ResultUnfit(unfit) = failure.cause() {
        merge(&mut fields, unfit.fields());
    }
    if let Some(said) = conversation.unfinished().partial() {
        merge(&mut fields, json!({ "partial_output": said }));
    }
    error(failure.cause().code().unwrap_or("subtask_failed"), fields)
}

/// Returns an error as models see it.
pub(crate) fn error(code: &str, fields: Value) -> String {
    let mut answer = Map::new();
    answer.insert("error".to_owned(), code.into());
    if let Value::Object(fields) = fields {
        answer.extend(fields);
    }
    Value::Object(answer).to_string()
}
