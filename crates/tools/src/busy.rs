//! Work that keeps a thread busy for longer than others should wait: schemas
//! that are compiled, large values that are validated.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task;

/// Bytes of what is compiled or validated from which it is worth moving
/// everything else to other threads; less takes a few milliseconds at most.
pub const BYTES: usize = 8 * 1024;

/// Does the work here while the other tasks of this thread go on elsewhere. On
/// a runtime of one thread there is no elsewhere.
pub fn in_place<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => task::block_in_place(work),
        Ok(_) | Err(_) => work(),
    }
}
