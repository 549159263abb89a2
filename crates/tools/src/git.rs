//! `git {command, revision?, path?, staged?, limit?}`: status, diff, log and show of the repository in the
//! workspace, read only and in the sandbox. The repository's own configuration is not read, so that nothing in
//! it names a program to start; hooks, pagers, external diffs, filters and submodules are left alone.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::ToolInfo;
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;
use tempfile::NamedTempFile;

use crate::arguments::{arguments, short};
use crate::files::{self, Workspace};
use crate::sandbox::{Access, End, Ended, Job, PROGRAM_FOLDERS, Sandbox, SandboxLimits};
use crate::{Answer, Invocation, Tool};

/// The limits of one command.
const LIMITS: SandboxLimits =
    SandboxLimits { time: Duration::from_secs(25), memory: 1024 * 1024 * 1024, output: 256 * 1024 };
/// The number of commits listed unless a call wants another number, and the most it can want.
const COMMITS: u32 = 20;
const COMMITS_MAX: u32 = 500;
/// The maximum size of a revision in bytes.
const REVISION_MAX: usize = 256;
/// The options of every command: nothing is written, paged or fetched, and the owner of the folder does not
/// matter, since nothing of it is started.
const ALWAYS: [&str; 9] = [
    "--no-optional-locks",
    "--no-pager",
    "--literal-pathspecs",
    "-c",
    "safe.directory=*",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "protocol.allow=never",
];
/// The options of every command that shows changes.
const CHANGES: [&str; 4] = ["--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all"];

/// The tool that reads the repository.
pub struct Git {
    workspace: Workspace,
    sandbox: Sandbox,
    program: PathBuf,
    /// The file that is seen in the place of the repository's configuration.
    empty: Arc<NamedTempFile>,
    info: Arc<ToolInfo>,
}

#[derive(Deserialize)]
struct Args {
    command: Subcommand,
    revision: Option<String>,
    path: Option<String>,
    staged: Option<bool>,
    limit: Option<u32>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Subcommand {
    Status,
    Diff,
    Log,
    Show,
}

impl Git {
    /// Returns a tool for the repository in this workspace; none where git is not installed.
    pub fn new(workspace: &Workspace, sandbox: &Sandbox) -> Option<Git> {
        let program = PROGRAM_FOLDERS.iter().map(|folder| Path::new(folder).join("git")).find(|git| git.is_file())?;
        let empty = Arc::new(NamedTempFile::new().ok()?);
        let info = Arc::new(Git::description());
        Some(Git { workspace: workspace.clone(), sandbox: sandbox.clone(), program, empty, info })
    }

    /// Returns the description of the tool.
    pub(crate) fn description() -> ToolInfo {
        let about = "Reads the git repository in the workspace: `status`, `diff` (of the files, or with `staged` of \
                     the index, against `revision` if there is one), `log` and `show`. Changes nothing.";
        let schema = json!({ "type": "object", "additionalProperties": false, "required": ["command"], "properties": {
            "command": { "type": "string", "enum": ["status", "diff", "log", "show"] },
            "revision": { "type": "string", "description": "A commit, branch, tag or range, as in `HEAD~2..HEAD`" },
            "path": { "type": "string", "description": "Only what concerns this file or folder" },
            "staged": { "type": "boolean", "description": "For `diff`: what would be committed" },
            "limit": { "type": "integer", "minimum": 1, "maximum": COMMITS_MAX, "description": "For `log`" } } });
        files::info("git", about, schema)
    }

    async fn read(&self, invocation: Invocation) -> Result<Answer, String> {
        let args: Args = arguments(invocation.args)?;
        let root = self.workspace.root().ok_or("the workspace is gone")?;
        let is_repository = std::fs::symlink_metadata(root.join(".git")).is_ok_and(|about| about.is_dir());
        if !is_repository {
            return Err("the workspace is no git repository of its own: it has no folder `.git`".to_owned());
        }
        let job = Job {
            program: self.program.clone(),
            args: words(&args)?,
            access: Access {
                workspace: Some(root.to_owned()),
                replaced: vec![(".git/config".into(), self.empty.path().to_owned())],
                ..Access::default()
            },
            env: environment(),
            limits: LIMITS,
        };
        self.answer(self.sandbox.run(&job).await?)
    }

