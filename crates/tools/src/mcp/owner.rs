//! The owner of one server: connects, lists its tools, and begins again when the connection is lost.
//! The first attempt after a loss comes at once, the next ones wait longer each time. Both generations
//! of the protocol are supported: with a handshake (until 2025-11-25) and without (2026-07-28).

use std::collections::HashMap;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::Client;
use reqwest::header::HeaderMap;
use rmcp::model::{ClientCapabilities, ClientConfig, ClientRequest, Implementation, ListToolsRequest};
use rmcp::model::{PaginatedRequestParams, ProtocolVersion, ServerResult, SubscriptionFilter};
use rmcp::service::{ClientInitializeError, NotificationContext, RunningService, Subscription};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::common::client_side_sse::FixedInterval;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, Peer, RoleClient, ServiceError};
use tokio::process::Command;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use super::answer::{Failure, cut, failure, http_words};
use super::link::{Phase, ServerLink};
use super::listed::{self, Listed};
use super::names::Names;
use super::program::Program;
use super::{Server, ServerOptions, Transport};
use crate::busy;
use crate::http::chain;

/// Headers that the protocol sets itself.
pub(super) const OUR_HEADERS: &[&str] =
    &["accept", "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id"];

/// The age from which a connection counts as stable: its loss does not count as another failure in a row.
const STEADY: Duration = Duration::from_secs(10);
/// The first wait between attempts; each is twice the one before.
const WAIT: Duration = Duration::from_millis(500);
/// The longest wait between attempts.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// The maximum size of one message in bytes, so that a program cannot fill the memory.
const MESSAGE_MAX: usize = 16 * 1024 * 1024;
/// The maximum number of tools of one server; a list without end would never be finished.
const TOOLS_MAX: usize = 1000;
/// The maximum number of pages of that list.
const PAGES_MAX: usize = 100;
/// The maximum number of attempts to resume a broken response stream, and the wait between them.
const RESUMES_MAX: usize = 3;
const RESUME_WAIT: Duration = Duration::from_millis(300);
/// The maximum size of the error message of a failed attempt in bytes.
const REASON_MAX: usize = 500;

/// The state of one server's connection.
pub(super) struct Owner {
    pub(super) options: Arc<ServerOptions>,
    pub(super) client: Client,
    pub(super) headers: HeaderMap,
    pub(super) names: Arc<Names>,
    pub(super) server: Arc<Server>,
}

/// The way a connection to a server is negotiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Greeting {
    /// Asks for the supported versions; falls back to a handshake if the
    /// server does not know the request or takes too long to answer it.
    Either,
    /// Begins with a handshake: older servers may end, or not
    /// answer at all, when they are asked for their versions.
    Handshake,
    /// Asks for the supported versions, however long the server takes to answer: it may be slow to start.
    Discover,
}

impl Greeting {
    /// Returns the next way to try, for a server that did not answer this one.
    fn next(self) -> Greeting {
        match self {
            Greeting::Either | Greeting::Discover => Greeting::Handshake,
            Greeting::Handshake => Greeting::Discover,
        }
    }

    fn lifecycle(self) -> ClientLifecycleMode {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        let legacy_version = Some(ProtocolVersion::LATEST_WITH_INITIALIZE);
        match self {
            Greeting::Either => ClientLifecycleMode::Auto { preferred_versions, legacy_version },
            Greeting::Handshake => ClientLifecycleMode::Initialize,
            Greeting::Discover => ClientLifecycleMode::Discover { preferred_versions },
        }
    }
}

/// The reason why there is no connection.
struct ConnectFailure {
    reason: String,
    /// Whether the server was reached, but did not answer as it should.
    is_there: bool,
}

impl ConnectFailure {
    /// Returns the error for a server that was not reached.
    fn away(reason: String) -> ConnectFailure {
        ConnectFailure { reason, is_there: false }
    }

    /// Returns the error for a server that was reached and gave an unexpected answer.
    fn there(reason: String) -> ConnectFailure {
        ConnectFailure { reason, is_there: true }
    }
}

/// A connected server.
struct Connection {
    peer: Peer<RoleClient>,
    /// Ends when the connection does; dropping it closes the connection.
    open: BoxFuture<'static, ()>,
    /// The program, where the server is one.
    program: Option<Program>,
}

