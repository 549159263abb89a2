//! Tests a person at a terminal, who pastes into `consort chat`, presses Ctrl-C and Tab, comes back to earlier messages,
//! leaves in a hurry, and uses an editor at a review.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use tempfile::TempDir;

use crate::model::Model;
use crate::slow_model::PATIENCE;
use crate::terminal::Terminal;

const MARK_PASTES: &str = "\u{1b}[?2004h";
const UNMARK_PASTES: &str = "\u{1b}[?2004l";

/// Creates a folder whose model answers `Heard.`.
fn folder(more: &str) -> (TempDir, Model) {
    let folder = tempfile::tempdir().unwrap();
    let model = Model::saying("Heard.");
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

#[test]
fn what_was_typed_before_a_review_was_shown_decides_nothing() {
    let task = "[ensemble]\nname = 'one'\n[[ensemble.task]]\nname = 'only'\ndescription = 'x'\nreview = 'required'\n";
    let (folder, _model) = folder(task);
    let mut terminal = Terminal::start(folder.path(), &["run"]);
    terminal.press("a\n");
    terminal.until("exit early: ");
    terminal.press("x\n");
    terminal.until("Type x again");
    terminal.press("no\n");
    terminal.until("exit early: ");
    terminal.press("x\n");
    terminal.until("Type x again");
    terminal.press("x\n");
    assert!(terminal.ended().is_some());
}

#[test]
fn messages_come_back_in_the_next_session_and_are_for_their_owner_alone() {
    let (folder, model) = folder("");
    let mut terminal = Terminal::start(folder.path(), &["chat"]);
    terminal.until("› ");
    terminal.press("first\u{1b}\rthought\n");
    terminal.until("Heard.");
    terminal.until("› ");
    terminal.press(" a secret\n");
    terminal.until("Heard.");
    terminal.until("› ");
    terminal.press("\u{4}");
    assert_eq!(terminal.ended(), Some(0));
    let file = folder.path().join("state/consort/history");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "\"first\\nthought\"\n");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    let mut terminal = Terminal::start(folder.path(), &["chat"]);
    terminal.until("› ");
    terminal.press("\u{1b}[A");
    terminal.until("› first\r\n… thought");
    terminal.press("\n");
    terminal.until("Heard.");
    let told: Vec<String> = (0..3).map(|_| model.told.recv_timeout(PATIENCE).unwrap()).collect();
    assert_eq!(told, ["first\nthought", "a secret", "first\nthought"]);
    terminal.press("\u{4}");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn tab_completes_commands_models_files_and_ids() {
    let (folder, model) = folder("");
    std::fs::write(folder.path().join("plan of mine.txt"), "Build a hive").unwrap();
    let mut terminal = Terminal::start(folder.path(), &["chat"]);
    terminal.until("› ");
    terminal.press("/mo\t");
    terminal.until("› /mode");
    terminal.press("\t");
    let listed = terminal.until("› /mode");
    assert!(listed.contains("/model  [NAME] the models") && listed.contains("\r\n/mode   [MODE]"), "{listed:?}");
    terminal.press("l \t");
    terminal.until("› /model m ");
    terminal.press("\n");
    terminal.until("m is asked from now on");
    terminal.until("› ");
    terminal.press("Read @pl\t");
    terminal.until("› Read @\"plan of mine.txt\" ");
    terminal.press("\n");
    terminal.until("Heard.");
    let told = model.told.recv_timeout(PATIENCE).unwrap();
    assert!(told.contains("Build a hive"), "{told}");
    terminal.until("› ");
    terminal.press("/new\n/threads th\t");
    terminal.until("› /threads thread-");
    terminal.press("\n");
    terminal.until("going on with \"Read @");
    terminal.until("› ");
    terminal.press("\u{4}");
    assert_eq!(terminal.ended(), Some(0));
}
