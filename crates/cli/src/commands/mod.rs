//! What people type: a file per command, each with a `run` that does it and
//! says how it ended. An error is a failure nobody could foresee.

pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod init;
pub(crate) mod run;
pub(crate) mod serve;

use std::io::Write;

/// Where a command writes: its answer to `out`, everything else to `err`.
pub(crate) struct Output<'a> {
    /// The answer.
    pub(crate) out: &'a mut dyn Write,
    /// Everything else.
    pub(crate) err: &'a mut dyn Write,
}
