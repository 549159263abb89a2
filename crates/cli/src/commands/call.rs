//! A command that is one request to a server: sends it, and prints the response as
//! JSON or in words.

use consort_config::Env;
use jiff::Timestamp;

use crate::client::{Call, Client, Failure, Target};
use crate::exit::Exit;
use crate::output::{Output, Stream};
use crate::show::record::{Page, Record};
use crate::show::words::one_line;

/// A response in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Printed {
    /// The text for the standard output.
    pub(crate) out: String,
    /// The text for the standard error.
    pub(crate) err: String,
    /// The exit status of the command.
    pub(crate) exit: Exit,
}

impl Printed {
    /// Creates a text for the standard output only.
    pub(crate) fn out(out: impl Into<String>) -> Printed {
        Printed { out: out.into(), err: String::new(), exit: Exit::Done }
    }

    /// Creates one line for the standard output.
    pub(crate) fn line(line: impl Into<String>) -> Printed {
        Printed::out(line.into() + "\n")
    }
}

/// Sends a request; `tell` puts its response in words.
pub(crate) fn call(
    target: &Target,
    env: &Env<'_>,
    output: Output<'_>,
    call: &Call,
    tell: impl FnOnce(Record<'_>, &Page) -> Printed,
) -> anyhow::Result<Exit> {
    call_about(target, env, output, call, |_, answer, page| tell(answer, page))
}

/// Sends a request; `tell` puts its response in words and is also given the whole id that the request was about.
pub(crate) fn call_about(
    target: &Target,
    env: &Env<'_>,
    mut output: Output<'_>,
    call: &Call,
    tell: impl FnOnce(&str, Record<'_>, &Page) -> Printed,
) -> anyhow::Result<Exit> {
    let asked = ask(target, env, output.lend(), async |client| {
        let call = client.whole(call).await?;
        let answer = client.send(&call).await?;
        let read = client.read(&answer)?;
        Ok((call, answer, read))
    });
    let Some((call, answer, read)) = asked? else { return Ok(Exit::Usage) };
    let printed = tell(call.id(), Record(&read), &page(output.out));
    match (target.json, answer.as_str()) {
        (true, "") => {}
        (true, answer) => output.out.json(answer)?,
        (false, _) => {
            for warning in Record(&read).list("warnings").filter_map(|warning| warning.0.as_str()) {
                output.err.say(format_args!("warning: {}", one_line(warning)))?;
            }
            // Lists and texts are fitted where they are made; one line is a sentence.
            match printed.out.lines().count() {
                1 => output.out.prose(&printed.out)?,
                _ => write!(output.out, "{}", printed.out)?,
            }
            output.err.prose(&printed.err)?;
        }
    }
    Ok(printed.exit)
}

/// Asks a server; a mistake in its address is reported and returns nothing.
pub(crate) fn ask<T>(
    target: &Target,
    env: &Env<'_>,
    output: Output<'_>,
    work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
) -> anyhow::Result<Option<T>> {
    let client = match target.client(env) {
        Ok(client) => client,
        Err(mistake) => return wrong(output, &mistake).map(|_| None),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match runtime.block_on(work(&client)) {
        Ok(asked) => Ok(Some(asked)),
        Err(failure) => {
            if let (Failure::Refused { body, .. }, true) = (&failure, target.json) {
                output.out.json(body)?;
            }
            Err(failure.into())
        }
    }
}

/// Reports a mistake in the command line.
pub(crate) fn wrong(output: Output<'_>, mistake: &str) -> anyhow::Result<Exit> {
    output.err.say(mistake)?;
    Ok(Exit::Usage)
}

/// Returns the context in which a response is shown on this output.
pub(crate) fn page(out: &Stream) -> Page {
    Page {
        now: u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default(),
        room: out.size().map(|(columns, _)| columns),
    }
}
