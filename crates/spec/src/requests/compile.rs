//! Compiles a written ensemble into a spec: overrides applied, templates resolved, names and agents
//! assigned, every reference checked. All mistakes are reported at once; a compiled run cannot fail for
//! being malformed.

mod branches;
mod fill;
mod names;
mod toolless;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::own_tool::OwnTool;
use crate::requests::bounds::MISTAKES_MAX;
use crate::requests::branch::Group;
use crate::requests::catalog::{Belt, ModelInfo, Models, SavedWorkflows, ToolInfo};
use crate::requests::delegation;
use crate::requests::draft::{self, Draft, Ensemble, Override, Request};
use crate::requests::dynamic::Dynamic;
use crate::requests::expression::Scope;
use crate::requests::mistake::{Code, Mistake, listed};
use crate::requests::nested::{self, Expanded};
use crate::requests::spec::{Kind, Spec, Task, Workflow};
use crate::requests::template::{Inputs, Item, Texts};
use crate::schema::Schema;
use branches::{Known, Positions};
pub(crate) use names::named;

pub use fill::matching;
use fill::{apply, filled, options};

/// The expected answer of a task that does not state one.
const EXPECTED_OUTPUT: &str = "A complete and accurate response to the task.";
/// The number of model calls of a task that sets no limit.
const MAX_ITERATIONS: u32 = 25;
/// The number of times work may be handed on when the ensemble sets no limit.
const MAX_DELEGATION_DEPTH: u32 = 3;
/// The number of times work may be handed out per task when the ensemble sets no limit.
const DELEGATIONS_PER_TASK: u32 = 10;
/// The number of characters of a description that an override may use as a key.
const KEY_CHARS: usize = 50;

/// The models and tools a run can choose from, in the order they were given.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The models.
    pub models: Vec<Arc<ModelInfo>>,
    /// The tools.
    pub tools: Vec<Arc<ToolInfo>>,
    /// The names of providers whose tools come and go.
    pub providers: Vec<String>,
    /// The saved workflows that tasks may name.
    pub workflows: SavedWorkflows,
}

impl Catalog {
    /// Returns a model and the fallbacks that follow it; a mistake with the known names when there is no such
    /// model.
    pub fn model(&self, alias: &str) -> Result<Vec<Arc<ModelInfo>>, Mistake> {
        let find = |alias: &str| self.models.iter().find(|model| model.alias == alias).cloned();
        let Some(first) = find(alias) else {
            let names = listed(self.models.iter().map(|model| model.alias.as_str()));
            let message = format!("Unknown model '{alias}'. Available: {names}");
            return Err(Mistake::new(Code::InvalidModel, "model", message));
        };
        let fallbacks: Vec<_> = first.fallback.iter().filter_map(|alias| find(alias)).collect();
        Ok(std::iter::once(first).chain(fallbacks).collect())
    }

    /// Returns the error message for an unknown tool.
    pub fn unknown_tool(&self, name: &str) -> String {
        // Every server has the search of collections, so naming it would not help.
        let known = self.tools.iter().filter(|tool| tool.as_own() != Some(OwnTool::SearchCollections));
        format!("Unknown tool '{name}'. Available: {}", listed(known.map(|tool| tool.name.as_str())))
    }
}

/// A run ready to be accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The specification.
    pub spec: Spec,
    /// The models it uses, fallbacks included.
    pub models: Models,
    /// The tools it uses.
    pub belt: Belt,
    /// The warnings: odd, but no mistakes.
    pub warnings: Vec<String>,
}

/// Returns the description of an own tool that a task of this run lists or needs; none when it is not
/// offered, or comes from the catalog.
fn own_tool(tool: OwnTool, spec: &Spec) -> Option<Arc<ToolInfo>> {
    match tool {
        OwnTool::RunSubtask => (spec.limits.depth > 0).then(|| tool.info()),
        OwnTool::Delegate | OwnTool::DelegateTask => Some(Arc::new(delegation::info(tool, &spec.roles()))),
        OwnTool::HumanInput
        | OwnTool::ReadResult
        | OwnTool::MemoryList
        | OwnTool::MemoryRead
        | OwnTool::MemoryWrite
        | OwnTool::MemoryRecall
        | OwnTool::MemoryStore => Some(tool.info()),
        OwnTool::FinishSubtask | OwnTool::BuildWorkflow | OwnTool::SearchCollections => None,
    }
}

