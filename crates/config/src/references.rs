//! References between sections of the file: aliases, tools, tasks and servers that
//! must exist, names that must differ, tasks that must have an order.

use std::collections::HashSet;
use std::sync::Arc;

use consort_core::attachments::AttachmentSource;
use consort_core::catalog::{ModelInfo, Price, SavedWorkflows, ToolInfo};
use consort_core::compile::{Catalog, compile};
use consort_core::draft::Request;
use consort_core::dynamic::{Dynamic, NETWORK};
use consort_core::mistake::{Code, Mistake};
use consort_core::model_options::ModelOption;
use consort_core::unknown::alike;
use consort_runtime::hooks::verify::Verify;
use consort_runtime::schedules::Configured;
use consort_tools::RUN_COMMAND;
use consort_tools::attachments::is_picture;
use consort_tools::extract::MediaType;

use super::Config;
use super::ensemble::{Share, ShareKind, Template};
use super::models::Model;
use super::notes::Notes;
use super::tools::{Builtin, is_given, key_of};
use super::typed::inside;

/// The characters from which another name is suggested for one.
const SUGGESTED_CHARS: usize = 3;

/// The keys of the file for fields of a request that are written otherwise.
const KEYS: [(&str, &str); 6] = [
    ("forEach", "for_each"),
    ("maxItems", "max_items"),
    ("maxParallel", "max_parallel"),
    ("repeatUntil", "repeat_until"),
    ("maxRounds", "max_rounds"),
    ("onMaxRounds", "on_max_rounds"),
];

/// Notes every reference to something that does not exist.
pub(super) fn check(config: &Config, notes: &mut Notes) {
    let mut check = Check { config, notes };
    check.keys();
    check.models();
    check.pipelines();
    check.chat();
    check.schedules();
    check.webhooks();
    check.hooks();
    if let Some(template) = &config.template {
        check.tasks(template);
        check.shares(template);
        check.order(template);
    }
}

pub(super) struct Check<'a> {
    pub(super) config: &'a Config,
    pub(super) notes: &'a mut Notes,
}

impl<'a> Check<'a> {
    fn keys(&mut self) {
        let names = self.config.server.api_keys.iter().map(|key| key.name.as_str());
        for index in repeated(names) {
            self.notes.mistake(format!("server.api_key[{index}].name"), "another key has this name");
        }
        if self.config.server.is_open() {
            let message = "other machines could connect: add an [[server.api_key]] or bind to 127.0.0.1";
            self.notes.mistake("server.host", message);
        }
    }

    fn models(&mut self) {
        for model in &self.config.models {
            let place = inside("models", &model.info.alias);
            for (index, alias) in model.info.fallback.iter().enumerate() {
                let place = format!("{place}.fallback[{index}]");
                if *alias == model.info.alias {
                    self.notes.mistake(place, "a model cannot fall back to itself");
                } else {
                    self.alias(place, alias);
                }
            }
        }
    }

    fn chat(&mut self) {
        if let Some(alias) = &self.config.chat.rules.model {
            self.alias("chat.model".to_owned(), alias);
        }
        if let Some(alias) = &self.config.openai.aux_model {
            self.alias("openai.aux_model".to_owned(), alias);
        }
        let servers: Vec<&str> = self.config.mcp.iter().map(|server| server.name.as_str()).collect();
        for (index, name) in self.config.chat.mcp.iter().enumerate() {
            if !servers.contains(&name.as_str()) {
                self.unknown(format!("chat.mcp[{index}]"), "MCP server", name, &servers);
            }
        }
    }

    fn hooks(&mut self) {
        for index in repeated(self.config.hooks.iter().map(|hook| hook.name.as_str())) {
            self.notes.mistake(format!("hook[{index}].name"), "another hook has this name");
        }
        let is_public = self.config.server.is_public();
        let is_empty = self.config.template.is_none();
        for (index, hook) in self.config.hooks.iter().enumerate() {
            if hook.verify == Verify::None && is_public {
                let message = "must not be none where other machines can connect: anybody could begin runs";
                self.notes.mistake(format!("hook[{index}].verify"), message);
            }
            if hook.workflow.is_none() && is_empty {
                let message = "is required where there is no [ensemble]: the id or the name of a saved workflow";
                self.notes.mistake(format!("hook[{index}].workflow"), message);
            }
        }
    }

    fn webhooks(&mut self) {
        for index in repeated(self.config.webhooks.iter().map(|webhook| webhook.name.as_str())) {
            self.notes.mistake(format!("webhook[{index}].name"), "another webhook has this name");
        }
    }

