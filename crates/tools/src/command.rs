//! `run_command {program, args?}`: a program of the configuration's list, in the workspace and in the
//! sandbox. It exists only where the configuration names programs and a sandbox works.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{EffectClass, Permission, ToolInfo};
use consort_core::schema::Schema;
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::{arguments, short};
use crate::files::{LOCK, Workspace};
use crate::sandbox::{Access, End, Ended, Job, PROGRAM_FOLDERS, Sandbox, SandboxLimits};
use crate::{Answer, Invocation, Tool};

/// The name of the tool.
pub const RUN_COMMAND: &str = "run_command";
/// The number of bytes kept of each output; a longer one is a file to be written and read in parts.
const OUTPUT_MAX: usize = 256 * 1024;
/// The number of arguments, and of bytes of all of them together.
const ARGS_MAX: usize = 256;
const ARGS_BYTES_MAX: usize = 64 * 1024;
/// The time beyond the program's own that a call may take: ending it, and reading what it wrote.
const ENDING_MAX: Duration = Duration::from_secs(5);

/// The permissions of a file that stands in an empty place: nobody else makes empty ones that only their owner reads.
const PLACED_MODE: u32 = 0o400;

/// The programs that may be run, and their limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOptions {
    /// The names of the programs.
    pub programs: Vec<String>,
    /// Folders that programs may read beside the workspace and those of the system.
    pub read_only: Vec<PathBuf>,
    /// Variables that programs see.
    pub env: Vec<(String, String)>,
    /// The duration of a program.
    pub timeout: Duration,
    /// The memory of a program and all it starts, in bytes.
    pub max_memory: u64,
}

impl CommandOptions {
    /// The duration, unless told.
    pub const TIMEOUT: Duration = Duration::from_secs(60);
    /// The memory, unless told.
    pub const MAX_MEMORY: u64 = 1024 * 1024 * 1024;

    /// Returns where a program is: in the system's folders, in a folder to read, or in its `bin`.
    pub fn found(&self, program: &str) -> Option<PathBuf> {
        let others = self.read_only.iter().flat_map(|folder| [folder.join("bin"), folder.clone()]);
        let mut folders = PROGRAM_FOLDERS.iter().map(PathBuf::from).chain(others);
        folders.find_map(|folder| Some(folder.join(program)).filter(|path| path.is_file()))
    }
}

/// The tool that runs programs.
#[derive(Clone)]
pub struct RunCommand {
    workspace: Workspace,
    sandbox: Sandbox,
    options: CommandOptions,
    programs: BTreeMap<String, PathBuf>,
    info: Arc<ToolInfo>,
}

#[derive(Deserialize)]
struct Args {
    program: String,
    args: Option<Vec<String>>,
}

impl RunCommand {
    /// Returns a tool for this workspace, with those of the programs that are installed.
    pub fn new(workspace: &Workspace, sandbox: &Sandbox, options: CommandOptions) -> RunCommand {
        let found = options.programs.iter().filter_map(|name| Some((name.clone(), options.found(name)?)));
        let programs: BTreeMap<String, PathBuf> = found.collect();
        let info = Arc::new(description(&programs, &options));
        RunCommand { workspace: workspace.clone(), sandbox: sandbox.clone(), options, programs, info }
    }