/// Compiles an ensemble and a request into a run. An ensemble without tasks cannot run by itself: it only
/// holds the settings for requests that bring their own tasks.
pub fn compile(ensemble: &Ensemble, request: Request, catalog: &Catalog) -> Result<Compiled, Vec<Mistake>> {
    if ensemble.tasks.is_empty() && request.tasks.is_none() {
        let message = "no ensemble is configured: send `tasks` of your own";
        return Err(vec![Mistake::new(Code::NotConfigured, "", message)]);
    }
    let needs_model = request.tasks.as_ref().unwrap_or(&ensemble.tasks).iter().any(|draft| draft.handler.is_none());
    if catalog.models.is_empty() && needs_model {
        return Err(vec![Mistake::new(Code::NotConfigured, "", "no models are configured")]);
    }
    let mut compiler = Compiler { catalog, mistakes: Vec::new(), warnings: Vec::new() };
    let spec = compiler.spec(ensemble.clone(), request);
    let models = compiler.models(&spec);
    let belt = compiler.belt(&spec);
    compiler.warnings.extend(toolless::warnings(&spec, &models));
    let compiled = Compiled { spec, models, belt, warnings: compiler.warnings };
    if compiler.mistakes.is_empty() { Ok(compiled) } else { Err(compiler.mistakes) }
}

struct Compiler<'a> {
    catalog: &'a Catalog,
    mistakes: Vec<Mistake>,
    warnings: Vec<String>,
}

