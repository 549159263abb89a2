//! The memory and the number of processes below one, as the kernel tells them.

use std::fs;

/// The number of processes that are looked at; the sandbox ends a program that has fewer.
const PROCESSES_MAX: usize = 4_096;

/// The memory and the number of a process and all of its descendants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    /// Their memory in bytes, without what files are read into.
    pub(super) bytes: u64,
    /// Their number.
    pub(super) processes: usize,
}

/// Returns what a process and all of its descendants take.
pub(super) fn used_below(process: u32) -> Used {
    let mut open = vec![process];
    let mut used = Used::default();
    while let Some(process) = open.pop().filter(|_| used.processes < PROCESSES_MAX) {
        used.processes += 1;
        used.bytes = used.bytes.saturating_add(used_by(process));
        open.extend(children(process));
    }
    used
}

/// Returns the bytes that a process holds; none when it has ended.
fn used_by(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kilobytes = |line: &str| {
        let value = line.strip_prefix("RssAnon:").or_else(|| line.strip_prefix("RssShmem:"))?;
        value.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()
    };
    status.lines().filter_map(kilobytes).fold(0, u64::saturating_add).saturating_mul(1024)
}

/// Returns the processes that any thread of a process has started.
fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().filter_map(Result::ok);
    let started = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    started.flat_map(|ids| ids.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>()).collect()
}
