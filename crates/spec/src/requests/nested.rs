//! Tasks that a saved workflow does. Before a run is compiled, the workflow's tasks take the place of the task
//! that names it, as `task/…`, so that everything else holds for them as for any task: budget, replay, reviews.
//! The name of the task stands for the output of the workflow's last one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::requests::agent::Agent;
use crate::requests::bounds::TEMPLATES_BYTES_MAX;
use crate::requests::catalog::SavedWorkflows;
use crate::requests::compile::named;
use crate::requests::draft::{Draft, Ensemble, Group, Nested, Request};
use crate::requests::mistake::{Code, Mistake, listed};
use crate::requests::request;
use crate::requests::spec::{Part, Workflow};
use crate::requests::template::{self, Inputs, Unresolved};

/// The number of workflows within workflows: more are hardly meant.
const DEPTH_MAX: usize = 8;
/// The number of tasks of a run with the tasks of its workflows, as many as a workflow may have.
const TASKS_MAX: usize = 1_000;

/// Tasks and groups with those of saved workflows in their places.
#[derive(Default)]
pub(crate) struct Expanded {
    pub(crate) drafts: Vec<Draft>,
    pub(crate) groups: Vec<Group>,
    /// Names that stand for the output of another task.
    pub(crate) aliases: Vec<(String, String)>,
    /// The mistakes in the workflows.
    pub(crate) mistakes: Vec<Mistake>,
}

/// Returns the saved workflows that a request, or the ensemble it is for, names.
pub fn wanted(request: &Value, ensemble: &Ensemble) -> BTreeSet<String> {
    match request.get("tasks").filter(|tasks| !tasks.is_null()) {
        Some(tasks) => named_in(tasks.as_array().map_or(&[], Vec::as_slice)),
        None => ensemble.tasks.iter().filter_map(|task| Some(task.nested.as_ref()?.workflow.clone())).collect(),
    }
}

/// Returns the saved workflows that tasks name, as they were sent.
pub fn named_in(tasks: &[Value]) -> BTreeSet<String> {
    tasks.iter().filter_map(|task| task.get("workflow")?.as_str().map(str::to_owned)).collect()
}

/// Puts the tasks of saved workflows in the place of the tasks that name them. Where workflows are looked up later,
/// such a task stays one.
pub(crate) fn expand(drafts: Vec<Draft>, groups: Vec<Group>, workflows: &SavedWorkflows) -> Expanded {
    if drafts.iter().all(|draft| draft.nested.is_none()) {
        return Expanded { drafts, groups, ..Expanded::default() };
    }
    let mut level = Level { workflows, stack: Vec::new(), tasks: 0, room: TEMPLATES_BYTES_MAX };
    level.expand(drafts, groups, None)
}

/// The workflows that are being expanded, the outermost first.
struct Level<'a> {
    workflows: &'a SavedWorkflows,
    stack: Vec<&'a str>,
    /// The tasks so far.
    tasks: usize,
    /// The bytes that are left for the documents that are named, each time they are, and for what is put into them.
    room: usize,
}

impl<'a> Level<'a> {
    /// Expands the tasks of one level; `place` is that of the outermost task, inside of which they are.
    fn expand(&mut self, mut drafts: Vec<Draft>, groups: Vec<Group>, place: Option<&str>) -> Expanded {
        let names = named(&drafts);
        drafts.iter_mut().for_each(|draft| by_name(&mut draft.context, &names));
        let mut all = Expanded { groups, ..Expanded::default() };
        for (index, (mut draft, name)) in drafts.into_iter().zip(names).enumerate() {
            let place = place.map_or_else(|| format!("tasks[{index}]"), str::to_owned);
            self.tasks += 1;
            let Some(nested) = draft.nested.take() else {
                all.drafts.push(Draft { name: Some(name), ..draft });
                continue;
            };
            all.mistakes.extend(draft.more_than_nested(&place));
            match self.inside(&nested, &place) {
                Ok(Some(inner)) => {
                    all.mistakes.extend(inner.mistakes.iter().cloned());
                    all.take(inner, draft, (&name, &nested, &place), &mut self.room);
                }
                other => {
                    all.mistakes.extend(other.err());
                    let description = format!("Run the workflow {}", nested.workflow);
                    all.drafts.push(Draft { name: Some(name), description, ..draft });
                }
            }
        }
        all
    }

