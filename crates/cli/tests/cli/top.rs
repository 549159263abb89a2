//! `consort top`: a person who watches a server on the whole terminal and decides with a key pressed twice.

use crate::binary::{ended, run};
use crate::model::Model;
use crate::served::Served;
use crate::slow_model::{PATIENCE, SlowModel};
use crate::terminal::Terminal;

const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";
const TASK: &str = "[ensemble]\nname = 'evening'\n[[ensemble.task]]\nname = 'poem'\ndescription = 'Write a poem'\n";

/// Starts a server with a task that waits for a review, and the model that does it.
fn reviewed() -> (Served, Model) {
    let model = Model::saying("Roses are red");
    let server = Served::start(Some(&format!("{}{TASK}review = 'required'\n", model.config)));
    (server, model)
}

fn top(server: &Served) -> Terminal {
    let mut terminal = Terminal::start(server.folder.path(), &["top", "--url", &server.url]);
    terminal.until(ENTER);
    terminal
}

#[test]
fn a_review_that_comes_is_shown_and_approved_with_a_key_pressed_twice() {
    let (server, _model) = reviewed();
    let mut terminal = top(&server);
    terminal.until(" · live · ");
    terminal.until("no runs yet");
    let runner = server.begin(&["run"]);
    terminal.until("1 waits for you");
    terminal.press("\u{1b}[A");
    terminal.until("› review");
    terminal.until("Roses are red");
    terminal.until("a approve  r reject");
    terminal.press("a");
    terminal.until("approve poem (run-");
    terminal.until("press a again  any other key leaves it");
    terminal.press("a");
    terminal.until("completed");
    assert_eq!(ended(runner.wait_with_output().unwrap()).0, Some(0));
    terminal.press("q");
    terminal.until(LEAVE);
    assert_eq!((terminal.wait(), terminal.echoes()), (Some(0), true));
}

#[test]
fn a_review_is_rejected_with_the_reason_that_is_typed() {
    let (server, model) = reviewed();
    let mut runner = server.begin(&["run"]);
    let mut terminal = top(&server);
    terminal.until("1 waits for you");
    terminal.press("\u{1b}[H");
    terminal.until("› review");
    terminal.press("r");
    terminal.until("What should be better? ▏");
    terminal.press("shorter");
    terminal.until("What should be better? shorter▏");
    terminal.press("\n");
    terminal.until("done");
    let told = [(), ()].map(|()| model.told.recv_timeout(PATIENCE).unwrap());
    assert!(told[1].contains("shorter"), "{told:?}");
    terminal.press("q");
    assert_eq!(terminal.ended(), Some(0));
    runner.kill().unwrap();
    runner.wait().unwrap();
}

#[test]
fn a_run_is_paused_resumed_and_cancelled_and_cancelling_is_asked_twice() {
    let model = SlowModel::start();
    let slow = format!("base_url = 'http://127.0.0.1:{}/v1'\nretries = 0\n", model.port);
    let server = Served::start(Some(&format!("[models.slow]\nprovider = 'openai'\nmodel = 'm'\n{slow}{TASK}")));
    let runner = server.begin(&["run"]);
    model.asked();
    let mut terminal = top(&server);
    terminal.until("› running");
    terminal.press("p");
    terminal.until("› paused");
    terminal.until("p resume");
    terminal.press("p");
    terminal.until("› running");
    terminal.press("c");
    terminal.until("cancel at once ");
    terminal.press("x");
    terminal.until("nothing was done");
    terminal.press("c");
    terminal.until("press c again");
    terminal.press("c");
    terminal.until("cancelled");
    model.hung_up();
    assert_eq!(ended(runner.wait_with_output().unwrap()).0, Some(1));
    assert_eq!(server.json(&["runs", "show", "latest"])["status"], "CANCELLED");
    terminal.press("\u{3}");
    let (status, sent) = terminal.transcript();
    assert_eq!((status, String::from_utf8(sent).unwrap().matches(LEAVE).count()), (Some(130), 1));
}

