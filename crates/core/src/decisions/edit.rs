//! Changes for a run that continues another one's record. The recorded spec is turned back into the draft
//! it came from, and that is compiled again with the changes: tasks that have begun stay as they were.

pub use consort_spec::continuation::Edits;

use crate::decisions::own_tool::OwnTool;
use crate::state::run::Run;
use consort_spec::agent::Agent;
use consort_spec::attachments::AttachmentSource;
use consort_spec::branch;
use consort_spec::compile::{Catalog, Compiled, compile, matching};
use consort_spec::draft::{Draft, Each, Ensemble, Group, Request, RequestOptions};
use consort_spec::id::Place;
use consort_spec::mistake::{Code, Mistake};
use consort_spec::spec::{Options, Spec, Task, Template};

/// Returns the settings that hold from now on; none when nothing changes. The files of tasks that have not begun
/// are still to be found: other inputs may name others.
pub(crate) fn apply(run: &Run, request: &Request, catalog: &Catalog) -> Result<Option<Compiled>, Vec<Mistake>> {
    if *request == Request::default() {
        return Ok(None);
    }
    let before = run.spec();
    let ensemble = drafted(before);
    let mistakes: Vec<Mistake> = too_late(run, request, &ensemble).chain(other_order(before, request)).collect();
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let mut request = request.clone();
    request.options = options(&before.options, request.options);
    request.model_options = request.model_options.over(before.model_options);
    let tags = std::mem::take(&mut request.tags);
    request.tags = before.tags.clone().into_iter().chain(tags).collect();
    let mut edited = compile(&ensemble, request, catalog)?;
    edited.spec.traceparent.clone_from(&before.traceparent);
    for (index, (task, old)) in edited.spec.tasks.iter_mut().zip(&before.tasks).enumerate() {
        if run.has_begun(index) {
            task.clone_from(old);
        }
    }
    Ok(Some(edited))
}

/// Returns a mistake for each change to a task that has begun.
fn too_late<'a>(run: &'a Run, request: &'a Request, ensemble: &'a Ensemble) -> impl Iterator<Item = Mistake> + 'a {
    let keys = request.overrides.iter().flatten().map(|(key, _)| key);
    let begun = |key: &&String| matching(&ensemble.tasks, key).into_iter().any(|task| run.has_begun(task));
    keys.filter(begun).map(|key| {
        let place = format!("taskOverrides.{key}");
        Mistake::new(Code::InvalidTaskOverride, place, "the task has begun, so it cannot be changed any more")
    })
}

fn other_order(before: &Spec, request: &Request) -> Option<Mistake> {
    let wanted = request.options.workflow.filter(|workflow| *workflow != before.workflow)?;
    let message = format!("the run is {}; another order ({}) needs a new run", before.workflow.word(), wanted.word());
    Some(Mistake::new(Code::BadRequest, "options.workflow", message))
}

impl Run {
    /// Returns whether any work was done for a task.
    fn has_begun(&self, task: usize) -> bool {
        let at_work = || self.conversations().iter().any(|(_, conversation)| conversation.worker() == task);
        let has_instances = || self.instances().keys().any(|place| place.task == task);
        self.tasks().contains_key(&task) || self.flow().fan(Place::task(task)).is_some() || has_instances() || at_work()
    }
}

/// Returns the ensemble a spec came from.
fn drafted(spec: &Spec) -> Ensemble {
    Ensemble {
        name: spec.name.clone(),
        model: Some(spec.model.clone()),
        workflow: Some(spec.workflow),
        on_error: spec.on_error,
        review: spec.review.clone(),
        limits: spec.limits,
        inputs: spec.inputs.clone(),
        max_delegation_depth: Some(spec.max_delegation_depth),
        max_delegations: Some(spec.max_delegations),
        max_delegations_per_agent: Some(spec.max_delegations_per_agent),
        tasks: spec.team().iter().map(draft).collect(),
        groups: spec.groups.iter().map(|group| drafted_group(group, spec)).collect(),
    }
}