    fn schedules(&mut self) {
        let names = self.config.schedules.iter().map(|schedule| schedule.definition.name.as_str());
        for index in repeated(names) {
            self.notes.mistake(format!("schedule[{index}].name"), "another schedule has this name");
        }
        let is_empty = self.config.template.is_none();
        let unnamed = |schedule: &&Configured| schedule.definition.workflow.is_none() && is_empty;
        let bare: Vec<usize> =
            self.config.schedules.iter().enumerate().filter(|(_, one)| unnamed(one)).map(|(index, _)| index).collect();
        for index in bare {
            let message = "is required where there is no [ensemble]: the id or the name of a saved workflow";
            self.notes.mistake(format!("schedule[{index}].workflow"), message);
        }
    }

    fn tasks(&mut self, template: &Template) {
        if let Some(alias) = &template.ensemble.model {
            self.alias("ensemble.model".to_owned(), alias);
        }
        for (index, task) in template.ensemble.tasks.iter().enumerate() {
            let place = format!("ensemble.task[{index}]");
            if let Some(alias) = &task.model {
                self.alias(format!("{place}.model"), alias);
            }
            if let Some(name) = &task.handler {
                self.tool(format!("{place}.handler"), name);
            }
            let alias = task.model.as_ref().or(template.ensemble.model.as_ref());
            self.callable(&place, alias, &task.tools);
            self.seen(&place, alias, &task.attachments);
            let lists = [
                ("tools", &task.tools),
                ("input_guardrails", &task.input_guardrails),
                ("output_guardrails", &task.output_guardrails),
            ];
            for (key, names) in lists {
                for (index, name) in names.iter().enumerate() {
                    self.tool(format!("{place}.{key}[{index}]"), name);
                }
            }
        }
    }

    /// Checks that the model of a task that lists tools can call them.
    fn callable(&mut self, place: &str, alias: Option<&String>, tools: &[String]) {
        if let Some(model) = self.model(alias).filter(|model| !model.info.tools && !tools.is_empty()) {
            let alias = &model.info.alias;
            let message = format!("the model `{alias}` cannot call tools: it has `tools = false`");
            self.notes.mistake(format!("{place}.tools"), message);
        }
    }

    /// Checks that the model of a task with pictures can see them.
    fn seen(&mut self, place: &str, alias: Option<&String>, attachments: &[AttachmentSource]) {
        let is_picture = |source: &AttachmentSource| match source {
            AttachmentSource::File(path) => is_picture(&MediaType::of_file(path).essence),
            AttachmentSource::Id(_) => false,
        };
        let Some(index) = attachments.iter().position(is_picture) else { return };
        if let Some(model) = self.model(alias).filter(|model| !model.info.vision) {
            let message = format!("the model `{}` cannot see pictures: it has no `vision = true`", model.info.alias);
            self.notes.mistake(format!("{place}.attachments[{index}]"), message);
        }
    }