#[test]
fn keys_that_come_together_or_before_the_screen_decide_nothing() {
    let (server, _model) = reviewed();
    let mut runner = server.begin(&["run"]);
    let mut watcher = top(&server);
    watcher.until("1 waits for you");
    watcher.press("q");
    assert_eq!(watcher.ended(), Some(0));
    let mut terminal = Terminal::start(server.folder.path(), &["top", "--url", &server.url]);
    terminal.press(&"a".repeat(20));
    terminal.until("› review");
    terminal.until("a approve  r reject");
    terminal.press(&"a".repeat(20));
    terminal.until("press a again");
    terminal.press("n");
    terminal.until("nothing was done");
    assert_eq!(server.json(&["reviews", "list"])["total"], 1);
    terminal.press("q");
    assert_eq!(terminal.ended(), Some(0));
    runner.kill().unwrap();
    runner.wait().unwrap();
}

#[test]
fn the_screen_follows_the_size_of_the_terminal_and_a_signal_gives_it_back() {
    let (server, _model) = reviewed();
    let mut terminal = top(&server);
    for (columns, rows) in [(41, 12), (121, 40), (81, 24)] {
        terminal.resize(columns, rows);
        terminal.until(&format!("\n{}\u{1b}[K", "─".repeat(usize::from(columns) - 1)));
    }
    terminal.signal("TERM");
    terminal.until(LEAVE);
    assert_eq!((terminal.wait(), terminal.echoes()), (Some(130), true));
}

#[test]
fn a_call_of_a_chat_is_allowed_or_denied() {
    let pay = "[tools.http.pay_bill]\ndescription = 'Pays'\nurl = 'http://127.0.0.1:1/pay'\neffect = 'once'\n";
    let server = Served::start(Some(&format!("[models.demo]\nprovider = 'demo'\nmodel = 'm'\n{pay}")));
    let talker = server.begin(&["chat", "Use pay_bill with \"rent\""]);
    let mut terminal = top(&server);
    terminal.until("1 waits for you");
    terminal.press("\u{1b}[H");
    terminal.until("› approval");
    terminal.until("{\"input\":\"rent\"}");
    terminal.press("d");
    terminal.until("deny pay_bill (");
    terminal.until("press d again");
    terminal.press("d");
    terminal.until("done");
    let (status, answer, words) = ended(talker.wait_with_output().unwrap());
    assert!(status == Some(0) && answer.contains("`pay_bill` failed"), "{answer}{words}");
    terminal.press("q");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn an_editor_has_the_terminal_and_the_screen_comes_back() {
    let (server, _model) = reviewed();
    let runner = server.begin(&["run"]);
    server.write("editor.sh", "printf 'the editor draws'\nread -r line\nprintf '%s\\n' \"$line\" > \"$1\"\n");
    let mut command = std::process::Command::new("setsid");
    command.args(["--ctty", env!("CARGO_BIN_EXE_consort"), "top", "--url", &server.url]);
    command.current_dir(server.folder.path()).env("EDITOR", "sh editor.sh");
    let mut terminal = Terminal::with(command);
    terminal.until("1 waits for you");
    terminal.press("\u{1b}[H");
    terminal.until("› review");
    terminal.press("e");
    terminal.until(LEAVE);
    terminal.until("the editor draws");
    terminal.press("Violets are blue\n");
    terminal.until(ENTER);
    terminal.until("completed");
    terminal.press("q");
    assert_eq!(terminal.ended(), Some(0));
    let (status, answer, _) = ended(runner.wait_with_output().unwrap());
    assert_eq!((status, answer.as_str()), (Some(0), "Violets are blue\n"));
}

#[test]
fn without_a_terminal_it_says_what_else_there_is_and_programs_get_json() {
    let (server, _model) = reviewed();
    let (status, answer, words) = server.consort(&["top"]);
    assert_eq!((status, answer.as_str()), (Some(2), ""));
    assert!(words.starts_with("consort top needs a terminal: `consort runs list`"), "{words}");
    let lists = server.json(&["top"]);
    let nothing = serde_json::json!({ "active": 0, "runs": [], "reviews": [], "approvals": [] });
    assert_eq!(lists, nothing);
    let closed = format!("127.0.0.1:{}", crate::ports::free());
    let (status, _, words) = run(server.folder.path(), &["top", "--json", "--url", &format!("http://{closed}")]);
    assert!(status == Some(3) && words.starts_with("consort: cannot reach "), "{words}");
}
