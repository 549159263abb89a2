//! Runs the real binary and waits for it, or talks to it while it runs.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// The end of a command: its status, its standard output and its standard error.
pub(crate) type Ended = (Option<i32>, String, String);

/// The program under test.
pub(crate) const CONSORT: &str = env!("CARGO_BIN_EXE_consort");

fn consort(folder: &Path, args: &[&str]) -> Command {
    program(CONSORT, folder, args)
}

fn program(program: &str, folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).stdin(Stdio::null());
    command
}

/// Returns the end of a process.
pub(crate) fn ended(Output { status, stdout, stderr }: Output) -> Ended {
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// Runs it to its end.
pub(crate) fn run(folder: &Path, args: &[&str]) -> Ended {
    ended(consort(folder, args).output().unwrap())
}

/// Runs it to its end with something piped in.
pub(crate) fn piped(folder: &Path, args: &[&str], input: &str) -> Ended {
    let mut command = consort(folder, args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    ended(child.wait_with_output().unwrap())
}

/// Starts it.
pub(crate) fn start(folder: &Path, args: &[&str]) -> Child {
    start_program(CONSORT, folder, args)
}

/// Starts another version of it.
pub(crate) fn start_program(path: &str, folder: &Path, args: &[&str]) -> Child {
    program(path, folder, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Does what Ctrl-C does.
pub(crate) fn interrupt(child: &Child) {
    signal(child, "INT");
}

/// Sends it a signal.
pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", child.id())]).status().unwrap();
    assert!(sent.success());
}
