//! A new WebSocket: the CPU of the program from the handshake until `hello` has come, which shows ten live runs.

use std::time::Duration;

use anyhow::{Context, ensure};
use consort_http::client;
use futures::StreamExt;
use reqwest::Client;
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;

use crate::binary::{self, Binary};
use crate::child::Server;
use crate::effort::{Effort, median};
use crate::table::Table;

const RUNS: usize = 10;
/// The number of tasks of a run: enough for two thousand events.
const TASKS: usize = 420;
const EVENTS_MIN: u64 = 2000;
const CPU_MS_MAX: f64 = 10.0;
/// The time between two looks whether all runs wait.
const PAUSE: Duration = Duration::from_millis(100);

/// Measures and adds the targets.
pub(crate) async fn measure(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    let Some(program) = binary::program() else {
        println!("a new WebSocket: NOT MEASURED, `consort` was not built");
        return Ok(());
    };
    let model = Server::start(0)?;
    let client = client()?;
    let binary = Binary::start(&program, &binary::three_tasks(&model.url))?;
    let address = binary.process.address.clone();
    let events = live_runs(&client, &address).await?;
    let mut rounds = Vec::new();
    for _ in 0..effort.rounds {
        rounds.push(binary.cpu_us(1, arrive(&address)).await? / 1000.0);
    }
    let first = rounds.first().copied().unwrap_or(f64::NAN);
    let ms = median(rounds);
    let measured = format!("{ms:.1} ms, the first {first:.1} ms");
    println!("a new WebSocket: {RUNS} live runs of {events} events each");
    table.add("binary: CPU of a new WebSocket", measured, (ms, CPU_MS_MAX), " ms");
    Ok(())
}

/// Begins the runs and returns once all of them wait; returns the number of events of one.
async fn live_runs(client: &Client, address: &str) -> anyhow::Result<u64> {
    let task = |number: usize| {
        let review = if number == TASKS { json!("required") } else { Value::Null };
        json!({ "name": format!("task-{number}"), "description": "Say what the weather is like.", "review": review })
    };
    let request = json!({ "tasks": (0..=TASKS).map(task).collect::<Vec<_>>() });
    let url = format!("http://{address}/api/runs");
    for _ in 0..RUNS {
        let answer = client.post(&url).header("content-type", "application/json").body(request.to_string());
        let answer = answer.send().await?;
        ensure!(answer.status() == 202, "a run was not taken: {}", answer.text().await?);
    }
    let list = format!("{url}?limit={RUNS}");
    loop {
        let found: Value = serde_json::from_str(&client.get(&list).send().await?.text().await?)?;
        let runs = found.get("runs").and_then(Value::as_array).context("no runs are listed")?;
        let waits = |run: &&Value| run.get("waitingFor").and_then(Value::as_str) == Some("review");
        if runs.iter().filter(waits).count() == RUNS {
            let run = runs.first().and_then(|run| run.get("runId")).and_then(Value::as_str).context("no run")?;
            return events(client, &format!("{url}/{run}/events")).await;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Returns the number of events of a run.
async fn events(client: &Client, url: &str) -> anyhow::Result<u64> {
    let mut events = 0;
    let mut stream = client.get(url).header("accept", "text/event-stream").send().await?;
    while events < EVENTS_MIN {
        let bytes = stream.chunk().await?.context("the stream of events ended")?;
        events += bytes.windows(4).filter(|bytes| bytes == b"\nid:").count() as u64;
    }
    Ok(events)
}

async fn arrive(address: &str) -> anyhow::Result<()> {
    let (mut socket, _) = connect_async(format!("ws://{address}/ws")).await?;
    let hello = socket.next().await.context("no frame came")??;
    ensure!(hello.to_text()?.contains(r#""type":"hello""#), "another frame came first");
    Ok(())
}
