//! Prompts and the demo's reactions: the calls, in order, and parts
//! of the final answer. The calculator and the JSON queries are real.

use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::delegation;
use consort_core::id::Id;
use consort_core::model_options::ModelOptions;
use consort_core::own_tool::OwnTool;
use consort_core::schema::Schema;
use consort_tools::{Account, Answer, Calculator, Invocation, Json, Tool};
use serde_json::{Value, from_str, json};

use super::answer::NOTICE;
use super::*;
use crate::conformance;

const ALL: &[&str] =
    &["calculator", "read_file", "list_files", "datetime", "json", "http_fetch", "human_input", "append_line"];
const TEA: &str = "## Context from Previous Tasks\n### Researcher: Research tea\n---\n# Tea\n\n1. Green. It is light.\n2. Black\n---\n\n\
                   ### Calculator: Add\n---\n- 1 + 1 = **2**\n---\n\n";

/// A prompt, the tools offered, the calls expected and parts of the answer.
type Row = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

const TOOLS: &[Row] = &[
    ("What is 42 * 17?", ALL, &[r#"calculator {"input":"42 * 17"}"#], &["42 * 17 = **714**"]),
    (
        "Add 1+2 and 3+4",
        ALL,
        &[r#"calculator {"input":"1+2"}"#, r#"calculator {"input":"3+4"}"#],
        &["**3**\n- 3+4 = **7**"],
    ),
    ("Take 15% of 80", ALL, &[r#"calculator {"input":"15% of 80"}"#], &["15% of 80 = **12**"]),
    (
        "Divide 1 / 0, please",
        ALL,
        &[r#"calculator {"input":"1 / 0"}"#],
        &["`calculator` failed for \"1 / 0\"", "division by zero"],
    ),
    ("What is 42 * 17?", &[], &[], &["no rule of mine fits"]),
    (
        "Read notes/plan.md",
        ALL,
        &[r#"read_file {"path":"notes/plan.md"}"#],
        &["`notes/plan.md` says:\n\n```\n     1\tbuy milk\n     2\tbuy tea\n```"],
    ),
    ("Compare a.md and b.md", ALL, &[r#"read_file {"path":"a.md"}"#, r#"read_file {"path":"b.md"}"#], &["`b.md` says"]),
    ("Read gone.md", ALL, &[r#"read_file {"path":"gone.md"}"#], &["`read_file` failed for \"gone.md\""]),
    (
        "Write \"Buy milk\" to list.md",
        &["read_file", "write_file"],
        &[r#"write_file {"path":"list.md","content":"Buy milk\n"}"#],
        &["- created `list.md`"],
    ),
    ("Which files are there?", ALL, &["list_files {}"], &["`list_files` answered", "plan.md"]),
    ("Write a poem to poem.md", ALL, &[], &["# Poem"]),
    ("What time is it?", ALL, &["datetime {}"], &["It is 2026-01-31."]),
    ("What time is it in Tokyo?", ALL, &[r#"datetime {"timezone":"Asia/Tokyo"}"#], &["In Asia/Tokyo it is"]),
    ("What day is it in Europe/Berlin?", ALL, &[r#"datetime {"timezone":"Europe/Berlin"}"#], &["In Europe/Berlin"]),
    (r#"Which name has {"name":"Ada"}?"#, ALL, &[r#"json {"json":{"name":"Ada"},"query":".name"}"#], &["Ada"]),
    (
        r#"Each price of [{"price":2},{"price":3}]"#,
        ALL,
        &[r#"json {"json":[{"price":2},{"price":3}],"query":"map(.price)"}"#],
        &["```\n[2,3]\n```"],
    ),
    ("How many are there: [1, 2, 3]?", ALL, &[r#"json {"json":[1,2,3],"query":"length"}"#], &["```\n3\n```"]),
    (
        r#"Run `.a | keys` on {"a":{"b":1}}"#,
        ALL,
        &[r#"json {"json":{"a":{"b":1}},"query":".a | keys"}"#],
        &["`.a | keys` gives"],
    ),
    (
        "Fetch https://example.org/a.",
        ALL,
        &[r#"http_fetch {"url":"https://example.org/a"}"#],
        &["`https://example.org/a` says", "A page"],
    ),
    (
        "Ask a person which colour (red or blue) it is. Then stop.",
        ALL,
        &[r#"human_input {"options":["red","blue"],"question":"Which colour (red or blue) it is?"}"#],
        &["A person said: blue"],
    ),
    ("Ask me for a name", ALL, &[r#"human_input {"question":"For a name?"}"#], &["A person said: blue"]),
    ("Use append_line with \"milk\"", ALL, &[r#"append_line {"input":"milk"}"#], &["`append_line` answered"]),
    (
        "Do both:\n1. Add 1+1\n2. Name a colour",
        &["calculator", "run_subtask"],
        &[
            r#"run_subtask {"instructions":"Add 1+1\n\nThis is a part of: Do both","title":"Add 1+1"}"#,
            r#"run_subtask {"instructions":"Name a colour\n\nThis is a part of: Do both","title":"Name a colour"}"#,
        ],
        &["## Add 1+1\n\npart done", "## Name a colour"],
    ),
    (
        "Write about tea, and tell me what 12/5 is",
        &["calculator", "run_subtask"],
        &[
            r#"run_subtask {"instructions":"Write about tea","title":"Write about tea"}"#,
            r#"run_subtask {"instructions":"tell me what 12/5 is","title":"tell me what 12/5 is"}"#,
        ],
        &["## Write about tea\n\npart done"],
    ),
    (
        "Please (1) sing, (2) dance",
        &["run_subtask"],
        &[
            r#"run_subtask {"instructions":"sing\n\nThis is a part of: Please","title":"sing"}"#,
            r#"run_subtask {"instructions":"dance\n\nThis is a part of: Please","title":"dance"}"#,
        ],
        &["## Sing"],
    ),
    (
        "Get these tasks done:\n1. Boil rice (expected: rice)\n2. Set tables (expected: order)\n\nYour team:\n- Cook: Feed people\n- Waiter: Serve",
        &["delegateTask"],
        &[
            r#"delegateTask {"agentRole":"Cook","taskDescription":"Boil rice"}"#,
            r#"delegateTask {"agentRole":"Waiter","taskDescription":"Set tables"}"#,
        ],
        &["## Cook\n\npart done", "## Waiter"],
    ),
    (
        "Get these tasks done:\n1. Serve the soup\n2. Serve the tea\n3. Feed us\n\nYour team:\n- Cook: Feed people\n- Waiter: Serve",
        &["delegateTask"],
        &[
            r#"delegateTask {"agentRole":"Cook","taskDescription":"Serve the soup"}"#,
            r#"delegateTask {"agentRole":"Waiter","taskDescription":"Serve the tea"}"#,
            r#"delegateTask {"agentRole":"Cook","taskDescription":"Feed us"}"#,
        ],
        &["## Waiter"],
    ),
    (
        "Ask the cook to boil an egg.",
        &["delegate"],
        &[r#"delegate {"agentRole":"Cook","taskDescription":"Boil an egg"}"#],
        &["## Cook"],
    ),
    ("Cook an egg", &["delegate"], &[], &["no rule of mine fits"]),
];

const EDITOR: &[&str] =
    &["build_workflow", "ui_get_graph", "ui_add_node", "ui_connect_nodes", "ui_update_node", "ui_delete", "ui_paste"];

const DRAWING: &[Row] = &[
    (
        "Build a workflow that reads a book and writes about it",
        EDITOR,
        &[r#"build_workflow {"objective":"Reads a book and writes about it"}"#, r#"ui_paste {"graph_ref":"graph:1"}"#],
        &["I planned 2 tasks with 1 links between them.", "part done"],
    ),
    (
        "Add a step that prints it. Then connect read to print it",
        EDITOR,
        &[
            "ui_get_graph {}",
            r#"ui_add_node {"name":"print it","description":"Print it","context":["write"]}"#,
            r#"ui_connect_nodes {"from":"Read","to":"print it"}"#,
        ],
        &["part done"],
    ),
    ("Add a step that prints it", &["calculator"], &[], &["no rule of mine fits"]),
    ("Hello", EDITOR, &[], &["- Build a workflow that", "- Add a step"]),
];

const WORDS: &[Row] = &[
    ("Hello", ALL, &[], &["Hello! I am the demo model", "- What is 42 * 17", "- Write about bees"]),
    ("hi there!", &[], &[], &["You could say:\n\n- Write about bees\n\n"]),
    ("What can you do?", &["run_subtask"], &[], &["fixed rules", "- Please do both: 1) add 2 + 3"]),
    ("Which hi-fi tower is the highest in town?", ALL, &[], &["no rule of mine fits that"]),
    ("What did I say?", ALL, &[], &["Nothing yet"]),
    (
        "## Task\nResearch bees and list facts\n\n## Expected Output\nFive short points",
        ALL,
        &[],
        &["# Bees\n", "1. **First", "5. **Where to begin**"],
    ),
    (
        "## Task\nWrite about tea in 2026\n\n## Expected Output\nA report",
        ALL,
        &[],
        &["# Tea\n", "3. **Why it matters**: who depends on tea"],
    ),
    ("## Task\nPlan\n\n## Active Directives\n[Ada | 2026] be kind", ALL, &[], &["Told while working: be kind"]),
    (
        "## Task\nPlan\n\n## Active Directives\n[Ada | 2026] add 2+2",
        ALL,
        &[r#"calculator {"input":"2+2"}"#],
        &["2+2 = **4**"],
    ),
    (
        "## Revision Instructions (Attempt 2)\nIt is too dull\n\n## Task\nWrite about tea",
        ALL,
        &[],
        &["# Tea", "## After the review\n\nIt is too dull"],
    ),
];

fn ask(messages: Vec<Message>, tools: &[&str]) -> Ask {
    Ask {
        run: "run".into(),
        conversation: Id::task(0),
        task: "task".into(),
        round: 0,
        attempt: 0,
        messages: Arc::new(messages),
        tools: tools.iter().map(|name| Arc::new(info(name))).collect::<Vec<_>>().into(),
        belt: Arc::default(),
        max_output_tokens: 1_000,
        options: ModelOptions::default(),
        schema: None,
        files: Arc::default(),
    }
}

fn info(name: &str) -> ToolInfo {
    match name {
        "run_subtask" => (*OwnTool::RunSubtask.info()).clone(),
        "human_input" => (*OwnTool::HumanInput.info()).clone(),
        "delegate" => delegation::info(OwnTool::Delegate, &["Cook", "Waiter"]),
        "delegateTask" => delegation::info(OwnTool::DelegateTask, &["Cook", "Waiter"]),
        _ => ToolInfo::new(name, "A tool."),
    }
}

fn user(text: &str) -> Message {
    Message::User { text: text.into() }
}

async fn reply(ask: Ask) -> (Reply, Usage) {
    let (reply, usage) = conformance::reply(&DemoModel::default().paced(Duration::ZERO), ask).await;
    (reply, usage.unwrap())
}

/// Returns a tool's result, and whether it is an error.
async fn result(call: &Call) -> (String, bool) {
    let args: Value = from_str(call.args.as_str()).unwrap();
    let is_gone = args["path"] == "gone.md";
    let invocation = Invocation {
        run: "run".into(),
        call: Id::from("1.0.0"),
        key: "run/1.0.0".to_owned(),
        args,
        account: Account::default(),
    };
    let answer = match call.tool.as_str() {
        "calculator" => Calculator::default().call(invocation).await,
        "json" => Json::default().call(invocation).await,
        "read_file" if is_gone => Answer::Failed("there is no such file".to_owned()),
        "read_file" => return ("     1\tbuy milk\n     2\tbuy tea\n".to_owned(), false),
        "write_file" => return ("created `list.md` with 1 line".to_owned(), false),
        "list_files" => return ("plan.md".to_owned(), false),
        "datetime" => return ("2026-01-31".to_owned(), false),
        "http_fetch" => return ("A page".to_owned(), false),
        "human_input" => return ("blue".to_owned(), false),
        "build_workflow" => return (r#"{"graph_ref":"graph:1","nodes":2,"edges":1}"#.to_owned(), false),
        "ui_get_graph" => {
            return (r#"{"tasks":[{"name":"Read"},{"name":"write","context":["Read"]}]}"#.to_owned(), false);
        }
        name if name.starts_with("ui_") => return ("part done".to_owned(), false),
        _ => return (format!("part done\n\n{NOTICE}"), false),
    };
    match answer {
        Answer::Done { text, .. } => (text, false),
        Answer::Failed(text) | Answer::Unknown(text) | Answer::Late { why: text, .. } => (text, true),
    }
}

/// Calls the model until it makes no more calls; returns the calls, in order, and the answer.
async fn conversation(task: &str, tools: &[&str]) -> (Vec<String>, String) {
    let mut messages = vec![user(task)];
    let mut calls = Vec::new();
    for round in 0..5 {
        let (reply, _) = reply(Ask { round, ..ask(messages.clone(), tools) }).await;
        let wanted: Vec<Call> = reply.calls().cloned().collect();
        if wanted.is_empty() {
            return (calls, reply.text());
        }
        messages.push(Message::Assistant(Arc::new(reply)));
        for (place, call) in (0..).zip(wanted) {
            let (text, is_error) = result(&call).await;
            calls.push(format!("{} {}", call.tool, call.args.as_str()));
            let id = Id::task(0).call(round, place);
            let provider_id = call.provider_id;
            let name = call.tool;
            messages.push(Message::Tool { call: id, provider_id, name, text: text.into(), is_error });
        }
    }
    panic!("it never answers: {task}");
}

/// Returns a call's tool and arguments; the order of the arguments does not matter.
fn parsed(call: &str) -> (&str, Value) {
    let (tool, args) = call.split_once(' ').unwrap();
    (tool, from_str(args).unwrap())
}

async fn check(rows: &[Row]) {
    for (task, tools, calls, parts) in rows {
        let (called, answer) = conversation(task, tools).await;
        let wanted: Vec<_> = calls.iter().map(|call| parsed(call)).collect();
        assert_eq!(called.iter().map(|call| parsed(call)).collect::<Vec<_>>(), wanted, "{task}");
        for part in *parts {
            assert!(answer.contains(part), "{task}\nhas no {part:?}:\n{answer}");
        }
        assert_eq!(answer.matches(NOTICE).count(), 1, "{answer}");
        assert!(answer.ends_with(NOTICE), "{answer}");
        assert_eq!(conversation(task, tools).await, (called, answer), "the same again");
    }
}

#[tokio::test]
async fn tools_are_called_as_the_task_asks_and_their_results_are_told() {
    check(TOOLS).await;
}

#[tokio::test]
async fn in_the_editor_it_looks_first_and_then_changes_what_it_was_asked_to() {
    check(DRAWING).await;
}

#[tokio::test]
async fn a_subtask_that_owes_a_result_hands_it_over() {
    let schema = json!({ "type": "object", "required": ["title"], "properties": { "title": { "type": "string" } } });
    let workflow = json!({ "type": "object", "properties": { "name": {}, "tasks": {}, "inputs": {} } });
    for (schema, task, args) in [
        (schema, "Write about tea", json!({ "title": "Tea" })),
        (
            workflow,
            "Read a book",
            json!({ "name": "Read a book", "description": "Read a book",
                "tasks": [{ "name": "read book", "description": "Read a book", "context": [], "tools": [] }] }),
        ),
    ] {
        let finish = ToolInfo { schema: Schema::new(schema), ..ToolInfo::new("finish_subtask", "") };
        let (reply, _) = reply(Ask { tools: vec![Arc::new(finish)].into(), ..ask(vec![user(task)], &[]) }).await;
        let calls: Vec<&Call> = reply.calls().collect();
        assert_eq!(calls.len(), 1, "{reply:?}");
        assert_eq!(from_str::<Value>(calls[0].args.as_str()).unwrap(), args);
    }
}

#[tokio::test]
async fn words_of_the_task_make_the_answer_where_no_tool_helps() {
    check(WORDS).await;
}

#[tokio::test]
async fn several_sums_are_asked_for_in_one_reply() {
    let (reply, _) = reply(ask(vec![user("Add 1+2 and 3+4")], &["calculator"])).await;
    let ids: Vec<&str> = reply.calls().map(|call| call.provider_id.as_str()).collect();
    assert_eq!(ids, ["call_1.0.0", "call_1.0.1"]);
}

#[tokio::test]
async fn outputs_of_earlier_tasks_are_told_without_their_notices() {
    let given = TEA.replace("2. Black", &format!("2. Black\n\n{NOTICE}"));
    let (_, text) = conversation(&format!("{given}## Task\nWrite about tea"), ALL).await;
    assert!(text.starts_with("# Tea\n\n## Tea\n\n1. Green. It is light.\n2. Black\n\n## "), "{text}");
    assert!(text.contains("1 + 1 = **2**"), "{text}");
    assert_eq!(text.matches(NOTICE).count(), 1, "{text}");
}

#[tokio::test]
async fn a_timetable_takes_its_titles_from_earlier_tasks() {
    let task =
        "## Task\nWrite the program of an evening about tea: 2 talks of 25 minutes, from 18:30, 10 minutes apart";
    let (_, text) = conversation(&format!("{TEA}{task}"), ALL).await;
    let rows =
        "# Program of an evening about tea\n\n- **18:30** Green. It is light.\n- **19:05** Black\n- **19:30** End\n";
    assert!(text.starts_with(rows), "{text}");
}

#[tokio::test]
async fn an_output_format_is_satisfied_also_after_a_tool() {
    let schema = json!({
        "type": "object",
        "required": ["title", "score", "count", "done", "tags", "level", "by", "day", "mail"],
        "properties": {
            "title": { "type": "string", "minLength": 10 },
            "score": { "type": "number", "exclusiveMinimum": 0, "maximum": 500 },
            "count": { "type": "integer", "minimum": 3 },
            "done": { "type": "boolean" },
            "tags": { "type": "array", "items": { "type": "string", "maxLength": 2 }, "minItems": 2 },
            "level": { "enum": ["low", "high"] },
            "by": { "$ref": "#/$defs/person" },
            "day": { "type": "string", "format": "date" },
            "mail": { "type": "string", "format": "email" },
        },
        "additionalProperties": false,
        "$defs": { "person": { "type": ["object", "null"], "properties": { "name": { "const": "Ada" } } } },
    });
    let task =
        format!("## Task\nAdd 100 + 1 about tea\n\n## Output Format\nAnswer with {{this}}:\n{schema:#}\nOnly JSON.");
    let (calls, text) = conversation(&task, ALL).await;
    let value: Value = from_str(&text).unwrap();
    assert_eq!(Schema::parse(schema).unwrap().violations(&value), Vec::<String>::new(), "{value}");
    assert_eq!((calls.len(), &value["score"], &value["title"]), (1, &json!(101), &json!("Tea Tea Te")));
}

#[tokio::test]
async fn on_the_last_turn_it_answers_and_says_so() {
    let messages = vec![user("Add 1 + 1"), user("This is your last turn: no tools can be called any more.")];
    let (reply, _) = reply(ask(messages, ALL)).await;
    assert_eq!(reply.calls().count(), 0);
    assert!(reply.text().contains("the last turn"), "{}", reply.text());
}

#[tokio::test]
async fn a_directive_that_comes_later_is_followed_too() {
    let messages = vec![user("## Task\nPlan"), user("## Active Directives\n[Ada | 2026-01-31] also add 2 + 3")];
    let (reply, _) = reply(ask(messages, ALL)).await;
    assert_eq!(reply.calls().next().unwrap().args.as_str(), r#"{"input":"2 + 3"}"#);
}

#[tokio::test]
async fn what_was_said_before_is_remembered_as_far_as_it_is_sent() {
    let known = "## About this workspace\nThis is information, not an instruction.\n\nBe kind.";
    let messages = vec![user("My name\nis Ada"), user(known), user("What did I say?")];
    let (reply, _) = reply(ask(messages, ALL)).await;
    assert!(reply.text().starts_with("You said:\n\n- My name is Ada\n\n_Consort"), "{}", reply.text());
}

#[test]
fn what_people_say_about_themselves_is_remembered_and_questions_are_not() {
    let exchange = "List.\n\n---\nUser: Hello. I like tea! My dog is old. I wonder why?\n\nAssistant: I see.";
    let expected = r#"{"facts":["The user said: I like tea","The user said: My dog is old"]}"#;
    assert_eq!(facts(exchange), expected);
}

#[tokio::test]
async fn usage_counts_what_was_read_and_what_was_said() {
    let (reply, usage) = reply(ask(vec![user("Write a poem")], &[])).await;
    assert_eq!((usage.input, usage.output), (3, tokens(&reply.text())));
}

#[tokio::test]
async fn an_answer_stays_within_the_limit_on_output() {
    let (reply, usage) = reply(Ask { max_output_tokens: 10, ..ask(vec![user("Write a poem")], &[]) }).await;
    assert_eq!(reply.stop, Stop::Length);
    assert!(usage.output <= 10 && !reply.text().is_empty(), "{usage:?}");
}

#[tokio::test]
async fn an_answer_that_was_cut_is_gone_on_with_where_it_stopped() {
    let (whole, _) = reply(ask(vec![user("Write a poem")], &[])).await;
    let mut messages = vec![user("Write a poem")];
    let mut joined = String::new();
    for _part in 0..100 {
        let (part, _) = reply(Ask { max_output_tokens: 20, ..ask(messages.clone(), &[]) }).await;
        joined.push_str(&part.text());
        if part.stop == Stop::End {
            break;
        }
        messages.extend([Message::Assistant(Arc::new(part)), user("Your answer was cut off at the output limit.")]);
    }
    assert_eq!((joined, messages.len() > 3), (whole.text(), true));
}

#[tokio::test]
async fn who_asks_for_nothing_gets_nothing() {
    for words in ["Say nothing.", "## Task\nsay nothing"] {
        let (reply, _) = reply(ask(vec![user(words), user("Your last reply was empty.")], ALL)).await;
        assert!(reply.parts.is_empty() && reply.stop == Stop::End, "{reply:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn words_come_at_the_pace_that_was_set() {
    let begun = tokio::time::Instant::now();
    let model = DemoModel::default().paced(Duration::from_millis(5));
    let pieces = model.stream(ask(vec![user("Write a poem")], &[])).count().await;
    assert_eq!(begun.elapsed().as_millis(), pieces as u128 * 5);
    assert!(pieces > 10);
}
