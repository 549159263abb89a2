//! OpenAI's API as values: `request` and `files` read what clients send (`split_body` takes the files out of a body),
//! `steps` and `step_writer` make an answer of the frames of a turn or a run, `completions` and `responses` are the two
//! forms it is given in, with the fields in `head`; `error` is the form of failures.

pub mod completions;
pub mod error;
pub mod files;
pub mod head;
pub mod request;
pub mod responses;
pub mod split_body;
pub mod step_writer;
pub mod steps;

/// The beginning of the paths whose failures have OpenAI's form.
const PREFIX: &str = "/v1";

/// Returns whether failures of this path have OpenAI's form.
pub fn is_path(path: &str) -> bool {
    path.strip_prefix(PREFIX).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
