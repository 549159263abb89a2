//! A run as others see it: frames of its events, views of its state, traces and
//! spans of what it did.

pub mod a2a;
pub mod announcement;
pub mod dag;
pub mod damaged;
pub mod frame;
pub mod live_source;
pub mod log_lines;
pub mod question;
pub mod span;
pub(crate) mod span_content;
pub mod trace;
pub mod view;
mod words;
