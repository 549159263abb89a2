//! A run on a server, shown and steered as if it were here.

use consort_config::Env;
use futures::StreamExt;
use reqwest::StatusCode;
use serde_json::Value;

use super::{Args, request, wrong};
use crate::client::{Call, Client, Failure, Target, Upload};
use crate::exit::Exit;
use crate::output::Output;
use crate::show::record::Record;
use crate::show::screen::Look;
use crate::show::words::{counted, one_line};
use crate::talk::files;
use crate::terminal::Terminal;
use crate::watch::{CtrlC, interrupts, watch_there};

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
    let submitted = async |client: &Client| {
        let body = attached(client, body, uploads).await?;
        submit(client, body, &args.input).await
    };
    follow(&client, submitted, terminal, output)
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

/// Begins a run by a request, then shows and steers it.
pub(crate) fn follow(
    client: &Client,
    submit: impl AsyncFnOnce(&Client) -> Result<Said, Failure>,
    terminal: &Terminal,
    output: Output<'_>,
) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = runtime.block_on(work(client, submit, terminal, output));
    // A blocking read of the keyboard must not delay the exit.
    runtime.shutdown_background();
    exit
}

/// The server's response to a request.
pub(crate) enum Said {
    /// It was accepted; this is the response.
    Yes(String),
    /// It has mistakes.
    No(Vec<String>),
}

async fn work(
    client: &Client,
    submit: impl AsyncFnOnce(&Client) -> Result<Said, Failure>,
    terminal: &Terminal,
    output: Output<'_>,
) -> anyhow::Result<Exit> {
    let mut pressed = interrupts();
    let said = tokio::select! {
        said = submit(client) => said?,
        Some(()) = pressed.next() => {
            output.err.say(format_args!("Left before {} answered; it may have taken the run all the same.", client.url()))?;
            return Ok(Exit::Interrupted);
        }
    };
    let answer = match said {
        Said::Yes(answer) => answer,
        Said::No(mistakes) => return wrong(output, &mistakes),
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

async fn submit(client: &Client, body: Value, typed: &[(String, Value)]) -> Result<Said, Failure> {
    let mistakes = unknown(client, &body, typed).await?;
    if !mistakes.is_empty() {
        return Ok(Said::No(mistakes));
    }
    begin(client, &Call::post(&["runs"], body)).await
}

/// Sends a request that begins a run.
pub(crate) async fn begin(client: &Client, call: &Call) -> Result<Said, Failure> {
    match client.send(call).await {
        Ok(answer) => Ok(Said::Yes(answer)),
        // The same mistakes have the same exit status as in a run without a server.
        Err(Failure::Refused { status, message, code, .. }) if status == StatusCode::BAD_REQUEST => {
            Ok(Said::No(vec![format!("{message} ({code})")]))
        }
        Err(failure) => Err(failure),
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