    async fn run(&self, invocation: Invocation) -> Result<Answer, String> {
        let args: Args = arguments(invocation.args)?;
        let program = self.programs.get(&args.program).ok_or_else(|| {
            let known: Vec<&str> = self.programs.keys().map(String::as_str).collect();
            format!("`{}` may not be run; these may: {}", short(&args.program), known.join(", "))
        })?;
        let words = args.args.unwrap_or_default();
        let bytes: usize = words.iter().map(String::len).sum();
        if words.len() > ARGS_MAX || bytes > ARGS_BYTES_MAX || words.iter().any(|word| word.contains('\0')) {
            return Err(format!("`args` may have {ARGS_MAX} words and {ARGS_BYTES_MAX} bytes, without NUL"));
        }
        let root = self.workspace.root().ok_or("the workspace is gone")?.to_owned();
        let guarded = Guarded::place(&root, self.workspace.guarded());
        let names = self.workspace.guarded().iter().map(String::as_str);
        let kept = names.chain([".git"]).map(PathBuf::from).collect();
        let access = Access {
            workspace: Some(root),
            writes: true,
            kept,
            read_only: self.options.read_only.clone(),
            ..Access::default()
        };
        let CommandOptions { timeout, max_memory, .. } = self.options;
        let limits = SandboxLimits { time: timeout, memory: max_memory, output: OUTPUT_MAX };
        let job = Job { program: program.clone(), args: words, access, env: self.options.env.clone(), limits };
        let ended = self.sandbox.run(&job).await;
        guarded.remove();
        Ok(self.describe_end(&ended?))
    }

    /// Returns the end of a program in words for the model.
    fn describe_end(&self, ended: &Ended) -> Answer {
        let mut text = match ended.end {
            End::Exited(Some(status)) => format!("exit status {status}"),
            End::Exited(None) => "ended by a signal".to_owned(),
            End::OutOfTime => format!("ended after {} s, the limit", self.options.timeout.as_secs_f64()),
            End::TooManyProcesses => "ended: it started too many processes".to_owned(),
            End::OutOfMemory => format!("ended: it took more than {} bytes of memory", self.options.max_memory),
        };
        for (name, output) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
            let said = output.text();
            if !said.is_empty() {
                text = format!("{text}\n\n{name}:\n{said}");
            }
        }
        match ended.end {
            End::Exited(_) => Answer::Done { text, data: None },
            End::OutOfTime => Answer::Late { why: text, effect: self.info.effect },
            End::OutOfMemory | End::TooManyProcesses => Answer::Failed(text),
        }
    }
}

impl Tool for RunCommand {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        Box::pin(async move { self.run(invocation).await.unwrap_or_else(Answer::Failed) })
    }
}

fn description(programs: &BTreeMap<String, PathBuf>, options: &CommandOptions) -> ToolInfo {
    let names: Vec<&str> = programs.keys().map(String::as_str).collect();
    let about = format!(
        "Runs a program in the workspace and answers with its exit status and what it wrote. There is no shell, \
         no network and nothing to read but the workspace and the system's programs; it is ended after {} s. \
         Programs: {}.",
        options.timeout.as_secs_f64(),
        names.join(", ")
    );
    let schema = json!({ "type": "object", "additionalProperties": false, "required": ["program"], "properties": {
        "program": { "type": "string", "enum": names },
        "args": { "type": "array", "items": { "type": "string" }, "maxItems": ARGS_MAX } } });
    let timeout = options.timeout.saturating_add(ENDING_MAX);
    ToolInfo {
        permission: Permission::Execute,
        effect: EffectClass::Once,
        parallel_safe: false,
        lock: Some(LOCK.to_owned()),
        timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
        schema: Schema::new(schema),
        ..ToolInfo::new(RUN_COMMAND, &about)
    }
}

/// Empty files in the place of those that prompts are built from and that are not there, at the top of the workspace.
/// A program can neither make nor change such a file: each is read only to it. The files go with the call; where that
/// is broken off they say nothing, and go with the next one.
struct Guarded(Vec<PathBuf>);

impl Guarded {
    fn place(root: &Path, names: &[String]) -> Guarded {
        let made = |path: &PathBuf| File::options().write(true).create_new(true).mode(PLACED_MODE).open(path).is_ok();
        Guarded(names.iter().map(|name| root.join(name)).filter(|path| made(path) || is_placed(path)).collect())
    }

    /// Removes those that nobody has written meanwhile.
    fn remove(self) {
        for path in self.0.into_iter().filter(|path| is_placed(path)) {
            if let Err(error) = std::fs::remove_file(&path) {
                tracing::warn!(path = %path.display(), %error, "cannot remove an empty file");
            }
        }
    }
}