    /// Returns the answer about a program that has ended.
    fn answer(&self, ended: Ended) -> Result<Answer, String> {
        let said = ended.stderr.text();
        match ended.end {
            End::Exited(Some(0)) => {
                let text = ended.stdout.text();
                let text = if text.is_empty() { "(nothing)".to_owned() } else { text };
                Ok(Answer::Done { text, data: None })
            }
            End::Exited(_) => Err(format!("git: {}", if said.is_empty() { "it failed" } else { &said })),
            End::OutOfTime => Ok(Answer::Late {
                why: format!("git took longer than {} s; name a path or fewer commits", LIMITS.time.as_secs()),
                effect: self.info.effect,
            }),
            End::OutOfMemory | End::TooManyProcesses => {
                Err("git took too much memory; name a path or fewer commits".to_owned())
            }
        }
    }
}

impl Tool for Git {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        Box::pin(async move { self.read(invocation).await.unwrap_or_else(Answer::Failed) })
    }
}

/// Returns the variables by which git reads no configuration of this machine and asks nobody.
fn environment() -> Vec<(String, String)> {
    let variables = [
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        // The repository is the workspace's own: one above it is not looked for.
        ("GIT_CEILING_DIRECTORIES", "/"),
    ];
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

/// Returns the arguments of git.
fn words(args: &Args) -> Result<Vec<String>, String> {
    let revision = args.revision.as_deref().map(revision).transpose()?;
    let path = args.path.as_deref().map(files::checked).transpose()?;
    let mut words: Vec<String> = ALWAYS.map(str::to_owned).to_vec();
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
    match args.command {
        Subcommand::Status => {
            add(&["status", "--porcelain=v1", "--branch", "--untracked-files=normal", "--ignore-submodules=all"]);
        }
        Subcommand::Diff => {
            add(&["diff"]);
            add(&CHANGES);
            if args.staged.unwrap_or(false) {
                add(&["--cached"]);
            }
        }
        Subcommand::Log => {
            add(&["log", "--no-color", "--no-show-signature", "--date=iso-strict"]);
            add(&["--format=%h %ad %an: %s", "-n", &args.limit.unwrap_or(COMMITS).clamp(1, COMMITS_MAX).to_string()]);
        }
        Subcommand::Show => {
            add(&["show", "--no-show-signature", "--date=iso-strict"]);
            add(&CHANGES);
        }
    }
    if let (Some(revision), false) = (revision, matches!(args.command, Subcommand::Status)) {
        add(&["--end-of-options", revision]);
    }
    add(&["--"]);
    add(path.as_slice());
    Ok(words)
}

/// Checks a revision: git would read one that begins with `-` as an option.
fn revision(text: &str) -> Result<&str, String> {
    let is_plain = !text.is_empty() && text.len() <= REVISION_MAX && !text.starts_with('-');
    if is_plain && !text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        Ok(text)
    } else {
        Err(format!("`{}` is no revision: write a commit, branch, tag or range", short(text).escape_debug()))
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use serde_json::Value;

    use super::*;

    fn git(root: &Path, args: &[&str]) {
        let mut command = Command::new("git");
        command.current_dir(root).args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]).args(args);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        assert!(command.output().unwrap().status.success(), "{args:?}");
    }

    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "-q", "-b", "main"]);
        std::fs::write(folder.path().join("a.txt"), "one\n").unwrap();
        git(folder.path(), &["add", "."]);
        git(folder.path(), &["commit", "-q", "-m", "Begin"]);
        std::fs::write(folder.path().join("a.txt"), "two\n").unwrap();
        folder
    }

    async fn read(root: &Path, args: Value) -> Result<String, String> {
        let workspace = Workspace::open(root).unwrap();
        let sandbox = Sandbox::find().expect("bubblewrap is needed: scripts/setup test");
        let tool = Git::new(&workspace, &sandbox).expect("git is needed: scripts/setup test");
        match tool.call(Invocation::test(args)).await {
            Answer::Done { text, .. } => Ok(text),
            Answer::Failed(why) => Err(why),
            other @ (Answer::Unknown(_) | Answer::Late { .. }) => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn status_diff_log_and_show_are_read() {
        let folder = repository();
        let status = read(folder.path(), json!({ "command": "status" })).await.unwrap();
        assert_eq!(status, "## main\n M a.txt");
        let diff = read(folder.path(), json!({ "command": "diff", "path": "a.txt" })).await.unwrap();
        assert!(diff.ends_with("-one\n+two"), "{diff}");
        assert_eq!(read(folder.path(), json!({ "command": "diff", "staged": true })).await.unwrap(), "(nothing)");
        let log = read(folder.path(), json!({ "command": "log", "limit": 5 })).await.unwrap();
        assert!(log.ends_with("Ada: Begin") && log.lines().count() == 1, "{log}");
        let show = read(folder.path(), json!({ "command": "show", "revision": "HEAD" })).await.unwrap();
        assert!(show.contains("Begin") && show.ends_with("+one"), "{show}");
        let unknown = read(folder.path(), json!({ "command": "show", "revision": "nowhere" })).await.unwrap_err();
        assert!(unknown.contains("nowhere"), "{unknown}");
        for (args, why) in [
            (json!({ "command": "log", "revision": "--output=x" }), "is no revision"),
            (json!({ "command": "diff", "path": "../x" }), "is refused"),
            (json!({ "command": "push" }), "unknown variant"),
        ] {
            let refused = read(folder.path(), args.clone()).await.unwrap_err();
            assert!(refused.contains(why), "{args}: {refused}");
        }
    }

    #[tokio::test]
    async fn nothing_that_the_repository_names_is_started_and_nothing_is_written() {
        let folder = repository();
        let trap = folder.path().join("trap.sh");
        std::fs::write(&trap, "#!/bin/sh\necho trapped >&2\necho trapped\ntouch /tmp/trapped /workspace/trapped\n")
            .unwrap();
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&trap, all).unwrap();
        for key in ["core.fsmonitor", "core.pager", "diff.external", "diff.x.textconv", "filter.x.clean", "gpg.program"]
        {
            git(folder.path(), &["config", key, "/workspace/trap.sh"]);
        }
        git(folder.path(), &["config", "alias.status", "!/workspace/trap.sh"]);
        std::fs::write(folder.path().join(".gitattributes"), "* diff=x filter=x\n").unwrap();
        for args in [
            json!({ "command": "status" }),
            json!({ "command": "diff" }),
            json!({ "command": "log" }),
            json!({ "command": "show", "revision": "HEAD" }),
        ] {
            let told = read(folder.path(), args.clone()).await.unwrap();
            assert!(!told.contains("trapped"), "{args}: {told}");
        }
        assert!(!folder.path().join("trapped").exists() && !folder.path().join(".git/index.lock").exists());
    }

    #[tokio::test]
    async fn a_repository_elsewhere_is_none_of_the_workspaces() {
        let outside = repository();
        let inside = outside.path().join("inside");
        std::fs::create_dir(&inside).unwrap();
        let refused = read(&inside, json!({ "command": "status" })).await.unwrap_err();
        assert!(refused.contains("no git repository of its own"), "{refused}");
        std::os::unix::fs::symlink(outside.path().join(".git"), inside.join(".git")).unwrap();
        assert!(read(&inside, json!({ "command": "log" })).await.is_err(), "a link leads out of the sandbox");
    }
}