    /// Returns the tasks of a saved workflow, expanded; none when workflows are not known yet.
    fn inside(&mut self, nested: &Nested, place: &str) -> Result<Option<Inner>, Mistake> {
        let place = format!("{place}.workflow");
        let name = nested.workflow.as_str();
        let SavedWorkflows::Known(known) = self.workflows else { return Ok(None) };
        let Some((name, document)) = known.get_key_value(name) else {
            return Err(bad(place, format!("there is no saved workflow `{name}`: give the id or the name of one")));
        };
        if self.stack.contains(&name.as_str()) || self.stack.len() >= DEPTH_MAX {
            let path: Vec<&str> = self.stack.iter().copied().chain([name.as_str()]).collect();
            let message = format!("workflows run each other without end, or {DEPTH_MAX} deep: {}", path.join(" → "));
            return Err(bad(place, message));
        }
        if self.tasks + document.tasks.len() > TASKS_MAX {
            return Err(bad(place, format!("the run would have more than {TASKS_MAX} tasks")));
        }
        self.room = self.room.checked_sub(document.bytes()).ok_or_else(|| too_large(&place))?;
        let unread = |mistakes: Vec<Mistake>| {
            let first = mistakes.first().map(ToString::to_string).unwrap_or_default();
            bad(place.clone(), format!("the workflow `{name}` cannot be run: {first}"))
        };
        let request = document.request(&json!({})).map_err(|mistake| unread(vec![mistake]))?;
        let (mut request, _) = request::parse(&request).map_err(unread)?;
        let Some(drafts) = in_order(&mut request) else {
            return Err(bad(place, format!("the workflow `{name}` is HIERARCHICAL, which no part of a run is")));
        };
        self.stack.push(name);
        let outer = place.trim_end_matches(".workflow");
        let Expanded { drafts, groups, aliases, mistakes } = self.expand(drafts, request.groups, Some(outer));
        self.stack.pop();
        Ok(Some(Inner { drafts, groups, aliases, mistakes, inputs: request.inputs }))
    }
}

/// Takes the tasks of a request, with its options and in its order; none when they have a manager.
fn in_order(request: &mut Request) -> Option<Vec<Draft>> {
    let mut drafts = request.tasks.take().unwrap_or_default();
    let reads = drafts.iter().any(|draft| !draft.context.is_empty());
    let inferred = if reads { Workflow::Parallel } else { Workflow::Sequential };
    for draft in &mut drafts {
        draft.model_options = draft.model_options.over(request.model_options);
    }
    match request.options.workflow.unwrap_or(inferred) {
        Workflow::Parallel => {}
        Workflow::Sequential => {
            let names = named(&drafts);
            drafts.iter_mut().skip(1).zip(names).for_each(|(draft, before)| draft.after.push(format!("${before}")));
        }
        Workflow::Hierarchical => return None,
    }
    Some(drafts)
}

/// The tasks of a workflow, by the names they have in it.
struct Inner {
    drafts: Vec<Draft>,
    groups: Vec<Group>,
    aliases: Vec<(String, String)>,
    mistakes: Vec<Mistake>,
    /// The defaults of its inputs.
    inputs: Inputs,
}

