//! Calls a run makes for a task by itself, because the task is configured so and not because a model asked:
//! recalling and remembering, checking input and output, or doing the whole task without a model.

pub use consort_spec::chore::{Chore, DETERMINISTIC_ROLE};
use serde_json::{Value, json};

use crate::decisions::next::Plan;
use crate::decisions::own_tool::OwnTool;
use crate::state::conversation::Conversation;
use crate::state::run::Run;
use consort_spec::event::EventKind;
use consort_spec::id::Id;
use consort_spec::message::Call;
use consort_spec::spec::Task;

/// The prefix of the names that critiques are remembered under.
const REFLECTION: &str = "reflection/";

/// Returns the name a task's own critique is remembered under.
fn reflection_scope(ensemble: &str, task: &Task) -> String {
    format!("{REFLECTION}{ensemble}/{}", task.name)
}

/// Returns whether critiques are remembered under this name.
pub fn is_reflection(scope: &str) -> bool {
    scope.starts_with(REFLECTION)
}

impl Run {
    /// Begins the task's next chore among these; false when there is none left.
    pub(crate) fn begin_chore(&self, id: &Id, conversation: &Conversation, chores: &[Chore], plan: &mut Plan) -> bool {
        let Some(task) = self.task(id).filter(|_| id.parent().is_none()) else { return false };
        let pending = chores.iter().filter(|chore| !conversation.chores().contains(chore));
        let begun = pending
            .map(|chore| (*chore, self.chore_calls(*chore, (id, task), conversation)))
            .find(|(_, calls)| !calls.is_empty());
        let Some((chore, calls)) = begun else { return false };
        plan.record(EventKind::ChoreBegun { conversation: id.clone(), chore, calls });
        true
    }

    fn chore_calls(&self, chore: Chore, (id, task): (&Id, &Task), conversation: &Conversation) -> Vec<Call> {
        let answer = conversation.output();
        let reflection = task.reflection.then(|| reflection_scope(&self.spec().name, task));
        match chore {
            Chore::Recall => {
                let query = |scope: &String| {
                    call(OwnTool::MemoryRecall.name(), json!({ "scope": scope, "query": task.description }))
                };
                task.memory.iter().chain(&reflection).map(query).collect()
            }
            Chore::GuardInput => self.calls_of(&task.input_guardrails, &task.description, || self.asked_of(id, task)),
            Chore::Handle => match (&task.handler, &task.handler_args) {
                (Some(tool), Some(args)) => vec![call(tool, args.clone())],
                (Some(_) | None, _) => {
                    self.calls_of(task.handler.as_slice(), &task.description, || self.asked_of(id, task))
                }
            },
            Chore::GuardOutput => {
                let given = || json!({ "output": answer, "description": task.description, "role": task.agent.role });
                self.calls_of(&task.output_guardrails, answer.as_str(), given)
            }
            Chore::Remember => {
                let note =
                    |scope: &String| call(OwnTool::MemoryStore.name(), json!({ "scope": scope, "text": answer }));
                let critique = conversation.critique().filter(|text| !text.is_empty()).zip(reflection.as_ref());
                let critique = critique
                    .map(|(text, scope)| call(OwnTool::MemoryStore.name(), json!({ "scope": scope, "text": text })));
                task.memory.iter().map(note).chain(critique).collect()
            }
        }
    }

    /// Returns calls of these tools with all data of the task, or with the main text alone where a tool takes
    /// one text. The data is written only for a tool that takes it: it holds all inputs of the run, and there is a
    /// task for each item of them.
    fn calls_of(&self, tools: &[String], text: &str, everything: impl Fn() -> Value) -> Vec<Call> {
        let args = |name: &String| match self.belt().get(name).and_then(|tool| tool.schema.only_string()) {
            Some(property) => json!({ property: text }),
            None => everything(),
        };
        tools.iter().map(|name| call(name, args(name))).collect()
    }

    /// Returns all data of a task, with the outputs it reads by the names of the tasks they are from.
    fn asked_of(&self, id: &Id, task: &Task) -> Value {
        let context = self.inputs_of(id, task).map(|(from, output)| (from.name.clone(), json!(output)));
        let context = Value::Object(context.collect());
        let mut asked = json!({ "description": task.description, "expectedOutput": task.expected_output,
            "role": task.agent.role, "context": context, "inputs": self.spec().inputs });
        let place = id.site();
        if let (Some(item), Some(index), Value::Object(asked)) =
            (self.flow().item(self.spec(), place), place.item, &mut asked)
        {
            asked.extend([("item".to_owned(), item.clone()), ("index".to_owned(), json!(index))]);
        }
        asked
    }
}

fn call(tool: &str, args: Value) -> Call {
    Call { provider_id: String::new(), tool: tool.to_owned(), args: args.to_string().into(), native: None }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_data_of_a_task_is_written_only_for_tools_that_take_it() {
        let written = Cell::new(0);
        let everything = || {
            written.set(written.get() + 1);
            Value::Null
        };
        let run = Run::default();
        assert!(run.calls_of(&[], "text", everything).is_empty());
        assert_eq!(written.get(), 0);
        assert_eq!(run.calls_of(&["guard".to_owned()], "text", everything).len(), 1);
        assert_eq!(written.get(), 1);
    }
}
