//! Tests the commands that change runs, reviews and tools, and their output.

use crate::binary::run;
use crate::served::Served;
use crate::slow_model::SlowModel;

/// Starts a server with two models, and one task that asks the one that never ends.
fn slow(model: &SlowModel) -> Served {
    Served::start(Some(&format!(
        "[models.slow]\nprovider = 'openai'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:{}/v1'\nretries = 0\n\
         [models.demo]\nprovider = 'demo'\nmodel = 'm'\n[ensemble]\nname = 'one'\n\
         [[ensemble.task]]\nname = 'only'\ndescription = 'Say hello'\n",
        model.port
    )))
}

#[test]
fn a_run_is_steered_while_it_lasts_and_erased_when_it_is_over() {
    let model = SlowModel::start();
    let server = slow(&model);
    let mut runner = server.begin(&["run"]);
    model.asked();
    let id = server.newest();
    let said = |args: &[&str]| server.said(&[&["runs"], args].concat());

    assert_eq!(said(&["pause", &id]), format!("{id}: paused\n"));
    assert!(said(&["list"]).lines().last().unwrap().starts_with(&format!("{id}  paused ")));
    assert_eq!(said(&["resume", &id]), format!("{id}: resumed\n"));
    assert_eq!(said(&["model", &id, "demo"]), format!("{id}: asks demo instead of slow from now on\n"));
    let (status, _, words) = server.consort(&["runs", "model", &id, "huge"]);
    assert_eq!(status, Some(1));
    assert_eq!(words, "consort: Unknown model 'huge'. Available: [slow, demo] (INVALID_MODEL)\n");
    let told = said(&["inject", &id, "Be brief", "--target", "only", "--priority", "high", "--ttl", "10m"]);
    assert!(told.ends_with(": read at the next step\n"), "{told}");
    let (status, _, words) = server.consort(&["runs", "inject", &id, "Be brief", "--target", "nobody"]);
    assert_eq!((status, words.contains("only")), (Some(1), true), "the choices are named: {words}");

    let stopped = format!("{id}: had not ended, so it is stopped now; once it has ended, rm erases it\n");
    assert_eq!(said(&["rm", &id]), stopped);
    assert_eq!(runner.wait().unwrap().code(), Some(1), "somebody else stopped it");
    model.hung_up();
    let (status, _, words) = server.consort(&["runs", "pause", &id]);
    assert_eq!((status, words.ends_with("(RUN_COMPLETED)\n")), (Some(1), true), "{words}");
    assert_eq!(said(&["rm", &id]), format!("{id}: erased\n"));
    assert_eq!(server.json(&["runs", "list"])["total"], 0);
}

