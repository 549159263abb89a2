//! The frames of a run or of a turn from a server, each once. A connection that breaks
//! is opened again after the last event received, until the server has been away too
//! long.

use std::time::Duration;

use consort_http::innermost;
use consort_http::sse::{self, TooLong};
use consort_log::Seq;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use reqwest::Response;
use reqwest::header::ACCEPT;
use tokio::time::{Instant, sleep, timeout};

use super::{CALL_MAX, Call, Client, Failure};
use crate::client::received::Received;

/// The first delay before reconnecting; it doubles.
const WAIT_FIRST: Duration = Duration::from_millis(100);
/// The longest delay before reconnecting.
const WAIT_MAX: Duration = Duration::from_secs(2);
/// The time that a server may be away.
const AWAY_MAX: Duration = Duration::from_secs(30);
/// The time that a connection may be silent: servers send a keep-alive much more often.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// The maximum number of bytes of one event; the largest holds a whole conversation.
const EVENT_MAX: usize = 64 * 1024 * 1024;

/// Something received while a run is followed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StreamEvent {
    /// A frame arrived.
    Frame(Received),
    /// The connection to the server is lost, for this reason.
    Disconnected(String),
    /// The connection is open again.
    Reconnected,
}

/// A stream that ends when the run is over, or when reconnecting has failed for too long.
pub(crate) type EventStream<E> = BoxStream<'static, Result<StreamEvent, E>>;

impl Client {
    /// Follows a run from its beginning. If the server cannot be reached at first, this
    /// fails at once.
    pub(crate) async fn follow(&self, run: &str) -> Result<EventStream<Failure>, Failure> {
        let mut events = Events::new(self, Source::Run(run.to_owned()));
        events.open = Some(events.connect().await?);
        Ok(stream::unfold(events, Events::step).boxed())
    }

    /// Follows the turn of a thread that began with this number, to its end. The server
    /// accepted it a moment ago, so reconnecting is tried from the start.
    pub(crate) async fn follow_turn(&self, thread: &str, first: Seq) -> Result<EventStream<Failure>, Failure> {
        let mut events = Events::new(self, Source::Turn { thread: thread.to_owned(), first });
        events.open = match events.connect().await {
            Ok(body) => Some(body),
            Err(failure) if failure.may_pass() => None,
            Err(failure) => return Err(failure),
        };
        Ok(stream::unfold(events, Events::step).boxed())
    }
}

/// The source of the frames.
enum Source {
    /// This run.
    Run(String),
    /// One turn of a thread.
    Turn { thread: String, first: Seq },
}

impl Source {
    fn call(&self) -> Call {
        match self {
            Source::Run(run) => Call::get(&["runs", run, "events"]),
            Source::Turn { thread, first } => Call::get(&["threads", thread, "events"]).with("from", Some(first)),
        }
    }

    /// Returns whether this is the last event. A thread goes on after a turn, which ends with the
    /// only chunk that is stored.
    fn is_last(&self, id: Option<Seq>, kind: &str) -> bool {
        match self {
            Source::Run(_) => id.is_none() && kind == "run_result",
            Source::Turn { .. } => id.is_some() && kind == "chunk",
        }
    }
}

struct Events {
    client: Client,
    source: Source,
    /// The last event received.
    last: Option<Seq>,
    open: Option<Body>,
    /// The current interruption, if there is one.
    absence: Option<Outage>,
    /// Whether the last frame has come, or never will.
    over: bool,
}

/// An interruption of the connection.
#[derive(Clone, Copy)]
struct Outage {
    since: Instant,
    /// The delay before the next attempt.
    wait: Duration,
}

impl Events {
    fn new(client: &Client, source: Source) -> Events {
        Events { client: client.clone(), source, last: None, open: None, absence: None, over: false }
    }

    async fn step(mut self) -> Option<(Result<StreamEvent, Failure>, Events)> {
        if self.over {
            return None;
        }
        let event = self.next_event().await;
        self.over |= event.is_err();
        Some((event, self))
    }

    async fn next_event(&mut self) -> Result<StreamEvent, Failure> {
        loop {
            let Some(body) = &mut self.open else { return self.again().await };
            let read = body.next().await;
            match read.and_then(|event| self.frame(event)) {
                Ok(None) => {}
                Ok(Some(frame)) => {
                    self.absence = None;
                    return Ok(StreamEvent::Frame(frame));
                }
                Err(reason) => return Ok(self.lost(reason)),
            }
        }
    }

    /// Returns the frame in an event, unless it came before.
    fn frame(&mut self, Event { id, kind, data }: Event) -> Result<Option<Received>, String> {
        self.over = self.source.is_last(id, &kind);
        match (id, kind.as_str()) {
            (Some(seq), _) if self.last.is_some_and(|last| seq <= last) => Ok(None),
            (Some(seq), _) => {
                self.last = Some(seq);
                Ok(Some(Received::event(data)))
            }
            (None, "run_result") => Ok(Some(Received::result(data))),
            (None, "error") => Err("the server cannot read what was stored".to_owned()),
            (None, _) => Ok(Some(Received::live(data))),
        }
    }

    fn lost(&mut self, reason: String) -> StreamEvent {
        // A connection that lasted for a while resets the delays; others count as attempts.
        let held = self.open.take().is_some_and(|body| body.since.elapsed() > WAIT_MAX);
        if held || self.absence.is_none() {
            self.absence = Some(Outage { since: Instant::now(), wait: WAIT_FIRST });
        }
        StreamEvent::Disconnected(reason)
    }

