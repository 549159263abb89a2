//! The hotel: ensembles as processes that find and use each other.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;

use serde_json::Value;

use crate::binary::{run, start};

/// A server that is killed when it goes out of scope.
struct Process {
    child: Child,
    address: String,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn serve(folder: &Path, name: &str, config: &str) -> Process {
    let file = format!("{name}.toml");
    let models = "[models.demo]\nprovider = 'demo'\nmodel = 'demo'\n";
    std::fs::write(folder.join(&file), format!("{models}{config}")).unwrap();
    let mut child = start(folder, &["serve", "--config", &file, "--port", "0", "--data", name]);
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("consort listening on http://").unwrap().to_owned();
    Process { child, address }
}

fn read(mut socket: TcpStream) -> Value {
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

impl Process {
    fn send(&self, request: &str) -> Value {
        let address = &self.address;
        let mut socket = TcpStream::connect(address).unwrap();
        write!(socket, "{request}\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
        read(socket)
    }

    /// Returns when it is linked with exactly these.
    fn until_linked(&self, expected: &[&str]) {
        loop {
            let network = self.send("GET /api/network HTTP/1.0");
            let peers = network["peers"].as_array().unwrap();
            let linked = peers.iter().filter(|peer| peer["connected"] == true);
            if linked.map(|peer| peer["name"].as_str().unwrap()).eq(expected.iter().copied()) {
                return;
            }
        }
    }

    /// Calls a tool of the network as a person would.
    fn invokes(&self, tool: &str, input: &str) -> Value {
        let kind = "Content-Type: application/json";
        let body = serde_json::json!({ "input": input }).to_string();
        let address = &self.address;
        let mut socket = TcpStream::connect(address).unwrap();
        let head = format!("POST /api/tools/{tool}/invoke HTTP/1.0\r\nHost: {address}\r\n{kind}");
        write!(socket, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        read(socket)
    }

    /// Runs the ensemble; the tools it called that worked.
    fn tools_of_a_run(&self) -> Vec<String> {
        let run = self.send("POST /api/runs HTTP/1.0\r\nPrefer: wait=60");
        assert_eq!(run["status"], "COMPLETED", "{run}");
        let id = run["runId"].as_str().unwrap();
        let events = self.send(&format!("GET /api/runs/{id}/events HTTP/1.0\r\nAccept: application/json"));
        let called = events["events"].as_array().unwrap().iter();
        let called = called.filter(|event| event["type"] == "tool_called" && event["outcome"] == "SUCCESS");
        called.map(|event| event["toolName"].as_str().unwrap().to_owned()).collect()
    }
}

const SHARES: &str =
    "[[ensemble.share]]\nkind = 'tool'\nname = 'check-inventory'\ntarget = 'calculator'\ntags = ['food']\n";
const TASK: &str = "[[ensemble.task]]\nname = 'serve'\ndescription = 'Ask kitchen.check-inventory and pantry.check-inventory \"6 * 7\"'\n";

#[test]
fn a_hotel_of_processes_finds_uses_loses_and_finds_its_kitchens_again() {
    let folder = tempfile::tempdir().unwrap();
    let kitchen = serve(folder.path(), "kitchen", &format!("[ensemble]\nname = 'kitchen'\n{TASK}{SHARES}"));
    let peers = format!("[network]\nlease = '1s'\n[network.peers]\nkitchen = 'ws://{}/ws'\n", kitchen.address);
    let room = format!("[ensemble]\nname = 'room'\n{TASK}tools = ['network:#food']\n{peers}");
    let room = serve(folder.path(), "room", &room);
    room.until_linked(&["kitchen"]);
    assert_eq!(room.tools_of_a_run(), ["kitchen.check-inventory"]);
    assert_eq!(kitchen.send("GET /api/runs HTTP/1.0")["total"], 0, "work for peers is no run of the kitchen's own");
    assert_eq!(room.invokes("kitchen.check-inventory", "6 * 7")["output"], "42", "a person may call it too");
    let said = |of: &Process, args: &[&str]| {
        let url = format!("http://{}", of.address);
        let (code, out, err) = run(folder.path(), &[args, &["--url", &url]].concat());
        assert_eq!(code, Some(0), "{err}");
        out
    };
    assert!(said(&room, &["tools", "list"]).contains("kitchen.check-inventory"), "tools of peers are listed");

    let peers = format!("[network.peers]\nroom = 'ws://{}/ws'\n", room.address);
    let pantry = format!("[ensemble]\nname = 'pantry'\n{TASK}{SHARES}{peers}");
    let pantry = serve(folder.path(), "pantry", &pantry);
    room.until_linked(&["kitchen", "pantry"]);
    let mut both = room.tools_of_a_run();
    both.sort();
    assert_eq!(both, ["kitchen.check-inventory", "pantry.check-inventory"], "found without being configured");

    drop(kitchen);
    room.until_linked(&["pantry"]);
    let gone = &room.send("GET /api/network HTTP/1.0")["gone"][0];
    assert_eq!((&gone["name"], &gone["sharedCapabilities"][0]["name"]), (&"kitchen".into(), &"check-inventory".into()));
    let replaced = room.invokes("kitchen.check-inventory", "1 + 1");
    assert_eq!(replaced["output"], Value::Null, "the pantry shares the same, and is not the kitchen: {replaced}");
    assert_eq!(room.invokes("pantry.check-inventory", "1 + 1")["output"], "2");
    assert_eq!(room.tools_of_a_run(), ["pantry.check-inventory"]);
    let url = format!("http://{}", room.address);
    let (code, out, err) = run(folder.path(), &["network", "--url", &url]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    for row in ["kitchen  no", "pantry   yes"] {
        assert!(out.contains(row), "{out}");
    }
    let heads: Vec<&str> = out.lines().next().unwrap().split("  ").filter(|head| !head.is_empty()).collect();
    assert_eq!(heads.last().map(|head| head.trim()), Some("TROUBLE"), "{out}");
    assert!(out.contains("Connection refused") && !out.contains("IO error"), "{out}");
    drop(pantry);
    room.until_linked(&[]);
    assert_eq!(room.tools_of_a_run(), [] as [&str; 0]);
    let nobody = room.invokes("kitchen.check-inventory", "1");
    assert_eq!((&nobody["status"], &nobody["output"]), (&"FAILED".into(), &Value::Null), "{nobody}");
}
