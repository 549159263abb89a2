//! The exit status of a command.

use std::process::ExitCode;

/// The exit statuses of every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command succeeded.
    Done = 0,
    /// The run or the call failed.
    Failed = 1,
    /// Wrong usage or configuration.
    Usage = 2,
    /// The server could not be reached.
    Unreachable = 3,
    /// The command was interrupted.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
