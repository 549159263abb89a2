//! The library as a program uses it: mistakes told at once, runs steered by
//! their handles, and picked up by the next process.

use std::sync::{Arc, Mutex};

use consort::seam::Tool;
use consort::{
    CancelMode, CaptureMode, Decision, DynamicToolProvider, Ensemble, Error, FunctionTool, Line, Mistakes, Model,
    Request, ReviewRule, Run, ScriptedModel, Status, Task, tool,
};
use futures::StreamExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Notify;

#[derive(Deserialize, JsonSchema)]
struct Pair {
    left: i64,
    right: i64,
}

/// Waits until something of this kind has happened.
async fn until(run: &Run, kind: &str) {
    let mut events = run.events().await.unwrap();
    while let Some(event) = events.next().await {
        if event.unwrap().kind() == kind {
            return;
        }
    }
    panic!("there was no {kind}");
}

#[tokio::test]
async fn a_builder_tells_every_mistake_at_once() {
    let stranger = Task::new("Not in the ensemble");
    let built = Ensemble::builder()
        .model("a", Model::demo().fallback(["b"]))
        .model("a", Model::demo())
        .tool(tool("sum", "Adds", |pair: Pair| async move { Ok::<_, String>(pair.left + pair.right) }))
        .task(Task::builder("Add {what}").tools(["sum", "product"]).reads(&stranger))
        .build();
    let Err(Error::Mistakes(Mistakes(mistakes))) = built.map(|_| ()) else { panic!("it was built") };
    let places: Vec<&str> = mistakes.iter().map(|mistake| mistake.place.as_str()).collect();
    assert_eq!(places, ["models.a", "models.a", "tasks[0].context", "tasks[0].tools[1]"]);
}

#[tokio::test]
async fn what_cannot_be_reached_is_a_mistake_like_any_other() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    let built = Ensemble::builder()
        .model("demo", Model::demo())
        .model("here", Model::demo().api_key("secret"))
        .model("there", Model::compatible("ftp://example.org", "m").api_key("secret"))
        .workspace(file.join("work"))
        .trace_dir(&file)
        .http_fetch()
        .web_search("nowhere")
        .task(Task::builder("Look").tool("http_fetch"))
        .build();
    let Err(Error::Mistakes(Mistakes(mistakes))) = built.map(|_| ()) else { panic!("it was built") };
    let said: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    let expected = [
        "models.here: has no api_key: it is not reached over the network",
        "models.there: base_url is not an http or https address",
        "workspace: cannot use the folder ",
        "web_search: the address does not do: `{query}` is not in it",
        "trace_dir: cannot use the folder ",
    ];
    assert_eq!(said.len(), expected.len(), "{said:?}");
    assert!(said.iter().zip(expected).all(|(said, expected)| said.starts_with(expected)), "{said:?}");
}

#[tokio::test]
async fn files_are_changed_in_the_workspace_alone_and_the_trace_tells_of_it() {
    let home = tempfile::tempdir().unwrap();
    let work = home.path().join("work");
    let traces = home.path().join("traces");
    let model = ScriptedModel::new()
        .calls("1.0", "write_file", &json!({ "path": "../tea.md", "content": "green" }))
        .calls("1.1", "write_file", &json!({ "path": "notes/tea.md", "content": "green" }))
        .says("1.2", "Noted.");
    let ensemble = Ensemble::builder().model("m", model.clone()).workspace(&work).trace_dir(&traces);
    let ensemble = ensemble.task(Task::builder("Take notes").tools(["write_file", "list_files"])).build().unwrap();
    assert!(["read_file", "list_files", "write_file", "edit_file"].iter().all(|name| ensemble.tools().contains(name)));
    let run = ensemble.start(Request::default().capture(CaptureMode::Standard)).await.unwrap();
    let events = run.events().await.unwrap();
    assert_eq!(run.finished().await.unwrap().answer(), "Noted.");
    let changed = events.map(Result::unwrap).filter(|event| std::future::ready(event.kind() == "file_changed"));
    let path = |event: consort::Event| match event.frame() {
        Some(consort::Frame::FileChanged { file_path, .. }) => file_path.clone(),
        other => panic!("{other:?}"),
    };
    let changed: Vec<String> = changed.map(path).collect().await;
    assert_eq!(changed, ["notes/tea.md"]);
    assert_eq!(std::fs::read_to_string(work.join("notes/tea.md")).unwrap(), "green");
    let heard = format!("{:?}", model.sent("1.1").unwrap().messages.last().unwrap());
    assert!(heard.contains("is_error: true") && !home.path().join("tea.md").exists(), "{heard}");
    let files = std::fs::read_dir(&traces).unwrap().map(|file| file.unwrap().path());
    let trace = files.filter(|path| path.to_string_lossy().ends_with(".trace.json")).map(std::fs::read_to_string);
    let trace: Vec<String> = trace.map(Result::unwrap).collect();
    assert!(trace.len() == 1 && trace[0].contains("STANDARD"), "{trace:?}");
}

