//! A run on a server, shown and steered as if it were here.

use futures::StreamExt;
use serde_json::Value;

use super::{Args, request, wrong};
use crate::client::{Call, Client, Failure, Target};
use crate::commands::Output;
use crate::config::Env;
use crate::exit::Exit;
use crate::show::screen::Look;
use crate::show::words::{counted, one_line};
use crate::terminal::Terminal;
use crate::watch::{CtrlC, interrupts, watch_there};

/// Runs it on the server at this address.
pub(super) fn run(
    args: &Args,
    url: &str,
    (env, terminal): (&Env<'_>, &Terminal),
    output: Output<'_>,
) -> anyhow::Result<Exit> {
    let client = match Target::at(url, args.key.as_deref()).client(env) {
        Ok(client) => client,
        Err(mistake) => return wrong(output, &[mistake]),
    };
    let body = match request::body(args) {
        Ok(body) => body,
        Err(mistakes) => return wrong(output, &mistakes),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = runtime.block_on(work(&client, body, terminal, output));
    // A line of the keyboard that nobody types any more must not be waited for.
    runtime.shutdown_background();
    exit
}

async fn work(client: &Client, body: Value, terminal: &Terminal, output: Output<'_>) -> anyhow::Result<Exit> {
    let mut pressed = interrupts();
    let call = Call::post(&["runs"], body);
    let sent = tokio::select! {
        sent = client.send(&call) => sent,
        Some(()) = pressed.next() => {
            writeln!(output.err, "Left before {} answered; it may have taken the run all the same.", client.url())?;
            return Ok(Exit::Interrupted);
        }
    };
    let answer = match sent {
        Ok(answer) => answer,
        // The same mistakes have the same status as in a run without a server.
        Err(Failure::Refused { status, message, code, .. }) if status.as_u16() == 400 => {
            return wrong(output, &[format!("{message} ({code})")]);
        }
        Err(failure) => return Err(failure.into()),
    };
    let accepted = client.read(&answer)?;
    for warning in accepted.get("warnings").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        writeln!(output.err, "warning: {}", one_line(warning))?;
    }
    let Some(run) = accepted.get("runId").and_then(Value::as_str) else {
        return rehearsed(&accepted, &answer, terminal.look, output);
    };
    watch_there((client, run), terminal, (pressed, CtrlC::Stops), output).await
}

/// The answer to a request that was only to be checked.
fn rehearsed(answer: &Value, text: &str, look: Look, output: Output<'_>) -> anyhow::Result<Exit> {
    if look == Look::Frames {
        writeln!(output.out, "{text}")?;
        return Ok(Exit::Done);
    }
    let tasks = answer.get("tasks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let name = |task: &Value| task.get("name").and_then(Value::as_str).map(one_line).unwrap_or_default();
    let names: Vec<String> = tasks.iter().map(name).collect();
    writeln!(output.out, "would run {}: {}", counted(tasks.len() as u64, "task"), names.join(", "))?;
    Ok(Exit::Done)
}