impl Expanded {
    /// Adds the tasks of a workflow in the place of the task that names it.
    fn take(&mut self, inner: Inner, task: Draft, (name, nested, place): (&str, &Nested, &str), room: &mut usize) {
        let Inner { drafts, groups, aliases, inputs, .. } = inner;
        let branches = task.when.is_some() || task.each.list.is_some();
        if branches && !groups.is_empty() {
            let message = "a workflow with groups cannot be run with `when` or `for_each`: groups are not nested";
            self.mistakes.push(bad(place, message));
        }
        let mut splice = Splice::new(name, inputs, nested, room);
        let fanned: BTreeSet<&String> =
            groups.iter().filter(|group| group.each.list.is_some()).flat_map(|group| &group.tasks).collect();
        let mut members = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let has_item = draft.each.list.is_some() || draft.name.as_ref().is_some_and(|name| fanned.contains(name));
            let draft = splice.draft(draft, &task, has_item);
            members.extend(draft.name.clone());
            self.drafts.push(draft);
        }
        self.groups.extend(groups.into_iter().map(|group| splice.group(group)));
        self.aliases.extend(aliases.iter().map(|(alias, task)| (splice.under(alias), splice.under(task))));
        match members.last().cloned() {
            Some(_) if branches => {
                let Draft { when, each, part, .. } = task;
                self.groups.push(Group { name: name.to_owned(), tasks: members, when, each, part, ..Group::default() });
            }
            last => self.aliases.extend(last.map(|last| (name.to_owned(), last))),
        }
        self.mistakes.extend(splice.mistakes(place));
    }
}

/// The task whose workflow takes its place.
struct Splice<'a> {
    name: &'a str,
    /// The values of the workflow's inputs; strings are templates of the run around it.
    values: Inputs,
    /// The same as they stand in a template.
    texts: BTreeMap<String, String>,
    /// The length of the values, which every task has.
    values_bytes: usize,
    /// The inputs without a value.
    missing: BTreeSet<String>,
    /// The bytes that are left for what is put into the texts.
    room: &'a mut usize,
    is_too_large: bool,
}

impl<'a> Splice<'a> {
    /// Returns the mistakes found in the workflow's texts.
    fn mistakes(&self, place: &str) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        if self.is_too_large {
            mistakes.push(too_large(place));
        }
        if !self.missing.is_empty() {
            let names = listed(self.missing.iter().map(String::as_str));
            let message = format!("the workflow needs values for: {names}");
            mistakes.push(Mistake::new(Code::MissingInput, format!("{place}.inputs"), message));
        }
        mistakes
    }

    fn new(name: &'a str, defaults: Inputs, nested: &Nested, room: &'a mut usize) -> Splice<'a> {
        // Defaults are texts as they are, and what the task gives may hold variables of its own run.
        let mut values: Inputs = defaults.into_iter().map(|(name, value)| (name, as_text(value))).collect();
        values.extend(nested.inputs.clone());
        let texts: BTreeMap<String, String> =
            values.iter().map(|(name, value)| (name.clone(), in_template(value))).collect();
        let values_bytes = texts.iter().map(|(name, text)| name.len() + text.len()).sum();
        Splice { name, values, texts, values_bytes, missing: BTreeSet::new(), room, is_too_large: false }
    }

    /// Returns the name that something of the workflow has in the run.
    fn under(&self, inner: &str) -> String {
        format!("{}/{inner}", self.name)
    }

    fn fill(&mut self, text: &str, has_item: bool) -> String {
        match template::splice(text, &self.texts, has_item, *self.room) {
            Ok(text) => {
                self.take_room(text.len());
                return text;
            }
            Err(Unresolved::Missing(names)) => self.missing.extend(names),
            Err(Unresolved::TooLarge) => {
                self.take_room(usize::MAX);
                // Not empty, which would be told as another mistake.
                return "…".to_owned();
            }
        }
        String::new()
    }

    /// Takes so many bytes of what is left; returns whether they were. Once there was too little, nothing is left.
    fn take_room(&mut self, bytes: usize) -> bool {
        let left = self.room.checked_sub(bytes);
        self.is_too_large |= left.is_none();
        *self.room = left.unwrap_or_default();
        left.is_some()
    }

    fn part(&mut self, part: Option<Part>) -> Option<Part> {
        let Some(Part { name, inputs }) = part else {
            let inputs = if self.take_room(self.values_bytes) { self.values.clone() } else { Inputs::default() };
            return Some(Part { name: self.name.to_owned(), inputs });
        };
        let fill = |(name, value): (String, Value)| match value.as_str() {
            Some(text) => (name, Value::String(self.fill(text, false))),
            None => (name, value),
        };
        let inputs = inputs.into_iter().map(fill).collect();
        Some(Part { name: self.under(&name), inputs })
    }

    /// Returns a task of the workflow as one of the run.
    fn draft(&mut self, draft: Draft, task: &Draft, has_item: bool) -> Draft {
        let begins = draft.context.is_empty() && draft.after.is_empty();
        let mut draft = draft.with_texts(&mut |text| self.fill(text, has_item));
        draft.part = self.part(draft.part.take());
        draft.name = draft.name.map(|name| self.under(&name));
        for reference in draft.context.iter_mut().chain(&mut draft.after) {
            *reference = format!("${}", self.under(reference.trim_start_matches('$')));
        }
        draft.context.extend(task.context.iter().filter(|_| begins).cloned());
        draft.after.extend(task.after.iter().cloned());
        draft
    }

    /// Returns a group of the workflow as one of the run.
    fn group(&mut self, group: Group) -> Group {
        let tasks = group.tasks.iter().map(|task| self.under(task)).collect();
        Group { name: self.under(&group.name), tasks, part: self.part(group.part), ..group }
    }
}

