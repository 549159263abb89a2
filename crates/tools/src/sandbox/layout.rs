//! The files that a program in the sandbox sees: the arguments of bubblewrap.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Job, PROCESSES_MAX};

/// The folder of the workspace in the sandbox.
const WORKSPACE: &str = "/workspace";
/// The folders of programs in the sandbox.
pub(crate) const PROGRAM_FOLDERS: [&str; 6] =
    ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];
/// The folders of the system that programs need; a link among them stays a link.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// The files of `/etc` that programs are found and linked by. Nothing else of it is seen.
const LINKING: [&str; 4] = ["/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"];
/// The user and group under which a program runs, no matter under which the server does.
const NOBODY: &str = "65534";
/// The size of a file that is written, in bytes.
const FILE_MAX: u64 = 1024 * 1024 * 1024;
/// The number of files that a process has open.
const OPEN_MAX: u32 = 1024;
/// The bytes of `/tmp`, which is memory.
const TEMPORARY_MAX: u64 = 256 * 1024 * 1024;

/// The folders that a program sees, beside those of the system.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    /// The workspace, by its path on this machine.
    pub(crate) workspace: Option<PathBuf>,
    /// Whether the workspace may be changed.
    pub(crate) writes: bool,
    /// Paths in the workspace that are not changed in any case, relative to it.
    pub(crate) kept: Vec<PathBuf>,
    /// Files in the workspace, relative to it, in whose place others are seen.
    pub(crate) replaced: Vec<(PathBuf, PathBuf)>,
    /// Other folders to read, at their own paths.
    pub(crate) read_only: Vec<PathBuf>,
}

/// Returns the arguments that run a program.
pub(super) fn arguments(job: &Job, forbids_namespaces: bool) -> Vec<OsString> {
    let mut args = Arguments(Vec::new());
    // `unshare-all` goes on without a user namespace where there is none; the other fails.
    args.add(["--unshare-all", "--unshare-user", "--uid", NOBODY, "--gid", NOBODY, "--cap-drop", "ALL"]);
    if forbids_namespaces {
        args.add(["--disable-userns"]);
    }
    args.add(["--die-with-parent", "--new-session", "--hostname", "sandbox", "--clearenv"]);
    for (name, value) in variables(job) {
        args.add(["--setenv", &name, &value]);
    }
    read_only(job, &mut args);
    args.add(["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]);
    args.add(["--size", &TEMPORARY_MAX.to_string(), "--tmpfs", "/tmp"]);
    workspace(job, &mut args);
    // What is left of the root is memory too, so nothing can be written to it.
    args.add(["--remount-ro", "/", "--", "/usr/bin/prlimit", "--core=0"]);
    args.add([format!("--data={}", job.limits.memory), format!("--nproc={PROCESSES_MAX}")]);
    args.add([format!("--fsize={FILE_MAX}"), format!("--nofile={OPEN_MAX}"), "--".to_owned()]);
    args.0.push(job.program.clone().into());
    args.add(&job.args);
    args.0
}

/// Adds the folders and files that a program may read at their own paths.
fn read_only(job: &Job, args: &mut Arguments) {
    for folder in SYSTEM.map(Path::new) {
        match std::fs::read_link(folder) {
            Ok(target) => args.paths("--symlink", &target, folder),
            Err(_) if folder.is_dir() => args.paths("--ro-bind", folder, folder),
            Err(_) => {}
        }
    }
    for file in LINKING.map(Path::new) {
        args.paths("--ro-bind-try", file, file);
    }
    for folder in &job.access.read_only {
        args.paths("--ro-bind", folder, folder);
    }
}

fn workspace(job: &Job, args: &mut Arguments) {
    let Some(folder) = &job.access.workspace else { return };
    let inside = Path::new(WORKSPACE);
    args.paths(if job.access.writes { "--bind" } else { "--ro-bind" }, folder, inside);
    for kept in &job.access.kept {
        args.paths("--ro-bind-try", &folder.join(kept), &inside.join(kept));
    }
    for (path, other) in &job.access.replaced {
        args.paths("--ro-bind", other, &inside.join(path));
    }
    args.add(["--chdir", WORKSPACE]);
}

fn variables(job: &Job) -> Vec<(String, String)> {
    let system = PROGRAM_FOLDERS.iter().map(ToString::to_string);
    let others = job.access.read_only.iter().flat_map(|folder| [folder.join("bin"), folder.clone()]);
    let path: Vec<String> = system.chain(others.map(|folder| folder.display().to_string())).collect();
    let own = [("PATH", path.join(":")), ("HOME", "/tmp".to_owned()), ("LANG", "C.UTF-8".to_owned())];
    own.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(job.env.iter().cloned()).collect()
}

struct Arguments(Vec<OsString>);

impl Arguments {
    fn add(&mut self, args: impl IntoIterator<Item = impl AsRef<str>>) {
        self.0.extend(args.into_iter().map(|arg| OsString::from(arg.as_ref())));
    }

    fn paths(&mut self, option: &str, from: &Path, to: &Path) {
        self.0.extend([OsString::from(option), OsString::from(from), OsString::from(to)]);
    }
}
