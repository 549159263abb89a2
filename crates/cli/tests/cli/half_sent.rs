//! Many connections from one address that never send a whole request: they leave room for
//! all others, and refusals are written down with the address they came from.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

/// Connections of one address without an authorised request.
const MOST: usize = 1024;
/// The longest wait for something that should happen at once.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server with the key "abc", ended when dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
    }
}

fn serve(folder: &std::path::Path) -> (Server, SocketAddr) {
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let key = format!("[[server.api_key]]\nname = \"ci\"\nkey_sha256 = \"{digest}\"\n");
    std::fs::write(folder.join("consort.toml"), key).unwrap();
    let process = Command::new(env!("CARGO_BIN_EXE_consort"))
        .args(["serve", "--port", "0", "--data", "data"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut server = Server(process);
    let mut line = String::new();
    BufReader::new(server.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("consort listening on http://").unwrap().parse().unwrap();
    (server, address)
}

async fn connect(from: &str, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(from.parse().unwrap(), 0)).unwrap();
    socket.connect(to).await.unwrap()
}

/// Asks for the status; returns the status of the answer, or nothing when the connection is closed.
async fn ask(socket: &mut TcpStream, key: &str) -> Option<String> {
    let request = format!("GET /api/status HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n\r\n");
    socket.write_all(request.as_bytes()).await.ok()?;
    let mut bytes = [0; 16 * 1024];
    let read = timeout(PATIENCE, socket.read(&mut bytes)).await.expect("neither answered nor closed").ok()?;
    let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
    text.split(' ').nth(1).map(str::to_owned)
}

#[tokio::test]
async fn half_sent_requests_of_one_address_leave_room_for_others_and_for_those_with_a_key() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (mut server, address) = serve(folder.path());
    let mut known = Vec::new();
    for _ in 0..8 {
        let mut socket = connect("127.0.0.1", address).await;
        assert_eq!(ask(&mut socket, "abc").await.as_deref(), Some("200"));
        known.push(socket);
    }
    let mut half_sent = Vec::new();
    for _ in 0..MOST {
        let mut socket = connect("127.0.0.1", address).await;
        socket.write_all(b"GET /api/status HTTP/1.1\r\nHost: 127.0.0.1\r\n").await.unwrap();
        half_sent.push(socket);
    }
    let mut refused = connect("127.0.0.1", address).await;
    assert_eq!(ask(&mut refused, "abc").await, None, "one more of this address is closed");
    for socket in &mut known {
        assert_eq!(ask(socket, "abc").await.as_deref(), Some("200"), "authorised connections are not counted");
    }
    let mut other = connect("127.0.0.2", address).await;
    assert_eq!(ask(&mut other, "abc").await.as_deref(), Some("200"), "another address is served");
    assert_eq!(ask(&mut other, "wrong").await.as_deref(), Some("401"));
    drop(half_sent);
    let back = async {
        loop {
            let mut again = connect("127.0.0.1", address).await;
            if ask(&mut again, "abc").await.as_deref() == Some("200") {
                break;
            }
        }
    };
    timeout(PATIENCE, back).await.expect("the address is served again once its connections are gone");

    server.0.kill().unwrap();
    let lines = BufReader::new(server.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    let told: Vec<Value> = lines.filter_map(|line| serde_json::from_str(&line).ok()).collect();
    let of = |reason: &str| told.iter().find(|line| line["reason"] == reason).unwrap_or_else(|| panic!("{reason}"));
    assert_eq!((&of("connections")["address"], &of("connections")["target"]), (&"127.0.0.1".into(), &"audit".into()));
    let guess = of("unauthorized");
    assert_eq!((&guess["address"], &guess["route"]), (&"127.0.0.2".into(), &"/api/status".into()));
    assert_eq!((&guess["method"], guess["request_id"].is_string()), (&"GET".into(), true));
}
