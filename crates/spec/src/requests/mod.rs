//! The requests of people: a [`draft`] as written or a [`request`] as JSON, filled in and checked by [`compile`] into a
//! [`spec`]; and the [`catalog`] of models and tools it chooses from.

pub mod agent;
pub mod attachments;
pub mod bounds;
pub mod branch;
pub mod catalog;
pub mod choice;
pub mod compile;
pub mod continuation;
pub mod delegation;
pub mod draft;
pub mod dynamic;
pub mod expression;
pub mod mistake;
pub mod model_options;
pub mod nested;
pub mod pipeline;
pub mod provider;
pub mod reach;
pub mod registry;
pub mod request;
pub mod spec;
pub mod template;
pub mod tier;
pub mod workflow;
