//! `consort workflows show`: the details of a saved workflow.

use crate::commands::call::Printed;
use crate::show::record::{Page, Record};
use crate::show::table::{Column, Table};
use crate::show::words::{ago, grouped};

/// Returns the response in words: a head, the tasks, the groups.
pub(super) fn render(workflow: Record<'_>, page: &Page) -> Printed {
    let parts = [head(workflow, page), tasks(workflow, page), groups(workflow, page)];
    Printed::out(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n"))
}

fn head(workflow: Record<'_>, page: &Page) -> String {
    let changed = workflow.since("updatedAt", page).map(|past| format!(", saved {}", ago(past))).unwrap_or_default();
    let by = Some(workflow.line("updatedBy")).filter(|by| !by.is_empty()).map(|by| format!(" by {by}"));
    let version = workflow.count("version").map(grouped).unwrap_or_default();
    let lines = [
        ("workflow", workflow.line("id")),
        ("name", workflow.line("name")),
        ("about", workflow.line("description")),
        ("version", format!("{version}{changed}{}", by.unwrap_or_default())),
        ("inputs", workflow.pairs("inputs")),
        ("options", workflow.pairs("options")),
        ("model", workflow.pairs("modelOptions")),
    ];
    let said = lines.into_iter().filter(|(_, value)| !value.is_empty());
    said.map(|(name, value)| format!("{name:<9} {value}\n")).collect()
}

fn tasks(workflow: Record<'_>, page: &Page) -> String {
    let mut table = Table::new(&[("TASK", Column::Name), ("HOW", Column::Text), ("WHAT", Column::Text)]);
    for task in workflow.list("tasks") {
        let how = [
            ("reads ", task.joined("context").replace('$', "")),
            ("when ", task.line("when")),
            ("for each of ", task.line("forEach")),
            ("asks ", task.line("model")),
            ("done by the workflow ", task.line("workflow")),
            ("calls ", task.joined("tools")),
            ("review ", task.line("review")),
        ];
        table.row([task.line("name"), facts(how), task.line("description")]);
    }
    table.text(page.room)
}

fn groups(workflow: Record<'_>, page: &Page) -> String {
    let mut table = Table::new(&[("GROUP", Column::Name), ("TASKS", Column::Text), ("HOW", Column::Text)]);
    for group in workflow.list("groups") {
        let rounds = group.count("maxRounds").map(grouped).unwrap_or_default();
        let how = [
            ("when ", group.line("when")),
            ("for each of ", group.line("forEach")),
            ("repeated until ", group.line("repeatUntil")),
            ("rounds at most: ", rounds),
        ];
        table.row([group.line("name"), group.joined("tasks"), facts(how)]);
    }
    if workflow.list("groups").next().is_some() { table.text(page.room) } else { String::new() }
}

/// Returns the values that are not empty, each after its word.
fn facts<const N: usize>(facts: [(&str, String); N]) -> String {
    let said = facts.into_iter().filter(|(_, value)| !value.is_empty());
    said.map(|(word, value)| format!("{word}{value}")).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_workflow_reads_from_its_name_to_its_groups() {
        let answer = json!({ "id": "workflow-1", "name": "Hive\nreport", "version": 3, "updatedBy": "local",
            "updatedAt": "2026-03-15T10:29:48.000Z", "inputs": { "topic": "bees", "n": 3 },
            "tasks": [
                { "name": "draft", "description": "Write about {topic}", "model": "sonnet", "tools": ["calculator"] },
                { "name": "critique", "description": "Judge it", "context": ["$draft"], "when": "inputs.n > 2" } ],
            "groups": [{ "name": "loop", "tasks": ["draft", "critique"], "repeatUntil": "outputs.critique.ok",
                "maxRounds": 5 }] });
        let expected = "\
workflow  workflow-1
name      Hive report
version   3, saved 12s ago by local
inputs    n=3 topic=bees

TASK      HOW                             WHAT
draft     asks sonnet; calls calculator   Write about {topic}
critique  reads draft; when inputs.n > 2  Judge it

GROUP  TASKS            HOW
loop   draft, critique  repeated until outputs.critique.ok; rounds at most: 5
";
        let page = |room| Page { now: 1_773_570_600_000, room };
        assert_eq!(render(Record(&answer), &page(None)).out.replace("topic=bees n=3", "n=3 topic=bees"), expected);
        for room in [40, 80, 120] {
            let text = render(Record(&answer), &page(Some(room))).out;
            assert!(text.lines().all(|line| console::measure_text_width(line) <= room), "{room}: {text}");
        }
    }
}
