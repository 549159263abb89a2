//! The frames of a run as a whole: its beginning and end, directives, model switches and limits.

use crate::projections::frame::field::{Amount, Exceeded, ForkedFrom, Iso};
use crate::projections::frame::run::{ActiveDirective, Descent, EditedOutput, Frame, ModelSwitch};
use crate::projections::view::usd;
use crate::state::budget::{Breach, Reason};
use crate::state::run::{Run, TaskOutcome};
use consort_spec::event::{self, AdoptReason, Directive, End, Origin};
use consort_spec::id::{Id, Millis};

impl Run {
    pub(super) fn ensemble_started_frame(&self, at: Iso) -> Frame {
        Frame::EnsembleStarted {
            ensemble_id: self.ensemble_id().to_owned(),
            started_at: at,
            total_tasks: self.spec().team().len(),
            workflow: self.spec().workflow,
        }
    }

    pub(super) fn forked_frame(&self, outputs: &[event::EditedOutput]) -> Frame {
        let (retry_of, forked_from) = match self.origin() {
            None => (None, None),
            Some(Origin::Retry { run }) => (Some(run.clone()), None),
            Some(Origin::Fork { run, seq }) => (None, Some(ForkedFrom { run_id: run.clone(), seq: *seq })),
        };
        let edited_outputs = outputs.iter().filter_map(|edited| self.edited_output(edited)).collect();
        Frame::RunForked(Descent { retry_of, forked_from, edited_outputs })
    }

    fn edited_output(&self, edited: &event::EditedOutput) -> Option<EditedOutput> {
        let id = Id::task(edited.task);
        let ended = self.tasks().get(&edited.task)?;
        let TaskOutcome::Completed { output, parsed } = &ended.outcome else { return None };
        Some(EditedOutput {
            task_index: self.task_number(&id),
            task_name: self.spec().tasks.get(edited.task)?.name.clone(),
            turn_id: id.to_string(),
            output: output.clone(),
            parsed_output: parsed.clone(),
            by: edited.by.clone(),
        })
    }

    pub(super) fn directive_frame(&self, run: &str, directive: &Directive) -> Frame {
        let number = u32::try_from(self.directives().len().saturating_sub(1)).unwrap_or(u32::MAX);
        Frame::DirectiveActive(ActiveDirective {
            directive_id: directive_id(run, number),
            from: directive.from.clone(),
            content: directive.content.clone(),
            target: self.nullable(directive.target.clone()),
            priority: directive.priority,
            expires_at: self.nullable(directive.expires_at.map(Iso)),
            on_behalf_of: directive.on_behalf_of.clone(),
        })
    }

    pub(super) fn delivered_frame(&self, run: &str, directive: u32, (conversation, round): (&Id, u32)) -> Frame {
        Frame::DirectiveDelivered {
            directive_id: directive_id(run, directive),
            task_index: self.task_number(conversation),
            iteration_index: round,
        }
    }

    /// Returns the frame of a model switch, which takes effect with the next model call of the first task under
    /// way.
    pub(super) fn switched_frame(&self, previous: &str, by: &str) -> Frame {
        let first = self.conversations().iter().find(|(id, _)| id.parent().is_none());
        let (task_index, iteration_index) = first.map_or((0, 0), |(id, conversation)| {
            let under_way = u32::from(conversation.is_asked());
            (self.task_number(id), conversation.round() + under_way)
        });
        let model = self.switched().cloned();
        let previous_model = previous.to_owned();
        Frame::ModelSwitched(ModelSwitch { model, previous_model, task_index, iteration_index, by: by.to_owned() })
    }

    pub(super) fn ensemble_completed_frame(&self, end: &End, at: Millis) -> Frame {
        Frame::EnsembleCompleted {
            ensemble_id: self.ensemble_id().to_owned(),
            completed_at: Iso(at),
            duration_ms: self.duration_ms(at),
            exit_reason: end.into(),
            total_tokens: self.total_tokens(),
            total_tool_calls: self.totals().tool_calls,
            error: self.error().map(str::to_owned),
        }
    }

    /// Returns the public id of a directive that was given to this run.
    pub fn directive_id(&self, run: &str, given: &Directive) -> Option<String> {
        let number = self.directives().iter().rposition(|directive| directive == given)?;
        u32::try_from(number).ok().map(|number| directive_id(run, number))
    }
}

/// Returns the public id of a directive.
pub fn directive_id(run: &str, directive: u32) -> String {
    format!("{run}-directive-{directive}")
}

pub(super) fn adopted(epoch: u64, node: Option<&str>, reason: Option<AdoptReason>) -> Frame {
    Frame::RunAdopted { epoch, node: node.map(str::to_owned), reason }
}

pub(super) fn exceeded(breach: &Breach) -> Exceeded {
    let amount = |amount: u64| match breach.reason {
        Reason::Cost => Amount::Usd(usd(amount)),
        Reason::Subtasks | Reason::LlmCalls | Reason::ToolCalls | Reason::WallClock | Reason::Tokens => {
            Amount::Count(amount)
        }
    };
    Exceeded { reason: breach.reason, limit: amount(breach.limit), observed: amount(breach.observed) }
}