impl Draft {
    /// Returns a mistake when the draft of a task that a workflow does has what only the workflow's tasks have.
    fn more_than_nested(&self, place: &str) -> Option<Mistake> {
        let Draft { name, context, when, each, after, part, .. } = self.clone();
        let allowed = Draft { name, context, when, each, after, part, ..Draft::default() };
        let message = "a task that a workflow does has `name`, `inputs`, `context`, `when` and `for_each` only: \
            everything else is for the tasks of the workflow";
        (*self != allowed).then(|| bad(place, message))
    }

    /// Returns the draft with its texts changed.
    fn with_texts(self, fill: &mut impl FnMut(&str) -> String) -> Draft {
        Draft {
            description: fill(&self.description),
            expected_output: self.expected_output.as_deref().map(&mut *fill),
            additional_context: self.additional_context.as_deref().map(&mut *fill),
            agent: self.agent.map(|agent| Agent {
                role: fill(&agent.role),
                goal: fill(&agent.goal),
                background: fill(&agent.background),
                ..agent
            }),
            attachments: self.attachments.iter().map(|source| source.filled(fill)).collect(),
            ..self
        }
    }
}

/// Returns a default so that it is not taken for a template.
fn as_text(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(template::escape(&text)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value,
    }
}

/// Returns a value as it stands in a template.
fn in_template(value: &Value) -> String {
    value.as_str().map_or_else(|| template::escape(&template::printed(value)), str::to_owned)
}

fn too_large(place: &str) -> Mistake {
    Mistake::new(Code::TemplateTooLarge, place, template::all_too_large())
}

fn bad(place: impl Into<String>, message: impl Into<String>) -> Mistake {
    Mistake::new(Code::BadRequest, place, message)
}

