//! `consort run`, `chat` and `acp` in the folder of a running server, which they use.

use std::path::Path;

use crate::binary::{ended, interrupt, piped, run, start};
use crate::served::Served;
use crate::slow_model::SlowModel;
use crate::terminal::Terminal;

const DEMO: &str = "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n";
const TASK: &str = "[ensemble]\nname = 'one'\n[[ensemble.task]]\nname = 'only'\ndescription = 'Say hello to {name}'\n";
/// A tool that must not be called without asking.
const PAY: &str = "[tools.http.pay_bill]\ndescription = 'Pays'\nurl = 'http://127.0.0.1:1/pay'\neffect = 'once'\n";

fn told(server: &Served, what: &str) -> String {
    format!("consort-data is served at {}: {what} goes there.\n", server.url)
}

#[test]
fn a_run_beside_a_server_is_one_of_its_runs_and_shown_as_one_here() {
    let server = Served::start(Some(&format!("{DEMO}{TASK}")));
    let folder = server.folder.path();
    let (status, answer, words) = run(folder, &["run", "--input", "name=Ada", "--tag", "kind=beside"]);
    assert_eq!(status, Some(0), "{words}");
    let found = server.newest();
    assert!(words.starts_with(&format!("{}0.0s one: {found} started, 1 task\n", told(&server, "the run"))), "{words}");
    assert_eq!(server.json(&["runs", "list", "--tag", "kind=beside"])["total"], 1);
    assert_eq!(server.consort(&["runs", "watch", &found]).1, answer);

    let (status, frames, words) = run(folder, &["run", "--input", "name=Ada", "--json"]);
    assert_eq!((status, words.as_str()), (Some(0), ""));
    assert!(frames.lines().last().unwrap().contains("\"run_result\""), "{frames}");
    let (status, _, words) = run(folder, &["run", "--input", "name=Ada", "--serve", "0"]);
    let refused = format!("consort-data is served at {}, where all see it: leave out --serve\n", server.url);
    assert_eq!((status, words), (Some(2), refused));
}

/// Returns the thread that the last line names for going on, without a server.
fn thread(words: &str) -> &str {
    let last = words.lines().last().unwrap();
    last.strip_prefix("to go on: consort chat --thread ").unwrap_or_else(|| panic!("{words}"))
}

#[test]
fn a_conversation_beside_a_server_goes_on_in_the_folder_when_the_server_was_killed() {
    let mut server = Served::start(Some(DEMO));
    let (status, _, words) = run(server.folder.path(), &["chat", "My name is Ada"]);
    assert!(status == Some(0) && words.starts_with(&told(&server, "the chat")), "{words}");
    let thread = thread(&words).to_owned();
    let asked = ["chat", "--thread", &thread, "What did I say?"];
    server.kill();
    let (status, answer, words) = run(server.folder.path(), &asked);
    assert_eq!((status, words.contains("is served at")), (Some(0), false), "its address is still in the file: {words}");
    assert!(answer.starts_with("You said:\n\n- My name is Ada\n"), "{answer}");
    server.restart();
    let (status, answer, words) = run(server.folder.path(), &asked);
    assert!(status == Some(0) && words.starts_with(&told(&server, "the chat")), "{words}");
    assert!(answer.contains("- What did I say?\n"), "{answer}");
}

#[test]
fn reviews_and_approvals_are_asked_for_in_the_same_terminal() {
    let server = Served::start(Some(&format!("{DEMO}{PAY}{TASK}review = 'required'\n")));
    let mut terminal = Terminal::start(server.folder.path(), &["run", "--input", "name=Ada"]);
    terminal.until("is served at");
    terminal.until("exit early: ");
    terminal.press("a\n");
    assert_eq!(terminal.ended(), Some(0));

    let mut terminal = Terminal::start(server.folder.path(), &["chat"]);
    terminal.until("is served at");
    terminal.until("› ");
    terminal.press("Use pay_bill with \"rent\"\n");
    terminal.until("[d]eny: ");
    terminal.press("d\n");
    terminal.until("✗ pay_bill rent");
    terminal.press("\u{4}");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn ctrl_c_stops_the_run_on_the_server() {
    let model = SlowModel::start();
    let slow = format!("base_url = 'http://127.0.0.1:{}/v1'\nretries = 0\n", model.port);
    let server = Served::start(Some(&format!("[models.slow]\nprovider = 'openai'\nmodel = 'm'\n{slow}{TASK}")));
    let runner = start(server.folder.path(), &["run", "--input", "name=Ada"]);
    model.asked();
    interrupt(&runner);
    let (status, answer, words) = ended(runner.wait_with_output().unwrap());
    assert_eq!((status, answer.as_str()), (Some(130), ""), "{words}");
    model.hung_up();
    assert_eq!(server.json(&["runs", "show", "latest"])["status"], "CANCELLED");
}

#[test]
fn a_server_that_wants_a_key_is_given_the_one_of_the_command_and_a_key_without_a_server_is_a_mistake() {
    let hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    let key = format!("[[server.api_key]]\nname = 'ci'\nkey_sha256 = '{hash}'\nscopes = ['run']\n");
    let mut server = Served::start(Some(&format!("{key}{DEMO}{TASK}")));
    let consort = |folder: &Path, args: &[&str]| run(folder, args);
    for command in [&["run", "--input", "name=Ada"][..], &["chat", "Hello"]] {
        let (status, _, words) = consort(server.folder.path(), command);
        let wants = format!("{} wants an API key: give one with --key, or in CONSORT_API_KEY", server.url);
        assert!(status == Some(1) && words.contains(&wants), "{command:?}: {words}");
        let (status, _, words) = consort(server.folder.path(), &[command, &["--key", "secret"]].concat());
        assert_eq!(status, Some(0), "{command:?}: {words}");
    }
    server.kill();
    for command in [&["run", "--input", "name=Ada"][..], &["chat", "Hello"]] {
        let (status, answer, words) = consort(server.folder.path(), &[command, &["--key", "secret"]].concat());
        let needless = "--key is for a server, and none serves consort-data: name one with --url\n";
        assert_eq!((status, answer.as_str(), words.as_str()), (Some(2), "", needless), "{command:?}");
    }
}

#[test]
fn an_editor_in_the_folder_of_a_server_talks_to_the_server() {
    let server = Served::start(Some(DEMO));
    let begin = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#;
    let folder = server.folder.path().display().to_string();
    let new =
        format!(r#"{{"jsonrpc":"2.0","id":2,"method":"session/new","params":{{"cwd":"{folder}","mcpServers":[]}}}}"#);
    let asked = format!("{begin}\n{new}\n");
    let (status, answers, words) = piped(server.folder.path(), &["acp", "--config", "consort.toml"], &asked);
    assert_eq!(status, Some(0), "{words}");
    assert!(answers.contains("\"sessionId\""), "{answers}");
    assert_eq!(
        server.json(&["threads", "list"])["threads"].as_array().unwrap().len(),
        1,
        "it is a thread of the server"
    );
}
