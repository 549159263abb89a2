//! `[tools.pipeline.*]`: tools made of others, one after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::dynamic::is_dynamic;
use consort_core::own_tool::OwnTool;
use consort_core::pipeline::{Link, chain};
use consort_tools::Needs;
use serde_json::{Map, Value};

use super::fields::Fields;
use super::openapi::Api;
use super::references::Check;
use super::tools::{Builtin, name_of_tool};
use super::typed::inside;
use super::values::{object, text};

/// A tool made of others.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// Its description, for the model.
    pub description: String,
    /// The tools, in their order.
    pub steps: Vec<Step>,
}

/// One tool of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its name.
    pub tool: String,
    /// Its fixed arguments in every call.
    pub args: Map<String, Value>,
}

/// Reads one `[tools.pipeline.*]`.
pub(super) fn read(name: &str, fields: &mut Fields<'_>) -> Pipeline {
    name_of_tool(name, fields);
    Pipeline {
        name: name.to_owned(),
        description: fields.need("description", text).unwrap_or_default(),
        steps: fields.need_tables_or_text("steps", "tool", |fields| Step {
            tool: fields.need("tool", text).unwrap_or_default(),
            args: fields.read("args", object).and_then(|args| args.as_object().cloned()).unwrap_or_default(),
        }),
    }
}

/// Returns the pipelines in an order in which each comes after those it uses. Those
/// that use themselves come last.
pub(super) fn sorted(mut pipelines: Vec<Pipeline>) -> Vec<Pipeline> {
    let mut sorted = Vec::with_capacity(pipelines.len());
    loop {
        let open: BTreeSet<String> = pipelines.iter().map(|pipeline| pipeline.name.clone()).collect();
        let is_open = |step: &Step| open.contains(&step.tool);
        let (ready, rest): (Vec<_>, Vec<_>) =
            pipelines.into_iter().partition(|pipeline| !pipeline.steps.iter().any(is_open));
        let is_done = ready.is_empty();
        sorted.extend(ready);
        if is_done {
            sorted.extend(rest);
            return sorted;
        }
        pipelines = rest;
    }
}

/// The pipelines that were read.
#[derive(Default)]
struct Known<'a> {
    tools: BTreeMap<&'a str, Arc<ToolInfo>>,
    /// Pipelines with mistakes; those that use them are not checked.
    faulty: BTreeSet<&'a str>,
}

impl<'a> Check<'a> {
    /// Checks that every step is a tool of this file, and that the steps can be chained.
    pub(super) fn pipelines(&mut self) {
        let tools = &self.config.tools;
        let performed = tools.builtin.iter().filter(|builtin| builtin.needs() != Needs::Run);
        let builtin = performed.map(|builtin| (builtin.name(), Arc::new(builtin.info())));
        let http = tools.http.iter().map(|tool| (tool.info.name.as_str(), tool.info.clone()));
        let operations = tools.openapi.iter().flat_map(Api::known);
        let operations = operations.map(|tool| (tool.info.name.as_str(), tool.info.clone()));
        let mut known = Known { tools: builtin.chain(http).chain(operations).collect(), faulty: BTreeSet::new() };
        for pipeline in &tools.pipelines {
            let place = inside("tools.pipeline", &pipeline.name);
            if known.tools.contains_key(pipeline.name.as_str()) {
                self.notes.mistake(place.as_str(), "another tool has this name");
                continue;
            }
            match self.links(&place, pipeline, &known).map(|links| chain(&pipeline.name, "", &links)) {
                Some(Ok(chain)) => _ = known.tools.insert(&pipeline.name, Arc::new(chain.info)),
                Some(Err(error)) => {
                    self.notes.found([(format!("{place}.{}", error.place()), error.to_string())]);
                    known.faulty.insert(&pipeline.name);
                }
                None => _ = known.faulty.insert(&pipeline.name),
            }
        }
    }

    /// Returns the tools of a pipeline; `None` when one of them is unavailable.
    fn links(&mut self, place: &str, pipeline: &'a Pipeline, known: &Known<'a>) -> Option<Vec<Link>> {
        // A missing key has been reported.
        let mut links = self.notes.has(&format!("{place}.steps")).then(Vec::new);
        for (index, step) in pipeline.steps.iter().enumerate() {
            let link =
                known.tools.get(step.tool.as_str()).map(|tool| Link { tool: tool.clone(), args: step.args.clone() });
            if link.is_none() && !step.tool.is_empty() && !known.faulty.contains(step.tool.as_str()) {
                self.no_step(format!("{place}.steps[{index}]"), (&pipeline.name, &step.tool), known);
            }
            links = links.zip(link).map(|(mut links, link)| {
                links.push(link);
                links
            });
        }
        links
    }

    /// Notes the reason why a name cannot be a step.
    fn no_step(&mut self, place: String, (pipeline, name): (&str, &str), known: &Known<'a>) {
        let pipelines = &self.config.tools.pipelines;
        if pipelines.iter().any(|pipeline| pipeline.name == name) {
            // Where there is no way back, the cycle is further on.
            if let Some(way) = way(pipelines, name, pipeline, &mut BTreeSet::new()).filter(|_| name != pipeline) {
                let message = format!("a pipeline cannot be made of itself: {pipeline} → {}", way.join(" → "));
                self.notes.mistake(place, message);
            } else if name == pipeline {
                self.notes.mistake(place, "a pipeline cannot be made of itself");
            }
            return;
        }
        if OwnTool::parse(name).is_some() {
            return self.notes.mistake(place, format!("`{name}` is done by the run itself and cannot be a step"));
        }
        if Builtin::named(name).is_some() {
            return self.tool(place, name);
        }
        let steps: Vec<&str> = known.tools.keys().copied().collect();
        if self.config.tools.openapi.iter().any(|api| api.may_have(name)) {
            let why = "tools of a document that is fetched are not known before: keep it in a file";
            return self.notes.mistake(place, format!("`{name}` cannot be a step; {why}"));
        }
        if is_dynamic(name) || !self.config.mcp.is_empty() {
            let why = "tools of MCP servers and of other ensembles come and go, and cannot be steps";
            return self.notes.mistake(place, format!("`{name}` is not a tool of this file; {why}"));
        }
        self.unknown(place, "tool", name, &steps);
    }
}

/// Returns the path from one pipeline to another, through their steps.
fn way<'a>(pipelines: &'a [Pipeline], from: &'a str, to: &str, seen: &mut BTreeSet<&'a str>) -> Option<Vec<&'a str>> {
    let pipeline = pipelines.iter().find(|pipeline| pipeline.name == from).filter(|_| seen.insert(from))?;
    let further = pipeline.steps.iter().find_map(|step| match step.tool == to {
        true => Some(vec![step.tool.as_str()]),
        false => way(pipelines, &step.tool, to, seen),
    });
    further.map(|further| [vec![from], further].concat())
}
