//! `consort check --explain`: the configured ensemble as a graph, from the first task
//! to the last. Tasks that can be done side by side stand together; an arrow leads to
//! those that come after them.

use std::collections::BTreeMap;

use consort_config::Config;
use consort_core::draft::{Draft, Each, Ensemble, Group};
use consort_core::spec::Workflow;

use crate::show::safe::safe;
use crate::show::words::{counted, cut, one_line};

/// The items and the items at a time of a `for_each` that says neither.
const ITEMS: (u32, u32) = (100, 8);

/// Returns the graph, no line longer than the room where there is one.
pub(super) fn explain(config: &Config, room: Option<usize>) -> String {
    let lines = match &config.template {
        Some(template) => Graph::of(config, &template.ensemble).lines(),
        None => vec!["no ensemble: requests bring tasks of their own".to_owned()],
    };
    let fit = |line: String| room.map_or_else(|| line.clone(), |room| cut(&safe(&line), room));
    lines.into_iter().map(|line| fit(line) + "\n").collect()
}

/// An ensemble whose references are resolved.
struct Graph<'a> {
    config: &'a Config,
    ensemble: &'a Ensemble,
    workflow: Workflow,
    /// The name of each task.
    names: Vec<String>,
    /// The positions of the tasks that each task comes after.
    after: Vec<Vec<usize>>,
}

