//! Words that stand for the variants of an enum where people and programs
//! write them: read in any case, and listed in the description of the API.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::chat::Answer;
use crate::event::{CancelMode, Priority};
use crate::requests::tier::Tier;
use crate::status::Status;

/// The keyword that lists the words of a field until its description is written.
pub const WORDS: &str = "x-words";

/// An enum whose variants have words of their own.
pub trait Choice: Copy + 'static {
    /// Every word with its meaning; the first one is the example.
    const WORDS: &'static [(&'static str, Self)];
}

/// A field that takes a word of `T`, in any case.
#[derive(Clone, Copy, Debug)]
pub struct AnyCase<T>(PhantomData<T>);

impl<T: Choice> JsonSchema for AnyCase<T> {
    fn schema_name() -> Cow<'static, str> {
        "AnyCase".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = T::WORDS.iter().map(|(word, _)| *word).collect();
        json_schema!({ "type": "string", WORDS: words })
    }
}

/// A field that is one of the words of `T`, as they are written.
#[derive(Clone, Copy, Debug)]
pub struct OneOf<T>(PhantomData<T>);

impl<T: Choice> JsonSchema for OneOf<T> {
    fn schema_name() -> Cow<'static, str> {
        "OneOf".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = T::WORDS.iter().map(|(word, _)| *word).collect();
        json_schema!({ "type": "string", "enum": words })
    }
}

impl Choice for CancelMode {
    const WORDS: &'static [(&'static str, CancelMode)] = &[
        ("after_task", CancelMode::AfterTask),
        ("after_iteration", CancelMode::AfterIteration),
        ("now", CancelMode::Now),
    ];
}

impl Choice for Priority {
    const WORDS: &'static [(&'static str, Priority)] =
        &[("LOW", Priority::Low), ("NORMAL", Priority::Normal), ("HIGH", Priority::High)];
}

impl Choice for Answer {
    const WORDS: &'static [(&'static str, Answer)] =
        &[("allow", Answer::Allow), ("allow_for_chat", Answer::AllowForChat), ("deny", Answer::Deny)];
}

impl Choice for Tier {
    const WORDS: &'static [(&'static str, Tier)] = &[("PRIMARY", Tier::Primary), ("FALLBACK", Tier::Fallback)];
}

impl Choice for Status {
    const WORDS: &'static [(&'static str, Status)] = &[
        ("ACCEPTED", Status::Accepted),
        ("RUNNING", Status::Running),
        ("COMPLETED", Status::Completed),
        ("FAILED", Status::Failed),
        ("CANCELLED", Status::Cancelled),
        ("REJECTED", Status::Rejected),
    ];
}