impl Owner {
    /// Keeps the server connected until it receives the stop signal.
    pub(super) async fn run(self, mut stop: oneshot::Receiver<()>) {
        let mut record = FailureStreak::default();
        let mut greeting = Greeting::Either;
        let mut is_known = false;
        loop {
            let connected = tokio::select! {
                _stopped = &mut stop => return,
                connected = self.connect(greeting) => connected,
            };
            let reason = match connected {
                Err(ConnectFailure { reason, is_there }) => {
                    record.not_connected();
                    greeting = if is_there { greeting.next() } else { greeting };
                    reason
                }
                Ok(mut connection) => {
                    let began = Instant::now();
                    (greeting, is_known) = (connection.greeting(), true);
                    let lost = tokio::select! {
                        _stopped = &mut stop => None,
                        reason = self.hold(&mut connection) => Some(reason),
                    };
                    connection.close().await;
                    let Some(reason) = lost else { return };
                    record.lost_after(began.elapsed());
                    reason
                }
            };
            let failures = record.failures();
            // The first attempt may only have used a greeting that the server does not know.
            if is_known || failures > 1 || greeting == Greeting::Either {
                tracing::warn!(server = self.options.name, reason, failures, "the MCP server is not available");
            } else {
                tracing::debug!(server = self.options.name, reason, "the MCP server is greeted in another way");
            }
            tokio::select! {
                _stopped = &mut stop => return,
                () = self.pause(failures, reason) => {}
            }
        }
    }

    async fn pause(&self, failures: u32, reason: String) {
        let wait = wait(failures);
        if !wait.is_zero() {
            self.link().set(Phase::Down(reason));
            sleep(wait).await;
        }
        self.link().set(Phase::Connecting);
    }

    fn link(&self) -> &Arc<ServerLink> {
        &self.server.link
    }

    async fn connect(&self, greeting: Greeting) -> Result<Connection, ConnectFailure> {
        let limit = self.options.timeout;
        let late = |_elapsed| ConnectFailure::there(format!("no answer within {limit:?}"));
        let connection = timeout(limit, self.open(greeting)).await.map_err(late)??;
        let version = connection.version().map(|version| version.to_string()).unwrap_or_default();
        tracing::info!(server = self.options.name, version, "connected");
        self.link().set(Phase::Up(connection.peer.clone()));
        Ok(connection)
    }

    async fn open(&self, greeting: Greeting) -> Result<Connection, ConnectFailure> {
        let connection = match &self.options.transport {
            Transport::Command { command, args, env, folder } => {
                let mut program = Command::new(command);
                program.args(args).env_clear().envs(env).current_dir(folder);
                self.open_program(program, greeting).await?
            }
            Transport::Http { url, .. } => self.open_http(url, greeting).await?,
        };
        self.list(&connection.peer).await.map_err(ConnectFailure::there)?;
        Ok(connection)
    }

    async fn open_program(&self, command: Command, greeting: Greeting) -> Result<Connection, ConnectFailure> {
        let (program, (stdout, stdin)) = Program::start(&self.options.name, command).map_err(ConnectFailure::away)?;
        let transport = AsyncRwTransport::new_client(stdout, stdin).with_max_line_length(MESSAGE_MAX);
        match self.greet(transport, greeting).await {
            Ok(service) => Ok(Connection::new(service, Some(program))),
            Err(unmet) => Err(ConnectFailure::there(program.obituary(unmet.reason).await)),
        }
    }

    async fn open_http(&self, url: &str, greeting: Greeting) -> Result<Connection, ConnectFailure> {
        let headers: HashMap<_, _> = self.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut resume = FixedInterval::default();
        (resume.max_times, resume.duration) = (Some(RESUMES_MAX), RESUME_WAIT);
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        config.custom_headers = headers;
        config.retry_config = Arc::new(resume);
        config.max_sse_event_size = MESSAGE_MAX;
        let transport = StreamableHttpClientTransport::with_client(self.client.clone(), config);
        let service = self.greet(transport, greeting).await.map_err(|unmet| {
            let reason = unmet.reason.replace(url, "its address");
            ConnectFailure { reason, ..unmet }
        })?;
        Ok(Connection::new(service, None))
    }

