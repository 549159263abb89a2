//! Everything that needs no server.

use std::io::{BufRead, BufReader};

use serde_json::Value;

use crate::binary::{ended, interrupt, run, start};
use crate::model::Model;
use crate::served::Served;
use crate::slow_model::SlowModel;
use crate::terminal::Terminal;

/// Returns a configuration with a demo model, another one and two tasks in a row.
fn two_models(other: &str) -> String {
    format!(
        "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n[models.other]\n{other}\n[ensemble]\nname = 'pair'\n\
         [[ensemble.task]]\nname = 'first'\ndescription = 'Say hello to {{name}}'\n\
         [[ensemble.task]]\nname = 'second'\ndescription = 'Say more'\nmodel = 'other'\n"
    )
}

fn openai(port: u16) -> String {
    format!("provider = 'openai'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:{port}/v1'\nretries = 0")
}

#[test]
fn init_then_check_is_ok_and_mistakes_end_with_status_two() {
    let folder = tempfile::tempdir().unwrap();
    let consort = |args: &[&str]| run(folder.path(), args);
    let done = |text: &str| (Some(0), format!("{text}\n"), String::new());
    let wrong = |text: &str| (Some(2), String::new(), format!("{text}\n"));

    let demo = "no consort.toml, so the built-in demo: ok (1 model, 5 tools, 3 tasks)";
    assert_eq!(consort(&["check"]), done(demo));
    assert_eq!(consort(&["init"]), done("wrote consort.toml"));
    assert_eq!(consort(&["check"]), done("consort.toml: ok (1 model, 5 tools, 3 tasks)"));
    assert_eq!(consort(&["init"]), wrong("consort.toml exists and was left alone"));
    let written = std::fs::read_to_string(folder.path().join("consort.toml")).unwrap();
    assert!(written.contains("\nmax_queued_runs = 1000\n"), "the sixth run at once waits");

    let unset = "[models.a]\nprovider = 'demo'\nmodel = 'm'\napi_key = '${CONSORT_TEST_NOT_SET}'\n";
    std::fs::write(folder.path().join("other.toml"), unset).unwrap();
    let message = "models.a.api_key: the environment variable `CONSORT_TEST_NOT_SET` is not set";
    assert_eq!(consort(&["check", "--config", "other.toml"]), wrong(&format!("other.toml:4:1: {message}\n1 mistake")));

    let (status, _, words) = consort(&["check", "--config", "nope.toml"]);
    assert_eq!(status, Some(2));
    assert!(words.starts_with("nope.toml: cannot be read: "), "{words}");
    assert_eq!(consort(&["chekc"]).0, Some(2));
}

#[test]
fn without_a_file_the_demo_answers_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (status, answer, words) = run(folder.path(), &["run", "--input", "topic=chess"]);
    assert_eq!(status, Some(0), "{words}");
    assert!(answer.starts_with("# Program of an evening about chess\n\n- **18:00** "), "{answer}");
    assert!(answer.contains("- **19:35** End\n") && answer.contains("- 3 * 25 = **75**\n"), "{answer}");
    assert_eq!(answer.matches("Consort's built-in demo model").count(), 1, "{answer}");
    assert!(words.starts_with("No consort.toml here: this is the built-in demo"), "{words}");
    for line in
        ["s schedule: tool calculator {\"input\":\"3 * 25\"}\n", "s program: done in ", "s demo: completed after "]
    {
        assert!(words.contains(line), "{line} is missing in {words}");
    }
    assert!(!words.contains('\u{1b}'), "a file gets no colours");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn with_a_file_the_run_is_kept_and_every_frame_can_be_printed() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run(folder.path(), &["init"]).0, Some(0));
    let (status, answer, words) = run(folder.path(), &["run"]);
    assert_eq!((status, answer.is_empty()), (Some(0), false), "{words}");
    assert!(folder.path().join("consort-data/consort.db").exists());

    let (status, frames, words) = run(folder.path(), &["run", "--json", "--tag", "team=green"]);
    assert_eq!((status, words.as_str()), (Some(0), ""), "an ended run is not mentioned as unfinished");
    let frames: Vec<Value> = frames.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let numbers: Vec<u64> = frames.iter().filter_map(|frame| frame["seq"].as_u64()).collect();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
    assert!(frames.iter().any(|frame| frame["type"] == "token"));
    let last = frames.last().unwrap();
    assert_eq!((last["type"].as_str(), last["status"].as_str()), (Some("run_result"), Some("COMPLETED")));
    assert_eq!(last["outputs"].as_array().unwrap().len(), 3);
}

