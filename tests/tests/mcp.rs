//! Tools of MCP servers: our own server that misbehaves on request,
//! and the ledger it keeps of the calls that really happened.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use consort_chat::{Chats, Settings};
use consort_core::budget::Limits;
use consort_core::catalog::{CancelClass, EffectClass, Permission};
use consort_core::chat::{Mode, Role, Rules, UserMessage};
use consort_core::compile::{Catalog, compile};
use consort_core::draft::Request;
use consort_core::id::Id;
use consort_http::right::{self, Right};
use consort_http::trace::{self, Trace};
use consort_log::MemoryLog;
use consort_models::ScriptedModel;
use consort_runtime::engine::Engine;
use consort_tools::mcp::{ServerOptions, Servers, Traits, Transport};
use consort_tools::{Answer, Invocation, Tool, Toolbox};
use futures::FutureExt;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::support::{engine, ensemble, frames, models, task};

mod eras;
mod real;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(120);
/// The pause between two looks at a condition: a loop without one would keep the servers from the processor.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A server that misbehaves on request, and everything around it.
struct Stage {
    servers: Servers,
    toolbox: Toolbox,
    folder: tempfile::TempDir,
}

impl Stage {
    /// Starts the server in this mode, with these changes to its options.
    async fn new(mode: &str, change: impl FnOnce(&mut ServerOptions)) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options("files", folder.path(), mode);
        change(&mut options);
        let stage = Stage::of(vec![options], folder);
        stage.servers.settled(PATIENCE).await;
        stage
    }

    fn of(options: Vec<ServerOptions>, folder: tempfile::TempDir) -> Stage {
        let servers = Servers::start(options, vec!["json".to_owned()]).unwrap();
        let toolbox = servers.providers().fold(Toolbox::default(), Toolbox::with_provider);
        Stage { servers, toolbox, folder }
    }

    async fn call(&self, tool: &str, args: Value) -> Answer {
        let invocation = Invocation {
            run: "run".into(),
            call: Id::from("1.0.0"),
            key: "run/1.0.0".to_owned(),
            args,
            account: Default::default(),
        };
        self.toolbox.perform(tool, invocation).await
    }

    /// Calls this tool, and drops the call once it has reached the server.
    async fn give_up(&self, tool: &str) {
        let reached = format!("call {tool}");
        tokio::select! {
            answer = self.call(tool, json!({})) => panic!("{answer:?}"),
            () = until("it is called", || self.ledger().contains(&reached)) => {}
        }
    }

    fn ledger(&self) -> Vec<String> {
        let ledger = std::fs::read_to_string(self.folder.path().join("ledger")).unwrap_or_default();
        ledger.lines().map(str::to_owned).collect()
    }

    fn tool(&self, name: &str) -> Arc<dyn Tool> {
        self.toolbox.find(name).unwrap()
    }
}

fn options(name: &str, folder: &Path, mode: &str) -> ServerOptions {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp_server.py");
    let ledger = folder.join("ledger");
    let args = [script.to_str().unwrap(), ledger.to_str().unwrap(), mode].map(str::to_owned).to_vec();
    let env = BTreeMap::from([("PATH".to_owned(), std::env::var("PATH").unwrap())]);
    ServerOptions {
        name: name.to_owned(),
        transport: Transport::Command { command: "python3".to_owned(), args, env, folder: folder.to_owned() },
        timeout: PATIENCE,
        tools: BTreeMap::new(),
    }
}

