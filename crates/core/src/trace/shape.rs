//! What an exported trace looks like. How much it holds is the run's
//! `captureMode`: `STANDARD` adds every conversation, `FULL` also arguments as
//! data.

use serde_json::{Value, json};

use super::{Answered, Called, Failed, Round, Talk, Tracer};
use crate::agent::Agent;
use crate::frame::{merge, quote};
use crate::id::Id;
use crate::message::Outcome;
use crate::own_tool::OwnTool;
use crate::spec::{CaptureMode, Task};
use crate::time::{iso, iso_span};
use crate::turn::Used;
use crate::view::usd;

/// The version of the shape, as viewers know it.
const VERSION: &str = "1.1";

impl Tracer {
    pub(super) fn shape(&self) -> Value {
        let run = &self.run;
        let (started, ended) = (run.started_at.unwrap_or(run.accepted_at), run.end.as_ref().map(|_| run.at));
        let tasks = self.talks.keys().filter(|id| id.parent().is_none());
        let agents: Vec<Value> = run.spec.tasks.iter().map(agent).collect();
        json!({
            "schemaVersion": VERSION, "captureMode": run.spec.options.capture, "ensembleId": run.ensemble_id,
            "workflow": run.spec.workflow.word(), "startedAt": iso(started), "completedAt": ended.map(iso),
            "totalDuration": iso_span(run.at.saturating_sub(started)), "inputs": run.spec.inputs, "agents": agents,
            "taskTraces": tasks.filter_map(|id| self.talk(id)).collect::<Vec<_>>(),
            "metrics": self.metrics(&run.totals, None), "totalCostEstimate": self.cost(&run.totals),
            "errors": self.errors.iter().map(|failed| self.error(failed)).collect::<Vec<_>>(),
            "mapReduceLevels": [],
            "metadata": { "ensemble": run.spec.name, "status": run.status(), "error": run.error(),
                "exitReason": run.end.as_ref().map(|end| end.exit_reason()), "tags": run.spec.tags },
        })
    }

    fn talk(&self, id: &Id) -> Option<Value> {
        let talk = self.talks.get(id)?;
        let task = self.run.spec.tasks.get(talk.worker)?;
        let title = if id.parent().is_some() { &talk.title } else { &task.description };
        let prompts = talk.prompts.as_ref();
        let prompts = prompts.map(|(system, user)| json!({ "systemPrompt": system, "userPrompt": user }));
        let ended = talk.ended_at.unwrap_or(self.run.at);
        let rounds = talk.rounds.iter().filter_map(|round| self.round(round));
        let delegations = talk.children.iter().filter_map(|child| self.delegation(task, child));
        let chores: Vec<Value> = talk.chores.iter().map(|called| self.called(called)).collect();
        let mut trace = json!({
            "taskDescription": title, "expectedOutput": task.expected_output, "agentRole": task.agent.role,
            "startedAt": iso(talk.started_at), "completedAt": talk.ended_at.map(iso),
            "duration": iso_span(ended.saturating_sub(talk.started_at)), "prompts": prompts,
            "llmInteractions": rounds.collect::<Vec<_>>(), "delegations": delegations.collect::<Vec<_>>(),
            "finalOutput": talk.output, "parsedOutput": talk.parsed, "metrics": self.metrics(&talk.used, Some(talk)),
            "metadata": { "taskName": task.name, "turnId": id, "chores": chores },
        });
        mark(talk.inherited, &mut trace);
        Some(trace)
    }

    /// A question that was answered; the others are among the errors.
    fn round(&self, round: &Round) -> Option<Value> {
        let Answered { at, reply, usage, latency_ms } = round.answer.as_ref()?;
        let kind = if reply.calls().next().is_none() { "FINAL_ANSWER" } else { "TOOL_CALLS" };
        let messages: Vec<Value> = match self.run.spec.options.capture {
            CaptureMode::Off => Vec::new(),
            CaptureMode::Standard | CaptureMode::Full => {
                round.messages.iter().map(|message| json!(quote(message))).collect()
            }
        };
        let calls: Vec<Value> = round.calls.iter().map(|called| self.called(called)).collect();
        let mut interaction = json!({
            "iterationIndex": round.index, "startedAt": iso(round.asked_at), "completedAt": iso(*at),
            "latency": iso_span(*latency_ms), "inputTokens": usage.map_or(-1, |usage| usage.input.cast_signed()),
            "outputTokens": usage.map_or(-1, |usage| usage.output.cast_signed()), "responseType": kind,
            "responseText": reply.text(), "toolCalls": calls, "messages": messages,
        });
        mark(round.inherited, &mut interaction);
        Some(interaction)
    }

