//! `/v1` through real sockets: what OpenAI's clients send and read.

mod failures;
mod work;

use std::sync::Arc;

use consort_chat::{Chats, Settings};
use consort_core::budget::Limits;
use consort_core::catalog::ModelInfo;
use consort_core::chat::{Mode, Rules};
use consort_core::draft::Draft;
use consort_core::message::{Message, Usage};
use consort_log::MemoryLog;
use consort_models::{Ask, Line, ModelCatalog, ScriptedModel};
use consort_runtime::admission::Capacity;
use consort_runtime::effects::Seams;
use consort_runtime::engine::Engine;
use consort_server::Server;
use consort_server::access::{Key, Scope};
use consort_tools::{Calculator, Toolbox};
use serde_json::{Value, json};

use crate::client::{Answer, Here, engine, engine_over, server, start};

const COMPLETIONS: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";

fn roomy(server: Server) -> Server {
    Server { max_body_bytes: 65_536, ..server }
}

async fn serving(model: &ScriptedModel) -> Here {
    start(roomy(server(engine(model.clone(), Capacity::UNLIMITED), vec![about_message()]))).await
}

/// Creates a server whose chats ask for permission.
fn asking(engine: Engine) -> Server {
    let rules = Rules { mode: Mode::Default, limits: Limits { depth: 1, ..Limits::default() }, ..Rules::default() };
    let chats = Chats::new(engine.clone(), Settings::new(&engine, rules));
    roomy(Server { chats, ..server(engine, Vec::new()) })
}

fn about_message() -> Draft {
    Draft { name: Some("one".to_owned()), description: "Do {message} in {style}".to_owned(), ..Draft::default() }
}

/// Returns a request with one message.
fn asks(content: &str) -> Value {
    json!({ "model": "consort", "messages": [{ "role": "user", "content": content }] })
}

fn with(mut request: Value, fields: Value) -> Value {
    request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    request
}

fn said(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}

/// Returns the data of a stream, without its end.
fn data(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let data = answer.body.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|line| *line != "[DONE]");
    data.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn deltas(chunks: &[Value], name: &str) -> String {
    chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"][name].as_str()).collect()
}

/// Returns the messages that the model is sent, as role and text.
fn conversation(ask: &Ask) -> Vec<(&'static str, String)> {
    let line = |message: &Message| match message {
        Message::System { text } => ("system", text.to_string()),
        Message::User { text } => ("user", text.to_string()),
        Message::Files { files } => ("files", files.len().to_string()),
        Message::Assistant(reply) => ("assistant", reply.text()),
        Message::Tool { text, .. } => ("tool", text.to_string()),
    };
    ask.messages.iter().map(line).collect()
}

fn looks_up() -> ScriptedModel {
    let usage = Usage { input: 10, output: 3, cached_input: 4, reasoning: 1 };
    ScriptedModel::new()
        .at("1.0", Line::new().says("let me see").calls("calculator", &json!({ "input": "6*7" })).uses(usage))
        .at("1.1", Line::new().says("it is 42").uses(usage))
}

#[tokio::test]
async fn models_are_the_chat_agent_the_ensemble_and_saved_workflows() {
    let here = serving(&looks_up()).await;
    let workflow = |name: &str| json!({ "name": name, "tasks": [{ "name": "a", "description": "Do {message}" }] });
    let mut ids = Vec::new();
    for name in ["report", "twice", "twice", "test"] {
        let saved = here.post("/api/workflows", workflow(name)).await.json();
        ids.push(saved["id"].as_str().unwrap().to_owned());
    }
    let models = here.get("/v1/models").await.json();
    let listed: Vec<&str> = models["data"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    let by_id = |index: usize| format!("consort/{}", ids[index]);
    let mut expected = vec!["consort".to_owned(), "consort/test".to_owned(), "consort/report".to_owned()];
    expected.extend([by_id(1), by_id(2), by_id(3)]);
    expected.sort();
    let mut listed: Vec<String> = listed.into_iter().map(str::to_owned).collect();
    listed.sort();
    assert_eq!(listed, expected, "a name that two have is told by their ids");
    assert_eq!(models["data"][0]["object"], "model");
    let ambiguous = here.post(COMPLETIONS, with(asks("x"), json!({ "model": "consort/twice" }))).await;
    assert_eq!(ambiguous.status, 400);
    assert!(ambiguous.body.contains("2 saved workflows are called `twice`"), "{ambiguous:?}");
    for unknown in ["gpt-4", "consort/", "consort/nothing", "consortium"] {
        let answer = here.post(COMPLETIONS, with(asks("x"), json!({ "model": unknown }))).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (404, &json!("model_not_found")), "{unknown}");
        assert_eq!(answer.json()["error"]["param"], "model");
    }
}

