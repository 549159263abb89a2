//! A throw-away PostgreSQL for tests: one server for each process, in a temporary folder that goes
//! with the process, and a database of its own for each test. `CONSORT_TEST_DATABASE_URL` names a server
//! to use instead. As root the server runs as the user `postgres`, because it refuses to run as root.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot begin panics")]

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_postgres::{Client, NoTls, Row};

/// The variable that names a server to use instead of a throw-away one.
pub const URL_VARIABLE: &str = "CONSORT_TEST_DATABASE_URL";
/// The folder of Debian's packages, in which each version has one of its own.
const PACKAGES: &str = "/usr/lib/postgresql";
/// The ports of servers, below those that the system gives away.
const PORTS: Range<u16> = 12_000..20_000;
/// The longest time for a server to be there: tests share their machine with others.
const START_MAX: Duration = Duration::from_secs(120);
/// The server's life: it ends, and its folder with it, when nobody holds the other end of the input.
const SCRIPT: &str = r#"
bin=$1; port=$2; shift 2
folder=$(mktemp -d /tmp/consort-postgres.XXXXXX) && cd "$folder" || exit 1
trap '' INT TERM
"$bin/initdb" --pgdata=data --username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync >init.log 2>&1 || { cat init.log >&2; rm -rf "$folder"; exit 1; }
"$bin/postgres" -D data -p "$port" -k "$folder" -c listen_addresses=127.0.0.1 -c max_connections=400 "$@" >server.log 2>&1 &
server=$!
echo "$server"
cat >/dev/null
kill -QUIT "$server"
wait "$server"
rm -rf "$folder"
"#;

/// A running server.
pub struct Server {
    /// The address of a database, up to its name.
    base: String,
    /// The id of its process; 0 for one that was there.
    pid: u32,
    /// Its input keeps the server alive.
    _child: Option<Child>,
}

impl Server {
    /// Starts a server with more settings (`name=value`); none where PostgreSQL is not installed, which is said.
    pub fn start(settings: &[&str]) -> Option<Server> {
        let Some(bin) = programs() else {
            println!(
                "skipped: PostgreSQL is not installed (Debian's package is `postgresql`), and {URL_VARIABLE} is not set"
            );
            return None;
        };
        let port = free_port();
        let mut command = unprivileged();
        command.args(["-c", SCRIPT, "postgres"]).arg(bin).arg(port.to_string());
        command.args(settings.iter().flat_map(|setting| ["-c", setting]));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let pid = line.trim().parse().expect("initdb has said why it failed");
        Some(Server { base: format!("postgres://postgres@127.0.0.1:{port}/"), pid, _child: Some(child) })
    }

    /// Returns the id of its process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Creates a database.
    pub async fn database(&self) -> Database {
        let name = format!("t{}", uuid::Uuid::now_v7().simple());
        let admin = client(&with_name(&self.base, "postgres")).await;
        // Two at the same moment may find the template in use.
        let end = Instant::now() + START_MAX;
        while let Err(error) =
            admin.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")).await
        {
            assert!(Instant::now() < end, "{error:?}");
            sleep(Duration::from_millis(50)).await;
        }
        Database { url: format!("{}?sslmode=disable", with_name(&self.base, &name)) }
    }
}

/// Returns a port that nobody listens at, another one each time. The system gives it to no connection before the server
/// has it.
fn free_port() -> u16 {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    let number = || std::process::id().wrapping_mul(7).wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed));
    let port = || PORTS.start + (number() % u32::from(PORTS.end - PORTS.start)) as u16;
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    std::iter::repeat_with(port).take(PORTS.len()).find(is_free).expect("a port is free")
}

/// A database of a test's own.
#[derive(Clone)]
pub struct Database {
    url: String,
}

impl Database {
    /// Returns its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns its address through another port of this machine.
    pub fn through(&self, port: u16) -> String {
        let (user, rest) = self.url.split_once('@').unwrap();
        let (_, name) = rest.split_once('/').unwrap();
        format!("{user}@127.0.0.1:{port}/{name}")
    }

    /// Returns the host and port of its server.
    pub fn host(&self) -> String {
        let (_, rest) = self.url.split_once('@').unwrap();
        rest.split('/').next().unwrap().to_owned()
    }

    /// Executes statements as somebody else would.
    pub async fn execute(&self, sql: &str) {
        client(&self.url).await.batch_execute(sql).await.unwrap();
    }

    /// Returns the rows of a query.
    pub async fn query(&self, sql: &str) -> Vec<Row> {
        client(&self.url).await.query(sql, &[]).await.unwrap()
    }
}

/// Returns a new database of this process's server; none where PostgreSQL is not installed, which is said.
pub async fn database() -> Option<Database> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let server = SERVER.get_or_init(|| match std::env::var(URL_VARIABLE) {
        Ok(base) => Some(Server { base, pid: 0, _child: None }),
        Err(_) => Server::start(&[]),
    });
    match server {
        Some(server) => Some(server.database().await),
        None => None,
    }
}

/// Connects to a server that may still be starting.
async fn client(url: &str) -> Client {
    let end = Instant::now() + START_MAX;
    loop {
        match tokio_postgres::connect(url.split('?').next().unwrap(), NoTls).await {
            Ok((client, connection)) => {
                tokio::spawn(connection);
                return client;
            }
            Err(error) => assert!(Instant::now() < end, "{error:?}"),
        }
        sleep(Duration::from_millis(20)).await;
    }
}

/// Returns an address with another database.
fn with_name(base: &str, name: &str) -> String {
    let base = base.split('?').next().unwrap();
    let (scheme, rest) = base.split_once("://").unwrap();
    let host = rest.split('/').next().unwrap();
    format!("{scheme}://{host}/{name}")
}

/// Returns a shell that is not root's.
fn unprivileged() -> Command {
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout.trim_ascii() != b"0" {
        return Command::new("sh");
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--no-new-privs", "sh"]);
    command
}

/// Returns the folder of the newest server's programs.
fn programs() -> Option<PathBuf> {
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let versions = std::fs::read_dir(PACKAGES).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let mut found: Vec<PathBuf> = versions.filter(|path| path.join("bin/initdb").exists()).collect();
    found.sort_by_key(|path| version(path));
    found.pop().map(|path| path.join("bin"))
}
