//! Programs in a sandbox that bubblewrap makes: the workspace, the system's programs to read, and nothing
//! else; no network, no privileges, a limit on memory, processes, time and output. Whatever is started
//! there ends with the call. `docs/security.md` says what it does not hold.

mod layout;
mod memory;
mod spawner;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use consort_http::right;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

pub(crate) use layout::{Access, PROGRAM_FOLDERS};
use spawner::Spawner;

/// The places in which bubblewrap is looked for.
const FOLDERS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];
/// The time that trying the sandbox may take; it is started once, without any work.
const TRIAL_MAX: Duration = Duration::from_secs(10);
/// The pause between two looks at a trial that has not ended.
const TRIAL_PAUSE: Duration = Duration::from_millis(5);
/// The pause between two looks at the memory of a program.
const MEMORY_PAUSE: Duration = Duration::from_millis(100);
/// The time for reading the rest of the output of a program that has ended.
const DRAIN_MAX: Duration = Duration::from_secs(2);
/// The number of processes and threads, so that a program that multiplies itself stops doing so. A compiler
/// has a few for each core.
const PROCESSES_MAX: usize = 512;
/// The number of bytes read of an output at once.
const CHUNK: usize = 16 * 1024;

/// A way to run programs apart from everything else.
#[derive(Clone, Debug)]
pub struct Sandbox {
    bubblewrap: PathBuf,
    /// Whether this bubblewrap can forbid namespaces in the sandbox.
    forbids_namespaces: bool,
    spawner: Spawner,
}

/// The limits of one program and everything it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SandboxLimits {
    /// The duration.
    pub(crate) time: Duration,
    /// The memory of all processes together, in bytes.
    pub(crate) memory: u64,
    /// The number of bytes kept of each of its two outputs.
    pub(crate) output: usize,
}

/// One program to run.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// The program, by its absolute path.
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    /// The folders that it sees, beside those of the system.
    pub(crate) access: Access,
    /// The variables that it sees, beside those of every program.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) limits: SandboxLimits,
}

/// The end of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself, with this status; none when a signal ended it.
    Exited(Option<i32>),
    /// It took too long.
    OutOfTime,
    /// It took too much memory.
    OutOfMemory,
    /// It started too many processes.
    TooManyProcesses,
}

/// A program that has ended, and the beginnings of what it wrote.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) end: End,
    pub(crate) stdout: Output,
    pub(crate) stderr: Output,
}

/// The beginning of an output, and its whole length in bytes.
#[derive(Debug, Default)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    whole: usize,
}

impl Output {
    /// Returns it as text; what was left out is said.
    pub(crate) fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        match self.whole.saturating_sub(self.bytes.len()) {
            0 => text.trim_end().to_owned(),
            left_out => format!("{}\n({left_out} more bytes were left out)", text.trim_end()),
        }
    }
}

impl Sandbox {
    /// Finds a sandbox that works on this machine, or returns the reason why there is none.
    pub fn find() -> Result<Sandbox, String> {
        let found = FOLDERS.iter().map(|folder| Path::new(folder).join("bwrap")).find(|path| path.is_file());
        let bubblewrap = found.ok_or_else(|| "bubblewrap (bwrap) is not installed".to_owned())?;
        let spawner = Spawner::start().map_err(|error| error.to_string())?;
        let strict = Sandbox { bubblewrap, forbids_namespaces: true, spawner };
        let lenient = Sandbox { forbids_namespaces: false, ..strict.clone() };
        match strict.tried() {
            Ok(()) => Ok(strict),
            // Versions before 0.8 cannot forbid them.
            Err(_) => lenient.tried().map(|()| lenient).map_err(|reason| format!("bubblewrap does not work: {reason}")),
        }
    }

