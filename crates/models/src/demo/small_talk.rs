//! What the demo says in a chat when there is nothing to do: a greeting, what
//! it can do here, what was said before.

use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::own_tool::OwnTool;

use super::find;
use super::prompt::Prompt;

/// How people greet.
const GREETINGS: [&str; 8] = ["hello", "hi", "hey", "good morning", "good evening", "good afternoon", "howdy", "moin"];
/// How people ask whom they talk to.
const ASKED_WHO: [&str; 8] = [
    "who are you",
    "what are you",
    "what can you do",
    "what do you do",
    "how can you help",
    "can you help",
    "help",
    "what is this",
];
const THANKS: [&str; 4] = ["thanks", "thank you", "thx", "cheers"];
/// How people ask for what was said before.
const ASKED_BACK: [&str; 6] = [
    "what did i say",
    "what did i ask",
    "what have i said",
    "what have i asked",
    "what was my last",
    "what were we talking about",
];
/// Words of a greeting at most; what is longer wants something.
const GREETING_WORDS: usize = 5;
/// What can be tried, and the tool it needs.
const TRY: [(&str, Option<&str>); 10] = [
    (
        "Build a workflow that researches tea, researches coffee, compares both and writes a report",
        Some(OwnTool::BuildWorkflow.name()),
    ),
    ("Add a step that translates the report", Some("ui_add_node")),
    ("Connect research tea to write report", Some("ui_connect_nodes")),
    ("What is 42 * 17, and 15% of 80?", Some("calculator")),
    ("What time is it in Tokyo?", Some("datetime")),
    ("How many are there: [3, 1, 2]?", Some("json")),
    ("Read README.md", Some("read_file")),
    ("Write about tea to tea.md", Some("write_file")),
    ("Please do both: 1) add 2 + 3, 2) write about tea", Some(OwnTool::RunSubtask.name())),
    ("Write about bees", None),
];

/// What is said to words that ask for nothing a rule knows.
pub(super) fn reply(prompt: &Prompt<'_>, tools: &[Arc<ToolInfo>]) -> String {
    let said = prompt.task().to_lowercase();
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| find::has_word(&said, phrase));
    let is_short = said.split_whitespace().count() <= GREETING_WORDS;
    if has(&ASKED_BACK) {
        return before(prompt);
    }
    if is_short && has(&THANKS) {
        return "You are welcome.".to_owned();
    }
    if is_short && (has(&GREETINGS) || has(&ASKED_WHO)) {
        let who = "I am the demo model that comes with Consort: no network, no key, a few fixed rules.";
        return format!("Hello! {who} I know no facts, but I call real tools. You could say:\n\n{}", examples(tools));
    }
    format!("I am only the demo, and no rule of mine fits that. What works here:\n\n{}", examples(tools))
}

/// What was said before, as far as it is still sent.
fn before(prompt: &Prompt<'_>) -> String {
    let said: Vec<String> =
        prompt.before().map(|text| format!("- {}", text.split_whitespace().collect::<Vec<_>>().join(" "))).collect();
    if said.is_empty() {
        return "Nothing yet: this is the beginning of our conversation.".to_owned();
    }
    format!("You said:\n\n{}", said.join("\n"))
}

fn examples(tools: &[Arc<ToolInfo>]) -> String {
    let works = |needed: &Option<&str>| needed.is_none_or(|needed| tools.iter().any(|tool| tool.name == needed));
    let lines = TRY.iter().filter(|(_, needed)| works(needed)).map(|(words, _)| format!("- {words}"));
    lines.collect::<Vec<_>>().join("\n")
}