    /// Waits for the server to come back.
    async fn again(&mut self) -> Result<StreamEvent, Failure> {
        loop {
            let absence = self.absence.get_or_insert(Outage { since: Instant::now(), wait: WAIT_FIRST });
            let since = absence.since;
            let wait = absence.wait;
            absence.wait = (wait * 2).min(WAIT_MAX);
            sleep(wait).await;
            match self.connect().await {
                Ok(body) => {
                    self.open = Some(body);
                    return Ok(StreamEvent::Reconnected);
                }
                Err(failure) if !failure.may_pass() => return Err(failure),
                Err(failure) if since.elapsed() > AWAY_MAX => {
                    let reason = format!("it could not be reached for too long; the last failure: {failure}");
                    return Err(Failure::Unreachable { url: self.client.url().to_owned(), reason });
                }
                Err(_not_yet) => {}
            }
        }
    }

    async fn connect(&self) -> Result<Body, Failure> {
        let mut request = self.client.request(&self.source.call()).header(ACCEPT, "text/event-stream");
        if let Some(last) = self.last {
            request = request.header("last-event-id", last.to_string());
        }
        let Ok(response) = timeout(CALL_MAX, request.send()).await else {
            let reason = "no answer in time".to_owned();
            return Err(Failure::Unreachable { url: self.client.url().to_owned(), reason });
        };
        let response = self.client.accepted(response.map_err(|error| self.client.unreachable(&error))?).await?;
        Ok(Body { response, events: sse::Events::new(EVENT_MAX), since: Instant::now() })
    }
}

/// An open stream of events.
struct Body {
    response: Response,
    /// The events that are not complete yet.
    events: sse::Events,
    /// The time it was opened.
    since: Instant,
}

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq)]
struct Event {
    id: Option<Seq>,
    kind: String,
    data: String,
}

impl From<sse::Event<'_>> for Event {
    fn from(sse::Event { id, kind, data }: sse::Event<'_>) -> Event {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Event { id: text(id).parse().ok(), kind: text(kind), data: text(data) }
    }
}

impl Body {
    /// Returns the next event, or the reason why there is none.
    async fn next(&mut self) -> Result<Event, String> {
        loop {
            if let Some(event) = self.events.next().map_err(|TooLong| "an event is too long".to_owned())? {
                return Ok(Event::from(event));
            }
            match timeout(SILENCE_MAX, self.response.chunk()).await {
                Err(_elapsed) => return Err("it is silent".to_owned()),
                Ok(Err(error)) => return Err(innermost(&error)),
                Ok(Ok(None)) => return Err("the server ended the stream".to_owned()),
                Ok(Ok(Some(chunk))) => self.events.inbox().extend_from_slice(&chunk),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::client::Target;
    use crate::exit::Exit;

    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

    fn client(port: u16) -> Client {
        Target::at(&format!("http://127.0.0.1:{port}"), None).client(&|_| None).unwrap()
    }

    /// Answers one connection with these events, and returns the request.
    async fn answer(listener: &TcpListener, events: &str) -> String {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut asked = vec![0; 4096];
        let length = socket.read(&mut asked).await.unwrap();
        socket.write_all(format!("{HEAD}{events}").as_bytes()).await.unwrap();
        String::from_utf8_lossy(&asked[..length]).to_lowercase()
    }

    fn event(seq: Seq) -> StreamEvent {
        StreamEvent::Frame(Received::event(seq.to_string()))
    }

    #[tokio::test]
    async fn a_broken_stream_is_taken_up_where_it_broke_and_nothing_comes_twice() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = client(listener.local_addr().unwrap().port());
        let server = async {
            let first = answer(&listener, ": hi\n\nid: 0\ndata: 0\n\nid: 1\ndata: 1\n\nid: 2\nda").await;
            let end = "id: 1\ndata: 1\n\nevent: token\ndata: t\n\nid: 2\ndata: 2\n\nevent: run_result\ndata: r\n\n";
            (first, answer(&listener, end).await)
        };
        let following = async { client.follow("run-1").await.unwrap().map(Result::unwrap).collect::<Vec<_>>().await };
        let ((first, second), events) = futures::join!(server, following);
        assert!(!first.contains("last-event-id") && second.contains("last-event-id: 1\r\n"), "{first}{second}");
        let lost = StreamEvent::Disconnected("the server ended the stream".to_owned());
        let token = StreamEvent::Frame(Received::live("t".to_owned()));
        let result = StreamEvent::Frame(Received::result("r".to_owned()));
        assert_eq!(events, [event(0), event(1), lost, StreamEvent::Reconnected, token, event(2), result]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_stays_away_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = client(listener.local_addr().unwrap().port());
        let (_, events) = futures::join!(answer(&listener, "id: 0\ndata: 0\n\n"), client.follow("run-1"));
        drop(listener);
        let began = Instant::now();
        let mut events: Vec<_> = events.unwrap().collect().await;
        let failure = events.pop().unwrap().unwrap_err();
        assert_eq!((failure.exit(), events.len()), (Exit::Unreachable, 2), "{failure}");
        assert!(began.elapsed() < AWAY_MAX + 2 * WAIT_MAX);
    }
}