    /// Starts nothing in it, with all that a program gets.
    fn tried(&self) -> Result<(), String> {
        let job = Job {
            program: "/usr/bin/true".into(),
            args: Vec::new(),
            access: Access::default(),
            env: Vec::new(),
            limits: SandboxLimits { time: TRIAL_MAX, memory: 64 * 1024 * 1024, output: CHUNK },
        };
        let mut command = std::process::Command::new(&self.bubblewrap);
        command.args(layout::arguments(&job, self.forbids_namespaces)).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let until = Instant::now() + TRIAL_MAX;
        while matches!(child.try_wait(), Ok(None)) {
            if Instant::now() > until {
                let _ended_by_itself = child.kill();
                break;
            }
            std::thread::sleep(TRIAL_PAUSE);
        }
        let ended = child.wait_with_output().map_err(|error| error.to_string())?;
        if ended.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ended.stderr);
        Err(said.lines().next().unwrap_or("it did not end").to_owned())
    }

    fn command(&self, job: &Job) -> Command {
        let mut command = Command::new(&self.bubblewrap);
        command.args(layout::arguments(job, self.forbids_namespaces)).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Bubblewrap and what it has started are ended together: the death of the first ends the rest.
        command.process_group(0).kill_on_drop(true);
        command
    }

    /// Runs a program to its end, once this node may act. Dropping this ends it, and everything it has started.
    pub(crate) async fn run(&self, job: &Job) -> Result<Ended, String> {
        let command = self.command(job);
        right::begin().await;
        let started = self.spawner.spawn(command).await;
        let mut child = started.map_err(|error| format!("the sandbox cannot be started: {error}"))?;
        let mut stdout = Output::default();
        let mut stderr = Output::default();
        let out = child.stdout.take();
        let err = child.stderr.take();
        let limit = job.limits.output;
        let end = {
            let reading = async { tokio::join!(read(out, &mut stdout, limit), read(err, &mut stderr, limit)) };
            let ending = end(&mut child, &job.limits);
            tokio::pin!(reading, ending);
            let mut is_read = false;
            loop {
                tokio::select! {
                    end = &mut ending => {
                        // What it wrote last may not have been read yet; nobody is left who could write more.
                        if !is_read {
                            let _all_or_in_time = tokio::time::timeout(DRAIN_MAX, &mut reading).await;
                        }
                        break end?;
                    }
                    // An output that is closed early does not end the program.
                    _ = &mut reading, if !is_read => is_read = true,
                }
            }
        };
        Ok(Ended { end, stdout, stderr })
    }
}

/// Waits for the end of a program, or ends it at a limit.
async fn end(child: &mut Child, limits: &SandboxLimits) -> Result<End, String> {
    let process = child.id();
    let limited = async {
        loop {
            tokio::time::sleep(MEMORY_PAUSE).await;
            let Some(process) = process else { continue };
            let used = tokio::task::spawn_blocking(move || memory::used_below(process)).await.unwrap_or_default();
            if used.bytes > limits.memory {
                return End::OutOfMemory;
            }
            // The kernel's own limit does not hold where the server is root.
            if used.processes > PROCESSES_MAX {
                return End::TooManyProcesses;
            }
        }
    };
    let end = tokio::select! {
        status = child.wait() => {
            let status = status.map_err(|error| format!("the program was lost: {error}"))?;
            return Ok(End::Exited(status.code()));
        }
        () = tokio::time::sleep(limits.time) => End::OutOfTime,
        end = limited => end,
    };
    let _ended_by_itself = child.kill().await;
    Ok(end)
}

/// Reads an output to its end and keeps its beginning.
async fn read(from: Option<impl AsyncRead + Unpin>, into: &mut Output, limit: usize) {
    let Some(mut from) = from else { return };
    let mut chunk = vec![0; CHUNK];
    while let Ok(count @ 1..) = from.read(&mut chunk).await {
        let room = limit.saturating_sub(into.bytes.len()).min(count);
        into.bytes.extend_from_slice(chunk.get(..room).unwrap_or_default());
        into.whole = into.whole.saturating_add(count);
    }
}
