//! Work that blocks a thread for longer than other tasks should
//! wait: schemas that are compiled, large values that are validated.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task;

/// The input size in bytes from which it is worth moving all other
/// tasks to other threads; less takes a few milliseconds at most.
pub const BYTES: usize = 8 * 1024;

/// Does the work here while the other tasks of this thread continue
/// on other threads. On a runtime of one thread they wait.
pub fn in_place<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => task::block_in_place(work),
        Ok(_) | Err(_) => work(),
    }
}