impl<'a> Graph<'a> {
    fn of(config: &'a Config, ensemble: &'a Ensemble) -> Graph<'a> {
        let name = |(index, task): (usize, &Draft)| task.name.clone().unwrap_or_else(|| format!("task {}", index + 1));
        let names: Vec<String> = ensemble.tasks.iter().enumerate().map(name).collect();
        let reads = ensemble.tasks.iter().any(|task| !task.context.is_empty());
        let usual = if reads { Workflow::Parallel } else { Workflow::Sequential };
        let workflow = ensemble.workflow.unwrap_or(usual);
        let mut graph = Graph { config, ensemble, workflow, names, after: Vec::new() };
        graph.after = ensemble.tasks.iter().enumerate().map(|(index, task)| graph.before(index, task)).collect();
        graph
    }

    /// Returns the positions of the tasks that come before a task.
    fn before(&self, index: usize, task: &Draft) -> Vec<usize> {
        if self.workflow == Workflow::Sequential {
            return index.checked_sub(1).into_iter().collect();
        }
        let group = self.ensemble.groups.iter().find(|group| group.tasks.iter().any(|name| self.is(index, name)));
        let own = task.when.iter().chain(&task.each.list);
        let shared = group.into_iter().flat_map(|group| group.when.iter().chain(&group.each.list));
        let expressions: Vec<&String> = own.chain(shared).collect();
        let named = |other: &usize| {
            let name = self.names.get(*other).map(String::as_str).unwrap_or_default();
            expressions.iter().any(|expression| names_output(expression, name))
        };
        let mut before = self.reads(task);
        before.extend((0..self.names.len()).filter(named));
        // In a round, a task may read what it was in the round before.
        before.retain(|other| *other < index || !self.together(index, *other));
        before.retain(|other| *other != index);
        before.sort_unstable();
        before.dedup();
        before
    }

    /// Returns the positions of the tasks whose outputs a task reads.
    fn reads(&self, task: &Draft) -> Vec<usize> {
        let position = |reference: &String| {
            let name = reference.strip_prefix('$').unwrap_or(reference);
            let named = self.names.iter().position(|known| known == name);
            named.or_else(|| name.parse::<usize>().ok().filter(|index| *index < self.names.len()))
        };
        let group = |reference: &String| {
            let name = reference.strip_prefix('$').unwrap_or(reference);
            let group = self.ensemble.groups.iter().find(|group| group.name == name)?;
            group.tasks.last().and_then(|last| self.names.iter().position(|known| known == last))
        };
        task.context.iter().filter_map(|reference| position(reference).or_else(|| group(reference))).collect()
    }

    fn is(&self, index: usize, name: &str) -> bool {
        self.names.get(index).is_some_and(|known| known == name)
    }

    /// Returns whether two tasks are in one group.
    fn together(&self, one: usize, other: usize) -> bool {
        let holds = |group: &Group, index| group.tasks.iter().any(|name| self.is(index, name));
        self.ensemble.groups.iter().any(|group| holds(group, one) && holds(group, other))
    }

    /// Returns the tasks by their step: a task comes after everything it depends on.
    fn steps(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut step = vec![0_usize; self.names.len()];
        // A longer way than there are tasks would be a circle, which the check refuses.
        for _round in 0..self.names.len() {
            for (index, after) in self.after.iter().enumerate() {
                let earliest = after.iter().filter_map(|other| step.get(*other)).map(|step| step + 1).max();
                let Some(step) = step.get_mut(index) else { continue };
                *step = earliest.unwrap_or_default().min(self.names.len());
            }
        }
        let mut steps: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, step) in step.into_iter().enumerate() {
            steps.entry(step).or_default().push(index);
        }
        steps
    }

    fn lines(&self) -> Vec<String> {
        let order = match self.workflow {
            Workflow::Sequential => "one task after the other",
            Workflow::Parallel => "side by side where nothing is read",
            Workflow::Hierarchical => "a manager hands the tasks to their agents",
        };
        let tasks = counted(self.names.len() as u64, "task");
        let mut lines = vec![format!("{}: {tasks}, {order}", one_line(&self.ensemble.name))];
        let inputs = self.ensemble.inputs.iter().map(|(name, value)| one_line(&format!("{name}={value}")));
        let inputs: Vec<String> = inputs.collect();
        if !inputs.is_empty() {
            lines.push(format!("inputs, unless a run says otherwise: {}", inputs.join(" ")));
        }
        let steps = self.steps();
        let last = steps.len().saturating_sub(1);
        for (position, tasks) in steps.into_values().enumerate() {
            lines.push(if position == 0 { String::new() } else { "  ▼".to_owned() });
            let margin = if position == last { "  " } else { "  │" };
            for index in tasks {
                let Some((task, name)) = self.ensemble.tasks.get(index).zip(self.names.get(index)) else { continue };
                lines.push(format!("  ● {}", one_line(name)));
                lines.extend(self.facts(task).into_iter().map(|fact| format!("{margin:<6}{fact}")));
            }
        }
        for group in &self.ensemble.groups {
            lines.push(String::new());
            lines.push(format!("  group {}: {}", one_line(&group.name), group.tasks.join(", ")));
            lines.extend(group_facts(group).into_iter().map(|fact| format!("      {fact}")));
        }
        lines
    }

    /// Returns the lines about a task.
    fn facts(&self, task: &Draft) -> Vec<String> {
        let mut facts = vec![self.asks(task)];
        let reads: Vec<&str> =
            self.reads(task).into_iter().filter_map(|index| self.names.get(index)).map(String::as_str).collect();
        facts.extend((!reads.is_empty()).then(|| format!("reads {}", reads.join(", "))));
        facts.extend(task.when.as_ref().map(|when| format!("only when {}", one_line(when))));
        facts.extend(each(&task.each));
        facts.extend((!task.tools.is_empty()).then(|| format!("calls {}", task.tools.join(", "))));
        let guards = [("checked before by", &task.input_guardrails), ("output checked by", &task.output_guardrails)];
        facts.extend(
            guards
                .iter()
                .filter(|(_, names)| !names.is_empty())
                .map(|(word, names)| format!("{word} {}", names.join(", "))),
        );
        facts.extend((!task.memory.is_empty()).then(|| format!("remembers as {}", task.memory.join(", "))));
        facts.extend(task.output_schema.as_ref().map(|_| "gives data, by its schema".to_owned()));
        facts.extend(task.review_before.then(|| "a person is asked before it begins".to_owned()));
        facts
    }

    /// Returns the model, tool or workflow that does a task.
    fn asks(&self, task: &Draft) -> String {
        if let Some(handler) = &task.handler {
            return format!("done by the tool {handler}");
        }
        if let Some(nested) = &task.nested {
            return format!("done by the workflow {}", one_line(&nested.workflow));
        }
        let named = task.model.as_ref().or(self.ensemble.model.as_ref());
        let first = || self.config.models.first().map(|model| &model.info.alias);
        let Some(alias) = named.or_else(first) else { return "no model is named in this file".to_owned() };
        let model = self.config.models.iter().find(|model| model.info.alias == *alias);
        let model = model.map(|model| format!(" ({} {})", model.info.provider, model.info.model)).unwrap_or_default();
        format!("asks {alias}{model}")
    }
}

