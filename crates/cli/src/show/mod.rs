//! A run on the terminal. `view` folds its frames into the state to show, `block` and
//! `plain` turn that into lines, `screen` writes them to a terminal or a file; `table`
//! is for lists, `record` reads the server's responses, `words` formats numbers, `wrap`
//! breaks lines, `markdown` and `diff` style them, `safe` keeps texts from controlling the terminal that a `drawing` is shown on. All
//! but `screen` are pure.

pub(crate) mod block;
pub(crate) mod diff;
pub(crate) mod drawing;
mod instance;
pub(crate) mod markdown;
pub(crate) mod paint;
pub(crate) mod plain;
pub(crate) mod record;
pub(crate) mod safe;
pub(crate) mod screen;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod view;
pub(crate) mod words;
pub(crate) mod wrap;
