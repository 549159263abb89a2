//! A server in a folder of its own, and commands that talk to it.

use std::io::{BufRead, BufReader};
use std::process::Child;

use serde_json::Value;
use tempfile::TempDir;

use crate::binary::{Ended, run, start};

/// A server that is killed when the test is over.
pub(crate) struct Served {
    /// Where its configuration is, and where commands are run.
    pub(crate) folder: TempDir,
    /// Its address.
    pub(crate) url: String,
    process: Child,
}

impl Served {
    /// Starts one with this configuration; without any, with the demo.
    pub(crate) fn start(config: Option<&str>) -> Served {
        let folder = tempfile::tempdir().unwrap();
        if let Some(config) = config {
            std::fs::write(folder.path().join("consort.toml"), config).unwrap();
        }
        Served::start_in(folder)
    }

    /// Starts one with the configuration and the data of a folder.
    pub(crate) fn start_in(folder: TempDir) -> Served {
        let (process, url) = listening(&folder, "0");
        Served { folder, url, process }
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts it again at the same address.
    pub(crate) fn restart(&mut self) {
        let port = self.url.rsplit(':').next().unwrap().to_owned();
        (self.process, self.url) = listening(&self.folder, &port);
    }

    /// Runs a command that talks to it.
    pub(crate) fn consort(&self, args: &[&str]) -> Ended {
        run(self.folder.path(), &[args, &["--url", &self.url]].concat())
    }

    /// Starts a command that talks to it.
    pub(crate) fn begin(&self, args: &[&str]) -> Child {
        start(self.folder.path(), &[args, &["--url", &self.url]].concat())
    }

    /// What a command answers as JSON, when it succeeds.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let (status, answer, words) = self.consort(&[args, &["--json"]].concat());
        assert_eq!((status, words.as_str()), (Some(0), ""), "{args:?}");
        serde_json::from_str(&answer).unwrap()
    }

    /// What a command says, when it succeeds.
    pub(crate) fn said(&self, args: &[&str]) -> String {
        let (status, answer, words) = self.consort(args);
        assert_eq!(status, Some(0), "{args:?}: {words}");
        answer
    }

    /// The id of the newest run.
    pub(crate) fn newest(&self) -> String {
        self.json(&["runs", "list", "--limit", "1"])["runs"][0]["runId"].as_str().unwrap().to_owned()
    }

    /// Writes a file into its folder.
    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.kill();
    }
}

fn listening(folder: &TempDir, port: &str) -> (Child, String) {
    let mut process = start(folder.path(), &["serve", "--port", port]);
    let mut line = String::new();
    BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim_end().strip_prefix("consort listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
    (process, url)
}
