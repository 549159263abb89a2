//! A cache of answers: read when the requester accepts an
//! earlier answer, written when it says for how long. Pure.

use std::collections::{BTreeMap, HashMap};

use consort_core::id::Millis;
use consort_core::owner::Owner;

use crate::wire::{CachePolicy, Response, TaskRequest};

/// The maximum number of cached answers; the oldest is removed first.
const ANSWERS_MAX: usize = 1000;

/// Answers by requester, task and key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cache {
    answers: HashMap<Key, Answer>,
    order: BTreeMap<u64, Key>,
    next: u64,
}

/// The place of an answer: keys are each requester's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    by: Owner,
    task: String,
    key: String,
}

#[derive(Clone, Debug)]
struct Answer {
    response: Response,
    until: Millis,
    number: u64,
}

impl Cache {
    /// Returns an earlier answer, if the request accepts one and it is not too old.
    pub(crate) fn find(&self, by: &Owner, request: &TaskRequest, now: Millis) -> Option<Response> {
        let key = key(by, request).filter(|_| request.cache_policy == Some(CachePolicy::UseCached))?;
        self.answers.get(&key).filter(|answer| now < answer.until).map(|answer| answer.response.clone())
    }

    /// Stores an answer for as long as the requester says, whatever its status.
    pub(crate) fn keep(&mut self, (by, request): (&Owner, &TaskRequest), response: &Response, now: Millis) {
        let (Some(key), Some(age)) = (key(by, request), request.max_age) else { return };
        let until = now.saturating_add(u64::try_from(age.0.as_millis()).unwrap_or(u64::MAX));
        self.next += 1;
        let answer = Answer { response: response.clone(), until, number: self.next };
        if let Some(before) = self.answers.insert(key.clone(), answer) {
            self.order.remove(&before.number);
        }
        self.order.insert(self.next, key);
        if self.order.len() > ANSWERS_MAX
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.answers.remove(&oldest);
        }
    }
}

fn key(by: &Owner, request: &TaskRequest) -> Option<Key> {
    let key = request.cache_key.clone()?;
    Some(Key { by: by.clone(), task: request.task.clone(), key })
}
