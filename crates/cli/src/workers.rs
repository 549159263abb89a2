//! The threads on which everything runs.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// The stack of a thread. The deepest expression and document that are accepted need a fraction of it,
/// also in a build that is not optimised; it takes memory only where it is used.
const STACK_BYTES: usize = 8 * 1024 * 1024;

/// Starts the threads of a command that serves or works.
pub(crate) fn start() -> io::Result<Runtime> {
    Builder::new_multi_thread().enable_all().thread_stack_size(STACK_BYTES).build()
}