impl Compiler<'_> {
    fn mistake(&mut self, code: Code, place: impl Into<String>, message: impl Into<String>) {
        if !self.is_full() {
            self.mistakes.push(Mistake::new(code, place, message));
        }
    }

    /// Returns whether the list of mistakes is full.
    fn is_full(&self) -> bool {
        self.mistakes.len() >= MISTAKES_MAX
    }

    fn spec(&mut self, ensemble: Ensemble, request: Request) -> Spec {
        let dynamic = request.tasks.is_some();
        let groups = if dynamic { request.groups } else { ensemble.groups };
        let mut drafts = request.tasks.unwrap_or(ensemble.tasks);
        if drafts.is_empty() {
            self.mistake(Code::BadRequest, "tasks", "a run needs at least one task");
        }
        if !dynamic {
            self.override_tasks(&mut drafts, request.overrides.unwrap_or_default());
        }
        let declared = if dynamic { None } else { ensemble.workflow };
        let inferred = if drafts.iter().any(|draft| !draft.context.is_empty()) {
            Workflow::Parallel
        } else {
            Workflow::Sequential
        };
        let mut inputs = ensemble.inputs;
        inputs.extend(request.inputs);
        let first = self.catalog.models.first().map(|model| model.alias.clone()).unwrap_or_default();
        let mut review = ensemble.review;
        review.policy = request.options.review_policy.unwrap_or(review.policy);
        review.on_timeout = request.options.on_timeout.or(review.on_timeout);
        let Expanded { drafts, groups, aliases, mistakes } = nested::expand(drafts, groups, &self.catalog.workflows);
        mistakes.into_iter().for_each(|mistake| self.mistake(mistake.code, mistake.place, mistake.message));
        let count = u32::try_from(drafts.len()).unwrap_or(u32::MAX);
        let usual = count.saturating_mul(DELEGATIONS_PER_TASK);
        let max_delegations = ensemble.max_delegations.unwrap_or(usual);
        let (tasks, groups) = self.tasks(drafts, (&groups, &aliases), &inputs);
        let mut spec = Spec {
            kind: Kind::Run,
            name: ensemble.name,
            workflow: request.options.workflow.or(declared).unwrap_or(inferred),
            on_error: ensemble.on_error,
            model: ensemble.model.unwrap_or(first),
            tasks,
            groups,
            review,
            limits: ensemble.limits,
            options: options(&request.options),
            model_options: request.model_options,
            inputs,
            tags: request.tags,
            max_delegation_depth: ensemble.max_delegation_depth.unwrap_or(MAX_DELEGATION_DEPTH),
            max_delegations,
            max_delegations_per_agent: ensemble.max_delegations_per_agent.unwrap_or(max_delegations),
            chat: None,
            traceparent: None,
            origin: None,
            begun_by: None,
        };
        self.check_hierarchy(&spec);
        self.form_team(&mut spec);
        spec.share_attachments(&request.attachments);
        if !self.catalog.models.is_empty() {
            self.check_model(&spec.model, "model");
        }
        self.check_order(&spec);
        self.check_model_options(&spec);
        spec
    }

    /// Checks the options against the models that are asked first; for fallbacks, options are adapted to the
    /// model.
    fn check_model_options(&mut self, spec: &Spec) {
        let mut reported = BTreeSet::new();
        for (index, task) in spec.tasks.iter().enumerate().filter(|(_, task)| task.handler.is_none()) {
            let alias = task.model.as_ref().unwrap_or(&spec.model);
            let Some(model) = self.catalog.models.iter().find(|model| model.alias == *alias) else { continue };
            let own = task.model_options.refusals(model).into_iter().map(|found| (format!("tasks[{index}]."), found));
            let of_run = spec.model_options.refusals(model).into_iter().map(|found| (String::new(), found));
            let found: Vec<_> = own.chain(of_run).collect();
            for (place, (option, message)) in found {
                let place = format!("{place}modelOptions.{}", option.field());
                if reported.insert((place.clone(), message.clone())) {
                    self.mistake(Code::BadRequest, place, message);
                }
            }
        }
    }

    /// Gives the delegation tool to agents that may delegate, and a manager to a hierarchy.
    fn form_team(&mut self, spec: &mut Spec) {
        let is_led = spec.workflow == Workflow::Hierarchical;
        if is_led || spec.tasks.iter().any(|task| task.agent.allow_delegation) {
            delegation::tell_apart(&mut spec.tasks);
        }
        if spec.tasks.len() > 1 {
            for task in spec.tasks.iter_mut().filter(|task| task.agent.allow_delegation) {
                task.tools.push(OwnTool::Delegate.name().to_owned());
            }
        }
        if !is_led {
            return;
        }
        let mut roles = BTreeSet::from([delegation::MANAGER_ROLE.to_lowercase()]);
        for (index, task) in spec.tasks.iter().enumerate() {
            if !roles.insert(task.agent.role.to_lowercase()) {
                let message =
                    format!("the role '{}' is taken; in a hierarchy every agent has its own", task.agent.role);
                self.mistake(Code::BadRequest, format!("tasks[{index}].agent.role"), message);
            }
        }
        spec.tasks.push(delegation::manager(&spec.tasks));
    }

    fn override_tasks(&mut self, drafts: &mut [Draft], overrides: Vec<(String, Override)>) {
        let mut overridden = BTreeSet::new();
        for (key, change) in overrides {
            let place = format!("taskOverrides.{key}");
            match matching(drafts, &key).as_slice() {
                [only] if overridden.insert(*only) => {
                    self.check_removed(&change, &place);
                    drafts.get_mut(*only).into_iter().for_each(|draft| apply(draft, change.clone()));
                }
                [_] => self.mistake(Code::InvalidTaskOverride, place, "another key changes the same task"),
                [] => {
                    let names = drafts.iter().map(|draft| draft.name.as_deref().unwrap_or(&draft.description));
                    let message = format!("No task matching '{key}'. Available: {}", listed(names));
                    self.mistake(Code::InvalidTaskOverride, place, message);
                }
                [_, _, ..] => {
                    self.mistake(Code::InvalidTaskOverride, place, format!("'{key}' matches more than one task"))
                }
            }
        }
    }

    fn check_removed(&mut self, change: &Override, place: &str) {
        for (index, name) in change.remove_tools.iter().enumerate() {
            self.check_tool(name, format!("{place}.tools.remove[{index}]"));
        }
    }

    fn tasks(
        &mut self,
        drafts: Vec<Draft>,
        (groups, aliases): (&[draft::Group], &[(String, String)]),
        inputs: &Inputs,
    ) -> (Vec<Task>, Vec<Group>) {
        let names = self.names(&drafts);
        let mut positions: Positions = names.iter().enumerate().map(|(i, name)| (name.clone(), i)).collect();
        let members = self.group_tasks(groups, &mut positions);
        for (alias, task) in aliases {
            if let Some(position) = positions.get(task).copied() {
                positions.insert(alias.clone(), position);
            }
        }
        let mut known = Known { positions: &positions, inputs, missing: BTreeSet::new() };
        let scopes = scopes(groups, &members);
        let mut texts = Texts::new(inputs);
        let mut tasks = Vec::with_capacity(drafts.len());
        for (index, draft) in drafts.into_iter().enumerate() {
            let place = format!("tasks[{index}]");
            let scope = scopes.get(&index).copied().unwrap_or_default();
            texts.item = if scope.item || draft.each.list.is_some() { Item::Later } else { Item::None };
            let context = self.context(&draft.context, &positions, names.len(), &place);
            let name = names.get(index).cloned().unwrap_or_default();
            let filled = filled(&draft, &mut |text: &str| texts.fill(text));
            if let Some(reason) = texts.too_large() {
                self.mistake(Code::TemplateTooLarge, &place, reason);
            }
            let after = self.context(&draft.after, &positions, names.len(), &place);
            let part = draft.part.clone();
            let task = Task { name, context, after, part, ..filled };
            let task = self.branches(task, &draft, (&place, scope), &mut known);
            tasks.push(self.task(task, draft, &place));
        }
        let groups = self.groups(groups, &members, &mut known);
        known.missing.extend(texts.missing().iter().cloned());
        self.check_missing(&known.missing);
        (tasks, groups)
    }

    fn check_missing(&mut self, missing: &BTreeSet<String>) {
        if !missing.is_empty() {
            let names = listed(missing.iter().map(String::as_str));
            self.mistake(Code::MissingInput, "inputs", format!("these template variables have no value: {names}"));
        }
    }

    /// Checks the parts of a task that do not depend on other tasks.
    fn task(&mut self, task: Task, draft: Draft, place: &str) -> Task {
        if task.description.trim().is_empty() && !draft.description.contains('{') {
            self.mistake(Code::BadRequest, format!("{place}.description"), "must not be blank");
        }
        if let Some(alias) = &draft.model {
            self.check_model(alias, &format!("{place}.model"));
        }
        for (index, name) in draft.tools.iter().enumerate() {
            self.check_tool(name, format!("{place}.tools[{index}]"));
        }
        for name in draft.handler.iter().chain(&draft.input_guardrails).chain(&draft.output_guardrails) {
            self.check_tool(name, place.to_owned());
        }
        if draft.max_iterations == Some(0) {
            self.mistake(Code::BadRequest, format!("{place}.max_iterations"), "must be above 0");
        }
        let output_schema = draft.output_schema.and_then(|json| match Schema::parse(json) {
            Ok(schema) => Some(schema),
            Err(reason) => {
                self.mistake(Code::InvalidSchema, format!("{place}.outputSchema"), reason);
                None
            }
        });
        if let Some(reason) = task.too_many_attachments() {
            self.mistake(Code::BadRequest, format!("{place}.attachments"), reason);
        }
        let max_iterations = draft.max_iterations.unwrap_or(MAX_ITERATIONS);
        Task { output_schema, max_iterations, ..task }
    }

    /// Returns every task's name: given, or made from its description; unique.
    fn names(&mut self, drafts: &[Draft]) -> Vec<String> {
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for (index, draft) in drafts.iter().enumerate() {
            match draft.name.as_deref() {
                Some(name) if name.trim().is_empty() => {
                    self.mistake(Code::BadRequest, format!("tasks[{index}].name"), "must not be blank");
                }
                Some(name) if !taken.insert(name.to_owned()) => {
                    let message = format!("two tasks are called '{name}'");
                    self.mistake(Code::BadRequest, format!("tasks[{index}].name"), message);
                }
                Some(_) | None => {}
            }
        }
        named(drafts)
    }

    fn context(&mut self, references: &[String], positions: &Positions, count: usize, place: &str) -> Vec<usize> {
        let mut context = Vec::with_capacity(references.len());
        let mut seen = HashSet::new();
        for (index, reference) in references.iter().enumerate() {
            let name = reference.strip_prefix('$').unwrap_or(reference);
            let position = match name.parse::<usize>() {
                Ok(position) => (position < count).then_some(position),
                Err(_) => positions.get(name).copied(),
            };
            match position {
                Some(position) if seen.insert(position) => context.push(position),
                Some(_) => {}
                // The names are sorted anew for each mistake, so this is skipped when the list is full.
                None if self.is_full() => {}
                None => {
                    let mut names: Vec<&str> = positions.keys().map(String::as_str).collect();
                    names.sort_unstable();
                    let message = format!("no task '{name}'. Available: {}", listed(names));
                    self.mistake(Code::BadRequest, format!("{place}.context[{index}]"), message);
                }
            }
        }
        context
    }

    /// Checks that an order of the tasks exists, and in a sequence that it is the declared one.
    fn check_order(&mut self, spec: &Spec) {
        for mistake in spec.order_mistakes().into_iter().take(MISTAKES_MAX) {
            self.mistake(mistake.code, mistake.place, mistake.message);
        }
    }

    fn check_model(&mut self, alias: &str, place: &str) {
        if !self.catalog.models.iter().any(|model| model.alias == alias) {
            let known = listed(self.catalog.models.iter().map(|model| model.alias.as_str()));
            self.mistake(Code::InvalidModel, place, format!("Unknown model '{alias}'. Available: {known}"));
        }
    }

    fn check_tool(&mut self, name: &str, place: String) {
        let Catalog { tools, providers, .. } = self.catalog;
        if OwnTool::parse(name).is_some_and(OwnTool::is_given) || tools.iter().any(|tool| tool.name == name) {
            return;
        }
        let message = match Dynamic::parse(name).map(Dynamic::provider) {
            Some(None) => return,
            Some(Some(provider)) if providers.iter().any(|known| known == provider) => return,
            Some(Some(_)) => {
                let known: Vec<String> = providers.iter().map(|provider| format!("{provider}:*")).collect();
                format!("Unknown tools '{name}'. Available: {}", listed(known.iter().map(String::as_str)))
            }
            None => self.catalog.unknown_tool(name),
        };
        self.mistake(Code::InvalidTool, place, message);
    }

    /// Returns the models that the tasks name, and their fallbacks.
    fn models(&mut self, spec: &Spec) -> Models {
        let mut wanted: Vec<&str> = spec.tasks.iter().filter_map(|task| task.model.as_deref()).collect();
        wanted.push(&spec.model);
        let mut models = Models::new();
        while let Some(alias) = wanted.pop() {
            let Some(model) = self.catalog.models.iter().find(|model| model.alias == alias) else { continue };
            if models.insert(alias.to_owned(), model.clone()).is_none() {
                wanted.extend(model.fallback.iter().map(String::as_str));
            }
        }
        if spec.limits.cost > 0 {
            for model in models.values().filter(|model| model.price.is_none()) {
                let message = format!("model '{}' has no price, so the run's cost limit cannot be kept", model.alias);
                self.mistake(Code::InvalidModel, "model", message);
            }
        }
        models
    }

    fn belt(&mut self, spec: &Spec) -> Belt {
        let mut named: BTreeSet<&str> = spec.tasks.iter().flat_map(|task| &task.tools).map(String::as_str).collect();
        named.extend(spec.tasks.iter().flat_map(Task::chore_tools));
        let subtasks = OwnTool::RunSubtask.name();
        if named.contains(subtasks) && spec.limits.depth == 0 {
            self.warnings.push(format!("`{subtasks}` is not offered: the run's budget allows no subtasks"));
        }
        let tools = self.catalog.tools.iter().filter(|tool| named.contains(tool.name.as_str()));
        let mut belt: Belt = tools.map(|tool| (tool.name.clone(), tool.clone())).collect();
        let own = named.into_iter().filter_map(OwnTool::parse).filter_map(|tool| own_tool(tool, spec));
        belt.extend(own.map(|tool| (tool.name.clone(), tool)));
        belt
    }
}

