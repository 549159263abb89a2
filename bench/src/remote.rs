//! A call of another ensemble's tool, over a real server on loopback and with
//! its log on disk, against a bare WebSocket request and reply that stores the
//! same records in the same number of commits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use consort_core::id::Id;
use consort_log::{Append, Log, Query, Record, Row, Seq, SqliteLog};
use consort_net::network::{Dialling, Network};
use consort_net::remote::NetworkTool;
use consort_tools::{Account, Answer, Invocation, Tool};
use futures::{SinkExt, StreamExt};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, accept_async, connect_async};

use crate::crowd::Crowd;
use crate::effort::{Effort, median};
use crate::peer;
use crate::table::Table;

const RATIO_MAX: f64 = 2.0;
/// The number of calls before measuring begins.
const WARM_UP: usize = 32;

/// The duration and the CPU of one way to make a call, in microseconds.
struct Took {
    time_us: f64,
    cpu_us: f64,
}

/// The other ensemble, and a link to it.
struct Remote {
    tool: NetworkTool,
    log: Arc<SqliteLog>,
    calls: AtomicU64,
    _links: (Network, Dialling, JoinSet<()>),
}

/// The records that a bare server stores for every request: one decision after the other.
struct Stored {
    decisions: Vec<Vec<Record>>,
    row: Row,
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Measures and adds the targets.
pub(crate) async fn measure(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let open = |name: &str| SqliteLog::open(&folder.path().join(name)).map(Arc::new);
    let remote = Arc::new(Remote::start(open("remote.db")?).await?);
    remote.clone().timed(WARM_UP).await?;
    let commits = remote.commits_per_call().await?;
    let stored = remote.stored(commits).await?;
    let mut bare = JoinSet::new();
    let socket = serve_bare(stored, open("bare.db")?, &mut bare).await?;
    let socket = Arc::new(Mutex::new(socket));
    bare_timed(&socket, WARM_UP).await?;
    let jobs = effort.runs / 2;
    let mut rounds = Vec::new();
    for _ in 0..effort.rounds {
        rounds.push((bare_timed(&socket, jobs).await?, remote.clone().timed(jobs).await?));
    }
    for (what, of) in [
        ("a remote tool call: time", (|took| took.time_us) as fn(&Took) -> f64),
        ("a remote tool call: CPU, both sides", |took| took.cpu_us),
    ] {
        let ratio = median(rounds.iter().map(|(bare, remote)| of(remote) / of(bare)));
        let [bare, remote] =
            [median(rounds.iter().map(|round| of(&round.0))), median(rounds.iter().map(|round| of(&round.1)))];
        table.add(what, format!("{remote:.0} us, bare {bare:.0} us"), (ratio, RATIO_MAX), "x");
    }
    println!("a remote tool call: {commits} commits, as many for the bare one");
    Ok(())
}

impl Remote {
    async fn start(log: Arc<SqliteLog>) -> anyhow::Result<Remote> {
        let (address, serving) = peer::serve(log.clone()).await?;
        let (network, dialling) = peer::dial(&address).await?;
        let tool = NetworkTool::discover(peer::TOOL, &network)?;
        Ok(Remote { tool, log, calls: AtomicU64::new(0), _links: (network, dialling, serving) })
    }

    async fn call(&self) -> anyhow::Result<()> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let invocation = Invocation {
            run: "run".into(),
            call: Id::task(0),
            key: format!("run/{number}"),
            args: json!({ "input": "salt" }),
            account: Account::default(),
        };
        match self.tool.call(invocation).await {
            Answer::Done { .. } => Ok(()),
            failed @ (Answer::Failed(_) | Answer::Unknown(_) | Answer::Late { .. }) => {
                bail!("the call failed: {failed:?}")
            }
        }
    }

    async fn timed(self: Arc<Remote>, jobs: usize) -> anyhow::Result<Took> {
        let job = move || {
            let remote = self.clone();
            async move { remote.call().await }
        };
        timed(jobs, job).await
    }

