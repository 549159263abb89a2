//! This program again, as a separate process, so that its CPU and memory are measured separately.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};

/// The argument that makes this program the model server.
pub(crate) const SERVE: &str = "serve";
/// The argument that makes this program one side of the crowd of a thousand.
pub(crate) const CROWD: &str = "crowd";

/// The argument that makes this program a server of one kind or another.
pub(crate) const SERVER: &str = "host";

/// A process that listens; dropping this ends it.
pub(crate) struct Process {
    process: Child,
    /// The address on which it listens.
    pub(crate) address: String,
}

impl Process {
    /// Starts a program that prints a line which ends with its address.
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Process> {
        // What a server says to its log is not part of the figures.
        let process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut started = Process { process, address: String::new() };
        let mut line = String::new();
        if let Some(output) = started.process.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        ensure!(!line.is_empty(), "a server did not start");
        line.trim().rsplit('/').next().unwrap_or_default().clone_into(&mut started.address);
        Ok(started)
    }

    /// Starts this program as a server.
    pub(crate) fn server(args: &[&str]) -> anyhow::Result<Process> {
        Process::start(Command::new(env::current_exe()?).arg(SERVER).args(args))
    }

    /// Returns the process id.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Tells it to continue.
    pub(crate) fn go(&mut self) -> anyhow::Result<()> {
        let input = self.process.stdin.as_mut().context("it does not listen")?;
        input.write_all(b"go\n")?;
        Ok(input.flush()?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended_already = self.process.kill();
        let _status = self.process.wait();
    }
}

/// A model server in a separate process; dropping this ends it.
pub(crate) struct Server {
    _process: Process,
    /// The URL of the server, with `/v1`.
    pub(crate) url: String,
}

impl Server {
    /// Starts a server that delays every answer by so many milliseconds.
    pub(crate) fn start(delay_ms: u64) -> anyhow::Result<Server> {
        let process = Process::start(Command::new(env::current_exe()?).args([SERVE, &delay_ms.to_string()]))?;
        let url = format!("http://{}/v1", process.address);
        Ok(Server { _process: process, url })
    }
}

/// Runs one side of the crowd in a fresh process; returns its output.
pub(crate) fn crowd(side: &str, url: &str) -> anyhow::Result<String> {
    let output = Command::new(env::current_exe()?).args([CROWD, side, url]).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the crowd of {side} failed");
    Ok(String::from_utf8(output.stdout)?)
}