/// Waits until a condition holds, without a time limit of its own.
async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let looking = async {
        while !is_so() {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    timeout(PATIENCE, looking).await.unwrap_or_else(|_| panic!("never: {what}"));
}

fn done(text: &str) -> Answer {
    Answer::Done { text: text.to_owned(), data: None }
}

fn is_alive(pid: u32) -> bool {
    PathBuf::from(format!("/proc/{pid}")).exists()
}

#[tokio::test]
async fn what_the_server_does_not_mark_as_reading_happens_once_and_alone_unless_configured() {
    let traits = Traits {
        effect: Some(EffectClass::Idempotent),
        permission: Some(Permission::Knowledge),
        parallel_safe: Some(true),
        lock: Some("lines".to_owned()),
    };
    let stage =
        Stage::new("well", |options| options.tools = BTreeMap::from([("append_line".to_owned(), traits)])).await;
    let echo = stage.tool("echo").info().clone();
    assert_eq!((echo.permission, echo.effect, echo.parallel_safe), (Permission::Network, EffectClass::Read, true));
    assert_eq!(
        (echo.description.as_str(), echo.timeout_ms, echo.cancel),
        ("Says it again", 120_000, CancelClass::Drop)
    );
    assert_eq!(echo.schema.only_string(), Some("text"));
    let grow = stage.tool("grow").info().clone();
    assert_eq!((grow.permission, grow.effect, grow.parallel_safe), (Permission::Network, EffectClass::Once, false));
    assert_eq!(grow.cancel, CancelClass::Finish);
    let append = stage.tool("append_line").info().clone();
    assert_eq!(
        (append.permission, append.effect, append.parallel_safe, append.lock.as_deref()),
        (Permission::Knowledge, EffectClass::Idempotent, true, Some("lines"))
    );
    assert_eq!(stage.call("append_line", json!({ "line": "x" })).await, done("appended x, key run/1.0.0"));
}

#[tokio::test]
async fn a_call_is_written_only_while_the_node_may_act_for_its_run() {
    let stage = Stage::new("well", |_| {}).await;
    let (may, allowed) = watch::channel(false);
    let right = Right::new(2, move || {
        let mut allowed = allowed.clone();
        async move { drop(allowed.wait_for(|allowed| *allowed).await) }.boxed()
    });
    let mut waiting = Box::pin(right::within(right, stage.call("echo", json!({ "text": "late" }))));
    tokio::select! {
        biased;
        early = &mut waiting => panic!("it may not be sent: {early:?}"),
        now = stage.call("echo", json!({ "text": "now" })) => assert_eq!(now, done("now")),
    }
    assert_eq!(stage.ledger(), ["start", "call echo now"]);
    may.send_replace(true);
    assert_eq!(waiting.await, done("late"));
}

#[tokio::test]
async fn names_that_are_taken_are_given_with_the_server_and_unusable_tools_say_why() {
    let stage = Stage::new("well", |_| {}).await;
    assert!(stage.toolbox.find("json").is_none());
    assert_eq!(stage.call("files_json", json!({ "text": "hi" })).await, done("hi"));
    for (tool, why) in [
        ("far", "only local references are allowed"),
        ("odd", "cannot be used"),
        ("bomb", "262144 bytes when compiled"),
    ] {
        assert!(stage.tool(tool).trouble().unwrap().contains(why));
        let Answer::Failed(said) = stage.call(tool, json!({})).await else { panic!("{tool}") };
        assert!(said.contains(why), "{said}");
    }
    let troubled: Vec<_> = stage.servers.troubles().into_iter().map(|trouble| trouble.tool.unwrap()).collect();
    assert_eq!(troubled, ["far", "odd", "bomb"]);
    assert_eq!(stage.ledger(), ["start", "call json hi"]);
}

#[tokio::test]
async fn results_are_words_and_data_and_a_failure_is_one() {
    let stage = Stage::new("well", |_| {}).await;
    let words = "first\n[an image, image/png, 5 bytes]\n[the resource file:///note]\nin a note\n\
        [a resource, more: file:///more]";
    let data = Some(json!({ "count": 4 }));
    assert_eq!(stage.call("parts", json!({})).await, Answer::Done { text: words.to_owned(), data });
    let data = Some(json!({ "left": 3 }));
    assert_eq!(stage.call("only_data", json!({})).await, Answer::Done { text: "{\"left\":3}".to_owned(), data });
    assert_eq!(stage.call("fails", json!({})).await, Answer::Failed("out of salt".to_owned()));
    assert_eq!(stage.call("garbage", json!({})).await, done("through the noise"));
}

#[tokio::test]
async fn a_huge_result_is_cut_and_the_server_goes_on() {
    let stage = Stage::new("well", |_| {}).await;
    let Answer::Done { text, data: None } = stage.call("huge", json!({ "bytes": 9_000_000 })).await else { panic!() };
    assert!(text.ends_with("[cut: the whole result has 9000000 bytes]"));
    assert!(text.len() < 8_400_000, "{}", text.len());
    assert_eq!(stage.call("echo", json!({ "text": "still here" })).await, done("still here"));
}

#[tokio::test]
async fn a_server_killed_in_the_middle_of_a_call_leaves_an_effect_unknown_and_comes_back() {
    let stage = Stage::new("well", |_| {}).await;
    let Answer::Unknown(why) = stage.call("die", json!({})).await else { panic!("it may have happened") };
    assert!(why.contains("broke before an answer came"), "{why}");
    assert_eq!(stage.call("echo", json!({ "text": "back" })).await, done("back"), "the next call waits for it");
    let Answer::Failed(_) = stage.call("die_reading", json!({})).await else { panic!("a read does no harm") };
    assert_eq!(stage.ledger(), ["start", "call die", "start", "call echo back", "call die_reading"]);
}

#[tokio::test]
async fn a_server_that_keeps_dying_is_listed_as_unavailable_between_attempts() {
    let stage = Stage::new("well", |_| {}).await;
    let mut deaths = 0;
    // The first time it is started again at once, and so it is when it lived for long before, on a busy machine.
    let why = loop {
        let _died = stage.call("die", json!({})).await;
        deaths += 1;
        if let Answer::Failed(why) = stage.call("echo", json!({ "text": "?" })).await {
            break why;
        }
    };
    assert!(deaths > 1);
    assert!(why.starts_with("the MCP server `files` is not available: "), "{why}");
    assert_eq!(stage.tool("echo").trouble(), Some(why));
    until("it is there again", || stage.tool("echo").trouble().is_none()).await;
    assert_eq!(stage.call("echo", json!({ "text": "back" })).await, done("back"));
    let starts = stage.ledger().iter().filter(|line| *line == "start").count();
    assert_eq!(starts, deaths + 1, "{:?}", stage.ledger());
}

#[tokio::test]
async fn a_changed_list_is_read_again() {
    let stage = Stage::new("well", |_| {}).await;
    assert!(stage.toolbox.find("grown").is_none() && stage.toolbox.find("shrinks").is_some());
    assert_eq!(stage.call("grow", json!({})).await, done("grown"));
    until("the new tool is there", || stage.toolbox.find("grown").is_some()).await;
    assert_eq!(stage.call("grown", json!({})).await, done("I am new"));
    assert!(stage.toolbox.find("shrinks").is_none());
}

#[tokio::test]
async fn a_call_that_is_given_up_is_called_off() {
    let stage = Stage::new("well", |_| {}).await;
    stage.give_up("hang").await;
    assert_eq!(stage.call("echo", json!({ "text": "a" })).await, done("a"), "one slow call does no harm");
    assert_eq!(stage.ledger(), ["start", "call hang", "cancelled", "call echo a"]);
}

#[tokio::test]
async fn a_stuck_server_is_started_anew() {
    let stage = Stage::new("well", |options| options.timeout = Duration::from_secs(4)).await;
    // On a busy machine the first attempts may take longer than that.
    until("it is there", || stage.toolbox.find("stuck").is_some_and(|tool| tool.trouble().is_none())).await;
    stage.give_up("stuck").await;
    let is_back = |ledger: &[String]| ledger.last().is_some_and(|line| line == "start");
    until("it was started anew", || is_back(&stage.ledger())).await;
    // On a busy machine it may take more than one attempt.
    let answers = async {
        while stage.call("echo", json!({ "text": "b" })).await != done("b") {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    timeout(PATIENCE, answers).await.expect("it answers again");
}

#[tokio::test]
async fn a_call_within_a_trace_says_so() {
    let stage = Stage::new("well", |_| {}).await;
    assert_eq!(stage.call("trace", json!({})).await, done("None"));
    let given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let told = trace::within(Trace::parse(given), stage.call("trace", json!({}))).await;
    assert_eq!(told, done(given));
}

#[tokio::test]
async fn a_program_inherits_nothing_and_takes_what_it_started_with_it() {
    let stage = Stage::new("well", |options| {
        let Transport::Command { env, .. } = &mut options.transport else { panic!() };
        env.insert("TOKEN".to_owned(), "for it".to_owned());
    })
    .await;
    let Answer::Done { text, .. } = stage.call("environment", json!({})).await else { panic!() };
    let seen: BTreeMap<String, String> = serde_json::from_str(&text).unwrap();
    let folder = stage.folder.path().canonicalize().unwrap();
    assert_eq!((seen["cwd"].as_str(), seen["TOKEN"].as_str()), (folder.to_str().unwrap(), "for it"));
    assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok() && !seen.contains_key("CARGO_MANIFEST_DIR"), "{seen:?}");

    let Answer::Done { text, .. } = stage.call("helper", json!({})).await else { panic!() };
    let helper = text.parse().unwrap();
    assert!(is_alive(helper));
    let Stage { servers, folder, .. } = stage;
    servers.stop().await;
    let ledger = std::fs::read_to_string(folder.path().join("ledger")).unwrap();
    assert!(ledger.ends_with("end\n"), "it could end by itself: {ledger}");
    until("its helper is gone", || !is_alive(helper) || is_zombie(helper)).await;
}

/// Returns whether a process was killed and its parent has not collected it yet.
fn is_zombie(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.contains(") Z ")
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_keeps_nobody_waiting_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let mut missing = options("missing", folder.path(), "well");
    let Transport::Command { command, .. } = &mut missing.transport else { panic!() };
    *command = "no-such-program".to_owned();
    missing.tools = BTreeMap::from([("read".to_owned(), Traits::default())]);
    let gone = ServerOptions {
        name: "gone".to_owned(),
        transport: Transport::Http { url: "http://127.0.0.1:1/mcp?token=hush".to_owned(), headers: BTreeMap::new() },
        ..options("gone", folder.path(), "")
    };
    let mute = ServerOptions { timeout: Duration::from_millis(200), ..options("mute", folder.path(), "silent") };
    let stage = Stage::of(vec![missing, options("ends", folder.path(), "ends"), gone, mute], folder);
    until("all have failed", || stage.servers.troubles().iter().all(|trouble| !trouble.reason.contains("being"))).await;
    let troubles = stage.servers.troubles();
    for (index, why) in [
        "it could not be started: No such file or directory",
        "the program ended (exit status: 1); it said: no licence for this machine",
        "could not connect: Connection refused",
        "no answer within 200ms",
    ]
    .into_iter()
    .enumerate()
    {
        let trouble = &troubles[index];
        assert!(trouble.reason.contains(why) && !trouble.reason.contains("hush"), "{trouble:?}");
    }
    let Answer::Failed(said) = stage.call("read", json!({})).await else { panic!("what is configured is listed") };
    assert!(said.contains("the MCP server `missing` is not available"), "{said}");
    assert_eq!(stage.tool("read").info().effect, EffectClass::Once);
}

#[tokio::test]
async fn a_run_reads_that_the_outcome_is_unknown_and_goes_on_without_a_repeat() {
    let stage = Stage::new("well", |_| {}).await;
    let model = ScriptedModel::new()
        .calls("1.0", "die", &json!({}))
        .calls("1.1", "append_line", &json!({ "line": "after" }))
        .says("1.2", "done");
    let models = models(model, ScriptedModel::new());
    let engine = engine(Arc::new(MemoryLog::default()), models, stage.toolbox.clone());
    let tools = stage.toolbox.live().map(|tool| tool.info().clone()).collect();
    let catalog = Catalog { tools, ..engine.seams().catalog() };
    let ensemble = ensemble(vec![task("work", &["die", "append_line"])]);
    let run = engine.submit(compile(&ensemble, Request::default(), &catalog).unwrap()).await.unwrap();
    let frames = frames(&engine, &run).await;
    let called: Vec<&Value> = frames.iter().filter(|frame| frame["type"] == "tool_called").collect();
    assert_eq!(called.len(), 2, "{called:?}");
    assert!(called[0].to_string().contains("broke before an answer came"), "{}", called[0]);
    assert_eq!(stage.ledger(), ["start", "call die", "start", "call append_line after"]);
}

/// Returns conversations that may use these servers without permission requests.
fn conversations(stage: &Stage, model: &ScriptedModel, providers: Vec<String>) -> (Chats, Engine) {
    let models = models(model.clone(), ScriptedModel::new());
    let engine = engine(Arc::new(MemoryLog::default()), models, stage.toolbox.clone());
    let rules =
        Rules { limits: Limits { iterations_per_level: 5, ..Limits::default() }, mode: Mode::Auto, ..Rules::default() };
    let settings = Settings { providers, detach_grace: PATIENCE, ..Settings::new(&engine, rules) };
    (Chats::new(engine.clone(), settings), engine)
}

/// Sends a message in a new thread; returns the tools' results, once it is answered.
async fn answered((chats, engine): (Chats, Engine)) -> Vec<String> {
    let thread = chats.create("me", None).await.unwrap();
    let said =
        chats.send("me", &thread.id, UserMessage { content: "Go".into(), ..UserMessage::default() }).await.unwrap();
    engine.finished(&said.turn).await;
    let rows = chats.rows("me", &thread.id).await.unwrap();
    let tools = rows.iter().flat_map(|(_, rows)| rows).filter(|row| row.role == Role::Tool);
    tools.map(|row| row.content.to_string()).collect()
}

#[tokio::test]
async fn a_conversation_uses_only_the_servers_it_may() {
    let stage = Stage::new("well", |_| {}).await;
    for (providers, offered) in [(Vec::new(), 0), (vec!["files".to_owned()], 1)] {
        let model = ScriptedModel::new().calls("1.0", "echo", &json!({ "text": "hi" })).says("1.1", "done");
        answered(conversations(&stage, &model, providers)).await;
        let tools = model.sent("1.0").unwrap().tools;
        assert_eq!(tools.iter().filter(|tool| tool.name == "echo").count(), offered);
    }
    assert_eq!(stage.ledger(), ["start", "call echo hi"], "the first one had no such tool");
}