    async fn greet<T, E, A>(
        &self,
        transport: T,
        greeting: Greeting,
    ) -> Result<RunningService<RoleClient, Listener>, ConnectFailure>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let listener = Listener(self.link().clone());
        let greeted = listener.serve_with_lifecycle(transport, greeting.lifecycle()).await;
        greeted.map_err(|error| {
            let sent =
                if let ClientInitializeError::TransportError { error, .. } = &error { Some(error) } else { None };
            match sent.and_then(|sent| sent.error.downcast_ref::<StreamableHttpError<reqwest::Error>>()) {
                Some(StreamableHttpError::Client(error)) if error.is_connect() => {
                    ConnectFailure::away(format!("could not connect: {}", chain(error)))
                }
                Some(error) => ConnectFailure::there(http_words(error)),
                None => ConnectFailure::there(cut(&error.to_string(), REASON_MAX).to_owned()),
            }
        })
    }

    /// Asks the server for its tools, and publishes them.
    async fn list(&self, peer: &Peer<RoleClient>) -> Result<(), String> {
        let mut found: Vec<Listed> = Vec::new();
        let mut cursor = None;
        for _page in 0..PAGES_MAX {
            let (tools, next) = page(peer, cursor).await?;
            found.extend(tools.into_iter().map(Listed::from));
            cursor = next;
            if cursor.is_none() || found.len() >= TOOLS_MAX {
                break;
            }
        }
        if cursor.is_some() || found.len() > TOOLS_MAX {
            tracing::warn!(server = self.options.name, "has more tools than the {TOOLS_MAX} that are listed");
            found.truncate(TOOLS_MAX);
        }
        self.server.put(busy::in_place(|| listed::tools(found, &self.options, &self.names, self.link())));
        Ok(())
    }

    /// Subscribes to changes of the tools, where the server reports them
    /// only to subscribers; a server that refuses is checked like any other.
    async fn subscribe(&self, peer: &Peer<RoleClient>) -> Option<Subscription> {
        let info = peer.peer_info()?;
        let tells = info.capabilities.tools.as_ref().is_some_and(|tools| tools.list_changed == Some(true));
        if info.protocol_version.has_initialize() || !tells {
            return None;
        }
        let wanted = SubscriptionFilter::builder().tools_list_changed().build();
        let asked = timeout(self.options.timeout, peer.listen(wanted)).await;
        let refused = |reason: String| {
            tracing::debug!(server = self.options.name, reason, "the MCP server does not tell when its tools change");
        };
        match asked {
            Ok(Ok(subscription)) => Some(subscription),
            Ok(Err(error)) => {
                refused(error.to_string());
                None
            }
            Err(_elapsed) => {
                refused("no answer".to_owned());
                None
            }
        }
    }

    /// Returns when a server has reported that its tools changed, or has ended the subscription; in
    /// that case after a short wait, so that a server that always ends it is not asked all the time.
    async fn until_tools_changed(&self, peer: &Peer<RoleClient>, news: &mut Option<Subscription>) {
        if news.is_none() {
            *news = self.subscribe(peer).await;
        }
        let Some(subscription) = news else { return pending().await };
        if matches!(subscription.next().await, Ok(Some(_))) {
            return;
        }
        *news = None;
        sleep(WAIT).await;
    }

    /// Returns the reason for the loss of the connection, when it is lost. After anything
    /// unexpected or new the tools are listed again, which a live server can do.
    async fn hold(&self, connection: &mut Connection) -> String {
        let Connection { peer, open, .. } = connection;
        let mut news = None;
        loop {
            tokio::select! {
                () = &mut *open => return "the connection was lost".to_owned(),
                () = self.link().asked_to_look() => {}
                () = self.until_tools_changed(peer, &mut news) => {}
            }
            let limit = self.options.timeout;
            match timeout(limit, self.list(peer)).await {
                Ok(Ok(())) => {}
                Ok(Err(reason)) => return reason,
                Err(_elapsed) => return format!("no answer within {limit:?}"),
            }
        }
    }
}