#[tokio::test]
async fn a_completion_tells_our_tool_calls_as_reasoning_and_never_as_calls() {
    let here = serving(&looks_up()).await;
    let whole = here.post(COMPLETIONS, asks("what is 6*7?")).await.json();
    let choice = &whole["choices"][0];
    assert_eq!((&choice["finish_reason"], &choice["message"]["content"]), (&json!("stop"), &json!("it is 42")));
    assert!(choice["message"].get("tool_calls").is_none(), "{whole}");
    let reasoning = choice["message"]["reasoning_content"].as_str().unwrap();
    assert_eq!(reasoning, "calculator({\"input\":\"6*7\"})\ncalculator → 42\n");
    let usage = json!({ "prompt_tokens": 20, "completion_tokens": 6, "total_tokens": 26,
        "prompt_tokens_details": { "cached_tokens": 8 }, "completion_tokens_details": { "reasoning_tokens": 2 } });
    assert_eq!((&whole["object"], &whole["usage"]), (&json!("chat.completion"), &usage));

    let wanted = json!({ "stream": true, "stream_options": { "include_usage": true } });
    let answer = here.post(COMPLETIONS, with(asks("what is 6*7?"), wanted)).await;
    assert!(answer.body.ends_with("data: [DONE]\n\n"), "{}", answer.body);
    let chunks = data(&answer);
    assert_eq!(chunks[0]["choices"][0]["delta"], json!({ "role": "assistant", "content": "" }));
    assert_eq!(deltas(&chunks, "content"), "let me see\n\nit is 42");
    assert_eq!(deltas(&chunks, "reasoning_content"), reasoning);
    let [.., last, used] = chunks.as_slice() else { panic!() };
    assert_eq!(last["choices"][0]["finish_reason"], "stop");
    assert_eq!((&used["choices"], &used["usage"]), (&json!([]), &usage));
    assert!(chunks.iter().all(|chunk| chunk["id"] == last["id"] && chunk["object"] == "chat.completion.chunk"));
}

#[tokio::test]
async fn a_response_is_the_same_whole_and_as_events() {
    let here = serving(&looks_up()).await;
    let request = json!({ "model": "consort", "input": "what is 6*7?" });
    let whole = here.post(RESPONSES, request.clone()).await.json();
    assert_eq!((&whole["object"], &whole["status"]), (&json!("response"), &json!("completed")));
    let kinds: Vec<&str> =
        whole["output"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "reasoning", "message"]);
    assert_eq!(whole["output"][2]["content"][0]["text"], "it is 42");
    assert_eq!((&whole["usage"]["input_tokens"], &whole["usage"]["total_tokens"]), (&json!(20), &json!(26)));

    let events = data(&here.post(RESPONSES, with(request, json!({ "stream": true }))).await);
    let numbers: Vec<u64> = events.iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    assert_eq!((&events[0]["type"], &events[1]["type"]), (&json!("response.created"), &json!("response.in_progress")));
    let streamed = &events.last().unwrap()["response"];
    assert_eq!(events.last().unwrap()["type"], "response.completed");
    let texts = |response: &Value| -> Vec<Value> {
        let output = response["output"].as_array().unwrap().iter();
        output.map(|item| json!([item["type"], item["content"], item["summary"]])).collect()
    };
    assert_eq!(texts(streamed), texts(&whole));
    let delta = |index: usize| -> String {
        let of = events.iter().filter(|event| event["type"] == "response.output_text.delta");
        of.filter(|event| event["output_index"] == index).map(|event| event["delta"].as_str().unwrap()).collect()
    };
    assert_eq!((delta(0).as_str(), delta(2).as_str()), ("let me see", "it is 42"));
    let done = events.iter().filter(|event| event["type"] == "response.output_item.done").count();
    assert_eq!(done, 3);
}