    /// Returns the model that is asked first: of this name, or the first.
    fn model(&self, alias: Option<&String>) -> Option<&'a Model> {
        let models = &self.config.models;
        match alias {
            Some(alias) => models.iter().find(|model| model.info.alias == *alias),
            None => models.first(),
        }
    }

    fn shares(&mut self, template: &Template) {
        for index in repeated(template.shares.iter().map(|share| share.name.as_str())) {
            self.notes.mistake(format!("ensemble.share[{index}].name"), "something else is shared under this name");
        }
        for (index, share) in template.shares.iter().enumerate() {
            let place = format!("ensemble.share[{index}]");
            if !self.notes.faulty(&format!("{place}.kind")) && !share.target.is_empty() {
                self.target(&place, share, template);
            }
        }
    }

    fn target(&mut self, place: &str, share: &Share, template: &Template) {
        let named = if self.notes.has(&format!("{place}.target")) { "target" } else { "name" };
        let place = format!("{place}.{named}");
        match share.kind {
            ShareKind::Tool => self.tool(place, &share.target),
            // Workflows are saved while a server runs: one that is missing is not listed.
            ShareKind::Workflow => {}
            ShareKind::Task => {
                let tasks: Vec<&str> = template.ensemble.tasks.iter().filter_map(|task| task.name.as_deref()).collect();
                if !tasks.contains(&share.target.as_str()) {
                    self.unknown(place, "task", &share.target, &tasks);
                }
            }
        }
    }

    /// Notes the mistakes that the compiler of runs finds; values for templates may come
    /// with a run.
    fn order(&mut self, template: &Template) {
        if template.ensemble.tasks.is_empty() {
            return self.notes.found([("ensemble.task".to_owned(), "an ensemble needs at least one task".to_owned())]);
        }
        let catalog = self.catalog(template);
        let Err(mistakes) = compile(&template.ensemble, Request::default(), &catalog) else { return };
        let mistakes = mistakes.into_iter().filter(|mistake| mistake.code != Code::MissingInput);
        let mistakes: Vec<_> = mistakes.map(|mistake| (self.place(&mistake), mistake.message)).collect();
        self.notes.found(mistakes);
    }

    /// Returns everything that tasks may name, including names that exist only at run time.
    fn catalog(&self, template: &Template) -> Catalog {
        let mut models: Vec<_> = self.config.models.iter().map(|model| model.info.clone()).collect();
        if models.is_empty() {
            // An empty catalog is allowed; it only means that nothing can run yet.
            let price = Some(Price { input: 0, output: 0, cached_input: 0 });
            models.push(Arc::new(ModelInfo { price, ..ModelInfo::new("", "") }));
        }
        let named = template.ensemble.tasks.iter().flat_map(|task| {
            task.tools.iter().chain(&task.handler).chain(&task.input_guardrails).chain(&task.output_guardrails)
        });
        let tools = named.map(|name| Arc::new(ToolInfo::new(name, ""))).collect();
        Catalog { models, tools, workflows: SavedWorkflows::Later, ..Catalog::default() }
    }

    /// Returns the key of the file for a position in a run.
    fn place(&self, mistake: &Mistake) -> String {
        let (list, rest) = mistake.place.split_once('[').unwrap_or((&mistake.place, ""));
        let place = match list {
            "tasks" => format!("ensemble.task[{rest}"),
            "groups" if !rest.is_empty() => format!("ensemble.group[{rest}"),
            "groups" => "ensemble.group".to_owned(),
            _ => inside("ensemble", &mistake.place),
        };
        if let Some((before, field)) = place.rsplit_once('.')
            && let Some((_, key)) = KEYS.iter().find(|(name, _)| *name == field)
        {
            return format!("{before}.{key}");
        }
        if let Some((task, field)) = place.split_once(".modelOptions.") {
            let options =
                [ModelOption::Temperature, ModelOption::TopP, ModelOption::Seed, ModelOption::ReasoningEffort];
            let key = options.into_iter().find(|option| option.field() == field).map_or(field, |option| option.key());
            return format!("{task}.options.{key}");
        }
        match place.strip_suffix(".outputSchema") {
            Some(task) if self.notes.has(&format!("{task}.output_schema_file")) => format!("{task}.output_schema_file"),
            Some(task) => format!("{task}.output_schema"),
            None => place,
        }
    }

    fn alias(&mut self, place: String, alias: &str) {
        let known: Vec<&str> = self.config.models.iter().map(|model| model.info.alias.as_str()).collect();
        if !known.contains(&alias) {
            self.unknown(place, "model", alias, &known);
        }
    }

    /// Checks that a tool exists, or may exist once its MCP server or peer is connected.
    pub(super) fn tool(&mut self, place: String, name: &str) {
        let known: Vec<&str> = self.config.tools.names().collect();
        if known.contains(&name) || is_given(name) {
            return;
        }
        if let Some(dynamic) = Dynamic::parse(name) {
            return self.looked_up(place, name, dynamic);
        }
        if self.config.tools.openapi.iter().any(|api| api.may_have(name)) {
            return;
        }
        if name == RUN_COMMAND {
            return self.notes.mistake(place, format!("`{name}` needs `tools.run_command`"));
        }
        match Builtin::named(name).map(key_of) {
            Some(Some(key)) if !self.notes.has(key) => self.notes.mistake(place, format!("`{name}` needs `{key}`")),
            Some(_) => self.notes.mistake(place, format!("`{name}` is not in `tools.builtin`")),
            None if self.config.mcp.is_empty() => self.unknown(place, "tool", name, &known),
            None => {}
        }
    }

    /// Checks a name that is resolved when its task begins: only its provider is known now.
    fn looked_up(&mut self, place: String, name: &str, dynamic: Dynamic<'_>) {
        let servers = self.config.mcp.iter().map(|server| server.name.as_str());
        let providers: Vec<&str> = std::iter::once(NETWORK).chain(servers).collect();
        if dynamic.provider().is_some_and(|provider| !providers.contains(&provider)) {
            let groups: Vec<String> = providers.iter().map(|provider| format!("{provider}:*")).collect();
            self.unknown(place, "tools", name, &groups.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }

    pub(super) fn unknown(&mut self, place: String, what: &str, name: &str, known: &[&str]) {
        // Short names are alike by chance.
        let meant = alike(name, known.iter().copied()).filter(|_| name.chars().count() >= SUGGESTED_CHARS);
        let allowed = match (known, meant) {
            ([], _) => "none is named in this file".to_owned(),
            (known, None) => format!("allowed are {}", known.join(", ")),
            (known, Some(meant)) => format!("did you mean `{meant}`? Allowed are {}", known.join(", ")),
        };
        self.notes.found([(place, format!("unknown {what} `{name}`; {allowed}"))]);
    }
}

/// Returns the positions of names that also occur earlier in the list.
fn repeated<'a>(names: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let mut seen = HashSet::new();
    let named = names.enumerate().filter(|(_, name)| !name.is_empty());
    named.filter(|(_, name)| !seen.insert(*name)).map(|(index, _)| index).collect()
}