    fn called(&self, called: &Called) -> Value {
        let (outcome, data) = match &called.outcome {
            Outcome::Answer { data, .. } => ("SUCCESS", data.as_ref()),
            Outcome::Subtask => ("SUCCESS", None),
            Outcome::Failed { .. } => ("FAILURE", None),
            Outcome::Unknown { .. } => ("ERROR", None),
        };
        let parsed: Option<Value> = match self.run.spec.options.capture {
            CaptureMode::Off | CaptureMode::Standard => None,
            CaptureMode::Full => serde_json::from_str(&called.args).ok(),
        };
        let began = called.ended_at.saturating_sub(called.duration_ms);
        let mut call = json!({ "toolName": called.name, "arguments": called.args, "result": called.result, "structuredOutput": data,
            "startedAt": iso(began), "completedAt": iso(called.ended_at), "duration": iso_span(called.duration_ms),
            "outcome": outcome, "parsedInput": parsed, "metadata": {} });
        mark(called.inherited, &mut call);
        call
    }

    fn delegation(&self, by: &Task, child: &Id) -> Option<Value> {
        let talk = self.talks.get(child)?;
        let worker = self.run.spec.tasks.get(talk.worker)?;
        let ended = talk.ended_at.unwrap_or(self.run.at);
        Some(json!({ "delegatorRole": by.agent.role, "workerRole": worker.agent.role, "taskDescription": talk.title,
            "startedAt": iso(talk.started_at), "completedAt": talk.ended_at.map(iso),
            "duration": iso_span(ended.saturating_sub(talk.started_at)), "depth": child.depth(),
            "result": talk.output, "succeeded": talk.succeeded, "workerTrace": self.talk(child) }))
    }

    fn metrics(&self, used: &Used, talk: Option<&Talk>) -> Value {
        let count = |tokens: u64| if used.unknown { -1 } else { tokens.cast_signed() };
        let calls =
            |own: OwnTool| talk.map_or(0, |talk| talk.chores.iter().filter(|call| call.name == own.name()).count());
        let delegations = talk.map_or_else(
            || self.talks.iter().filter(|(id, talk)| id.parent().is_some() && !talk.inherited).count(),
            |talk| talk.children.len(),
        );
        json!({ "inputTokens": count(used.usage.input), "outputTokens": count(used.usage.output),
            "totalTokens": used.tokens(), "llmLatency": iso_span(used.llm_ms), "toolExecutionTime": iso_span(used.tool_ms),
            "memoryRetrievalTime": iso_span(0), "promptBuildTime": iso_span(0), "llmCallCount": used.llm_calls,
            "toolCallCount": used.tool_calls, "delegationCount": delegations, "costEstimate": self.cost(used),
            "memoryOperations": { "shortTermEntriesWritten": 0, "longTermStores": calls(OwnTool::MemoryStore),
                "longTermRetrievals": calls(OwnTool::MemoryRecall), "entityLookups": 0 } })
    }

    /// Money, when every model that was asked has a price.
    fn cost(&self, used: &Used) -> Option<Value> {
        let known = self.run.unpriced.is_empty() && !used.unknown && used.llm_calls > 0;
        known.then(|| {
            json!({ "inputCost": usd(used.input_cost), "outputCost": usd(used.output_cost),
                "totalCost": usd(used.cost()), "currency": "USD" })
        })
    }

    fn error(&self, failed: &Failed) -> Value {
        let worker = self.talks.get(&failed.turn).map_or(failed.turn.task_index(), |talk| talk.worker);
        let task = self.run.spec.tasks.get(worker);
        let role = task.map(|task| &task.agent.role);
        let mut error = json!({ "taskDescription": task.map(|task| &task.description), "agentRole": role,
            "turnId": failed.turn, "message": failed.message, "at": iso(failed.at) });
        mark(failed.inherited, &mut error);
        error
    }
}

/// Marks what was taken from the run that this one goes on from.
fn mark(inherited: bool, view: &mut Value) {
    if inherited {
        merge(view, json!({ "inherited": true }));
    }
}

/// Who works on a task.
pub(crate) fn agent(task: &Task) -> Value {
    let Agent { role, goal, background, allow_delegation } = &task.agent;
    json!({ "role": role, "goal": goal, "background": background, "toolNames": task.tools,
        "allowDelegation": allow_delegation })
}