/// Names the tasks that are referred to by their positions, which the tasks of workflows move.
fn by_name(references: &mut [String], names: &[String]) {
    for reference in references {
        let position = reference.strip_prefix('$').unwrap_or(reference).parse::<usize>();
        if let Some(name) = position.ok().and_then(|position| names.get(position)) {
            *reference = format!("${name}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::requests::catalog::ModelInfo;
    use crate::requests::compile::{Catalog, compile};
    use crate::requests::spec::Spec;
    use crate::requests::workflow::Document;

    fn document(json: Value) -> Arc<Document> {
        Arc::new(serde_json::from_value(json).unwrap())
    }

    fn catalog() -> Catalog {
        let report = json!({ "name": "report", "inputs": { "style": "plain {words}" }, "tasks": [
            { "name": "find", "description": "Find {topic}" },
            { "name": "write", "description": "Write it in {style} style", "when": "outputs.find != null && inputs.topic != ''" }] });
        let graph = json!({ "name": "graph", "tasks": [
            { "name": "a", "description": "A" }, { "name": "b", "description": "B", "context": ["$0"] },
            { "name": "c", "workflow": "report", "inputs": { "topic": "{what} of {{x}}" }, "context": ["$b"] }],
            "groups": [{ "name": "g", "tasks": ["a", "b"], "repeatUntil": "round > 0" }] });
        let endless = json!({ "name": "endless", "tasks": [{ "name": "again", "workflow": "endless" }] });
        let all = [("report", report), ("graph", graph), ("endless", endless)];
        let documents = all.map(|(name, json)| (name.to_owned(), document(json)));
        Catalog {
            models: vec![Arc::new(ModelInfo::new("m", "demo"))],
            workflows: SavedWorkflows::Known(documents.into()),
            ..Catalog::default()
        }
    }

    fn compiled(json: Value) -> Result<Spec, Vec<String>> {
        let (request, _) = request::parse(&json).unwrap();
        let told = |mistakes: Vec<Mistake>| mistakes.iter().map(|m| format!("{} {m}", m.code.word())).collect();
        compile(&Ensemble::default(), request, &catalog()).map(|compiled| compiled.spec).map_err(told)
    }

    #[test]
    fn the_tasks_of_a_workflow_take_the_place_of_the_task_that_names_it() {
        let spec = compiled(json!({ "inputs": { "insect": "bees" }, "tasks": [
            { "name": "plan", "description": "Plan" },
            { "name": "part", "workflow": "report", "inputs": { "topic": "{insect} {{insect}}" }, "context": ["$0"] },
            { "name": "print", "description": "Print it", "context": ["$1"] }] }))
        .unwrap();
        let names: Vec<&str> = spec.tasks.iter().map(|task| task.name.as_str()).collect();
        assert_eq!(names, ["plan", "part/find", "part/write", "print"]);
        let texts: Vec<&str> = spec.tasks.iter().map(|task| task.description.as_str()).collect();
        assert_eq!(texts[1..3], ["Find bees {insect}", "Write it in plain {words} style"]);
        let reads: Vec<&[usize]> = spec.tasks.iter().map(|task| task.context.as_slice()).collect();
        assert_eq!(reads, [&[] as &[usize], &[0], &[], &[2]], "who reads the task reads the last one of its workflow");
        assert_eq!(spec.tasks[2].after, [1], "a workflow without references is a sequence, in any run");
        assert_eq!(spec.order()[2], [1]);
        let part = spec.tasks[2].part.as_ref().unwrap();
        assert_eq!((part.name.as_str(), &part.inputs["topic"]), ("part", &json!("{insect} {{insect}}")));
        assert_eq!(spec.tasks[2].when.as_ref().unwrap().outputs, [("find".to_owned(), 1)].into());
    }

    #[test]
    fn conditions_and_lists_of_the_task_hold_for_all_tasks_of_its_workflow() {
        let spec = compiled(json!({ "inputs": { "topics": ["a", "b"] }, "tasks": [
            { "name": "part", "workflow": "report", "inputs": { "topic": "{item}" }, "forEach": "inputs.topics" },
            { "name": "print", "description": "Print it", "context": ["$part"] }] }))
        .unwrap();
        let [group] = spec.groups.as_slice() else { panic!("{:?}", spec.groups) };
        assert_eq!((group.name.as_str(), group.tasks.as_slice()), ("part", [0, 1].as_slice()));
        assert!(group.for_each.is_some() && spec.tasks[0].for_each.is_none());
        assert_eq!(
            (spec.tasks[0].description.as_str(), spec.tasks[2].context.as_slice()),
            ("Find {item}", [1].as_slice())
        );
    }

    #[test]
    fn workflows_within_workflows_keep_their_groups_and_are_named_by_their_path() {
        let wanted =
            json!({ "inputs": { "what": "unused" }, "tasks": [{ "workflow": "graph", "inputs": { "what": "tea" } }] });
        let spec = compiled(wanted).unwrap();
        let names: Vec<&str> = spec.tasks.iter().map(|task| task.name.as_str()).collect();
        assert_eq!(names, ["graph/a", "graph/b", "graph/c/find", "graph/c/write"]);
        assert_eq!(spec.tasks[2].description, "Find tea of {x}");
        assert_eq!((spec.tasks[2].context.as_slice(), spec.groups[0].name.as_str()), ([1].as_slice(), "graph/g"));
        assert_eq!(spec.tasks[3].part.as_ref().unwrap().name, "graph/c");
    }

    #[test]
    fn what_is_wrong_is_told_at_the_task_that_names_the_workflow() {
        let cases = [
            (json!({ "workflow": "nobody" }), "BAD_REQUEST tasks[0].workflow: there is no saved workflow `nobody`"),
            (json!({ "workflow": "endless" }), "BAD_REQUEST tasks[0].workflow: workflows run each other without end"),
            (json!({ "workflow": "report" }), "MISSING_INPUT tasks[0].inputs: the workflow needs values for: [topic]"),
            (
                json!({ "workflow": "graph", "inputs": { "what": 1 }, "when": "true" }),
                "BAD_REQUEST tasks[0]: a workflow with groups cannot be run with `when` or `for_each`",
            ),
        ];
        for (task, expected) in cases {
            let mistakes = compiled(json!({ "tasks": [task] })).unwrap_err();
            assert!(mistakes[0].starts_with(expected), "{mistakes:?}");
        }
        let both = compiled(json!({ "tasks": [{ "workflow": "report", "inputs": { "topic": 1 }, "tools": ["y"] }] }));
        assert!(both.unwrap_err()[0].starts_with("BAD_REQUEST tasks[0]: a task that a workflow does has `name`"));
        let unknown = Catalog { workflows: SavedWorkflows::Later, ..catalog() };
        let (request, _) = request::parse(&json!({ "tasks": [{ "workflow": "report" }] })).unwrap();
        assert_eq!(compile(&Ensemble::default(), request, &unknown).unwrap().spec.tasks.len(), 1, "known later");
    }

    #[test]
    fn what_workflows_within_workflows_become_together_has_a_limit() {
        let many = |text: &str, count: usize| {
            let task = |at: usize| json!({ "name": format!("t{at}"), "description": text });
            json!({ "name": "w", "tasks": (0..count).map(task).collect::<Vec<_>>() })
        };
        let naming = |count: usize, value: String| {
            let task = |at: usize| json!({ "name": format!("n{at}"), "workflow": "w", "inputs": { "a": value } });
            json!({ "tasks": (0..count).map(task).collect::<Vec<_>>() })
        };
        let cases = [
            (
                "a text with a value in it a thousand times",
                many(&"{a}".repeat(1_000), 1),
                naming(1, "x".repeat(50_000)),
            ),
            ("a value that each of many tasks has", many("x", 500), naming(1, "x".repeat(100_000))),
            ("a long document that is named often", many(&"x".repeat(100_000), 1), naming(500, String::new())),
        ];
        for (what, saved, wanted) in cases {
            let workflows = SavedWorkflows::Known([("w".to_owned(), document(saved))].into());
            let (request, _) = request::parse(&wanted).unwrap();
            let refused = compile(&Ensemble::default(), request, &Catalog { workflows, ..catalog() }).unwrap_err();
            assert!(refused.iter().all(|mistake| mistake.code == Code::TemplateTooLarge), "{what}: {refused:?}");
        }
    }

    #[test]
    fn a_text_spliced_into_a_template_stands_for_itself() {
        for text in ["{a}", "{{a}}", "{{{a}}}", "a {b {c} d}", "{}", "{{", "}} {1}"] {
            let template = template::escape(text);
            let variables = template::Variables { inputs: &Inputs::new(), item: template::Item::None };
            assert_eq!(template::resolve(&template, variables).as_deref(), Ok(text), "{template}");
        }
    }
}
