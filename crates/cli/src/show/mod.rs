//! A run on the terminal. `view` folds its frames into what is worth showing,
//! `block` and `plain` turn that into lines, `screen` puts them on a terminal
//! or into a file; `table` is for lists, `record` reads the server's answers,
//! `words` writes numbers, `safe` keeps texts from steering the terminal that a
//! `drawing` is put on. All but `screen` are pure.

pub(crate) mod block;
pub(crate) mod drawing;
pub(crate) mod frame;
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
