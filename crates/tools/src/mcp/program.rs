//! A server that is a child process. It gets only its configured environment, is the
//! leader of its own process group, and the group is killed when this is dropped.

use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::answer::cut;

/// The time a program may take to end once its input is closed.
const LINGER: Duration = Duration::from_secs(2);
/// The time to wait for the last output of a program.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// The maximum size of one log line in bytes; a program could write for ever without ending one.
const LINE_MAX: usize = 4 * 1024;
/// The maximum number of bytes of its last line that explain why it could not be started.
const REASON_MAX: usize = 300;

/// A running program.
pub(super) struct Program {
    child: Child,
    /// The process group: the program and its children, until they are killed.
    group: Option<Pid>,
    said: Arc<Mutex<String>>,
    listening: JoinHandle<()>,
}

/// The program's standard output and input.
pub(super) type Pipes = (ChildStdout, ChildStdin);

impl Program {
    /// Starts the program; its standard error goes to the log.
    pub(super) fn start(server: &str, mut command: Command) -> Result<(Program, Pipes), String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| format!("it could not be started: {error}"))?;
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("it could not be started: no pipes".to_owned());
        };
        let said = Arc::<Mutex<String>>::default();
        let listening = tokio::spawn(listen(server.to_owned(), stderr, said.clone()));
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok((Program { child, group, said, listening }, (stdout, stdin)))
    }

    /// Returns the reason why the connection failed, with the last output of the program.
    pub(super) async fn obituary(mut self, reason: String) -> String {
        let ended = timeout(LAST_WORDS, self.child.wait()).await;
        self.kill();
        let _heard = timeout(LAST_WORDS, &mut self.listening).await;
        let reason = match ended {
            Ok(Ok(status)) => format!("the program ended ({status})"),
            Ok(Err(_)) | Err(_) => reason,
        };
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.is_empty() { reason } else { format!("{reason}; it said: {}", cut(&said, REASON_MAX)) }
    }

    /// Gives it time to end by itself, after its input is closed.
    pub(super) async fn end(mut self) {
        let _stubborn = timeout(LINGER, self.child.wait()).await;
        self.kill();
        let _reaped = timeout(LINGER, self.child.wait()).await;
    }

    /// Kills the whole group, since its children may have outlived it. This happens
    /// right away: once the group is gone, its number may be reused by another process.
    fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            let _gone_already = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.listening.abort();
        self.kill();
    }
}

async fn listen(server: String, mut stderr: ChildStderr, said: Arc<Mutex<String>>) {
    let mut heard = Vec::new();
    while let Ok(1..) = stderr.read_buf(&mut heard).await {
        while let Some(end) =
            heard.iter().position(|byte| *byte == b'\n').or((heard.len() > LINE_MAX).then_some(LINE_MAX))
        {
            let line: Vec<u8> = heard.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            if !line.is_empty() {
                tracing::info!(server, "{line}");
                line.clone_into(&mut said.lock().unwrap_or_else(PoisonError::into_inner));
            }
        }
    }
}
