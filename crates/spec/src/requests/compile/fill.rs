//! Fills drafts: their texts, their options and the changes that a request makes to them.

use super::{EXPECTED_OUTPUT, KEY_CHARS};
use crate::chore;
use crate::requests::agent::Agent;
use crate::requests::attachments::AttachmentSource;
use crate::requests::draft::{Draft, Override, RequestOptions};
use crate::requests::spec::{Options, Task, Template};

/// Returns the draft's task with templates filled in; the rest as drafted.
pub(super) fn filled(draft: &Draft, fill: &mut impl FnMut(&str) -> String) -> Task {
    let description = fill(&draft.description);
    let agent = match &draft.agent {
        _ if draft.handler.is_some() => Agent { role: chore::DETERMINISTIC_ROLE.to_owned(), ..Agent::default() },
        None => Agent::derive(&description),
        Some(agent) => Agent {
            role: fill(&agent.role),
            goal: fill(&agent.goal),
            background: fill(&agent.background),
            allow_delegation: agent.allow_delegation,
        },
    };
    Task {
        expected_output: draft.expected_output.as_deref().map_or_else(|| EXPECTED_OUTPUT.to_owned(), &mut *fill),
        additional_context: draft.additional_context.as_deref().map(&mut *fill),
        description,
        agent,
        model: draft.model.clone(),
        model_options: draft.model_options,
        tools: draft.tools.clone(),
        memory: draft.memory.clone(),
        reflection: draft.reflection,
        handler: draft.handler.clone(),
        input_guardrails: draft.input_guardrails.clone(),
        output_guardrails: draft.output_guardrails.clone(),
        review: draft.review,
        on_truncated: draft.on_truncated,
        review_before: draft.review_before,
        review_timeout_ms: draft.review_timeout_ms,
        template: template_of(draft),
        sources: draft.attachments.iter().map(|source| source.filled(fill)).collect(),
        ..Task::default()
    }
}

/// Returns a draft's texts, if filling them in may have changed them.
fn template_of(draft: &Draft) -> Option<Box<Template>> {
    let id = |source: &AttachmentSource| source.id().map(str::to_owned);
    draft.texts().any(|text| text.contains('{')).then(|| {
        Box::new(Template {
            description: draft.description.clone(),
            expected_output: draft.expected_output.clone(),
            additional_context: draft.additional_context.clone(),
            agent: draft.agent.clone(),
            attachments: draft.attachments.iter().map(id).collect(),
        })
    })
}

/// Returns the positions of the tasks that a key stands for: by name, else by the start of the description.
pub fn matching(drafts: &[Draft], key: &str) -> Vec<usize> {
    let same = |text: &str| text.to_lowercase() == key.to_lowercase();
    let by_name = |draft: &Draft| draft.name.as_deref().is_some_and(same);
    let start = |text: &str| text.chars().take(KEY_CHARS).collect::<String>();
    let by_start = |draft: &Draft| same(&start(&draft.description)) || same(&draft.description);
    let find = |matches: &dyn Fn(&Draft) -> bool| -> Vec<usize> {
        drafts.iter().enumerate().filter(|(_, draft)| matches(draft)).map(|(index, _)| index).collect()
    };
    let named = find(&by_name);
    if named.is_empty() { find(&by_start) } else { named }
}

pub(super) fn apply(draft: &mut Draft, change: Override) {
    draft.description = change.description.unwrap_or(std::mem::take(&mut draft.description));
    draft.expected_output = change.expected_output.or(draft.expected_output.take());
    draft.model = change.model.or(draft.model.take());
    draft.model_options = change.model_options.over(draft.model_options);
    draft.max_iterations = change.max_iterations.or(draft.max_iterations);
    draft.on_truncated = change.on_truncated.unwrap_or(draft.on_truncated);
    draft.additional_context = change.additional_context.or(draft.additional_context.take());
    for name in change.add_tools {
        if !draft.tools.contains(&name) {
            draft.tools.push(name);
        }
    }
    draft.tools.retain(|name| !change.remove_tools.contains(name));
}

pub(super) fn options(request: &RequestOptions) -> Options {
    let fallback = Options::default();
    let length = |length: Option<i64>, fallback: Option<usize>| length.map_or(fallback, |n| usize::try_from(n).ok());
    Options {
        max_tool_output: length(request.max_tool_output_length, fallback.max_tool_output),
        tool_log_truncate: length(request.tool_log_truncate_length, fallback.tool_log_truncate),
        verbose: request.verbose.unwrap_or(fallback.verbose),
        capture: request.capture_mode.unwrap_or(fallback.capture),
        priority: request.priority,
    }
}
