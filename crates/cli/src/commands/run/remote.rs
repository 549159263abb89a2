//! A run on a server, shown and steered as if it were here.

use std::pin::pin;

use consort_config::Env;
use futures::{StreamExt, stream};
use reqwest::StatusCode;
use serde_json::Value;

use super::{Args, request, wrong};
use crate::client::{Call, Client, Failure, Target, Upload};
use crate::exit::Exit;
use crate::output::{Output, Stream};
use crate::show::record::Record;
use crate::show::screen::Look;
use crate::show::words::{counted, one_line};
use crate::talk::files;
use crate::terminal::Terminal;
use crate::watch::{CtrlC, Interrupts, interrupts, watch_there};

/// Executes the run on the server at this address.
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
    let uploads: Result<Vec<Upload>, String> = args.attach.iter().map(|file| files::upload(file)).collect();
    let uploads = match uploads {
        Ok(uploads) => uploads,
        Err(mistake) => return wrong(output, &[mistake]),
    };
    let prepare = async |client: &Client| {
        let body = attached(client, body, uploads).await?;
        let mistakes = unknown(client, &body, &args.input).await?;
        Ok(if mistakes.is_empty() { Ok(Call::post(&["runs"], body)) } else { Err(mistakes) })
    };
    follow(&client, prepare, terminal, output)
}

/// Uploads files, and names them in the request beside those it has.
async fn attached(client: &Client, mut body: Value, uploads: Vec<Upload>) -> Result<Value, Failure> {
    for upload in uploads {
        let made = client.read(&client.send(&Call::post_file(&["attachments"], upload)).await?)?;
        let id = made.get("id").cloned().unwrap_or_default();
        let Some(fields) = body.as_object_mut() else { continue };
        if let Value::Array(ids) = fields.entry("attachments").or_insert_with(|| Value::Array(Vec::new())) {
            ids.push(id);
        }
    }
    Ok(body)
}

/// A request that begins a run, or the mistakes in what it would be made of.
pub(crate) type Prepared = Result<Call, Vec<String>>;

/// Begins a run by the request that is prepared, then shows and steers it.
pub(crate) fn follow(
    client: &Client,
    prepare: impl AsyncFnOnce(&Client) -> Result<Prepared, Failure>,
    terminal: &Terminal,
    output: Output<'_>,
) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = runtime.block_on(work(client, prepare, terminal, output));
    // A blocking read of the keyboard must not delay the exit.
    runtime.shutdown_background();
    exit
}

async fn work(
    client: &Client,
    prepare: impl AsyncFnOnce(&Client) -> Result<Prepared, Failure>,
    terminal: &Terminal,
    output: Output<'_>,
) -> anyhow::Result<Exit> {
    let mut pressed = interrupts();
    let prepared = tokio::select! {
        prepared = prepare(client) => prepared?,
        Some(()) = pressed.next() => {
            output.err.say("Left before the run was submitted.")?;
            return Ok(Exit::Interrupted);
        }
    };
    let call = match prepared {
        Ok(call) => call,
        Err(mistakes) => return wrong(output, &mistakes),
    };
    let (answer, pressed) = match submit(client, &call, pressed, output.err).await? {
        Submitted::Accepted(answer, pressed) => (answer, pressed),
        Submitted::Wrong(mistake) => return wrong(output, &[mistake]),
        Submitted::Left => return Ok(Exit::Interrupted),
    };
    let accepted = client.read(&answer)?;
    for warning in Record(&accepted).list("warnings").filter_map(|warning| warning.0.as_str()) {
        output.err.say(format_args!("warning: {}", one_line(warning)))?;
    }
    let Some(run) = accepted.get("runId").and_then(Value::as_str) else {
        return rehearsed(&accepted, &answer, terminal.look, output);
    };
    watch_there((client, run), terminal, (pressed, CtrlC::Stops), output).await
}

/// The outcome of a request that begins a run.
enum Submitted {
    /// The server's response, and the Ctrl-C presses that are about the run.
    Accepted(String, Interrupts),
    /// The request has this mistake.
    Wrong(String),
    /// The user left without waiting for the response.
    Left,
}

/// Sends the request. The server may have begun the run although its response is still
/// on the way, so Ctrl-C waits for it: only then can the run be stopped.
async fn submit(client: &Client, call: &Call, mut pressed: Interrupts, err: &mut Stream) -> anyhow::Result<Submitted> {
    let mut sending = pin!(client.send(call));
    let mut stop = None;
    let answered = loop {
        tokio::select! {
            answered = &mut sending => break answered,
            Some(()) = pressed.next() => {
                if stop.replace(()).is_some() {
                    let url = client.url();
                    err.say(format_args!("Left before {url} answered; it may have taken the run all the same."))?;
                    return Ok(Submitted::Left);
                }
                err.say("stopping once the server has answered; Ctrl-C again leaves at once")?;
            }
        }
    };
    match answered {
        Ok(answer) => Ok(Submitted::Accepted(answer, stream::iter(stop).chain(pressed).boxed())),
        // The same mistakes have the same exit status as in a run without a server.
        Err(Failure::Refused { status, message, code, .. }) if status == StatusCode::BAD_REQUEST => {
            Ok(Submitted::Wrong(format!("{message} ({code})")))
        }
        Err(failure) => Err(failure.into()),
    }
}

/// Returns inputs of the command line that no task of the server's ensemble uses. A
/// request with tasks of its own is checked by the server.
async fn unknown(client: &Client, body: &Value, typed: &[(String, Value)]) -> Result<Vec<String>, Failure> {
    let has_own = ["tasks", "taskOverrides"].iter().any(|name| body.get(name).is_some());
    if typed.is_empty() || has_own {
        return Ok(Vec::new());
    }
    let answer = client.read(&client.send(&Call::get(&["capabilities"])).await?)?;
    let tasks = Record(&answer).list("preconfiguredTasks");
    let known = tasks.flat_map(|task| task.list("variables")).filter_map(|name| name.0.as_str()).collect();
    Ok(request::unknown(typed, &known))
}

/// Prints the response to a dry run.
fn rehearsed(answer: &Value, text: &str, look: Look, output: Output<'_>) -> anyhow::Result<Exit> {
    if look == Look::Frames {
        output.out.json(text)?;
        return Ok(Exit::Done);
    }
    let names: Vec<String> = Record(answer).list("tasks").map(|task| task.line("name")).collect();
    output.out.say(format_args!("would run {}: {}", counted(names.len() as u64, "task"), names.join(", ")))?;
    Ok(Exit::Done)
}
