//! A server in a folder of its own, and commands that talk to it.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde_json::Value;
use tempfile::TempDir;

use crate::binary::{CONSORT, Ended, run, start, start_program};
use crate::ports;

/// A server that is killed when the test is over.
pub(crate) struct Served {
    /// The folder of its configuration, in which commands are run.
    pub(crate) folder: TempDir,
    /// Its address.
    pub(crate) url: String,
    process: Child,
    log: ServerLog,
}

/// The lines that a server has logged, over all of its starts.
type ServerLog = Arc<Mutex<Vec<u8>>>;

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
        Served::start_program(CONSORT, folder, ports::free())
    }

    /// Starts this version of the program at a port, with the configuration and the data of a folder.
    pub(crate) fn start_program(program: &str, folder: TempDir, port: u16) -> Served {
        let log = ServerLog::default();
        // Not any port: one that is its own while it is started again.
        let (process, url) = listening(program, &folder, &port.to_string(), &log);
        Served { folder, url, process, log }
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Asks it to stop, and waits until it has; returns the time that it took.
    pub(crate) fn stop(&mut self) -> Duration {
        let asked = Instant::now();
        self.signal(Signal::TERM);
        self.process.wait().unwrap();
        asked.elapsed()
    }

    /// Returns the lines that it has logged.
    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&self.log.lock().unwrap()).into_owned()
    }

    /// Stops it in the middle of whatever it does, until [`Served::wake_up`].
    pub(crate) fn stand_still(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub(crate) fn wake_up(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.process.id()).unwrap();
        rustix::process::kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// Starts it again at the same address.
    pub(crate) fn restart(&mut self) {
        let port = self.url.rsplit(':').next().unwrap().to_owned();
        (self.process, self.url) = listening(CONSORT, &self.folder, &port, &self.log);
    }

    /// Runs a command that talks to it.
    pub(crate) fn consort(&self, args: &[&str]) -> Ended {
        run(self.folder.path(), &[args, &["--url", &self.url]].concat())
    }

    /// Starts a command that talks to it.
    pub(crate) fn begin(&self, args: &[&str]) -> Child {
        start(self.folder.path(), &[args, &["--url", &self.url]].concat())
    }

    /// Runs a command that must succeed and returns its output as JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let (status, answer, words) = self.consort(&[args, &["--json"]].concat());
        assert_eq!((status, words.as_str()), (Some(0), ""), "{args:?}");
        serde_json::from_str(&answer).unwrap()
    }

    /// Runs a command that must succeed and returns its output.
    pub(crate) fn said(&self, args: &[&str]) -> String {
        let (status, answer, words) = self.consort(args);
        assert_eq!(status, Some(0), "{args:?}: {words}");
        answer
    }

    /// Returns the id of the newest run.
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

fn listening(program: &str, folder: &TempDir, port: &str, kept: &ServerLog) -> (Child, String) {
    let mut process = start_program(program, folder.path(), &["serve", "--port", port]);
    let mut line = String::new();
    BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    // A server whose log nobody reads would wait for a reader once the pipe is full.
    let mut log = process.stderr.take().unwrap();
    let keeping = kept.clone();
    let mut piece = vec![0; 16 * 1024];
    let reading = std::thread::spawn(move || {
        while let Ok(size @ 1..) = log.read(&mut piece) {
            keeping.lock().unwrap().extend_from_slice(&piece[..size]);
        }
    });
    let Some(url) = line.trim_end().strip_prefix("consort listening on ") else {
        process.wait().unwrap();
        reading.join().unwrap();
        panic!("it does not listen: {line}{}", String::from_utf8_lossy(&kept.lock().unwrap()));
    };
    (process, url.to_owned())
}