fn each(each: &Each) -> Option<String> {
    let items = each.max_items.unwrap_or(ITEMS.0);
    let parallel = each.max_parallel.unwrap_or(ITEMS.1);
    let list = each.list.as_ref()?;
    Some(format!("once for each of {}, at most {items} items, {parallel} at a time", one_line(list)))
}

fn group_facts(group: &Group) -> Vec<String> {
    let mut facts: Vec<String> = group.when.iter().map(|when| format!("only when {}", one_line(when))).collect();
    facts.extend(each(&group.each));
    let rounds =
        group.max_rounds.map(|rounds| format!(", at most {}", counted(rounds.into(), "round"))).unwrap_or_default();
    facts.extend(group.repeat_until.as_ref().map(|until| format!("again until {}{rounds}", one_line(until))));
    facts
}

/// Returns whether an expression names the output of a task.
fn names_output(expression: &str, task: &str) -> bool {
    let mut after = expression.match_indices("outputs").filter_map(|(at, word)| expression.get(at + word.len()..));
    after.any(|rest| {
        let plain = rest.strip_prefix('.').and_then(|rest| rest.strip_prefix(task));
        let ends = plain.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'));
        ends || rest.starts_with(&format!("['{task}']")) || rest.starts_with(&format!("[\"{task}\"]"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("consort.toml");
        std::fs::write(&path, text).unwrap();
        Config::load(&path, &|_| None).unwrap()
    }

    #[test]
    fn what_reads_what_is_a_graph_from_the_first_task_to_the_last() {
        let config = config(
            "[models.a]\nprovider = 'demo'\nmodel = 'm'\n[models.b]\nprovider = 'demo'\nmodel = 'n'\n\
             [ensemble]\nname = 'tour'\nmodel = 'b'\ninputs = { places = ['x'] }\n\
             [[ensemble.task]]\nname = 'plan'\ndescription = 'Plan'\ntools = ['calculator', 'json']\n\
             [[ensemble.task]]\nname = 'visit'\ndescription = 'See {item}'\nfor_each = 'inputs.places'\nmodel = 'a'\n\
             [[ensemble.task]]\nname = 'story'\ndescription = 'Tell'\ncontext = ['$plan', '$visit']\n\
             when = \"outputs.plan != ''\"\n\
             [[ensemble.task]]\nname = 'judge'\ndescription = 'Judge'\ncontext = ['$story']\n\
             [[ensemble.group]]\nname = 'better'\ntasks = ['story', 'judge']\nrepeat_until = 'round == 1'\nmax_rounds = 3\n",
        );
        let expected = "\
tour: 4 tasks, side by side where nothing is read
inputs, unless a run says otherwise: places=[\"x\"]

  ● plan
  │   asks b (demo n)
  │   calls calculator, json
  ● visit
  │   asks a (demo m)
  │   once for each of inputs.places, at most 100 items, 8 at a time
  ▼
  ● story
  │   asks b (demo n)
  │   reads plan, visit
  │   only when outputs.plan != ''
  ▼
  ● judge
      asks b (demo n)
      reads story

  group better: story, judge
      again until round == 1, at most 3 rounds
";
        assert_eq!(explain(&config, None), expected);
        for room in [40, 80, 120] {
            let text = explain(&config, Some(room));
            assert!(text.lines().all(|line| console::measure_text_width(line) <= room), "{room}: {text}");
        }
    }

    #[test]
    fn an_expression_names_a_task_by_its_whole_name() {
        for (expression, expected) in [
            ("outputs.plan.kind == 'x'", true),
            ("size(outputs['plan']) > 1", true),
            ("outputs[\"plan\"] == ''", true),
            ("outputs.planet == ''", false),
            ("inputs.plan == ''", false),
        ] {
            assert_eq!(names_output(expression, "plan"), expected, "{expression}");
        }
    }

    #[test]
    fn a_file_without_an_ensemble_says_so() {
        let config = config("[models.a]\nprovider = 'demo'\nmodel = 'm'\n");
        assert_eq!(explain(&config, None), "no ensemble: requests bring tasks of their own\n");
    }
}
