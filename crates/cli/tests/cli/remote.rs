//! The binary as a client: `run --url`, `runs watch`, and how calls end.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ChildStdout;
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use crate::binary::{ended, interrupt, run, start};
use crate::served::Served;
use crate::slow_model::{PATIENCE, SlowModel};

/// One task, done by the demo model.
const ONE: &str = "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n[ensemble]\nname = 'one'\n\
    [[ensemble.task]]\nname = 'only'\ndescription = 'Say hello to {name}'\n";

/// Returns the same configuration, with a review that waits without limit.
fn reviewed() -> String {
    format!("[server]\nreview_timeout = '0s'\n{ONE}review = 'required'\n")
}

/// Starts a server whose only task never ends.
fn endless(model: &SlowModel) -> Served {
    let slow =
        format!("provider = 'openai'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:{}/v1'\nretries = 0", model.port);
    Served::start(Some(&ONE.replace("provider = 'demo'\nmodel = 'm'", &slow)))
}

fn frames(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn numbers(frames: &[Value]) -> Vec<u64> {
    frames.iter().filter_map(|frame| frame["seq"].as_u64()).collect()
}

#[test]
fn a_run_on_a_server_is_shown_as_one_here_and_everybody_sees_the_same() {
    let server = Served::start(Some(ONE));
    server.write("request.json", r#"{"inputs": {"name": "Bob"}, "tags": {"team": "green"}, "colour": "red"}"#);
    let typed = ["run", "--file", "request.json", "--input", "name=Ada", "--tag", "kind=test"];
    let (status, answer, words) = server.consort(&typed);
    assert_eq!(status, Some(0), "{words}");
    assert!(answer.starts_with("Hello") || answer.contains("Ada"), "{answer}");
    let run = server.newest();
    let lines: Vec<&str> = words.lines().collect();
    assert!(lines[0].starts_with("warning: unknown field `colour` was ignored; allowed are "), "{}", lines[0]);
    assert_eq!(lines[1], format!("0.0s one: {run} started, 1 task"));
    assert!(lines.last().unwrap().contains("s one: completed after "), "{words}");

    let (status, watched, later) = server.consort(&["runs", "watch", &run]);
    assert_eq!((status, watched), (Some(0), answer));
    assert_eq!(later.lines().collect::<Vec<_>>(), lines[1..], "whoever comes late sees things when they happened");

    let (status, watched, _) = server.consort(&["runs", "watch", &run, "--json"]);
    let watched = frames(&watched);
    assert_eq!(numbers(&watched), (0..numbers(&watched).len() as u64).collect::<Vec<_>>());
    assert_eq!((status, watched.last().unwrap()["type"].as_str()), (Some(0), Some("run_result")));

    let listed = server.said(&["runs", "list", "--tag", "team=green", "--tag", "kind", "--status", "completed"]);
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines[0].split_whitespace().take(3).collect::<Vec<_>>(), ["RUN", "STATUS", "TASKS"]);
    assert!(lines[1].starts_with(&format!("{run}  completed    1/1 ")) && lines.len() == 2, "{listed}");
    assert!(lines[1].ends_with("  kind=test team=green"), "nothing is cut for a program: {listed}");
    assert_eq!(server.consort(&["runs", "list", "--tag", "team=red"]).2, "no runs\n");
    let shown = server.said(&["runs", "show", &run]);
    assert!(
        shown.starts_with(&format!("run       {run}\nstatus    completed\nensemble  one, sequential\n")),
        "{shown}"
    );
    assert!(shown.contains("\ninputs    name=Ada\n") && shown.contains("\n── only ──\n"), "{shown}");
}

#[test]
fn a_request_with_mistakes_ends_as_it_would_here_and_a_rehearsal_runs_nothing() {
    let server = Served::start(Some(ONE));
    let expected = "inputs: these template variables have no value: [name] (MISSING_INPUT)\n";
    assert_eq!(server.consort(&["run"]), (Some(2), String::new(), expected.to_owned()));
    let typo = "inputs.nmae: no task uses it; did you mean `name`?\n";
    assert_eq!(server.consort(&["run", "--input", "nmae=Ada"]), (Some(2), String::new(), typo.to_owned()));
    server.write("list.json", r#"{"inputs": []}"#);
    let (status, _, words) = server.consort(&["run", "--file", "list.json", "--input", "name=Ada"]);
    assert_eq!((status, words.as_str()), (Some(2), "inputs: must be an object, so that more can be added to it\n"));
    server.write("dry.json", r#"{"dryRun": true}"#);
    let rehearsed = server.said(&["run", "--file", "dry.json", "--input", "name=Ada"]);
    assert_eq!(rehearsed, "would run 1 task: only\n");
    assert_eq!(server.json(&["runs", "list"])["total"], 0);
}

#[test]
fn a_watcher_outlives_its_server_and_misses_nothing() {
    let mut server = Served::start(Some(&reviewed()));
    let mut watcher = server.begin(&["run", "--input", "name=Ada", "--json"]);
    let mut lines = BufReader::new(watcher.stdout.take().unwrap()).lines();
    let mut heard = until(&mut lines, "review_requested");
    server.kill();
    let mut words = BufReader::new(watcher.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(words.any(|line| line.starts_with("the connection is lost ")));
    server.restart();
    assert!(words.any(|line| line == "connected again"));

    let review = server.json(&["reviews", "list"])["reviews"][0]["reviewId"].as_str().unwrap().to_owned();
    assert_eq!(server.said(&["reviews", "decide", &review, "approve"]), format!("{review}: approve\n"));
    heard.extend(until(&mut lines, "run_result"));
    assert_eq!(watcher.wait().unwrap().code(), Some(0));
    assert_eq!(numbers(&heard), (0..numbers(&heard).len() as u64).collect::<Vec<_>>());
    let (_, stored, _) = server.consort(&["runs", "watch", &server.newest(), "--json"]);
    let numbered = |frames: &[Value]| frames.iter().filter(|frame| frame["seq"].is_u64()).cloned().collect::<Vec<_>>();
    assert_eq!(numbered(&heard), numbered(&frames(&stored)));
}

fn until(lines: &mut Lines<BufReader<ChildStdout>>, kind: &str) -> Vec<Value> {
    let mut heard = Vec::new();
    for line in lines.map_while(Result::ok) {
        heard.push(serde_json::from_str::<Value>(&line).unwrap());
        if heard.last().unwrap()["type"] == kind {
            return heard;
        }
    }
    panic!("no {kind} came: {heard:?}");
}

#[test]
fn ctrl_c_stops_the_run_of_the_one_who_started_it_and_only_sends_a_watcher_away() {
    let model = SlowModel::start();
    let server = endless(&model);
    let runner = server.begin(&["run", "--input", "name=Ada"]);
    model.asked();
    let run = server.newest();

    let mut watcher = server.begin(&["runs", "watch", &run]);
    let mut words = BufReader::new(watcher.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(words.any(|line| line.contains("only: asks ")));
    interrupt(&watcher);
    assert_eq!(words.last().unwrap(), format!("Left at once; the run is at {} ({run}).", server.url));
    assert_eq!(watcher.wait().unwrap().code(), Some(130));
    assert_eq!(server.json(&["runs", "show", &run])["status"], "RUNNING");

    interrupt(&runner);
    let (status, answer, words) = ended(runner.wait_with_output().unwrap());
    assert_eq!((status, answer.as_str()), (Some(130), ""), "{words}");
    assert!(words.ends_with("\nCancelled; 0 of 1 task finished.\n"), "{words}");
    model.hung_up();
    assert_eq!(server.json(&["runs", "show", &run])["status"], "CANCELLED");
    assert_eq!(server.consort(&["runs", "watch", &run]).0, Some(1), "somebody else cancelled it");
}

#[test]
fn ctrl_c_asks_the_server_to_stop_and_a_second_one_does_not_wait_for_that() {
    let folder = tempfile::tempdir().unwrap();
    let (url, asked) = reluctant();
    let runner = start(folder.path(), &["run", "--url", &url]);
    let next = || asked.recv_timeout(PATIENCE).unwrap();
    assert_eq!((next(), next()), ("POST /api/runs".to_owned(), "GET /api/runs/run-1/events".to_owned()));
    interrupt(&runner);
    assert_eq!(next(), "POST /api/runs/run-1/cancel");
    interrupt(&runner);
    let expected = format!("stopping; Ctrl-C again leaves at once\nLeft at once; the run is at {url} (run-1).\n");
    assert_eq!(ended(runner.wait_with_output().unwrap()), (Some(130), String::new(), expected));
}

const ACCEPTED: &str = "HTTP/1.1 202 Accepted\r\ncontent-length: 17\r\nconnection: close\r\n\r\n{\"runId\":\"run-1\"}";

/// Starts a server that accepts a run, sends no events of it and does not stop it; returns its address and the requests
/// it gets.
fn reluctant() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (tell, asked) = channel();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        loop {
            let (mut socket, request) = request(&listener);
            let answer = match request.as_str() {
                "POST /api/runs" => ACCEPTED,
                request if request.starts_with("GET") => "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n",
                _ => "",
            };
            socket.write_all(answer.as_bytes()).unwrap();
            open.push(socket);
            let _test_is_over = tell.send(request);
        }
    });
    (url, asked)
}

#[test]
fn ctrl_c_while_the_run_is_submitted_stops_it_once_the_server_has_answered() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut runner = start(folder.path(), &["run", "--url", &url]);
    let mut submission = request(&listener);
    assert_eq!(submission.1, "POST /api/runs");
    interrupt(&runner);
    let mut words = BufReader::new(runner.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert_eq!(words.next().unwrap(), "stopping once the server has answered; Ctrl-C again leaves at once");
    submission.0.write_all(ACCEPTED.as_bytes()).unwrap();
    let mut events = request(&listener);
    assert_eq!(events.1, "GET /api/runs/run-1/events");
    events.0.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n").unwrap();
    let cancel = request(&listener);
    assert_eq!(cancel.1, "POST /api/runs/run-1/cancel");
    interrupt(&runner);
    assert_eq!(runner.wait().unwrap().code(), Some(130));
}

/// Returns the next request to this server, and the connection that it came on.
fn request(listener: &TcpListener) -> (TcpStream, String) {
    let (mut socket, _) = listener.accept().unwrap();
    let mut bytes = [0; 8192];
    let length = socket.read(&mut bytes).unwrap();
    let request = String::from_utf8_lossy(&bytes[..length]).split(" HTTP/").next().unwrap().to_owned();
    (socket, request)
}

#[test]
fn ctrl_c_twice_does_not_wait_for_a_server_that_never_answers() {
    let folder = tempfile::tempdir().unwrap();
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", deaf.local_addr().unwrap());
    let mut runner = start(folder.path(), &["run", "--url", &url]);
    let (_socket, _submission) = request(&deaf);
    interrupt(&runner);
    let mut words = BufReader::new(runner.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert_eq!(words.next().unwrap(), "stopping once the server has answered; Ctrl-C again leaves at once");
    interrupt(&runner);
    let left = format!("Left before {url} answered; it may have taken the run all the same.");
    assert_eq!(words.collect::<Vec<_>>(), [left]);
    assert_eq!(runner.wait().unwrap().code(), Some(130));
}

#[test]
fn ctrl_c_before_the_run_is_submitted_leaves_without_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", deaf.local_addr().unwrap());
    let runner = start(folder.path(), &["run", "--url", &url, "--input", "name=Ada"]);
    let (_socket, question) = request(&deaf);
    assert_eq!(question, "GET /api/capabilities");
    interrupt(&runner);
    let expected = (Some(130), String::new(), "Left before the run was submitted.\n".to_owned());
    assert_eq!(ended(runner.wait_with_output().unwrap()), expected);
}

#[test]
fn a_server_that_is_not_there_ends_every_command_with_status_three() {
    let folder = tempfile::tempdir().unwrap();
    let closed = format!("127.0.0.1:{}", crate::ports::free());
    let url = format!("http://{closed}");
    let commands: &[&[&str]] = &[
        &["runs", "list"],
        &["runs", "watch", "run-1"],
        &["runs", "cancel", "run-1", "--json"],
        &["reviews", "list"],
        &["tools", "invoke", "calculator", "1"],
        &["capabilities"],
        &["run"],
    ];
    for command in commands {
        let (status, answer, words) = run(folder.path(), &[command, &["--url", &url][..]].concat());
        assert_eq!((status, answer.as_str()), (Some(3), ""), "{command:?}");
        assert_eq!(words, format!("consort: cannot reach {url}: Connection refused (os error 111)\n"));
    }
    for url in ["localhost:7329", "ftp://a"] {
        let (status, _, words) = run(folder.path(), &["runs", "list", "--url", url]);
        assert_eq!(status, Some(2), "{words}");
        assert!(words.starts_with(&format!("`{url}` is not the address of a server: ")), "{words}");
    }
}

#[test]
fn a_call_that_is_refused_says_why_and_programs_get_the_problem_as_it_is() {
    let hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    let keys = format!("[[server.api_key]]\nname = 'ci'\nkey_sha256 = '{hash}'\nscopes = ['read']\n{ONE}");
    let server = Served::start(Some(&keys));
    let (status, _, words) = server.consort(&["runs", "list"]);
    let wants = format!(
        "consort: {} wants an API key: give one with --key, or in CONSORT_API_KEY (UNAUTHORIZED)\n",
        server.url
    );
    assert_eq!((status, words), (Some(1), wants));
    let (_, _, words) = server.consort(&["runs", "list", "--key", "wrong"]);
    assert!(words.contains(" does not take this API key: give one with --key, "), "{words}");
    let (_, problem, _) = server.consort(&["runs", "list", "--json"]);
    assert!(problem.contains("Authorization: Bearer"), "programs get it as it is: {problem}");
    assert_eq!(server.consort(&["runs", "list", "--key", "secret"]).0, Some(0));
    let (status, _, words) = server.consort(&["run", "--input", "name=Ada", "--key", "secret"]);
    assert_eq!((status, words.ends_with("(FORBIDDEN)\n")), (Some(1), true), "{words}");

    let (status, problem, words) = server.consort(&["runs", "show", "run-x", "--key", "secret", "--json"]);
    assert_eq!((status, words.as_str()), (Some(1), "consort: No run with ID run-x (RUN_NOT_FOUND)\n"));
    let problem: Value = serde_json::from_str(&problem).unwrap();
    assert_eq!((problem["error"].as_str(), problem["status"].as_u64()), (Some("RUN_NOT_FOUND"), Some(404)));
}

#[test]
fn a_run_that_was_being_validated_at_three_deaths_is_not_tried_again() {
    let mut server = Served::start(Some(&reviewed()));
    let mut runners = [1, 2].map(|_| server.begin(&["run", "--input", "name=Ada"]));
    let waiting = |server: &Served| server.json(&["reviews", "list"])["total"] == 2;
    while !waiting(&server) {}
    let id = server.newest();
    server.kill();
    // What is left of a process that was killed at work on the run for the third time.
    server.write(&format!("consort-data/suspects/{id}"), "w2");
    server.restart();
    let poisoned = loop {
        let run = server.json(&["runs", "show", &id]);
        if run["status"] != "RUNNING" {
            break run;
        }
    };
    assert_eq!((&poisoned["status"], &poisoned["error"]), (&"FAILED".into(), &"POISONED".into()), "{poisoned}");
    assert_eq!(server.json(&["reviews", "list"])["total"], 1, "the other goes on waiting");
    for runner in &mut runners {
        runner.kill().unwrap();
        runner.wait().unwrap();
    }
}