fn drafted_group(group: &branch::Group, spec: &Spec) -> Group {
    let name = |task: &usize| spec.tasks.get(*task).map(|task| task.name.clone());
    let each = group.for_each.as_ref();
    let repeat = group.repeat.as_ref();
    Group {
        name: group.name.clone(),
        tasks: group.tasks.iter().filter_map(name).collect(),
        when: group.when.as_ref().map(|when| when.source.clone()),
        each: drafted_each(each),
        repeat_until: repeat.map(|repeat| repeat.until.source.clone()),
        max_rounds: repeat.map(|repeat| repeat.max_rounds),
        on_max_rounds: repeat.map(|repeat| repeat.on_max_rounds),
        part: group.part.clone(),
    }
}

fn drafted_each(each: Option<&branch::ForEach>) -> Each {
    Each {
        list: each.map(|each| each.list.source.clone()),
        max_items: each.map(|each| each.max_items),
        max_parallel: each.map(|each| each.max_parallel),
    }
}

fn draft(task: &Task) -> Draft {
    let written = task.template.as_deref().cloned().unwrap_or_else(|| as_written(task));
    let attachments = files(task, &written.attachments);
    Draft {
        name: Some(task.name.clone()),
        description: written.description,
        expected_output: written.expected_output,
        additional_context: written.additional_context,
        agent: written.agent,
        model: task.model.clone(),
        model_options: task.model_options,
        tools: task.tools.iter().filter(|name| *name != OwnTool::Delegate.name()).cloned().collect(),
        context: task.context.iter().map(|position| format!("${position}")).collect(),
        max_iterations: Some(task.max_iterations),
        output_schema: task.output_schema.as_ref().map(|schema| schema.json().clone()),
        memory: task.memory.clone(),
        reflection: task.reflection,
        handler: task.handler.clone(),
        input_guardrails: task.input_guardrails.clone(),
        output_guardrails: task.output_guardrails.clone(),
        review: task.review,
        on_truncated: task.on_truncated,
        review_before: task.review_before,
        review_timeout_ms: task.review_timeout_ms,
        when: task.when.as_ref().map(|when| when.source.clone()),
        each: drafted_each(task.for_each.as_ref()),
        attachments,
        nested: None,
        after: task.after.iter().map(|position| format!("${position}")).collect(),
        part: task.part.clone(),
    }
}

/// Returns the files of a task: by the id that was written, else by the one that was found.
fn files(task: &Task, written: &[Option<String>]) -> Vec<AttachmentSource> {
    let found = task.attachments.iter().map(|file| &file.id);
    let written = written.iter().map(Option::as_ref).chain(std::iter::repeat(None));
    found.zip(written).map(|(found, written)| AttachmentSource::Id(written.unwrap_or(found).clone())).collect()
}

/// Returns the texts of a task that were written without variables.
fn as_written(task: &Task) -> Template {
    let derived = task.handler.is_some() || task.agent == Agent::derive(&task.description);
    Template {
        description: task.description.clone(),
        expected_output: Some(task.expected_output.clone()),
        additional_context: task.additional_context.clone(),
        agent: (!derived).then(|| task.agent.clone()),
        attachments: Vec::new(),
    }
}

/// Returns the options of a request; where absent, the earlier ones.
fn options(before: &Options, request: RequestOptions) -> RequestOptions {
    let length = |before: Option<usize>| Some(before.map_or(-1, |length| i64::try_from(length).unwrap_or(i64::MAX)));
    RequestOptions {
        max_tool_output_length: request.max_tool_output_length.or_else(|| length(before.max_tool_output)),
        tool_log_truncate_length: request.tool_log_truncate_length.or_else(|| length(before.tool_log_truncate)),
        verbose: request.verbose.or(Some(before.verbose)),
        capture_mode: request.capture_mode.or(Some(before.capture)),
        priority: request.priority.or(before.priority),
        ..request
    }
}