#[tokio::test]
async fn what_was_said_before_and_the_instructions_reach_the_model_and_the_thread() {
    let model = ScriptedModel::new().otherwise(Line::new().says("fine"));
    let here = serving(&model).await;
    let messages = json!([{ "role": "system", "content": "Be brief." }, { "role": "user", "content": "hi" },
        { "role": "assistant", "content": "hello" }, { "role": "user", "content": "how are you?" }]);
    let request = json!({ "model": "consort", "messages": messages, "temperature": 0.5, "max_tokens": 10 });
    let answer = here.post(COMPLETIONS, request).await;
    assert_eq!(said(&answer), "fine");
    assert_eq!(answer.json()["warnings"], json!(["`max_tokens` has no effect"]));
    let asked = model.sent("1.0").unwrap();
    assert_eq!(asked.options.temperature, Some(0.5));
    let sent = conversation(&asked);
    assert!(sent[0].0 == "system" && sent[0].1.ends_with("Be brief."), "{sent:?}");
    let rest: Vec<(&str, &str)> = sent[1..].iter().map(|(role, text)| (*role, text.as_str())).collect();
    assert_eq!(rest, [("user", "hi"), ("assistant", "hello"), ("user", "how are you?")]);
    let thread = answer.json()["conversation"]["id"].as_str().unwrap().to_owned();
    let rows = here.get(&format!("/api/threads/{thread}/messages")).await.json();
    let rows: Vec<&str> =
        rows["messages"].as_array().unwrap().iter().map(|row| row["content"].as_str().unwrap()).collect();
    assert_eq!(rows, ["hi", "hello", "how are you?", "fine"]);
    let more = here.post(COMPLETIONS, with(asks("and?"), json!({ "conversation": thread }))).await;
    assert_eq!(said(&more), "fine");
    let sent = conversation(&model.sent("1.0").unwrap());
    let words: Vec<&str> = sent[1..].iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(words, ["hi", "hello", "how are you?", "fine", "and?"], "the thread knows what was said");
    assert!(!sent[0].1.contains("Be brief."), "instructions are each request's own");
}

