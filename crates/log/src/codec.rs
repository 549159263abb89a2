//! Events as records: JSON, with large texts moved out into attachments.

use std::sync::Arc;

use consort_core::event::Event;
use consort_core::json;

use crate::damage::fault;
use crate::{Error, Record, Seq};

/// The size from which texts are stored beside the event.
const INLINE_MAX: usize = 16 * 1024;

/// Returns the stored form of an event.
pub fn encode(event: &Event) -> Result<Record, serde_json::Error> {
    let body: Arc<str> = json::text(event)?;
    if body.len() <= INLINE_MAX {
        return Ok(Record { body, attachments: Vec::new() });
    }
    let mut event = event.clone();
    let mut attachments = Vec::new();
    for text in event.kind.texts_mut() {
        text.detach(INLINE_MAX, &mut attachments);
    }
    Ok(Record { body: json::text(&event)?, attachments })
}

/// Returns the event of a stored record. `place` names it in the error, should it be damaged.
pub fn decode(record: &Record, place: (&str, Seq)) -> Result<Event, Error> {
    let (stream, seq) = place;
    let damaged = |reason: String| Error::Damaged { stream: stream.to_owned(), seq, reason };
    let mut event: Event = serde_json::from_str(&record.body).map_err(|error| damaged(fault(&record.body, &error)))?;
    let whole = event.kind.texts_mut().into_iter().all(|text| text.attach(&record.attachments));
    if !record.attachments.is_empty() {
        // What the first edition recorded in words is complete only now.
        event.kind.upgrade();
    }
    if whole { Ok(event) } else { Err(damaged("an attachment is missing".to_owned())) }
}

#[cfg(test)]
mod tests {
    use consort_core::event::{AfterFailure, EventKind};
    use consort_core::id::Id;
    use consort_core::message::{Failure, FailureKind};

    use super::*;

    fn prompt(user: &str) -> Event {
        let kind = EventKind::PromptBuilt { conversation: Id::task(0), system: "be brief".into(), user: user.into() };
        Event { at: 1, kind }
    }

    #[test]
    fn a_long_text_that_is_left_out_when_it_is_empty_comes_back() {
        let failure = Failure {
            kind: FailureKind::Dropped,
            message: "stopped".to_owned(),
            retry_after_ms: None,
            status: None,
            charged: true,
        };
        for said in ["", "short", &"long ".repeat(10_000)] {
            let then = AfterFailure::GiveUp;
            let kind =
                EventKind::ModelFailed { conversation: Id::task(0), failure: failure.clone(), then, said: said.into() };
            let event = Event { at: 1, kind };
            assert_eq!(decode(&encode(&event).unwrap(), ("s", 0)).unwrap(), event);
        }
    }

    #[test]
    fn long_texts_are_kept_apart_and_come_back() {
        let short = prompt("hi");
        let long = prompt(&"long ".repeat(10_000));
        assert!(encode(&short).unwrap().attachments.is_empty());
        let record = encode(&long).unwrap();
        assert_eq!(record.attachments.len(), 1);
        assert!(record.body.len() < 200, "{}", record.body);
        assert_eq!(decode(&record, ("s", 0)).unwrap(), long);
    }

    #[test]
    fn what_cannot_be_read_is_reported_by_stream_and_seq() {
        let record = Record { body: "{".into(), attachments: Vec::new() };
        assert!(matches!(decode(&record, ("s", 7)), Err(Error::Damaged { seq: 7, .. })));
        let missing = Record { attachments: Vec::new(), ..encode(&prompt(&"x".repeat(20_000))).unwrap() };
        assert!(matches!(decode(&missing, ("s", 1)), Err(Error::Damaged { seq: 1, .. })));
    }
}
