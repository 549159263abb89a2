//! The frames of what was declared: a run with its tasks and groups, and what their expressions came to.

use crate::projections::frame::field::{DeclaredGroup, DeclaredTask};
use crate::projections::frame::run::{Evaluation, Frame};
use crate::state::run::Run;
use consort_spec::branch::Group;
use consort_spec::event::{Evaluated, Key, Subject};
use consort_spec::spec::Task;

impl Run {
    pub(super) fn accepted_frame(&self) -> Frame {
        let task = |(index, task): (usize, &Task)| DeclaredTask {
            task_index: index + 1,
            name: task.name.clone(),
            agent_role: task.agent.role.clone(),
            context: task.context.iter().map(|position| position + 1).collect(),
            when: task.when.as_ref().map(|when| when.source.clone()),
            for_each: task.for_each.as_ref().map(|each| each.list.source.clone()),
        };
        let group = |group: &Group| DeclaredGroup {
            name: group.name.clone(),
            tasks: group.tasks.iter().map(|position| position + 1).collect(),
            when: group.when.as_ref().map(|when| when.source.clone()),
            for_each: group.for_each.as_ref().map(|each| each.list.source.clone()),
            repeat_until: group.repeat.as_ref().map(|repeat| repeat.until.source.clone()),
            max_rounds: group.repeat.as_ref().map(|repeat| repeat.max_rounds),
        };
        let groups = self.spec().groups.iter().map(group).collect();
        let tasks: Vec<DeclaredTask> = self.spec().team().iter().enumerate().map(task).collect();
        let ensemble = self.spec().name.clone();
        let workflow = self.spec().workflow;
        Frame::RunAccepted { ensemble, workflow, total_tasks: tasks.len(), tasks, groups }
    }

    pub(super) fn evaluated_frame(&self, of: &Subject, key: Key, result: &Evaluated) -> Frame {
        let expression = self.spec().expression(of, key).map(|expression| expression.source.clone());
        let (value, error) = match result {
            Evaluated::Value(value) => (Some(value.clone()), None),
            Evaluated::Failed(reason) => (None, Some(reason.clone())),
        };
        let evaluation = Evaluation {
            task_index: None,
            task_name: None,
            turn_id: None,
            group: None,
            item: None,
            round: None,
            key,
            expression: expression.unwrap_or_default(),
            value,
            error,
        };
        Frame::ExpressionEvaluated(match of {
            Subject::Task { conversation } => {
                let place = conversation.site();
                Evaluation {
                    task_index: Some(self.task_number(conversation)),
                    task_name: self.spec().tasks.get(place.task).map(|task| task.name.clone()),
                    turn_id: Some(conversation.to_string()),
                    item: place.item,
                    round: place.round,
                    ..evaluation
                }
            }
            Subject::Group { group, round } => {
                let group = self.spec().groups.get(*group).map(|group| group.name.clone());
                Evaluation { group, round: *round, ..evaluation }
            }
        })
    }
}
