//! One message for one webhook: its content, the outcomes of the attempts, and the time of the next. Pure: the time
//! and the outcome of an attempt are handed in.

use consort_core::announcement::Topic;
use consort_core::frame::field::Iso;
use consort_core::id::Millis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Attempts that are remembered: those of several redeliveries; older ones say nothing new.
const ATTEMPTS_KEPT: usize = 50;
/// The longest delay that a receiver can ask for.
const ASKED_MAX_MS: Millis = 24 * 3_600_000;
/// The status of a receiver that accepts no further messages.
const GONE: u16 = 410;
/// The status of a receiver that asks for a later attempt, and that of one that cannot answer now.
const LATER: [u16; 2] = [429, 503];

/// The state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryStatus {
    /// It is tried, now or later.
    Pending,
    /// The receiver took it.
    Delivered,
    /// It was given up, until a redelivery is requested.
    Dead,
}

impl DeliveryStatus {
    /// Returns its word, as clients read it.
    pub fn word(self) -> &'static str {
        match self {
            DeliveryStatus::Pending => "pending",
            DeliveryStatus::Delivered => "delivered",
            DeliveryStatus::Dead => "dead",
        }
    }
}

/// A message for a webhook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// The same on every attempt.
    pub id: String,
    /// The webhook.
    pub webhook: String,
    /// The topic.
    pub topic: Topic,
    /// The run, or the turn of a chat.
    pub run: String,
    /// The state.
    pub status: DeliveryStatus,
    /// The attempts, the oldest first.
    pub attempts: Vec<Attempt>,
    /// Failed attempts since it was made or asked for again.
    pub failures: usize,
    /// The time of the next attempt.
    pub next_at: Option<Millis>,
    /// The time of the event.
    pub at: Millis,
}

/// An attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The time of the outcome.
    pub at: Millis,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// The reason why it failed.
    pub error: Option<String>,
}

/// The outcome of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// The reason why there was none.
    pub error: Option<String>,
    /// The delay that the receiver asked for.
    pub asked_ms: Option<Millis>,
}

/// A delivery as clients see it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Delivery")]
pub struct DeliveryView {
    /// The id of the message, the same on every attempt: the header `webhook-id`.
    id: String,
    event: Topic,
    /// The run; of an approval the turn.
    run_id: String,
    status: DeliveryStatus,
    /// The oldest first.
    attempts: Vec<AttemptView>,
    /// When it is tried next; null when it is not.
    next_at: Option<Iso>,
}

/// An attempt to deliver a message.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "DeliveryAttempt")]
struct AttemptView {
    at: Iso,
    /// The status of the answer; null when there was none.
    status: Option<u16>,
    error: Option<String>,
}

impl Delivery {
    /// Returns the delivery after an attempt.
    pub fn attempted(mut self, outcome: Outcome, retry_ms: &[Millis], now: Millis) -> Delivery {
        let Outcome { status, error, asked_ms } = outcome;
        let is_taken = status.is_some_and(|status| (200..300).contains(&status));
        let reason = || status.map(|status| format!("the receiver answered {status}"));
        let error = if is_taken { None } else { error.or_else(reason) };
        self.attempts.push(Attempt { at: now, status, error });
        let old = self.attempts.len().saturating_sub(ATTEMPTS_KEPT);
        self.attempts.drain(..old);
        if is_taken {
            return Delivery { status: DeliveryStatus::Delivered, next_at: None, ..self };
        }
        self.failures += 1;
        let delay = retry_ms.get(self.failures - 1).filter(|_| status != Some(GONE));
        let asked = asked_ms.filter(|_| status.is_some_and(|status| LATER.contains(&status))).unwrap_or_default();
        match delay {
            Some(delay) => Delivery { next_at: Some(now + asked.min(ASKED_MAX_MS).max(*delay)), ..self },
            None => Delivery { status: DeliveryStatus::Dead, next_at: None, ..self },
        }
    }

    /// Returns the delivery with all of its attempts before it again.
    pub fn again(self, now: Millis) -> Delivery {
        Delivery { status: DeliveryStatus::Pending, failures: 0, next_at: Some(now), ..self }
    }

    /// Returns the delivery as clients see it.
    pub fn view(self) -> DeliveryView {
        let attempt = |Attempt { at, status, error }: Attempt| AttemptView { at: Iso(at), status, error };
        DeliveryView {
            id: self.id,
            event: self.topic,
            run_id: self.run,
            status: self.status,
            attempts: self.attempts.into_iter().map(attempt).collect(),
            next_at: self.next_at.map(Iso),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::RETRY_MS;
    use super::*;

    fn new() -> Delivery {
        Delivery {
            id: "msg".to_owned(),
            webhook: "ops".to_owned(),
            topic: Topic::RunCompleted,
            run: "run-1".to_owned(),
            status: DeliveryStatus::Pending,
            attempts: Vec::new(),
            failures: 0,
            next_at: Some(0),
            at: 0,
        }
    }

    fn answered(status: u16) -> Outcome {
        Outcome { status: Some(status), error: None, asked_ms: None }
    }

    #[test]
    fn a_failing_receiver_is_tried_for_a_day_and_then_given_up() {
        let mut delivery = new();
        let mut now = 0;
        let mut delays = Vec::new();
        while delivery.status == DeliveryStatus::Pending {
            delivery = delivery.attempted(answered(500), &RETRY_MS, now);
            let next = delivery.next_at.unwrap_or(now);
            delays.push(next - now);
            now = next;
        }
        assert_eq!(delivery.status, DeliveryStatus::Dead);
        assert_eq!((delivery.attempts.len(), &delays[..7]), (8, &RETRY_MS[..]));
        assert!(now > 22 * 3_600_000, "about a day: {now}");
        let again = delivery.again(now);
        assert_eq!((again.status, again.next_at, again.attempts.len()), (DeliveryStatus::Pending, Some(now), 8));
        let taken = again.attempted(answered(204), &RETRY_MS, now);
        assert_eq!((taken.status, taken.next_at), (DeliveryStatus::Delivered, None));
    }

    #[test]
    fn a_receiver_that_is_gone_is_not_tried_again_and_one_that_asks_for_time_gets_it() {
        assert_eq!(new().attempted(answered(410), &RETRY_MS, 7).status, DeliveryStatus::Dead);
        assert_eq!(new().attempted(answered(302), &RETRY_MS, 7).status, DeliveryStatus::Pending, "redirects fail");
        let later = Outcome { asked_ms: Some(90_000), ..answered(429) };
        assert_eq!(new().attempted(later, &RETRY_MS, 0).next_at, Some(90_000));
        let endless = Outcome { asked_ms: Some(Millis::MAX), ..answered(503) };
        assert_eq!(new().attempted(endless, &RETRY_MS, 0).next_at, Some(ASKED_MAX_MS));
        let hasty = Outcome { asked_ms: Some(1), ..answered(429) };
        assert_eq!(new().attempted(hasty, &RETRY_MS, 0).next_at, Some(5_000), "never sooner than usual");
    }
}
