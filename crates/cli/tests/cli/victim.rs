//! A server that is killed and started again in the same folder, at the same
//! address. What it says of itself goes to a file, which is read at the end.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::binary::signal;
use crate::ports;

/// The number of attempts to start a server that ends before it listens.
const STARTS_MAX: usize = 20;

/// The server and the folder it works in.
pub(crate) struct Victim {
    folder: PathBuf,
    name: String,
    port: u16,
    /// Variables of its environment.
    variables: Vec<(String, String)>,
    process: Option<Child>,
}

impl Victim {
    /// Returns a server that is not started yet, with a port of its own.
    pub(crate) fn new(folder: &Path, name: &str) -> Victim {
        let folder = folder.to_owned();
        let name = name.to_owned();
        Victim { folder, name, port: ports::free(), variables: Vec::new(), process: None }
    }

    /// Adds a variable to its environment.
    pub(crate) fn with(mut self, variable: &str, value: &str) -> Victim {
        self.variables.push((variable.to_owned(), value.to_owned()));
        self
    }

    /// Writes its configuration.
    pub(crate) fn configure(&self, config: &str) {
        fs::write(self.folder.join(format!("{}.toml", self.name)), config).unwrap();
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Returns the id of its process.
    pub(crate) fn id(&self) -> u32 {
        self.process.as_ref().unwrap().id()
    }

    /// Returns the folder that it keeps everything in.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join(format!("{}-data", self.name))
    }

    /// Starts it, and returns when it listens.
    pub(crate) fn start(&mut self) {
        let listens = (0..STARTS_MAX).any(|_| self.try_start());
        assert!(listens, "{} does not start:\n{}", self.name, self.said());
    }

    /// Starts it once; returns whether it listens, or has ended instead.
    pub(crate) fn try_start(&mut self) -> bool {
        let said = File::options().create(true).append(true).open(self.said_file()).unwrap();
        let port = self.port.to_string();
        let config = format!("{}.toml", self.name);
        let mut process = Command::new(env!("CARGO_BIN_EXE_consort"))
            .args(["serve", "--port", &port, "--config", &config, "--data"])
            .arg(self.data())
            .current_dir(&self.folder)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(said)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let listens = line.starts_with("consort listening on ");
        if !listens {
            process.wait().unwrap();
        }
        self.process = listens.then_some(process);
        listens
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            assert_eq!(process.try_wait().unwrap(), None, "{} ended by itself:\n{}", self.name, self.said());
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Ends it in order.
    pub(crate) fn stop(&mut self) {
        let mut process = self.process.take().unwrap();
        signal(&process, "TERM");
        assert!(process.wait().unwrap().success(), "{}", self.said());
    }

    /// Returns everything that its processes wrote to the log.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(self.said_file()).unwrap()
    }

    fn said_file(&self) -> PathBuf {
        self.folder.join(format!("{}.said", self.name))
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ended_already = process.kill();
            process.wait().unwrap();
        }
    }
}
