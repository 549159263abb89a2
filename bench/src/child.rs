//! This program again, as another process: its CPU and its memory are its own.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::ensure;

/// The argument that makes this program the model server.
pub(crate) const SERVE: &str = "serve";
/// The argument that makes this program one side of the crowd of a thousand.
pub(crate) const CROWD: &str = "crowd";

/// A model server in a process of its own, which ends with this value.
pub(crate) struct Server {
    process: Child,
    /// Where it is, with `/v1`.
    pub(crate) url: String,
}

impl Server {
    /// Starts a server that keeps every caller waiting so long.
    pub(crate) fn start(delay_ms: u64) -> anyhow::Result<Server> {
        let mut command = Command::new(env::current_exe()?);
        let command = command.args([SERVE, &delay_ms.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = Server { process: command.spawn()?, url: String::new() };
        let mut address = String::new();
        if let Some(output) = server.process.stdout.take() {
            BufReader::new(output).read_line(&mut address)?;
        }
        ensure!(!address.is_empty(), "the model server did not start");
        server.url = format!("http://{}/v1", address.trim());
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended_already = self.process.kill();
        let _status = self.process.wait();
    }
}

/// Runs one side of the crowd in a fresh process; returns what it printed.
pub(crate) fn crowd(side: &str, url: &str) -> anyhow::Result<String> {
    let output = Command::new(env::current_exe()?).args([CROWD, side, url]).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the crowd of {side} failed");
    Ok(String::from_utf8(output.stdout)?)
}
