//! W3C trace context. A run belongs to the trace that its submission named; every call it
//! makes names that trace and the call's own span, which is derived from its position in the
//! run. The trace is local to the task that makes the call, so no seam has to pass it on.

use std::fmt::Write;

use futures::future::Either;
use sha2::{Digest, Sha256};
use tokio::task::futures::TaskLocalFuture;
use tokio::task_local;

task_local! {
    static CURRENT: Trace;
}

/// The name of the header.
pub const HEADER: &str = "traceparent";

/// The flag of a trace that is recorded.
const SAMPLED: u8 = 1;
/// The number of hexadecimal digits of a trace's id that decide whether it is sampled.
const DICE_DIGITS: usize = 12;

/// A position in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    id: String,
    /// The id of the current span; absent in a trace that just begins.
    span: Option<String>,
    flags: u8,
}

impl Trace {
    /// Parses a `traceparent`. As the standard requires, a malformed header
    /// is no trace at all, and additions of later versions are ignored.
    pub fn parse(header: &str) -> Option<Trace> {
        let mut parts = header.trim().split('-');
        let version = parts.next().filter(|part| is_hex(part, 2) && *part != "ff")?;
        let id = parts.next().filter(|part| is_hex(part, 32) && part.bytes().any(|byte| byte != b'0'))?;
        let span = parts.next().filter(|part| is_hex(part, 16) && part.bytes().any(|byte| byte != b'0'))?;
        let flags = parts.next().filter(|part| is_hex(part, 2))?;
        let flags = u8::from_str_radix(flags, 16).ok()?;
        let is_whole = version != "00" || parts.next().is_none();
        is_whole.then(|| Trace { id: id.to_owned(), span: Some(span.to_owned()), flags })
    }

    /// Returns the trace of a run that belongs to no other: its id is
    /// derived from the run, and this share of such traces is sampled.
    pub fn of_run(run: &str, share: f64) -> Trace {
        let number = run.rsplit_once('-').map(|(_, number)| number).filter(|number| is_hex(number, 32));
        let id = number.map_or_else(|| hex::<16>(run), str::to_owned);
        let dice = id.get(id.len() - DICE_DIGITS..).and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let limit = share * 16_f64.powi(DICE_DIGITS as i32);
        #[expect(clippy::cast_precision_loss, reason = "twelve digits fit")]
        let is_told = dice.is_some_and(|dice| (dice as f64) < limit);
        Trace { id, span: None, flags: if is_told { SAMPLED } else { 0 } }
    }

    /// Returns the same trace at the span of `place` in a run.
    pub fn at(&self, run: &str, place: &str) -> Trace {
        Trace { span: Some(span_id(run, place)), ..self.clone() }
    }

    /// Returns the id of the trace.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the id of the current span.
    pub fn span(&self) -> Option<&str> {
        self.span.as_deref()
    }

    /// Returns whether the trace is recorded.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    fn header(&self) -> Option<String> {
        self.span.as_ref().map(|span| format!("00-{}-{span}-{:02x}", self.id, self.flags))
    }
}

/// Returns the id of the span at `place` in a run, which is always the same.
pub fn span_id(run: &str, place: &str) -> String {
    hex::<8>(&format!("{run}/{place}"))
}

/// Returns the first bytes of a text's digest.
fn hex<const BYTES: usize>(text: &str) -> String {
    let mut hex = String::with_capacity(2 * BYTES);
    for byte in Sha256::digest(text).iter().take(BYTES) {
        let _never_fails = write!(hex, "{byte:02x}");
    }
    hex
}

fn is_hex(part: &str, length: usize) -> bool {
    part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Returns this work, done as part of a trace if there is one.
pub fn within<W: Future>(trace: Option<Trace>, work: W) -> Either<TaskLocalFuture<Trace, W>, W> {
    match trace {
        Some(trace) => Either::Left(CURRENT.scope(trace, work)),
        None => Either::Right(work),
    }
}

/// Returns the `traceparent` of a call that is made here and now.
pub fn traceparent() -> Option<String> {
    CURRENT.try_with(Trace::header).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::right::{self, Right};

    const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn only_a_whole_traceparent_is_a_trace() {
        assert!(Trace::parse(GIVEN).is_some());
        assert!(Trace::parse("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later").is_some());
        for wrong in [
            "",
            "00",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
        ] {
            assert_eq!(Trace::parse(wrong), None, "{wrong}");
        }
    }

    #[tokio::test]
    async fn every_call_is_a_span_of_its_own_in_the_same_trace() {
        let given = Trace::parse(GIVEN).unwrap();
        let mut spans = vec![given.span().unwrap().to_owned()];
        for place in ["1.0.0", "1.0.1"] {
            let header = within(Some(given.at("run-1", place)), async { traceparent() }).await.unwrap();
            let child = Trace::parse(&header).unwrap();
            assert_eq!((child.id(), child.flags), (given.id(), given.flags));
            spans.push(child.span().unwrap().to_owned());
        }
        spans.dedup();
        assert_eq!(spans.len(), 3);
        assert_eq!(within(None, async { traceparent() }).await, None);
    }

    #[test]
    fn work_with_a_trace_and_a_right_is_held_once() {
        let large = [0_u8; 4096];
        let work = async move {
            tokio::task::yield_now().await;
            large.len()
        };
        let alone = size_of_val(&work);
        let within = right::within(Right::lasting(1), within(Trace::parse(GIVEN), work));
        assert!(size_of_val(&within) < alone + 512, "{} bytes for {alone}", size_of_val(&within));
    }

    #[test]
    fn a_share_of_the_traces_that_begin_here_is_told_of() {
        let run = |number: u32| format!("run-0190a1b2c3d47e5f8091{:012x}", u64::from(number) << 38);
        let told = |share: f64| (0..1000).filter(|number| Trace::of_run(&run(*number), share).is_sampled()).count();
        assert_eq!((told(0.0), told(1.0)), (0, 1000));
        assert!((200..300).contains(&told(0.25)), "{}", told(0.25));
        assert_eq!(Trace::of_run("run-0190a1b2c3d47e5f8091a2b3c4d5e6f7", 1.0).id(), "0190a1b2c3d47e5f8091a2b3c4d5e6f7");
        assert_eq!(Trace::of_run("mine", 1.0).id().len(), 32);
    }

    #[test]
    fn made_up_headers_are_no_trace_or_go_on_as_they_came() {
        let examples = [GIVEN, "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later"];
        consort_fuzz::text(&examples, |header| {
            let Some(trace) = Trace::parse(header) else { return };
            assert_eq!(Trace::parse(&trace.header().unwrap()), Some(trace));
        });
    }
}
