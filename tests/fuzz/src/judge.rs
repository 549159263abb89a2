//! The providers' own clients as judges of the requests that our wires send. They are Python
//! packages, which `scripts/judge` installs; without them nothing is judged, and the tests say so.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Checks these bodies against the client's types for `api`.
///
/// # Panics
/// When the client would not send them.
pub fn judge(api: &str, requests: &[Value]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join("target/judge-venv/bin/python");
    if !python.exists() {
        println!("skipped: {api} is not judged, `scripts/judge` installs what it needs");
        return;
    }
    let mut command = Command::new(python);
    command.arg(root.join("scripts/judge.py")).arg(api);
    let complaint = complaint(command, requests).unwrap_or_else(|error| Some(error.to_string()));
    assert!(complaint.is_none(), "{}", complaint.unwrap_or_default());
    println!("{api}: {} requests are what the provider's own client sends", requests.len());
}

/// Returns the judge's complaint about the bodies, if there is one.
fn complaint(mut judge: Command, requests: &[Value]) -> io::Result<Option<String>> {
    let mut judge = judge.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let bodies: String = requests.iter().map(|request| format!("{request}\n")).collect();
    if let Some(mut input) = judge.stdin.take() {
        input.write_all(bodies.as_bytes())?;
    }
    let verdict = judge.wait_with_output()?;
    Ok((!verdict.status.success()).then(|| String::from_utf8_lossy(&verdict.stderr).into_owned()))
}
