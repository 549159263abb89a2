//! What people do in a terminal: they paste into `consort chat`, press Ctrl-C,
//! leave in a hurry, and use their editor at a review.

use std::process::Command;

use tempfile::TempDir;

use crate::model::Model;
use crate::slow_model::PATIENCE;
use crate::terminal::Terminal;

const MARK_PASTES: &str = "\u{1b}[?2004h";
const UNMARK_PASTES: &str = "\u{1b}[?2004l";

/// A folder whose model answers `Heard.`.
fn folder(more: &str) -> (TempDir, Model) {
    let (folder, model) = (tempfile::tempdir().unwrap(), Model::saying("Heard."));
    std::fs::write(folder.path().join("consort.toml"), format!("{}{more}", model.config)).unwrap();
    (folder, model)
}

#[test]
fn what_is_pasted_is_one_message_whose_lines_are_shown_and_which_steers_nothing() {
    let (folder, model) = folder("");
    let mut terminal = Terminal::start(folder.path(), &["chat"]);
    terminal.until(MARK_PASTES);
    terminal.until("› ");
    terminal.press("\u{1b}[200~one\rtwo\u{1b}[2J\rthree\u{1b}[201~");
    let shown = terminal.until("… three");
    assert!(shown.contains("› one\r\n… two[2J\r\n"), "{shown:?}");
    terminal.press("!\n");
    terminal.until("Heard.");
    assert_eq!(model.told.recv_timeout(PATIENCE).unwrap(), "one\ntwo\u{1b}[2J\nthree!");
    terminal.until("› ");
    terminal.press("more\\\nof it\n");
    terminal.until("Heard.");
    assert_eq!(model.told.recv_timeout(PATIENCE).unwrap(), "more\nof it");
    terminal.until("› ");
    terminal.press("\u{4}");
    let (status, sent) = terminal.transcript();
    let sent = String::from_utf8(sent).unwrap();
    assert_eq!((status, sent.matches(UNMARK_PASTES).count()), (Some(0), 1));
    assert!(model.told.try_recv().is_err(), "two messages and no more");
}

#[test]
fn ctrl_c_at_the_prompt_keeps_what_was_typed_and_twice_in_a_row_leaves() {
    let (folder, model) = folder("");
    let mut terminal = Terminal::start(folder.path(), &["chat"]);
    terminal.until("› ");
    terminal.press("half a thou");
    terminal.until("thou");
    terminal.press("\u{3}");
    terminal.until("Ctrl-C again leaves");
    terminal.until("› half a thou");
    terminal.press("ght\n");
    terminal.until("Heard.");
    assert_eq!(model.told.recv_timeout(PATIENCE).unwrap(), "half a thought");

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
        let (folder, _model) = folder("");
        let mut terminal = Terminal::start(folder.path(), &["chat"]);
        terminal.until("› ");
        assert!(!terminal.echoes(), "keys are read one by one");
        terminal.signal(signal);
        terminal.until(UNMARK_PASTES);
        assert_eq!((terminal.wait(), terminal.echoes()), (Some(130), true), "{signal}");
    }
}

/// An editor that draws, reads a line and obeys it; it fails where it has no terminal.
const EDITOR: &str = r#"[ -t 0 ] && [ -t 1 ] && [ -t 2 ] || exit 9
printf 'the editor draws'
read -r line
case "$line" in
  quit) exit 0 ;;
  fail) exit 3 ;;
  *) printf '%s\n' "$line" > "$1" ;;
esac
"#;

#[test]
fn an_editor_has_the_terminal_although_the_answer_goes_to_a_file_and_leaving_it_decides_nothing() {
    let task = "[ensemble]\nname = 'one'\n[[ensemble.task]]\nname = 'only'\ndescription = 'x'\nreview = 'required'\n";
    let (folder, _model) = folder(task);
    std::fs::write(folder.path().join("editor.sh"), EDITOR).unwrap();
    let mut command = Command::new("setsid");
    let run = format!("exec {} run > out.md", env!("CARGO_BIN_EXE_consort"));
    command.args(["--ctty", "sh", "-c", &run]).current_dir(folder.path()).env("EDITOR", "sh editor.sh");
    let mut terminal = Terminal::with(command);
    for (typed, said) in [("quit\n", "nothing was changed"), ("fail\n", "sh editor.sh ended with exit status: 3")] {
        terminal.until("exit early: ");
        terminal.press("e\n");
        terminal.until("the editor draws");
        terminal.press(typed);
        terminal.until(said);
    }
    terminal.until("exit early: ");
    terminal.press("e\n");
    terminal.until("the editor draws");
    terminal.press("Better.\n");
    assert_eq!(terminal.ended(), Some(0));
    assert_eq!(std::fs::read_to_string(folder.path().join("out.md")).unwrap(), "Better.\n");
}