/// Returns the variables that the expressions of each grouped task may use, beside those of all.
fn scopes(groups: &[draft::Group], members: &[Vec<usize>]) -> HashMap<usize, Scope> {
    let scope = |group: &draft::Group| Scope {
        item: group.each.list.is_some(),
        round: group.repeat_until.is_some(),
        ..Scope::default()
    };
    let scoped = groups.iter().zip(members);
    scoped.flat_map(|(group, tasks)| tasks.iter().map(move |task| (*task, scope(group)))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::requests::request;

    fn catalog() -> Catalog {
        let model = |alias: &str, fallback: &[&str]| {
            let fallback = fallback.iter().map(|alias| (*alias).to_owned()).collect();
            Arc::new(ModelInfo { fallback, ..ModelInfo::new(alias, "demo") })
        };
        let tool = |name| Arc::new(ToolInfo::new(name, "a tool"));
        Catalog {
            models: vec![model("big", &["small"]), model("small", &[])],
            tools: vec![tool("look"), tool("pay")],
            providers: vec!["shop".to_owned()],
            workflows: SavedWorkflows::default(),
        }
    }

    fn draft(name: &str, description: &str) -> Draft {
        Draft { name: Some(name.to_owned()), description: description.to_owned(), ..Draft::default() }
    }

    fn ensemble() -> Ensemble {
        let research = Draft { tools: vec!["look".to_owned()], ..draft("research", "Research {topic} in {year}") };
        let write = Draft { context: vec!["$research".to_owned()], ..draft("write", "Write it up") };
        Ensemble {
            name: "demo".to_owned(),
            inputs: [("year".to_owned(), json!("2026"))].into(),
            tasks: vec![research, write],
            ..Ensemble::default()
        }
    }

    fn run(json: serde_json::Value) -> Result<Compiled, Vec<String>> {
        let (request, _) = request::parse(&json).unwrap();
        compile(&ensemble(), request, &catalog())
            .map_err(|mistakes| mistakes.iter().map(|m| format!("{} {m}", m.code.word())).collect())
    }

    #[test]
    fn tools_that_a_model_or_its_fallback_cannot_call_are_warned_of() {
        let warned = |model: &str, without: &[&str]| {
            let mut catalog = catalog();
            for model in &mut catalog.models {
                let tools = !without.contains(&model.alias.as_str());
                *model = Arc::new(ModelInfo { tools, ..(**model).clone() });
            }
            let tasks = json!([{ "name": "a", "description": "x", "tools": ["look"], "model": model },
                { "name": "b", "description": "x" }]);
            let (request, _) = request::parse(&json!({ "tasks": tasks })).unwrap();
            compile(&ensemble(), request, &catalog).unwrap().warnings
        };
        assert_eq!(warned("big", &[]), [""; 0]);
        let [own] = warned("small", &["small"]).try_into().unwrap();
        assert_eq!(own, "task `a` is done without its tools: the model `small` has `tools = false`");
        let [fallback] = warned("big", &["small"]).try_into().unwrap();
        let expected = "task `a` is done without its tools where `big` does not answer: `small` has `tools = false`";
        assert_eq!(fallback, expected);
    }

    #[test]
    fn an_ensemble_and_inputs_make_a_run_with_everything_filled_in() {
        let Compiled { spec, models, belt, .. } =
            run(json!({ "inputs": { "topic": "bees" }, "tags": { "a": "b" } })).unwrap();
        let [research, write] = spec.tasks.as_slice() else { panic!("two tasks") };
        assert_eq!(research.description, "Research bees in 2026");
        assert_eq!((research.agent.role.as_str(), write.agent.role.as_str()), ("Researcher", "Writer"));
        assert_eq!((spec.workflow, write.context.as_slice()), (Workflow::Parallel, [0].as_slice()));
        assert_eq!((write.max_iterations, write.expected_output.as_str()), (25, EXPECTED_OUTPUT));
        assert_eq!(models.keys().collect::<Vec<_>>(), ["big", "small"], "fallbacks come along");
        assert_eq!(belt.keys().collect::<Vec<_>>(), ["look"], "only what is used");
        assert_eq!(spec.tags["a"], "b");
    }

    #[test]
    fn overrides_match_by_name_or_start_of_the_description_and_add_before_they_remove() {
        let overrides = json!({ "inputs": { "topic": "x" }, "taskOverrides": {
            "RESEARCH": { "model": "small", "tools": { "add": ["pay", "look"], "remove": ["look"] } },
            "write it up": { "description": "Write about {topic}", "maxIterations": 3, "additionalContext": "For {topic} fans" } } });
        let spec = run(overrides).unwrap().spec;
        assert_eq!(
            (spec.tasks[0].model.as_deref(), spec.tasks[0].tools.as_slice()),
            (Some("small"), ["pay".to_owned()].as_slice())
        );
        assert_eq!((spec.tasks[1].description.as_str(), spec.tasks[1].max_iterations), ("Write about x", 3));
        assert_eq!(spec.tasks[1].additional_context.as_deref(), Some("For x fans"));
    }

    #[test]
    fn tasks_of_a_request_replace_the_ensemble_s() {
        let spec = run(json!({ "tasks": [{ "description": "Plan it" }, { "description": "Plan it" },
            { "name": "do", "description": "Do it", "context": ["$0", "$plan-it-2"] }] }))
        .unwrap()
        .spec;
        let names: Vec<&str> = spec.tasks.iter().map(|task| task.name.as_str()).collect();
        assert_eq!(names, ["plan-it", "plan-it-2", "do"]);
        assert_eq!((spec.workflow, spec.tasks[2].context.as_slice()), (Workflow::Parallel, [0, 1].as_slice()));
        let plain = run(json!({ "tasks": [{ "description": "A" }, { "description": "B" }] })).unwrap().spec;
        assert_eq!(plain.workflow, Workflow::Sequential);
    }

    #[test]
    fn every_mistake_is_reported_at_once_with_its_code_and_place() {
        let cases = [
            (json!({}), vec!["MISSING_INPUT inputs: these template variables have no value: [topic]"]),
            (
                json!({ "tasks": [{ "description": "{a} {b}", "tools": ["look", "fly", "shop:*", "shop:#tea", "mall:*", "bob.tea"], "model": "huge", "outputSchema": { "type": "strin" } },
                    { "name": "x", "description": "y", "context": ["$nobody", "$7"] }, { "name": "x", "description": "z" }] }),
                vec![
                    "BAD_REQUEST tasks[2].name: two tasks are called 'x'",
                    "INVALID_MODEL tasks[0].model: Unknown model 'huge'. Available: [big, small]",
                    "INVALID_TOOL tasks[0].tools[1]: Unknown tool 'fly'. Available: [look, pay]",
                    "INVALID_TOOL tasks[0].tools[4]: Unknown tools 'mall:*'. Available: [shop:*]",
                    "BAD_REQUEST tasks[1].context[0]: no task 'nobody'. Available: [a-b, x]",
                    "BAD_REQUEST tasks[1].context[1]: no task '7'. Available: [a-b, x]",
                    "MISSING_INPUT inputs: these template variables have no value: [a, b]",
                ],
            ),
            (
                json!({ "tasks": [{ "name": "a", "description": "x", "context": ["$b"] }, { "name": "b", "description": "y", "context": ["$c"] },
                    { "name": "c", "description": "z", "context": ["$a"] }] }),
                vec!["CIRCULAR_DEPENDENCY tasks[0].context: Tasks form a cycle: a → b → c → a"],
            ),
            (
                json!({ "options": { "workflow": "SEQUENTIAL" }, "tasks": [{ "name": "a", "description": "x", "context": ["$b"] }, { "name": "b", "description": "y" }] }),
                vec!["BAD_REQUEST tasks[0].context: 'a' reads 'b', which comes later in the sequence"],
            ),
            (
                json!({ "inputs": { "topic": "x" }, "taskOverrides": { "nope": { "model": "big" }, "write": { "tools": { "remove": ["fly"] } } } }),
                vec![
                    "INVALID_TASK_OVERRIDE taskOverrides.nope: No task matching 'nope'. Available: [research, write]",
                    "INVALID_TOOL taskOverrides.write.tools.remove[0]: Unknown tool 'fly'. Available: [look, pay]",
                ],
            ),
        ];
        for (json, expected) in cases {
            let mut mistakes = run(json).unwrap_err();
            mistakes.retain(|mistake| !mistake.starts_with("INVALID_SCHEMA tasks[0].outputSchema: "));
            assert_eq!(mistakes, expected);
        }
    }

    #[test]
    fn a_task_is_overridden_by_the_first_50_characters_of_its_description_or_all_of_it() {
        let long = "Research the history of everything that has ever been, and then some";
        let ensemble = Ensemble { tasks: vec![Draft { name: None, ..draft("a", long) }], ..ensemble() };
        let key = |chars: usize| long.to_uppercase().chars().take(chars).collect::<String>();
        for (chars, is_match) in [(49, false), (50, true), (51, false), (100, true)] {
            let overrides = json!({ "taskOverrides": { key(chars): { "model": "small" } } });
            let (request, _) = request::parse(&overrides).unwrap();
            assert_eq!(compile(&ensemble, request, &catalog()).is_ok(), is_match, "{chars}");
        }
    }

    #[test]
    fn two_keys_for_one_task_and_one_key_for_two_are_refused() {
        let twice = run(json!({ "inputs": { "topic": "x" }, "taskOverrides": { "write": {}, "WRITE": {} } }));
        assert_eq!(
            twice.unwrap_err(),
            ["INVALID_TASK_OVERRIDE taskOverrides.WRITE: another key changes the same task"]
        );
        let same = Ensemble { tasks: vec![draft("a", "Say hi"), draft("b", "Say hi")], ..ensemble() };
        let (request, _) = request::parse(&json!({ "taskOverrides": { "say hi": {} } })).unwrap();
        assert_eq!(compile(&same, request, &catalog()).unwrap_err()[0].code, Code::InvalidTaskOverride);
    }

    #[test]
    fn a_cost_limit_needs_prices_and_nothing_needs_a_model() {
        let mut limited = ensemble();
        limited.limits.cost = 1;
        let (request, _) = request::parse(&json!({ "inputs": { "topic": "x" } })).unwrap();
        let codes: Vec<Code> =
            compile(&limited, request.clone(), &catalog()).unwrap_err().iter().map(|m| m.code).collect();
        assert_eq!(codes, [Code::InvalidModel, Code::InvalidModel]);
        let nothing = compile(&ensemble(), request.clone(), &Catalog::default()).unwrap_err();
        assert_eq!(nothing[0].code, Code::NotConfigured);
        let nobody = compile(&Ensemble::default(), request, &catalog()).unwrap_err();
        assert_eq!(nobody[0].code, Code::NotConfigured);
    }

    #[test]
    fn texts_that_are_too_long_once_filled_in_are_refused_each_and_together() {
        let codes = |tasks: serde_json::Value, length: usize| {
            let request = json!({ "tasks": tasks, "inputs": { "a": "x".repeat(length) } });
            let (request, _) = request::parse(&request).unwrap();
            compile(&Ensemble::default(), request, &catalog()).err().map(|mistakes| mistakes[0].code)
        };
        let too_large = Some(Code::TemplateTooLarge);
        assert_eq!(codes(json!([{ "description": "{a}".repeat(10_000) }]), 1_000), too_large);
        let agent = json!({ "role": "r", "goal": "{a}{a}{a}{a}{a}" });
        assert_eq!(codes(json!([{ "description": "x", "agent": agent }]), 1_000_000), too_large);
        let four = |at: usize| json!({ "name": format!("t{at}"), "description": "{a}{a}{a}{a}" });
        assert_eq!(codes((0..4).map(four).collect(), 1_000_000), None);
        assert_eq!(codes((0..5).map(four).collect(), 1_000_000), too_large);
    }
}