#[test]
fn a_model_that_does_not_answer_is_given_up_for_the_one_that_was_switched_to() {
    let model = SlowModel::start();
    let server = slow(&model);
    let runner = server.begin(&["run"]);
    model.asked();
    let id = server.newest();
    server.said(&["runs", "model", &id, "demo"]);
    let told = server.said(&["runs", "give-up", &id, "--task", "only"]);
    assert_eq!(told, format!("{id}: gave up 1 model call\n"));
    model.hung_up();
    assert_eq!(runner.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn a_cancel_is_as_soon_as_it_is_asked_to_be() {
    let model = SlowModel::start();
    let server = slow(&model);
    let runner = server.begin(&["run"]);
    model.asked();
    let id = server.newest();
    let cancel = |mode: &str| server.said(&["runs", "cancel", &id, "--mode", mode]);
    assert_eq!(cancel("after-task"), format!("{id}: cancelling\n"));
    assert!(server.said(&["runs", "list"]).contains(&format!("{id}  stopping ")), "the model may finish");
    assert_eq!(cancel("now"), format!("{id}: cancelling\n"));
    model.hung_up();
    assert_eq!(runner.wait_with_output().unwrap().status.code(), Some(1));
    assert_eq!(server.consort(&["runs", "cancel", &id, "--mode", "soon"]).0, Some(2));
}

#[test]
fn a_fork_from_a_task_tells_what_it_has_from_before_and_what_the_server_ignored() {
    let pair = "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n[ensemble]\nname = 'pair'\n\
        [[ensemble.task]]\nname = 'first'\ndescription = 'Say hello'\n\
        [[ensemble.task]]\nname = 'second'\ndescription = 'Say more'\n";
    let server = Served::start(Some(pair));
    assert_eq!(server.consort(&["run"]).0, Some(0));
    let old = server.newest();
    server.write("edits.json", r#"{"taskOverrides": {"second": {"modle": "ok", "description": "Say less"}}}"#);
    let (status, said, words) = server.consort(&["runs", "fork", &old, "--task", "second", "--file", "edits.json"]);
    let warning = "warning: unknown field `taskOverrides.second.modle` was ignored; did you mean `model`? Allowed are ";
    assert!(status == Some(0) && words.starts_with(warning), "{words}");
    let new = said.split(':').next().unwrap();
    let (status, _, words) = server.consort(&["runs", "watch", new]);
    let lines: Vec<&str> = words.lines().collect();
    let first = format!("0.0s pair: {new} goes on from {old}, 1 of 2 tasks done there");
    assert_eq!((status, lines[0]), (Some(0), first.as_str()), "what was done there is not told again: {words}");
    assert!(!words.contains(" first: "), "{words}");
    let shown = server.said(&["runs", "show", new]);
    assert!(shown.contains("\nfirst   completed, inherited\n"), "no time and no tokens of its own: {shown}");
    assert_eq!(server.consort(&["runs", "fork", &old, "--task", "third"]).0, Some(1));
    assert_eq!(server.consort(&["runs", "fork", &old, "--task", "first", "--seq", "1"]).0, Some(2));
}

#[test]
fn a_fork_with_another_output_begins_before_the_task_that_reads_it() {
    let pair = "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n[ensemble]\nname = 'pair'\n\
        [[ensemble.task]]\nname = 'first'\ndescription = 'Say hello'\n\
        [[ensemble.task]]\nname = 'second'\ndescription = 'Say more'\ncontext = ['$first']\n";
    let server = Served::start(Some(pair));
    assert_eq!(server.consort(&["run"]).0, Some(0));
    let old = server.newest();
    server.write("first.md", "Goodbye\n");
    let forked = server.json(&["runs", "fork", &old, "--output", "first=@first.md"]);
    let new = forked["runId"].as_str().unwrap();
    let (status, _, words) = server.consort(&["runs", "watch", new]);
    let first =
        format!("0.0s pair: {new} goes on from {old}, 1 of 2 tasks done there, output of first edited by local");
    assert_eq!((status, words.lines().next()), (Some(0), Some(first.as_str())), "{words}");
    let shown = server.said(&["runs", "show", new]);
    assert!(shown.contains("\n── first, output edited by local ──\nGoodbye\n"), "{shown}");
    let wrong = |args: &[&str]| server.consort(&[&["runs", "fork", old.as_str()], args].concat());
    let (status, _, words) = wrong(&["--output", "third=x"]);
    assert_eq!(
        (status, words.contains("Unknown task 'third'. Available: [first, second]")),
        (Some(1), true),
        "{words}"
    );
    let (status, _, words) = wrong(&["--output", "first=@nothing.md"]);
    assert_eq!((status, words.contains("--output first=@nothing.md: ")), (Some(2), true), "{words}");
    assert_eq!(wrong(&["--output", "first"]).0, Some(2));
}

#[test]
fn a_run_that_was_stopped_is_retried_and_one_that_ended_is_forked() {
    let model = SlowModel::start();
    let server = slow(&model);
    let mut runner = server.begin(&["run"]);
    model.asked();
    let old = server.newest();
    let said = |args: &[&str]| server.said(&[&["runs"], args].concat());
    let (status, _, words) = server.consort(&["runs", "retry", &old]);
    assert_eq!((status, words.ends_with("(RUN_ACTIVE)\n")), (Some(1), true), "{words}");
    said(&["cancel", &old, "--mode", "now"]);
    assert_eq!(runner.wait().unwrap().code(), Some(1));

    let retried = said(&["retry", &old, "--model", "demo"]);
    let again = retried.split(':').next().unwrap();
    assert_eq!(retried, format!("{again}: accepted, again what {old} did not finish\n"));
    assert_eq!(server.consort(&["runs", "watch", again]).0, Some(0));
    assert_eq!(server.json(&["runs", "show", again])["retryOf"], *old);
    let (status, _, words) = server.consort(&["runs", "retry", again]);
    assert_eq!((status, words.ends_with("(RUN_COMPLETED)\n")), (Some(1), true), "{words}");

    let forked = said(&["fork", again, "--seq", "1", "--model", "demo"]);
    let other = forked.split(':').next().unwrap();
    assert_eq!(forked, format!("{other}: accepted, from event 1 of {again}\n"));
    assert_eq!(server.consort(&["runs", "watch", other]).0, Some(0));
    let shown = said(&["show", other]);
    assert!(shown.contains(&format!("{again}, event 1\n")), "{shown}");
}

#[test]
fn reviews_are_listed_shown_and_decided_once() {
    let config = "[server]\nreview_timeout = '0s'\n[models.demo]\nprovider = 'demo'\nmodel = 'm'\n[ensemble]\nname = 'one'\n\
        [[ensemble.task]]\nname = 'only'\ndescription = 'Say hello'\nreview = 'required'\n";
    let server = Served::start(Some(config));
    let mut runner = server.begin(&["run", "--json"]);
    let mut frames = std::io::BufRead::lines(std::io::BufReader::new(runner.stdout.take().unwrap()));
    assert!(frames.any(|line| line.unwrap().contains(r#""type":"review_requested""#)));
    let id = server.newest();
    let review = format!("{id}-review-0");
    assert!(server.said(&["reviews", "list", "--run", &id]).contains(&format!("\n{review}  only  ")));
    let shown = server.said(&["runs", "show", &id]);
    assert!(shown.contains("\nstatus    running, waits for a review\n"), "{shown}");
    assert!(shown.contains(&format!("\nReview {review} of `only`.\n  ")), "{shown}");
    assert!(shown.contains(&format!("\nconsort reviews decide {review} approve\n")), "{shown}");

    let decide = |args: &[&str]| server.consort(&[&["reviews", "decide", &review], args].concat());
    let wrong = |words: &str| (Some(2), String::new(), format!("{words}\n"));
    assert_eq!(decide(&["edit"]), wrong("say with --output or --file what it should be"));
    assert_eq!(decide(&["reject"]), wrong("say with --feedback what should be better"));
    assert_eq!(decide(&["approve", "--output", "x"]), wrong("--output does not go with this decision"));
    assert_eq!(decide(&["edit", "--file", "nope.md"]).0, Some(2));
    server.write("better.md", "Good evening.\n");
    assert_eq!(decide(&["edit", "--file", "better.md"]), (Some(0), format!("{review}: edit\n"), String::new()));
    let frames: Vec<String> = frames.map_while(Result::ok).collect();
    assert!(frames.last().unwrap().contains("Good evening."), "{frames:?}");
    assert_eq!(runner.wait().unwrap().code(), Some(0));
    let (status, _, words) = decide(&["approve"]);
    assert_eq!((status, words.ends_with("(REVIEW_RESOLVED)\n")), (Some(1), true), "{words}");
    assert_eq!(server.consort(&["reviews", "list"]).2, "nothing waits for a decision\n");
}

#[test]
fn tools_answer_from_the_terminal_and_what_there_is_can_be_listed() {
    let server = Served::start(None);
    let invoke = |args: &[&str]| server.consort(&[&["tools", "invoke"], args].concat());
    let done = |text: &str| (Some(0), format!("{text}\n"), String::new());
    assert_eq!(invoke(&["calculator", "42 * 17"]), done("714"));
    assert_eq!(invoke(&["calculator", "--json-input", r#"{"input": "42 * 17"}"#]), done("714"));
    assert_eq!(invoke(&["calculator", r#"{"input": "1+1"}"#]), done("2"));
    assert_eq!(invoke(&["json", r#"{"json": "{\"a\": 2}", "query": ".a"}"#]), done("2"));
    let failed = invoke(&["calculator", "1 +"]);
    assert_eq!((failed.0, failed.1.as_str()), (Some(1), ""));
    assert!(failed.2.starts_with("calculator failed: "), "{}", failed.2);
    assert_eq!(invoke(&["calculator", "--json-input", "{"]).0, Some(2));
    let (status, _, words) = invoke(&["fly", "x"]);
    assert_eq!(status, Some(1));
    let unknown = "consort: Unknown tool 'fly'. Available: \
        [calculator, datetime, json, http_fetch, human_input] (TOOL_NOT_FOUND)\n";
    assert_eq!(words, unknown);

    let tools = server.said(&["tools", "list"]);
    assert!(tools.starts_with("TOOL         DESCRIPTION\ncalculator   Calculates. "), "{tools}");
    let all = server.said(&["capabilities"]);
    let expected = "MODEL  PROVIDER\ndemo   demo\n\nTASK      INPUTS                        TOOLS       DESCRIPTION\n\
        research  topic                                     Research {topic} and list what a newcomer should know\n";
    assert!(all.starts_with(expected) && all.ends_with(&tools), "{all}");
    assert_eq!(server.json(&["capabilities"])["models"][0]["alias"], "demo");
}

#[test]
fn a_shell_can_complete_every_command() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let (status, script, words) = run(folder.path(), &["completions", shell]);
        assert_eq!((status, words.as_str()), (Some(0), ""));
        for word in ["capabilities", "after-iteration", "inject"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(run(folder.path(), &["completions", "abacus"]).0, Some(2));
}

#[test]
fn every_command_has_a_man_page() {
    let folder = tempfile::tempdir().unwrap();
    let (status, _, words) = run(folder.path(), &["man", "pages/man1"]);
    assert_eq!((status, words.as_str()), (Some(0), ""));
    let page = |name: &str| std::fs::read_to_string(folder.path().join("pages/man1").join(name)).unwrap();
    assert!(page("consort.1").contains("consort\\-serve(1)"), "{}", page("consort.1"));
    for name in ["consort-serve.1", "consort-runs-inject.1", "consort-reviews-decide.1", "consort-health.1"] {
        let text = page(name);
        assert!(text.contains(".SH SYNOPSIS") && text.contains(".SH OPTIONS"), "{name}: {text}");
    }
    assert_eq!(run(folder.path(), &["man", "pages/man1/consort.1"]).0, Some(1));
}

#[test]
fn health_is_an_exit_status_for_probes() {
    let mut server = Served::start(None);
    assert_eq!(server.said(&["health"]), "READY\n");
    server.kill();
    let (status, _, words) = server.consort(&["health"]);
    assert_eq!((status, words.contains("cannot reach")), (Some(3), true), "{words}");
}
