//! The errors of this crate, by what the program can do about them.

use std::fmt;
use std::path::PathBuf;

use consort_core::mistake::Mistake;
use consort_runtime::engine;
use consort_tools::PipelineError;

use crate::catalog::Unknown;

/// An error of an ensemble, a run or a server.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The ensemble or the request is invalid: correct it.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
    /// Runs cannot be stored in this file.
    #[error("cannot keep runs in {}: {reason}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The server cannot start at this address, or cannot go on.
    #[cfg(feature = "serve")]
    #[error("cannot serve: {0}")]
    Serve(String),
    /// Tools that cannot be chained.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// There is no model or tool of this name.
    #[error(transparent)]
    Unknown(#[from] Unknown),
    /// The run refused the command, or cannot be reached.
    #[error(transparent)]
    Engine(#[from] engine::Error),
    /// The review belongs to another run.
    #[error("'{0}' is no review of this run")]
    OtherReview(String),
    /// The run stopped before its end: `resume_unfinished` resumes it.
    #[error("run {0} has not ended and nobody works on it here")]
    Unfinished(String),
    /// A task has no output of this type.
    #[error("task '{task}' {reason}")]
    Output {
        /// The task.
        task: String,
        /// The reason.
        reason: String,
    },
}

/// All mistakes of an ensemble or a request at once.
///
/// ```
/// use consort::{Ensemble, Error, Model, Task};
///
/// let ensemble = Ensemble::builder()
///     .model("demo", Model::demo())
///     .tasks([Task::builder("Count").model("gpt"), Task::builder(" ")])
///     .build();
/// let Err(Error::Mistakes(mistakes)) = ensemble else { panic!("it was built") };
/// assert_eq!(
///     mistakes.to_string(),
///     "tasks[0].model: Unknown model 'gpt'. Available: [demo]\n\
///      tasks[1].description: must not be blank"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes(pub Vec<Mistake>);

impl fmt::Display for Mistakes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        out.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Mistakes {}