#[test]
fn a_request_in_a_file_is_checked_at_once_and_its_inputs_give_way_to_typed_ones() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "own.json",
        r#"{"tasks": [{"name": "only", "description": "Add {a} + {b}", "tools": ["calculator"]}],
        "inputs": {"a": 1, "b": 2}, "colour": "red"}"#,
    );
    let (status, answer, words) = run(folder.path(), &["run", "--file", "own.json", "--input", "b=40"]);
    assert_eq!(status, Some(0), "{words}");
    assert!(answer.starts_with("- 1 + 40 = **41**\n"), "{answer}");
    assert!(words.starts_with("warning: unknown field `colour` was ignored; allowed are "), "{words}");

    write(
        "wrong.json",
        r#"{"tasks": [{"description": "x", "tools": ["fly"], "model": "huge"}, {"description": "{a}"}]}"#,
    );
    let expected = "\
        tasks[0].model: Unknown model 'huge'. Available: [demo]\n\
        tasks[0].tools[0]: Unknown tool 'fly'. Available: [calculator, datetime, json, http_fetch, human_input]\n\
        inputs: these template variables have no value: [a]\n";
    assert_eq!(run(folder.path(), &["run", "--file", "wrong.json"]), (Some(2), String::new(), expected.to_owned()));

    let typo = "inputs.tpoic: no task uses it; did you mean `topic`?\n";
    assert_eq!(run(folder.path(), &["run", "--input", "tpoic=x"]), (Some(2), String::new(), typo.to_owned()));
    assert_eq!(run(folder.path(), &["run", "--input", "topic"]).0, Some(2));
    assert_eq!(run(folder.path(), &["run", "--file", "nope.json"]).0, Some(2));
}

#[test]
fn what_this_version_lacks_matters_only_to_runs_that_need_it() {
    let folder = tempfile::tempdir().unwrap();
    let toml =
        two_models("provider = 'demo'\nmodel = 'm'").replace("'Say more'", "'Say more'\ntools = ['kitchen.stock']");
    std::fs::write(folder.path().join("consort.toml"), toml).unwrap();
    let expected = "tasks[1].tools[0]: `kitchen.stock` is a tool of another ensemble, which only a server can use: `consort serve`\n";
    assert_eq!(run(folder.path(), &["run", "--input", "name=Ada"]), (Some(2), String::new(), expected.to_owned()));

    let change = r#"{"taskOverrides": {"second": {"model": "demo", "tools": {"remove": ["kitchen.stock"]}}}}"#;
    std::fs::write(folder.path().join("change.json"), change).unwrap();
    let (status, _, words) = run(folder.path(), &["run", "--input", "name=Ada", "--file", "change.json"]);
    assert_eq!(status, Some(0), "{words}");
}

#[test]
fn a_model_that_cannot_be_reached_fails_the_run_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let closed = crate::ports::free();
    std::fs::write(folder.path().join("consort.toml"), two_models(&openai(closed))).unwrap();
    let (status, answer, words) = run(folder.path(), &["run", "--input", "name=Ada"]);
    assert_eq!((status, answer.as_str()), (Some(1), ""), "{words}");
    let url = format!("http://127.0.0.1:{closed}/v1/chat/completions");
    let reason = format!("model `other`, {url}: Connection refused (os error 111)");
    assert!(words.contains(&format!("s second: model failed: {reason}; gives up\n")), "{words}");
    assert!(words.contains("\nThe run failed: "), "{words}");
    assert!(words.contains("\n1 of 2 tasks finished, its output is kept in consort-data (run-"), "{words}");
}

/// Returns a configuration of a task with a schema, and its model, which puts words around the answer.
fn structured() -> (String, Model) {
    let model =
        Model::saying("Sure! Here is the JSON:\n```json\n{\"bees\": 3, \"kind\": \"wild\"}\n```\nAnything else?");
    let schema =
        "output_schema = { type = 'object', required = ['bees'], properties = { bees = { type = 'integer' } } }";
    let task = format!("[ensemble]\nname = 'one'\n[[ensemble.task]]\nname = 'count'\ndescription = 'x'\n{schema}\n");
    (format!("{}{task}", model.config), model)
}

