//! Fuzzes the parsers of clients' input: each refuses with a message, or accepts the input completely.

use serde_json::Value;

use super::world::{catalog, ensemble, task};
use crate::chat::UserMessage;
use consort_spec::mistake::Mistake;
use consort_spec::request;
use consort_spec::schema::Schema;
use consort_spec::workflow::Document;

const RUNS: &[&str] = &[
    "{}",
    r#"{"inputs":{"topic":"bees","year":2026},"tags":{"team":"red"},"options":{"verbose":true,"captureMode":"FULL","maxToolOutputLength":10,"toolLogTruncateLength":5,"workflow":"PARALLEL"},"model":"small","dryRun":true}"#,
    r#"{"tasks":[{"description":"{a}{a}{a}{b}{{a}}","agent":{"role":"{b}","goal":"{a}"}}],"inputs":{"a":"xxxxxxxxxxxxxxxx","b":"y"}}"#,
    r#"{"taskOverrides":{"a":{"description":"Do {topic}","model":"small","tools":{"add":["look"],"remove":["pay"]},"maxIterations":3,"outputSchema":{"type":"object"},"additionalContext":"x"}}}"#,
    r#"{"tasks":[{"name":"a","description":"Do {item.x} {index}","forEach":"inputs.list.filter(x, x.ok)","maxItems":5,"maxParallel":2},{"name":"b","description":"y","when":"outputs.a.size() > 1 && has(inputs.z)"}],"groups":[{"name":"g","tasks":["b"],"repeatUntil":"outputs['b'] == 'ok' || round > 2","maxRounds":3,"onMaxRounds":"accept"}],"inputs":{"list":[{"ok":true,"x":[1,null]}]}}"#,
    r##"{"tasks":[{"name":"a","description":"Find {topic=bees}","tools":["look"],"agent":{"role":"R","goal":"g"}},{"name":"b","description":"Write","context":["$a","$0"],"outputSchema":{"type":"object","properties":{"x":{"$ref":"#/$defs/y"}},"$defs":{"y":{"type":"integer"}}},"review":"required"}],"inputs":{"topic":"x"}}"##,
];
const EDITS: &[&str] = &[
    r#"{"seq":4,"inputs":{"topic":"x"},"tags":{"a":"b"},"model":"small","outputs":{"a":"better"},"options":{"verbose":false},"taskOverrides":{"b":{"description":"y"}}}"#,
];
const SCHEMAS: &[&str] = &[
    r##"{"type":"object","required":["a"],"properties":{"a":{"type":"string","pattern":"^[a-z]+$","minLength":1},"b":{"items":{"$ref":"#/$defs/c"}}},"$defs":{"c":{"enum":[1,"x",null]}},"additionalProperties":false}"##,
    r#"{"anyOf":[{"const":3},{"not":{"type":"null"}}],"if":{"minimum":2},"then":{"multipleOf":0.5},"unevaluatedProperties":false}"#,
    r##"{"$ref":"#/$defs/b","$defs":{"a":{"$anchor":"x","patternProperties":{"^(a|b){2,9}\\d$":{"pattern":"\\w{20}"}}},"b":{"allOf":[{"$ref":"#x"},{"$dynamicRef":"#y"}],"unevaluatedItems":true},"c":{"$dynamicAnchor":"y","items":{"$ref":"#/$defs/b"},"uniqueItems":true}}}"##,
];
const WORKFLOWS: &[&str] = &[
    r#"{"name":"w","version":3,"tasks":[{"name":"a","description":"Read {topic}","tools":["look"],"position":{"x":1,"y":-2.5}},{"name":"b","description":"Write","context":["$a"]}],"inputs":{"depth":2},"options":{"workflow":"PARALLEL","verbose":true}}"#,
];
const MESSAGES: &[&str] = &[
    r#"{"content":"hello","model":"small","chat_context":{"editor":{"workflow_id":"w","a":[1]}},"collections":["kitchen"],"memory_enabled":true,"permission_mode":"plan","if_busy":"queue","tools":[],"agent_mode":true,"media_generation":{"mode":"chat"}}"#,
];

/// Tries a parser of JSON.
fn json(examples: &[&str], read: impl Fn(&Value)) {
    consort_fuzz::text(examples, |text| {
        if let Ok(json) = serde_json::from_str(text) {
            read(&json);
        }
    });
}

fn told<'a>(mistakes: impl IntoIterator<Item = &'a Mistake>) {
    for mistake in mistakes {
        assert!(!mistake.to_string().trim().is_empty(), "{mistake:?}");
    }
}

#[test]
fn made_up_submissions_are_refused_with_words_or_taken_whole() {
    let ensemble = ensemble(vec![task("a", &[]), task("b", &["a"])]);
    let catalog = catalog();
    json(RUNS, |json| match request::read(json, &ensemble, &catalog) {
        Ok(request::Submission::Run(taken) | request::Submission::DryRun(taken)) => {
            assert!(!taken.spec.tasks.is_empty());
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            told(&mistakes);
        }
    });
}

#[test]
fn made_up_edits_are_refused_with_words() {
    json(EDITS, |json| told(request::parse_again(json).err().iter().flatten()));
}

#[test]
fn made_up_schemas_are_refused_with_words_or_judge_anything() {
    json(SCHEMAS, |json| match Schema::parse(json.clone()) {
        Ok(schema) => drop(schema.violations(json)),
        Err(why) => assert!(!why.trim().is_empty()),
    });
}

#[test]
fn made_up_workflows_are_refused_with_words_or_become_requests() {
    let ensemble = ensemble(Vec::new());
    let catalog = catalog();
    json(WORKFLOWS, |json| match Document::read(json, &ensemble, &catalog) {
        Ok((document, _warnings)) => {
            let request = document.request(&Value::Object(Default::default())).unwrap();
            assert!(request::parse(&request).is_ok(), "what is kept can be run: {request}");
        }
        Err(mistakes) => told(&mistakes),
    });
}

#[test]
fn made_up_messages_are_refused_with_words_or_say_something() {
    json(MESSAGES, |json| match UserMessage::read(json) {
        Ok(say) => assert!(!say.content.as_str().trim().is_empty()),
        Err(mistake) => told([&mistake]),
    });
}