/// The failures in a row of one server.
#[derive(Clone, Copy, Debug, Default)]
struct FailureStreak {
    /// The attempts that failed since it was connected.
    attempts: u32,
    /// The connections that were lost before they were stable.
    losses: u32,
}

impl FailureStreak {
    fn not_connected(&mut self) {
        self.attempts = self.attempts.saturating_add(1);
    }

    /// Adds the loss of a connection of this age. The attempts that it took to connect were made good by it: a server
    /// that dies is connected again at once, however many greetings it took to find the one that it knows.
    fn lost_after(&mut self, age: Duration) {
        self.attempts = 0;
        self.losses = if age >= STEADY { 1 } else { self.losses.saturating_add(1) };
    }

    fn failures(self) -> u32 {
        self.attempts.saturating_add(self.losses)
    }
}

/// Returns the wait after so many failures in a row.
fn wait(failures: u32) -> Duration {
    match failures.checked_sub(2) {
        None => Duration::ZERO,
        Some(doublings) => WAIT.saturating_mul(2_u32.saturating_pow(doublings)).min(WAIT_MAX),
    }
}

type Page = (Vec<rmcp::model::Tool>, Option<String>);

async fn page(peer: &Peer<RoleClient>, cursor: Option<String>) -> Result<Page, String> {
    let params = Some(PaginatedRequestParams::default().with_cursor(cursor));
    let request = ListToolsRequest { method: Default::default(), params, extensions: Default::default() };
    let listed = match peer.send_request(ClientRequest::ListToolsRequest(request)).await {
        Ok(ServerResult::ListToolsResult(listed)) => Ok((listed.tools, listed.next_cursor)),
        Ok(_) => Err(ServiceError::UnexpectedResponse),
        Err(error) => Err(error),
    };
    listed.map_err(|error| match failure(error) {
        Failure::Certain(reason) | Failure::Doubtful(reason) => format!("it does not list its tools: {reason}"),
    })
}

impl Connection {
    fn new(service: RunningService<RoleClient, Listener>, program: Option<Program>) -> Connection {
        let peer = service.peer().clone();
        let open = Box::pin(async move {
            let _why = service.waiting().await;
        });
        Connection { peer, open, program }
    }

    /// Returns the negotiated version of the protocol.
    fn version(&self) -> Option<ProtocolVersion> {
        self.peer.peer_info().map(|info| info.protocol_version.clone())
    }

    /// Returns the greeting that this server understands.
    fn greeting(&self) -> Greeting {
        match self.version() {
            Some(version) if !version.has_initialize() => Greeting::Discover,
            Some(_) | None => Greeting::Handshake,
        }
    }

    /// Lets a program end by itself before it is killed.
    async fn close(mut self) {
        self.open = Box::pin(pending());
        if let Some(program) = self.program.take() {
            program.end().await;
        }
    }
}

/// The handler of the server's notifications.
struct Listener(Arc<ServerLink>);

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new("consort", env!("CARGO_PKG_VERSION"));
        let config = ClientConfig::new(ClientCapabilities::default(), client);
        config.with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.0.look_after();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_attempt_comes_at_once_and_the_wait_stays_bounded() {
        let waits: Vec<u128> = [1, 2, 3, 4, 7, 8, 9, u32::MAX].map(|failures| wait(failures).as_millis()).to_vec();
        assert_eq!(waits, [0, 500, 1000, 2000, 16_000, 30_000, 30_000, 30_000]);
    }

    #[test]
    fn a_server_that_is_lost_is_connected_again_at_once_whatever_it_took_to_connect_it() {
        let mut record = FailureStreak::default();
        record.not_connected();
        record.not_connected();
        assert_eq!(record.failures(), 2, "two greetings were tried");
        record.lost_after(Duration::ZERO);
        assert_eq!(wait(record.failures()), Duration::ZERO, "the first loss");
        record.not_connected();
        assert_eq!(wait(record.failures()), WAIT, "and then it does not come back");
        record.lost_after(Duration::ZERO);
        assert_eq!(wait(record.failures()), WAIT, "one that dies again and again is left alone for longer each time");
        record.lost_after(Duration::ZERO);
        assert_eq!(wait(record.failures()), 2 * WAIT);
        record.lost_after(STEADY);
        assert_eq!(wait(record.failures()), Duration::ZERO);
    }
}
