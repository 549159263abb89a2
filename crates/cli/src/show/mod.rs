//! A run on the terminal. `view` folds its frames into what is worth showing,
//! `block` and `plain` turn that into lines, `screen` puts them on a terminal
//! or into a file; `table` is for lists, `record` reads the server's answers,
//! `words` writes numbers. All but `screen` are pure.

pub(crate) mod block;
pub(crate) mod frame;
pub(crate) mod paint;
pub(crate) mod plain;
pub(crate) mod record;
pub(crate) mod screen;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod view;
pub(crate) mod words;