#[test]
fn a_structured_answer_is_its_json_and_nothing_else_on_stdout_here_and_on_a_server() {
    let (config, _model) = structured();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("consort.toml"), &config).unwrap();
    let json = "{\"bees\":3,\"kind\":\"wild\"}\n";
    let (status, answer, words) = run(folder.path(), &["run"]);
    assert_eq!((status, answer.as_str()), (Some(0), json), "{words}");
    let server = Served::start(Some(&config));
    let (status, answer, words) = server.consort(&["run"]);
    assert_eq!((status, answer.as_str()), (Some(0), json), "{words}");
    assert_eq!(server.said(&["runs", "watch", &server.newest()]), json);
}

/// Runs one task with a demo model that has this output limit.
fn demo_run(description: &str, tokens: u32, rule: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "[models.demo]\nprovider = 'demo'\nmodel = 'm'\nmax_output_tokens = {tokens}\n[ensemble]\nname = 'short'\n\
         [[ensemble.task]]\nname = 'report'\ndescription = '{description}'\non_truncated = '{rule}'\n"
    );
    std::fs::write(folder.path().join("consort.toml"), config).unwrap();
    run(folder.path(), &["run"])
}

#[test]
fn an_answer_that_is_cut_or_empty_is_no_success_and_what_was_said_is_shown() {
    let (status, whole, _) = demo_run("Write about tea", 4096, "fail");
    assert_eq!(status, Some(0));
    let (status, answer, words) = demo_run("Write about tea", 60, "continue");
    assert_eq!((status, &answer), (Some(0), &whole), "the parts are the whole: {words}");
    assert!(words.contains("report: the answer was cut at the output limit and is continued\n"), "{words}");
    let (status, answer, words) = demo_run("Write about tea", 20, "fail");
    assert_eq!((status, answer.as_str()), (Some(1), ""), "{words}");
    let (_, said) = words.split_once("── report, as far as it came ──\n").unwrap_or_else(|| panic!("{words}"));
    assert!(words.contains("OUTPUT_TRUNCATED") && whole.starts_with(said.trim_end()), "{words}");
    let (status, answer, words) = demo_run("Write about tea", 20, "accept");
    assert!(status == Some(0) && whole.starts_with(answer.trim_end()) && answer != whole, "{words}");
    assert!(words.contains("Cut at the output limit: report.\n"), "{words}");
    let (status, answer, words) = demo_run("Say nothing", 4096, "continue");
    assert_eq!((status, answer.as_str()), (Some(1), ""), "{words}");
    assert!(words.contains("report: the model said nothing and is asked again\n"), "{words}");
    assert!(words.contains("EMPTY_ANSWER"), "{words}");
}

#[test]
fn a_review_that_nobody_can_decide_waits_for_its_time_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let toml = "[server]\nreview_timeout = '50ms'\non_timeout = 'CONTINUE'\n[models.demo]\nprovider = 'demo'\nmodel = 'm'\n\
        [ensemble]\nname = 'one'\nreview_policy = 'AFTER_LAST_TASK'\n[[ensemble.task]]\nname = 'only'\ndescription = 'Say hello'\n";
    std::fs::write(folder.path().join("consort.toml"), toml).unwrap();
    let (status, answer, words) = run(folder.path(), &["run"]);
    assert_eq!((status, answer.is_empty()), (Some(0), false), "{words}");
    let waits = "s only: waits for a review; in 1s the run goes on\nNobody can be asked here, so reviews wait until their time is up.\n";
    assert!(words.contains(waits) && words.contains("s one: nobody reviewed in time: CONTINUE\n"), "{words}");
}

/// One task whose output a person must look at.
const REVIEWED: &str = "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n[ensemble]\nname = 'one'\n\
    [[ensemble.task]]\nname = 'only'\ndescription = 'Say hello'\nreview = 'required'\n";

/// Returns the id of the only review named in some words.
fn review_in(words: &str) -> String {
    let command = words.rsplit_once("consort reviews decide ").unwrap_or_else(|| panic!("no command in {words}")).1;
    command.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn a_review_that_nobody_can_decide_here_stays_open_for_a_server() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("consort.toml"), REVIEWED).unwrap();
    let (status, answer, words) = run(folder.path(), &["run"]);
    assert_eq!((status, answer.as_str()), (Some(1), ""), "{words}");
    assert!(words.contains("s only: waits for a review\n"), "{words}");
    let review = review_in(&words);
    let stays = format!("Nobody can be asked here, so the review {review} stays open.\n");
    assert!(
        words.contains(&stays) && words.contains("A review stays open; the run waits in consort-data (run-"),
        "{words}"
    );

    let server = Served::start_in(folder);
    let open = server.json(&["reviews", "list"]);
    assert_eq!((&open["total"], open["reviews"][0]["reviewId"].as_str()), (&1.into(), Some(review.as_str())));
    server.said(&["reviews", "decide", &review, "approve"]);
    let run = review.split_once("-review-").unwrap().0;
    assert_eq!(server.consort(&["runs", "watch", run]).0, Some(0));
}

