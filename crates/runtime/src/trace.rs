//! W3C trace context. A run belongs to the trace its submission named; every
//! call it makes names that trace and a span of its own. The trace goes with
//! the task that makes the call, so no seam has to hand it on.

use std::fmt::Write;

use tokio::task_local;

task_local! {
    static CURRENT: Trace;
}

/// The header's name.
pub const HEADER: &str = "traceparent";

/// The trace a run belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    id: String,
    flags: String,
}

impl Trace {
    /// Reads a `traceparent`. As the standard wants, what is malformed is no
    /// trace at all, and what follows in later versions is left out.
    pub fn parse(header: &str) -> Option<Trace> {
        let mut parts = header.trim().split('-');
        let version = parts.next().filter(|part| is_hex(part, 2) && *part != "ff")?;
        let id = parts.next().filter(|part| is_hex(part, 32) && part.bytes().any(|byte| byte != b'0'))?;
        parts.next().filter(|part| is_hex(part, 16) && part.bytes().any(|byte| byte != b'0'))?;
        let flags = parts.next().filter(|part| is_hex(part, 2))?;
        let is_whole = version != "00" || parts.next().is_none();
        is_whole.then(|| Trace { id: id.to_owned(), flags: flags.to_owned() })
    }

    /// The trace with a new span in it.
    fn child(&self) -> String {
        let mut span = String::new();
        for byte in uuid::Uuid::now_v7().into_bytes().into_iter().skip(8) {
            let _never_fails = write!(span, "{byte:02x}");
        }
        format!("00-{}-{span}-{}", self.id, self.flags)
    }
}

fn is_hex(part: &str, length: usize) -> bool {
    part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Does something as part of a trace, if there is one.
pub(crate) async fn within<T>(trace: Option<Trace>, work: impl Future<Output = T>) -> T {
    match trace {
        Some(trace) => CURRENT.scope(trace, work).await,
        None => work.await,
    }
}

/// What a call that is made here and now tells about its trace.
pub fn traceparent() -> Option<String> {
    CURRENT.try_with(Trace::child).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let two = within(Trace::parse(GIVEN), async { [traceparent(), traceparent()].map(Option::unwrap) }).await;
        assert_ne!(two[0], two[1]);
        for child in two {
            assert_eq!(Trace::parse(&child), Trace::parse(GIVEN));
            assert!(!child.contains("00f067aa0ba902b7"));
        }
        assert_eq!(within(None, async { traceparent() }).await, None);
    }
}
