//! The resource usage of this process, as the kernel counts it.

use std::fs;
use std::io;
use std::time::Duration;

use anyhow::Context;
use cpu_time::ProcessTime;

/// Returns the CPU time of this process, with that of threads that have ended.
pub(crate) fn cpu() -> io::Result<Duration> {
    // Not by rustix, which calls the kernel's own page of code and so does not run under valgrind.
    Ok(ProcessTime::try_now()?.as_duration())
}

/// Returns the CPU time of all live threads of another process, by its id. Exact to the nanosecond, unlike the process's
/// own ticks; so its threads must live on while it is measured.
pub(crate) fn cpu_of(process: &str) -> io::Result<Duration> {
    let threads = fs::read_dir(format!("/proc/{process}/task"))?;
    // A thread may end while it is read.
    let used = |thread: io::Result<fs::DirEntry>| {
        let stat = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        stat.split(' ').next()?.parse::<u64>().ok()
    };
    Ok(Duration::from_nanos(threads.filter_map(used).sum()))
}

/// Returns the peak memory of this process, in bytes.
pub(crate) fn peak_memory() -> anyhow::Result<u64> {
    bytes("self", "VmHWM:")
}

/// Returns the current memory of another process, in bytes.
pub(crate) fn memory_of(process: u32) -> anyhow::Result<u64> {
    bytes(&process.to_string(), "VmRSS:")
}

fn bytes(process: &str, line: &str) -> anyhow::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let kilobytes = status.lines().find_map(|found| found.strip_prefix(line)?.trim().strip_suffix("kB"));
    let kilobytes: u64 = kilobytes.context("the kernel does not say how much memory was used")?.trim().parse()?;
    Ok(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_and_memory_are_seen() {
        let before = cpu().unwrap();
        let block = vec![1_u8; 64 << 20];
        assert_eq!(block.iter().map(|byte| u64::from(*byte)).sum::<u64>(), 64 << 20);
        assert!(cpu().unwrap() > before);
        assert!(peak_memory().unwrap() > 64 << 20);
    }
}