#[test]
fn ctrl_d_at_a_review_decides_nothing_and_says_how_to_decide() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("consort.toml"), REVIEWED).unwrap();
    let mut terminal = Terminal::start(folder.path(), &["run"]);
    terminal.until("[x] exit early: ");
    terminal.press("\u{4}");
    terminal.until("A review stays open; the run waits in consort-data (run-");
    let words = terminal.until(" approve");
    assert_eq!(terminal.ended(), Some(1));
    let server = Served::start_in(folder);
    let review = review_in(&words);
    assert_eq!(server.json(&["reviews", "list"])["reviews"][0]["reviewId"], review.as_str(), "it is open still");
}

#[test]
fn ctrl_d_at_a_review_of_a_server_leaves_it_open_there() {
    let server = Served::start(Some(REVIEWED));
    let mut terminal = Terminal::start(server.folder.path(), &["run", "--url", &server.url]);
    terminal.until("[x] exit early: ");
    terminal.press("\u{4}");
    terminal.until("The review stays open: `consort reviews decide ");
    let review = server.json(&["reviews", "list"])["reviews"][0]["reviewId"].as_str().unwrap().to_owned();
    server.said(&["reviews", "decide", &review, "approve"]);
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn ctrl_c_stops_the_model_keeps_what_is_done_and_ends_with_status_130() {
    let folder = tempfile::tempdir().unwrap();
    let model = SlowModel::start();
    std::fs::write(folder.path().join("consort.toml"), two_models(&openai(model.port))).unwrap();
    let child = start(folder.path(), &["run", "--input", "name=Ada"]);
    model.asked();
    interrupt(&child);
    let (status, answer, words) = ended(child.wait_with_output().unwrap());
    assert_eq!((status, answer.as_str()), (Some(130), ""), "{words}");
    let last = words.lines().last().unwrap();
    assert!(last.starts_with("Cancelled; 1 of 2 tasks finished, its output is kept in consort-data (run-"), "{words}");
    model.hung_up();
    assert!(!folder.path().join("consort-data/consort.db-wal").exists(), "the log was closed");

    std::fs::write(folder.path().join("own.json"), r#"{"tasks": [{"description": "Say hi"}]}"#).unwrap();
    let (status, _, words) = run(folder.path(), &["run", "--file", "own.json"]);
    assert_eq!((status, words.contains("unfinished")), (Some(0), false), "the end was stored: {words}");
}

#[test]
fn a_folder_has_one_owner_and_a_crashed_run_is_mentioned_but_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let model = SlowModel::start();
    std::fs::write(folder.path().join("consort.toml"), two_models(&openai(model.port))).unwrap();
    std::fs::write(folder.path().join("own.json"), r#"{"tasks": [{"description": "Say hi"}]}"#).unwrap();
    let mut crashing = start(folder.path(), &["run", "--input", "name=Ada"]);
    model.asked();

    let (status, answer, words) = run(folder.path(), &["run", "--file", "own.json"]);
    assert_eq!((status, answer.as_str()), (Some(1), ""));
    assert!(
        words.contains(": cannot use the data folder consort-data: consort-data/consort.db is in use by"),
        "{words}"
    );
    assert!(words.contains("in use by another process") && words.contains("while `consort serve` does"), "{words}");

    crashing.kill().unwrap();
    crashing.wait().unwrap();
    for _ in 0..2 {
        let (status, _, words) = run(folder.path(), &["run", "--file", "own.json"]);
        assert_eq!(status, Some(0), "{words}");
        let mentioned =
            "consort-data holds 1 unfinished run from before, left alone here; the server goes on with them.\n";
        assert!(words.starts_with(mentioned), "{words}");
    }
}

#[tokio::test]
async fn a_backup_is_a_store_of_its_own_and_old_runs_are_not_kept_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let consort = |args: &[&str]| run(folder.path(), args);
    let nothing = consort(&["backup", "copy.db"]);
    assert_eq!((nothing.0, nothing.2.contains("nothing to copy")), (Some(1), true), "{nothing:?}");
    assert_eq!(consort(&["init"]).0, Some(0));
    let config = folder.path().join("consort.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.replace("#max_retained_completed_runs = 100", "max_retained_completed_runs = 1"))
        .unwrap();
    for _ in 0..3 {
        assert_eq!(consort(&["run"]).0, Some(0));
    }
    std::fs::create_dir(folder.path().join("other")).unwrap();
    let (status, words, _) = consort(&["backup", "other/consort.db"]);
    assert_eq!(status, Some(0), "{words}");
    assert_eq!(consort(&["backup", "other/consort.db"]).0, Some(1), "a copy is never overwritten");
    let log = consort_log::SqliteLog::open(&folder.path().join("other/consort.db")).unwrap();
    let list = consort_log::Log::list(&log, Default::default());
    assert_eq!(list.await.map(|page| page.total), Ok(1), "one ended run was to be kept");
}

#[test]
fn a_second_ctrl_c_leaves_at_once_although_a_tool_must_not_be_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let slow = SlowModel::start();
    let toml = format!(
        "[server]\ncancel_grace = '1h'\n[tools.http.pay]\ndescription = 'Pays'\nurl = 'http://127.0.0.1:{}/pay'\n\
         effect = 'once'\ntimeout = '1h'\n[ensemble]\nname = 'shop'\n\
         [[ensemble.task]]\ndescription = 'Pay for it'\nhandler = 'pay'\n",
        slow.port
    );
    std::fs::write(folder.path().join("consort.toml"), toml).unwrap();
    let mut child = start(folder.path(), &["run"]);
    slow.asked();
    interrupt(&child);
    let mut words = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(words.any(|line| line.contains("Ctrl-C again leaves at once")));
    interrupt(&child);
    let rest: Vec<String> = words.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    slow.hung_up();
}

#[test]
fn items_and_rounds_are_told_apart_while_they_are_done() {
    let config = "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n[ensemble]\nname = 'tour'\ninputs = { places = ['a', 'b'] }\n\
        [[ensemble.task]]\nname = 'visit'\ndescription = 'Write about {item}'\nfor_each = 'inputs.places'\n\
        [[ensemble.task]]\nname = 'draft'\ndescription = 'Write it up'\n\
        [[ensemble.group]]\nname = 'loop'\ntasks = ['draft']\nrepeat_until = 'round == 1'\nmax_rounds = 3\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("consort.toml"), config).unwrap();
    let (status, _, words) = run(folder.path(), &["run"]);
    assert_eq!(status, Some(0), "{words}");
    for line in
        ["visit [item 0]: started", "visit [item 1]: done in ", "draft (round 0): started", "draft (round 1): done in "]
    {
        assert!(words.contains(line), "{line}: {words}");
    }
    assert!(words.contains(" visit: done in "), "the task as a whole ends too: {words}");
}

#[test]
fn a_configuration_is_explained_as_a_graph_and_names_that_are_almost_right_are_suggested() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &str| std::fs::write(folder.path().join("consort.toml"), text).unwrap();
    let pair = "[models.sonnet]\nprovider = 'demo'\nmodel = 'm'\n[ensemble]\nname = 'pair'\n\
        [[ensemble.task]]\nname = 'first'\ndescription = 'Say {word}'\ntools = ['calculator']\n\
        [[ensemble.task]]\nname = 'second'\ndescription = 'Say more'\ncontext = ['$first']\nwhen = 'inputs.n > 2'\n";
    write(pair);
    let (status, graph, words) = run(folder.path(), &["check", "--explain"]);
    assert_eq!((status, words.as_str()), (Some(0), ""), "{graph}");
    let expected = "consort.toml: ok (1 model, 20 tools, 2 tasks)

pair: 2 tasks, side by side where nothing is read

  ● first
  │   asks sonnet (demo m)
  │   calls calculator
  ▼
  ● second
      asks sonnet (demo m)
      reads first
      only when inputs.n > 2
";
    let after_first = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_owned());
    assert_eq!(after_first(&graph), after_first(expected));
    let (status, demo, _) = run(tempfile::tempdir().unwrap().path(), &["check", "--explain"]);
    assert_eq!((status, demo.contains("  ▼\n")), (Some(0), true), "{demo}");

    write(&(pair.to_owned() + "model = 'sonet'\ntools = ['calculater']\n"));
    let (status, out, words) = run(folder.path(), &["check", "--explain"]);
    assert_eq!((status, out.as_str()), (Some(2), ""), "{words}");
    assert!(words.contains("unknown model `sonet`; did you mean `sonnet`? Allowed are sonnet"), "{words}");
    assert!(words.contains("unknown tool `calculater`; did you mean `calculator`? Allowed are "), "{words}");
}