#[tokio::test]
async fn inputs_may_come_with_the_run_but_must_come() {
    let ensemble = Ensemble::builder().model("demo", Model::demo()).task(Task::new("Write about {topic}"));
    let ensemble = ensemble.build().unwrap();
    let error = ensemble.start(()).await.map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "inputs: these template variables have no value: [topic]");
    let outcome = ensemble.start([("topic", "tea")]).await.unwrap().finished().await.unwrap();
    assert_eq!(outcome.status, Status::Completed);
}

#[tokio::test]
async fn a_function_is_told_typed_arguments_and_its_words_reach_the_model() {
    let model = ScriptedModel::new()
        .calls("1.0", "sum", &json!({ "left": 40, "right": 2 }))
        .calls("1.1", "sum", &json!({ "left": "forty" }))
        .calls("1.2", "hello", &json!({}))
        .says("1.3", "done");
    let sum = tool("sum", "Adds", |pair: Pair| async move { Ok::<_, String>(pair.left + pair.right) });
    let hello = tool("hello", "Greets", |(): ()| async move { Err::<(), _>("nobody is in") });
    let task = Task::builder("Add").tools(["sum", "hello"]);
    let ensemble = Ensemble::builder().model("m", model.clone()).tool(sum).tool(hello).task(task).build().unwrap();
    ensemble.start(()).await.unwrap().finished().await.unwrap();
    let heard = |place: &str| format!("{:?}", model.sent(place).unwrap().messages.last().unwrap());
    assert!(heard("1.1").contains("42"), "{}", heard("1.1"));
    assert!(heard("1.2").contains("left"), "{}", heard("1.2"));
    assert!(heard("1.3").contains("nobody is in"), "{}", heard("1.3"));
}

#[tokio::test]
async fn a_paused_run_begins_nothing_and_goes_on_with_the_model_and_the_words_it_was_given() {
    let gate = Arc::new(Notify::new());
    let first = ScriptedModel::new().at("1.0", Line::new().waits(&gate).says("one"));
    let second = ScriptedModel::new().says("2.0", "two");
    let ensemble = Ensemble::builder().model("a", first).model("b", second.clone()).tasks(["First", "Second"]);
    let run = ensemble.build().unwrap().start(()).await.unwrap();
    run.pause().await.unwrap();
    gate.notify_one();
    until(&run, "task_completed").await;
    run.switch_model("b").await.unwrap();
    run.direct_to("second", "Be brief.").await.unwrap();
    let unknown = run.switch_model("c").await.unwrap_err().to_string();
    assert_eq!(unknown, "there is no model 'c'. Available: [a, b]");
    assert!(second.ledger().is_empty());
    run.resume().await.unwrap();
    assert_eq!(run.finished().await.unwrap().answer(), "two");
    assert!(format!("{:?}", second.sent("2.0").unwrap().messages).contains("Be brief."));
}

#[tokio::test]
async fn a_review_is_answered_with_words_of_ones_own_and_only_by_its_run() {
    let task = || Task::builder("Write").name("notice").review(ReviewRule::Required);
    let ensemble = Ensemble::builder().model("demo", Model::demo()).task(task()).build().unwrap();
    let run = ensemble.start(()).await.unwrap();
    let other = ensemble.start(()).await.unwrap();
    let mut events = run.events().await.unwrap();
    while let Some(event) = events.next().await {
        let Some(review) = event.unwrap().review() else { continue };
        let edit = Decision::Edit { output: "Closed today.".into() };
        assert!(matches!(other.review(&review, edit.clone()).await, Err(Error::OtherReview(_))));
        run.review(&review, edit).await.unwrap();
    }
    assert_eq!(run.finished().await.unwrap().output("notice").unwrap(), "Closed today.");
    other.cancel(CancelMode::Now).await.unwrap();
    let cancelled = other.finished().await.unwrap();
    assert_eq!(cancelled.status, Status::Cancelled);
    assert!(cancelled.output("notice").is_err());
}

/// Sells whatever is in season.
#[derive(Clone, Default)]
struct Market(Arc<Mutex<Vec<FunctionTool>>>);

impl Market {
    fn sells(&self, name: &str, tag: &str) {
        let price = |(): ()| async { Ok::<_, String>("2 a piece") };
        self.0.lock().unwrap().push(tool(name, "Says the price", price).tag(tag));
    }
}

impl DynamicToolProvider for Market {
    fn name(&self) -> &str {
        "market"
    }

