//! The machine on which the numbers were measured.

use std::fs;
use std::process::Command;
use std::thread::available_parallelism;

/// Returns the machine, the compiler and the profile, in one line.
pub(crate) fn facts() -> String {
    let cores = available_parallelism().map_or(1, usize::from);
    let profile = if cfg!(debug_assertions) { "debug build: the numbers mean nothing" } else { "release build" };
    format!("{cores} cores ({}), {}, {profile}", processor(), compiler())
}

fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(|| "unknown".to_owned(), |(_, name)| name.to_owned())
}

fn compiler() -> String {
    let version = Command::new("rustc").arg("--version").output().ok().filter(|output| output.status.success());
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    version.unwrap_or_else(|| "unknown compiler".to_owned())
}