#[tokio::test]
async fn a_conversation_goes_on_by_its_name_its_thread_or_its_last_response() {
    let model = ScriptedModel::new().otherwise(Line::new().says("noted"));
    let here = serving(&model).await;
    let heard = || conversation(&model.sent("1.0").unwrap()).len() - 1;
    let ask = async |fields: Value| {
        let answer = here.post(RESPONSES, with(json!({ "model": "consort", "input": "x" }), fields)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    let named = ask(json!({ "conversation": "my notes" })).await;
    assert_eq!(heard(), 1);
    ask(json!({ "conversation": { "id": "my notes" } })).await;
    assert_eq!(heard(), 3, "the same name is the same conversation");
    let third = ask(json!({ "conversation": named["conversation"]["id"] })).await;
    assert_eq!(heard(), 5);
    let fourth = ask(json!({ "previous_response_id": third["id"] })).await;
    assert_eq!((heard(), &fourth["previous_response_id"]), (7, &third["id"]));
    let stale = json!({ "model": "consort", "input": "x", "previous_response_id": third["id"] });
    let answer = here.post(RESPONSES, stale).await;
    assert_eq!((answer.status, &answer.json()["error"]["param"]), (400, &json!("previous_response_id")));
    ask(json!({})).await;
    assert_eq!(heard(), 1, "without a name it is a conversation of its own");
}

#[tokio::test]
async fn another_key_finds_neither_the_conversation_nor_the_response() {
    let mut guarded = roomy(server(engine(looks_up(), Capacity::UNLIMITED), Vec::new()));
    guarded.access.keys = ["ann", "bob"].map(|name| Key::new(name, name, &[Scope::Run]).unwrap()).to_vec();
    let here = start(guarded).await;
    let ask = async |key: &str, fields: Value| {
        let request = with(json!({ "model": "consort", "input": "x" }), fields);
        here.post_with(RESPONSES, &format!("Authorization: Bearer {key}"), request).await
    };
    let first = ask("ann", json!({ "conversation": "notes" })).await.json();
    let code = |answer: &Answer| (answer.status, answer.json()["error"]["code"].clone());
    let foreign = ask("bob", json!({ "previous_response_id": first["id"] })).await;
    assert_eq!(code(&foreign), (404, json!("PREVIOUS_RESPONSE_NOT_FOUND")));
    let unknown = ask("ann", json!({ "previous_response_id": "turn-0" })).await;
    assert_eq!(code(&unknown), (404, json!("PREVIOUS_RESPONSE_NOT_FOUND")));
    let thread = ask("bob", json!({ "conversation": first["conversation"]["id"] })).await;
    assert_eq!(code(&thread), (404, json!("THREAD_NOT_FOUND")));
    let own = ask("bob", json!({ "conversation": "notes" })).await;
    assert_eq!(own.status, 200, "a name is each key's own");
    assert_ne!(own.json()["conversation"], first["conversation"]);
}

#[tokio::test]
async fn a_chat_uis_own_prompts_are_answered_by_another_model_without_tools_and_leave_no_thread() {
    let says = |text: &str| ScriptedModel::new().otherwise(Line::new().says(text));
    let main = says("no");
    let spare = says("A title");
    let models = ModelCatalog::default().with(ModelInfo::new("main", "scripted"), main).unwrap();
    let models = models.with(ModelInfo::new("spare", "scripted"), spare.clone()).unwrap();
    let tools = Toolbox::default().with(Calculator::default()).unwrap();
    let served = roomy(server(Engine::new(Seams::new(Arc::new(MemoryLog::default()), models, tools)), Vec::new()));
    let here = start(Server { aux_model: Some("spare".to_owned()), ..served }).await;
    assert_eq!(said(&here.post(COMPLETIONS, asks("### Task:\nGenerate a title")).await), "A title");
    assert!(spare.sent("1.0").unwrap().tools.is_empty());
    assert_eq!(here.get("/api/threads").await.json()["total"], 0);
    assert_eq!(said(&here.post(COMPLETIONS, asks("Task: write")).await), "no");
    assert_eq!(here.get("/api/threads").await.json()["total"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_of_one_request_is_erased_a_day_after_it_was_used_last() {
    let log = Arc::new(MemoryLog::default());
    let served = roomy(server(engine_over(log, looks_up(), Capacity::UNLIMITED), Vec::new()));
    let chats = served.chats.clone();
    let here = start(served).await;
    here.post(COMPLETIONS, asks("x")).await;
    here.post(COMPLETIONS, with(asks("x"), json!({ "conversation": "kept" }))).await;
    let hours = |hours: u64| tokio::time::advance(std::time::Duration::from_secs(hours * 3600));
    hours(23).await;
    assert_eq!(chats.erase_passed().await.unwrap(), 0);
    hours(2).await;
    while here.get("/api/threads").await.json()["total"] != 1 {}
    hours(200).await;
    assert_eq!(
        (chats.erase_passed().await.unwrap(), here.get("/api/threads").await.json()["total"].clone()),
        (0, json!(1))
    );
}