    /// Returns the number of commits of one call, without concurrent calls.
    async fn commits_per_call(&self) -> anyhow::Result<u64> {
        let before = *self.log.news("").borrow();
        for _ in 0..WARM_UP {
            self.call().await?;
        }
        let commits = *self.log.news("").borrow() - before;
        ensure!(commits >= WARM_UP as u64, "a call was not stored");
        Ok(commits.div_ceil(WARM_UP as u64))
    }

    /// Returns the records that the newest call stored, in so many decisions.
    async fn stored(&self, commits: u64) -> anyhow::Result<Stored> {
        let query = Query { kind: Some("peer".to_owned()), ended: Some(true), limit: 1, ..Query::default() };
        let (run, row) = self.log.list(query).await?.rows.into_iter().next().context("nothing was stored")?;
        let records = self.log.read(&run, 0, 1000).await?;
        let each = records.len().div_ceil(usize::try_from(commits)?).max(1);
        Ok(Stored { decisions: records.chunks(each).map(<[Record]>::to_vec).collect(), row })
    }
}

async fn timed<W>(jobs: usize, job: impl Fn() -> W + Clone + Send + 'static) -> anyhow::Result<Took>
where
    W: Future<Output = anyhow::Result<()>> + Send,
{
    let began = Instant::now();
    let cpu_us = Crowd { jobs, at_once: 1 }.cpu_us(job).await?;
    Ok(Took { time_us: began.elapsed().as_secs_f64() * 1e6 / jobs as f64, cpu_us })
}

/// Starts a server that stores and answers, and returns a socket to it.
async fn serve_bare(stored: Stored, log: Arc<SqliteLog>, tasks: &mut JoinSet<()>) -> anyhow::Result<Socket> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("ws://{}", listener.local_addr()?);
    tasks.spawn(async move {
        if let Ok((stream, _)) = listener.accept().await
            && stream.set_nodelay(true).is_ok()
            && let Err(error) = answer_bare(stream, &stored, &log).await
        {
            eprintln!("the bare server ended: {error}");
        }
    });
    let (socket, _greeting) = connect_async(url).await?;
    if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
        stream.set_nodelay(true)?;
    }
    Ok(socket)
}

async fn answer_bare(stream: TcpStream, stored: &Stored, log: &SqliteLog) -> anyhow::Result<()> {
    let mut socket = accept_async(stream).await?;
    let mut number = 0_u64;
    while let Some(Ok(message)) = socket.next().await {
        let Message::Text(text) = message else { continue };
        number += 1;
        let stream: Arc<str> = format!("bare-{number}").into();
        let mut len: Seq = 0;
        for records in &stored.decisions {
            let claims = if len == 0 { vec![format!("peer-request/{number}")] } else { Vec::new() };
            let count = records.len() as Seq;
            let row = stored.row.clone();
            let append = Append { epoch: 1, claims, ..Append::new(stream.clone(), len, records.clone(), row) };
            log.append(append).await?;
            len += count;
        }
        socket.send(Message::Text(text)).await?;
    }
    Ok(())
}

async fn bare_timed(socket: &Arc<Mutex<Socket>>, jobs: usize) -> anyhow::Result<Took> {
    let socket = socket.clone();
    let request = json!({ "type": "tool_request", "requestId": "run/1", "from": "room", "tool": peer::TOOL,
        "input": { "input": "salt" }, "deadline": "PT35S", "ancestors": ["room"], "hops": 7 });
    let request: Arc<str> = request.to_string().into();
    let job = move || {
        let socket = socket.clone();
        let request = request.clone();
        async move {
            let mut socket = socket.lock().await;
            socket.send(Message::text(&*request)).await?;
            let reply = tokio::time::timeout(Duration::from_secs(10), socket.next()).await?;
            reply.context("the bare server hung up")??;
            Ok(())
        }
    };
    timed(jobs, job).await
}
