//! The providers' own clients as judges of what our wires send. They are
//! Python packages, which `scripts/judge` installs; without them nothing is
//! judged, and the tests say so.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Checks that the official decoder reads from these bytes what the JSON says.
pub(crate) fn judge_otlp(bytes: &[u8], json: &Value) {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    judge("otlp", &[serde_json::json!({ "bytes": digits, "means": json })]);
}

/// Checks these bodies against the client's types for `api`.
pub(crate) fn judge(api: &str, requests: &[Value]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join("target/judge-venv/bin/python");
    if !python.exists() {
        println!("skipped: {api} is not judged, `scripts/judge` installs what it needs");
        return;
    }
    let (input, output) = (Stdio::piped(), Stdio::piped());
    let mut command = Command::new(python);
    let command = command.arg(root.join("scripts/judge.py")).arg(api).stdin(input).stderr(output);
    let mut judge = command.spawn().unwrap();
    let bodies: String = requests.iter().map(|request| format!("{request}\n")).collect();
    judge.stdin.take().unwrap().write_all(bodies.as_bytes()).unwrap();
    let verdict = judge.wait_with_output().unwrap();
    assert!(verdict.status.success(), "{}", String::from_utf8_lossy(&verdict.stderr));
    println!("{api}: {} requests are what the provider's own client sends", requests.len());
}