    fn resolve(&self) -> Vec<Arc<dyn Tool>> {
        self.0.lock().unwrap().iter().cloned().map(|tool| -> Arc<dyn Tool> { Arc::new(tool) }).collect()
    }
}

fn offered(model: &ScriptedModel, place: &str) -> Vec<String> {
    model.sent(place).unwrap().tools.iter().map(|tool| tool.name.clone()).collect()
}

#[tokio::test]
async fn tools_that_come_and_go_are_looked_up_whenever_a_task_begins() {
    let market = Market::default();
    let gate = Arc::new(Notify::new());
    market.sells("pears", "fruit");
    let model = ScriptedModel::new()
        .at("1.0", Line::new().waits(&gate).says("one"))
        .calls("2.0", "plums", &json!({}))
        .calls("2.1", "pears", &json!({}))
        .says("2.2", "two")
        .says("3.0", "three");
    let ensemble = Ensemble::builder().model("m", model.clone()).tool_provider(market.clone()).tasks([
        Task::builder("First").tool("market:*"),
        Task::builder("Second").tools(["pears", "market:*"]),
        Task::builder("Third").tool("market:#nuts"),
    ]);
    let run = ensemble.build().unwrap().start(()).await.unwrap();
    until(&run, "llm_iteration_started").await;
    market.0.lock().unwrap().clear();
    market.sells("plums", "fruit");
    gate.notify_one();
    let outcome = run.finished().await.unwrap();
    assert_eq!((outcome.error.as_deref(), outcome.answer()), (None, "three"));
    assert_eq!(offered(&model, "1.0"), ["pears"]);
    assert_eq!(offered(&model, "2.0"), ["pears", "plums"], "a name of its own is kept, the rest is what there is");
    assert_eq!(offered(&model, "3.0"), [""; 0]);
    let heard = |place: &str| format!("{:?}", model.sent(place).unwrap().messages.last().unwrap());
    assert!(heard("2.1").contains("2 a piece"), "{}", heard("2.1"));
    assert!(heard("2.2").contains("there is no tool named `pears`"), "{}", heard("2.2"));
}

#[tokio::test]
async fn a_provider_nobody_has_and_names_nobody_can_type_are_mistakes() {
    struct Nameless;
    impl DynamicToolProvider for Nameless {
        fn name(&self) -> &str {
            "no name"
        }

        fn resolve(&self) -> Vec<Arc<dyn Tool>> {
            Vec::new()
        }
    }
    let built = Ensemble::builder()
        .model("demo", Model::demo())
        .tool_provider(Market::default())
        .tool_provider(Market::default())
        .tool_provider(Nameless)
        .task(Task::builder("Buy").tools(["market:*", "shop:*"]))
        .build();
    let Err(Error::Mistakes(Mistakes(mistakes))) = built.map(|_| ()) else { panic!("it was built") };
    let said: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    let expected = [
        "tool_providers: 'market' is the name of another provider",
        "tool_providers: 'no name' is no name for a provider: only letters, digits, `_` and `-` are",
        "tasks[0].tools[1]: Unknown tools 'shop:*'. Available: [market:*, market:*, no name:*, network:*]",
    ];
    assert_eq!(said, expected);
}

#[tokio::test]
async fn the_next_process_goes_on_with_a_run_and_its_functions() {
    let folder = tempfile::tempdir().unwrap();
    let build = |model: ScriptedModel| {
        let load = Task::builder("Load").name("load").handler(|_work| async { Ok::<_, String>("3 orders") }).build();
        let tell = Task::builder("Tell").name("tell").reads(&load);
        let tell = tell.output_guardrail(|text| async move { if text.len() > 99 { Err("too long") } else { Ok(()) } });
        let builder = Ensemble::builder().model("m", model).keep_in(folder.path().join("runs.db"));
        builder.tasks([load, tell.build()]).build().unwrap()
    };
    let silent = ScriptedModel::new().otherwise(Line::new().hangs());
    let before = build(silent);
    let run = before.start(()).await.unwrap();
    until(&run, "llm_iteration_started").await;
    let id = run.id().to_owned();
    before.stop().await;
    assert!(matches!(run.finished().await, Err(Error::Unfinished(_))));
    drop((run, before));

    let after = build(ScriptedModel::new().says("2.0", "There are three."));
    let resumed = after.resume_unfinished().await.unwrap();
    assert_eq!(resumed.runs.iter().map(Run::id).collect::<Vec<_>>(), [id.as_str()]);
    let outcome = after.find(&id).await.unwrap().finished().await.unwrap();
    assert_eq!((outcome.output("load").unwrap(), outcome.answer()), ("3 orders", "There are three."));
    assert!(after.resume_unfinished().await.unwrap().runs.is_empty());
}
