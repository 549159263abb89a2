//! Programs of `run_command` whose server is killed.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::binary::ended;
use crate::model::Model;
use crate::served::Served;
use crate::slow_model::PATIENCE;

/// Waits until something is so.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "not {what}");
        std::thread::yield_now();
    }
}

/// Returns the processes of this machine that have this word among their arguments.
fn processes(word: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let arguments = all.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let told = arguments.map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "));
    told.filter(|arguments| arguments.contains(word)).collect()
}

/// Creates a server with a task that may run `sh` in the folder `code`.
fn coding(model: &Model) -> Served {
    let server = tempfile::tempdir().unwrap();
    std::fs::create_dir(server.path().join("code")).unwrap();
    let tools = "[server]\nworkspace = './code'\n[tools.run_command]\nprograms = ['sh']\ntimeout = '1h'\n\
        [tools]\ndirect = ['safe', 'execute']\n";
    let ensemble = "[ensemble]\nname = 'code'\n[[ensemble.task]]\nname = 'build'\ndescription = 'Build it'\n\
        tools = ['run_command']\n";
    std::fs::write(server.path().join("consort.toml"), format!("{}{tools}{ensemble}", model.config)).unwrap();
    Served::start_in(server)
}

fn lines(file: &Path) -> usize {
    std::fs::read_to_string(file).map_or(0, |text| text.lines().count())
}

#[test]
fn a_program_whose_server_is_killed_ends_with_it_and_is_neither_repeated_nor_taken_for_done() {
    // A word that no other process has among its arguments.
    let word = format!("build-of-{}-", std::process::id());
    let script =
        format!(": {word}; echo begun >> begun; echo obey > AGENTS.md; while :; do echo x >> ticks; sleep 0.01; done");
    let call = json!({ "program": "sh", "args": ["-c", script] });
    let model = Model::calling("run_command", &call, "I looked.");
    let mut server = coding(&model);
    let folder = server.folder.path().join("code");
    let runner = server.begin(&["run"]);
    until("at work", || lines(&folder.join("ticks")) > 3);
    assert!(!processes(&word).is_empty());
    server.kill();
    until("ended with its server", || processes(&word).is_empty());
    let ticks = lines(&folder.join("ticks"));
    server.restart();

    let (status, answer, words) = ended(runner.wait_with_output().unwrap());
    assert_eq!((status, answer.as_str()), (Some(0), "I looked.\n"), "{words}");
    let _prompt = model.told.recv_timeout(PATIENCE).unwrap();
    let told = model.told.recv_timeout(PATIENCE).unwrap();
    assert!(told.starts_with("outcome unknown: "), "{told}");
    assert!(model.told.try_recv().is_err(), "it was asked twice");
    let (_, events, _) = server.consort(&["runs", "watch", &server.newest(), "--json"]);
    let frames: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let called: Vec<&Value> = frames.iter().filter(|frame| frame["type"] == "tool_called").collect();
    assert_eq!((called.len(), &called[0]["outcome"]), (1, &json!("FAILURE")), "{called:?}");
    assert_eq!((lines(&folder.join("begun")), lines(&folder.join("ticks"))), (1, ticks), "it ran once");
    assert!(processes(&word).is_empty());

    // The next program runs, and what the first one tried to tell agents says nothing and is gone.
    let next = r#"{"program": "sh", "args": ["-c", "wc -l < begun"]}"#;
    assert_eq!(server.said(&["tools", "invoke", "run_command", next]), "exit status 0\n\nstdout:\n1\n");
    assert!(!folder.join("AGENTS.md").exists());
}
