//! What people do at the prompt of `consort chat`: they paste, they press
//! Ctrl-C, they leave in a hurry.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::slow_model::PATIENCE;
use crate::terminal::Terminal;

const MARK_PASTES: &str = "\u{1b}[?2004h";
const UNMARK_PASTES: &str = "\u{1b}[?2004l";

/// A folder whose model answers `Heard.`, and what it was told last each time.
fn listening_model() -> (TempDir, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let lines = reader.by_ref().lines().map(Result::unwrap).take_while(|line| !line.is_empty());
            let length =
                lines.filter_map(|line| Some(line.to_lowercase().strip_prefix("content-length:")?.trim().to_owned()));
            let mut body = vec![0; length.last().unwrap().parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let last = body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
            let delta = json!({ "choices": [{ "index": 0, "delta": { "role": "assistant", "content": "Heard." }, "finish_reason": "stop" }] });
            let answer = format!("data: {delta}\n\ndata: [DONE]\n\n");
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
            let _gone = write!(stream, "{head}{answer}");
            if tell.send(last).is_err() {
                return;
            }
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let config =
        format!("[models.m]\nprovider = 'openai'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:{port}/v1'\nretries = 0\n");
    std::fs::write(folder.path().join("consort.toml"), config).unwrap();
    (folder, told)
}

#[test]
fn what_is_pasted_is_one_message_whose_lines_are_shown_and_which_steers_nothing() {
    let (folder, told) = listening_model();
    let mut terminal = Terminal::start(folder.path(), &["chat"]);
    terminal.until(MARK_PASTES);
    terminal.until("› ");
    terminal.press("\u{1b}[200~one\rtwo\u{1b}[2J\rthree\u{1b}[201~");
    let shown = terminal.until("… three");
    assert!(shown.contains("› one\r\n… two[2J\r\n"), "{shown:?}");
    terminal.press("!\n");
    terminal.until("Heard.");
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), "one\ntwo\u{1b}[2J\nthree!");
    terminal.until("› ");
    terminal.press("more\\\nof it\n");
    terminal.until("Heard.");
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), "more\nof it");
    terminal.until("› ");
    terminal.press("\u{4}");
    let (status, sent) = terminal.transcript();
    let sent = String::from_utf8(sent).unwrap();
    assert_eq!((status, sent.matches(UNMARK_PASTES).count()), (Some(0), 1));
    assert!(told.try_recv().is_err(), "two messages and no more");
}

#[test]
fn ctrl_c_at_the_prompt_keeps_what_was_typed_and_twice_in_a_row_leaves() {
    let (folder, told) = listening_model();
    let mut terminal = Terminal::start(folder.path(), &["chat"]);
    terminal.until("› ");
    terminal.press("half a thou");
    terminal.until("thou");
    terminal.press("\u{3}");
    terminal.until("Ctrl-C again leaves");
    terminal.until("› half a thou");
    terminal.press("ght\n");
    terminal.until("Heard.");
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), "half a thought");

    terminal.until("› ");
    terminal.press("\u{3}");
    terminal.until("Ctrl-C again leaves");
    terminal.press("x");
    terminal.until("› x");
    terminal.press("\u{3}");
    terminal.until("Ctrl-C again leaves");
    terminal.until("› x");
    terminal.press("\u{3}");
    let (status, sent) = terminal.transcript();
    let sent = String::from_utf8(sent).unwrap();
    assert_eq!((status, sent.contains(UNMARK_PASTES)), (Some(130), true), "{sent:?}");
}

#[test]
fn a_chat_that_is_ended_from_outside_leaves_the_terminal_as_it_was() {
    for signal in ["TERM", "HUP"] {
        let (folder, _told) = listening_model();
        let mut terminal = Terminal::start(folder.path(), &["chat"]);
        terminal.until("› ");
        assert!(!terminal.echoes(), "keys are read one by one");
        terminal.signal(signal);
        terminal.until(UNMARK_PASTES);
        assert_eq!((terminal.wait(), terminal.echoes()), (Some(130), true), "{signal}");
    }
}
