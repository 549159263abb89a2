//! Frames as server-sent events. `id` is the event's seq; a client that reconnects
//! with it gets the following ones, each once. Tokens and the result have no id. A
//! stream ends with the run's result, or when the server stops.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use consort_chat::Numbered;
use consort_log::{self as log, Seq};
use consort_runtime::ring::Frame;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};

use crate::Site;
use crate::ws::answer::{Answer, Failure};
use consort_inbound::problem::Problem;
use consort_inbound::query::Pairs;

/// The comment that ends a stream when the server stops.
const RECONNECT: &str = "reconnect";

/// The frames that a client wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    All,
    /// Those of these types, and the result.
    Types(Vec<String>),
}

impl Filter {
    pub(crate) fn read(pairs: &Pairs) -> Filter {
        let names = pairs.all("events").flat_map(|list| list.split(',')).map(str::trim);
        let names: Vec<String> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
        if names.is_empty() || names.iter().any(|name| name == "*") { Filter::All } else { Filter::Types(names) }
    }

    fn admits(&self, kind: &str) -> bool {
        match self {
            Filter::All => true,
            Filter::Types(names) => names.iter().any(|name| name == kind),
        }
    }
}

/// Returns the first seq to send: after `Last-Event-ID`, which overrides `from`.
pub(crate) fn first(pairs: &Pairs, headers: &HeaderMap) -> Result<Seq, Problem> {
    let from = pairs.number("from", 0..=Seq::MAX, 0);
    let Some(last) = headers.get("last-event-id") else { return from };
    let last: Option<Seq> = last.to_str().ok().and_then(|last| last.trim().parse().ok());
    last.and_then(|last| last.checked_add(1)).ok_or_else(|| Problem::bad_request("Last-Event-ID is not a number"))
}

/// Returns a stream of frames as a response.
pub(crate) fn sse(site: &Site, frames: BoxStream<'static, Result<Frame, log::Error>>, filter: Filter) -> Response {
    let counted = site.streams.clone();
    let events = move |frame| {
        let _counted = &counted;
        event(frame, &filter)
    };
    response(site, frames, events)
}

/// Returns a thread's frames as a response; `id` is their number in the thread.
pub(crate) fn chat_sse(
    site: &Site,
    frames: BoxStream<'static, Result<Numbered, log::Error>>,
    filter: Filter,
) -> Response {
    let counted = site.streams.clone();
    let events = move |frame| {
        let _counted = &counted;
        chat_event(frame, &filter)
    };
    response(site, frames, events)
}

/// Returns the events of frames until they end, or until the server stops: then the last line asks the client
/// to connect again.
fn response<F: Send + 'static>(
    site: &Site,
    frames: BoxStream<'static, F>,
    mut event: impl FnMut(F) -> Option<Event> + Send + 'static,
) -> Response {
    let stops = Arc::new(AtomicBool::new(false));
    let stopped = stops.clone();
    let closed = site.closed().inspect(move |()| stops.store(true, Ordering::Release));
    let events = frames.take_until(closed).filter_map(move |frame| ready(event(frame)));
    let goodbye = async move { stopped.load(Ordering::Acquire).then(|| Event::default().comment(RECONNECT)) };
    let events = events.chain(stream::once(goodbye).filter_map(ready)).map(Ok::<_, Infallible>);
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

fn chat_event(frame: Result<Numbered, log::Error>, filter: &Filter) -> Option<Event> {
    let frame = match frame {
        Ok(numbered) => numbered,
        Err(error) => return Some(broken(&error)),
    };
    let event = Event::default().event(frame.kind).data(&*frame.text);
    let event = match frame.seq {
        Some(seq) => event.id(seq.to_string()),
        None => event,
    };
    filter.admits(frame.kind).then_some(event)
}

/// Returns the event that is sent when the log cannot be read any more.
fn broken(error: &log::Error) -> Event {
    Event::default().event("error").data(Answer::Error(Failure::storage(error)).text())
}

fn event(frame: Result<Frame, log::Error>, filter: &Filter) -> Option<Event> {
    let frame = match frame {
        Ok(frame) => frame,
        Err(error) => return Some(broken(&error)),
    };
    let kind = frame.kind();
    let event = Event::default().event(kind).data(frame.text());
    match &frame {
        Frame::Result { .. } => Some(event),
        Frame::Event { seq, .. } => filter.admits(kind).then(|| event.id(seq.to_string())),
        Frame::Delta { .. } => filter.admits(kind).then_some(event),
    }
}