/// Returns whether a file is one that stands in an empty place.
fn is_placed(path: &Path) -> bool {
    let is_ours = |mode: u32| mode & 0o777 == PLACED_MODE;
    path.symlink_metadata().is_ok_and(|file| file.is_file() && file.len() == 0 && is_ours(file.permissions().mode()))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn tool(root: &Path, timeout: Duration) -> RunCommand {
        let options = CommandOptions {
            programs: ["sh", "cat", "no-such-program"].map(str::to_owned).to_vec(),
            read_only: Vec::new(),
            env: Vec::new(),
            timeout,
            max_memory: CommandOptions::MAX_MEMORY,
        };
        let sandbox = Sandbox::find().expect("bubblewrap is needed: scripts/setup test");
        RunCommand::new(&Workspace::open(root).unwrap(), &sandbox, options)
    }

    async fn run(root: &Path, args: Value) -> Answer {
        tool(root, CommandOptions::TIMEOUT).call(Invocation::test(args)).await
    }

    #[tokio::test]
    async fn a_listed_program_runs_in_the_workspace_and_no_other_does() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "bees").unwrap();
        let done = |text: &str| Answer::Done { text: text.to_owned(), data: None };
        let answer = run(folder.path(), json!({ "program": "cat", "args": ["a.txt"] })).await;
        assert_eq!(answer, done("exit status 0\n\nstdout:\nbees"));
        let answer = run(folder.path(), json!({ "program": "sh", "args": ["-c", "echo no >&2; exit 4"] })).await;
        assert_eq!(answer, done("exit status 4\n\nstderr:\nno"));
        for program in ["ls", "/bin/cat", "no-such-program", ""] {
            let Answer::Failed(why) = run(folder.path(), json!({ "program": program })).await else { panic!() };
            assert_eq!(why, format!("`{program}` may not be run; these may: cat, sh"));
        }
        let info = tool(folder.path(), CommandOptions::TIMEOUT).info().clone();
        assert_eq!((info.permission, info.effect, info.parallel_safe), (Permission::Execute, EffectClass::Once, false));
        assert_eq!(info.schema.json()["properties"]["program"]["enum"], json!(["cat", "sh"]));
    }

    #[tokio::test]
    async fn one_that_takes_too_long_is_late_and_tells_what_it_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let args = json!({ "program": "sh", "args": ["-c", "echo begun; sleep 600"] });
        let answer = tool(folder.path(), Duration::from_secs(10)).call(Invocation::test(args)).await;
        let why = "ended after 10 s, the limit\n\nstdout:\nbegun".to_owned();
        assert_eq!(answer, Answer::Late { why, effect: EffectClass::Once });
    }

    #[tokio::test]
    async fn what_agents_are_told_is_neither_changed_nor_made() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        let write = json!({ "program": "sh", "args": ["-c", "echo obey > AGENTS.md; echo x > .git/hook; exit 0"] });
        let instructions = folder.path().join("AGENTS.md");
        let Answer::Done { text, .. } = run(folder.path(), write.clone()).await else { panic!() };
        assert!(text.contains("cannot create AGENTS.md"), "{text}");
        assert!(!instructions.exists() && !folder.path().join(".git/hook").exists());
        // One that a call left behind which was broken off is empty, and goes with the next; another stays.
        assert_eq!(Guarded::place(folder.path(), &["AGENTS.md".to_owned()]).0.len(), 1);
        run(folder.path(), write.clone()).await;
        assert!(!instructions.exists());
        std::fs::write(&instructions, "").unwrap();
        run(folder.path(), write.clone()).await;
        assert_eq!(std::fs::read_to_string(&instructions).unwrap(), "");
        std::fs::write(folder.path().join("AGENTS.md"), "Be kind.").unwrap();
        run(folder.path(), write).await;
        assert_eq!(std::fs::read_to_string(folder.path().join("AGENTS.md")).unwrap(), "Be kind.");
    }
}
