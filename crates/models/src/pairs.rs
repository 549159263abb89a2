//! Pairs calls and their results as every provider wants them: each id once, every call
//! answered before the next message, in the order of the calls, and no result without a call.

use std::borrow::Cow;
use std::collections::HashSet;

use consort_core::message::{Message, Reply};

const NO_RESULT: &str = "This call has no result: it was stopped before it answered.";

/// The ids of a conversation's calls.
#[derive(Default)]
pub(super) struct Ids<'a>(HashSet<Cow<'a, str>>);

impl<'a> Ids<'a> {
    /// Returns the ids of the calls in these messages.
    pub(super) fn of(messages: &'a [Message]) -> Ids<'a> {
        let replies = messages.iter().filter_map(reply);
        Ids(replies.flat_map(|reply| reply.calls()).map(|call| Cow::Borrowed(call.provider_id.as_str())).collect())
    }

    /// Returns an id for one more call: its own if that is new and `fits`, or a new one.
    pub(super) fn claim(&mut self, id: Cow<'a, str>, fits: impl Fn(&str) -> bool) -> Cow<'a, str> {
        let is_free = !id.is_empty() && fits(&id) && !self.0.contains(&id);
        let id = if is_free { id } else { self.mint().into() };
        self.0.insert(id.clone());
        id
    }

    /// Returns the first unused `call_<n>`, counting from the number of ids.
    fn mint(&self) -> String {
        let mut number = self.0.len();
        loop {
            let id = format!("call_{number}");
            if !self.0.contains(id.as_str()) {
                return id;
            }
            number += 1;
        }
    }
}

fn reply(message: &Message) -> Option<&Reply> {
    match message {
        Message::Assistant(reply) => Some(reply),
        Message::System { .. } | Message::User { .. } | Message::Files { .. } | Message::Tool { .. } => None,
    }
}

/// The result of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallResult<'a> {
    pub(super) text: &'a str,
    pub(super) is_error: bool,
}

/// The calls of the last reply, until the next message; `T` is a wire's reference to a call.
pub(super) struct Open<'a, T> {
    calls: Vec<(&'a str, T, Option<CallResult<'a>>)>,
    /// Results without a call, as text.
    strays: Vec<String>,
}

impl<'a, T> Open<'a, T> {
    /// Returns an empty list of calls.
    pub(super) fn new() -> Open<'a, T> {
        Open { calls: Vec::new(), strays: Vec::new() }
    }

    /// Adds a call that came as `id` and is sent as `sent`.
    pub(super) fn call(&mut self, id: &'a str, sent: T) {
        self.calls.push((id, sent, None));
    }

    /// Records the result of the call `id` of the tool `name`.
    pub(super) fn result(&mut self, id: &str, name: &str, given: CallResult<'a>) {
        match self.calls.iter_mut().find(|(asked, _, result)| *asked == id && result.is_none()) {
            Some((_, _, result)) => *result = Some(given),
            None => self.strays.push(format!("Result of `{name}`:\n{}", given.text)),
        }
    }

    /// Returns every open call with its result, or with a placeholder where it is missing.
    pub(super) fn settle(&mut self) -> impl Iterator<Item = (T, CallResult<'a>)> {
        let missing = CallResult { text: NO_RESULT, is_error: true };
        self.calls.drain(..).map(move |(_, sent, result)| (sent, result.unwrap_or(missing)))
    }

    /// Returns the results without a call, to be sent as text after the calls are settled.
    pub(super) fn strays(&mut self) -> impl Iterator<Item = String> {
        self.strays.drain(..)
    }
}
