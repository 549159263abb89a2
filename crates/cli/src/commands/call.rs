//! A command that is one request to a server: sends it, and prints the response as
//! JSON or in words.

use jiff::Timestamp;

use crate::client::{Call, Failure, Target};
use crate::config::Env;
use crate::exit::Exit;
use crate::output::{Output, Stream};
use crate::show::record::{Page, Record};
use crate::show::words::one_line;

/// A response in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// The text for the standard output.
    pub(crate) out: String,
    /// The text for the standard error.
    pub(crate) err: String,
    /// The exit status of the command.
    pub(crate) exit: Exit,
}

impl Told {
    /// Creates a text for the standard output only.
    pub(crate) fn out(out: impl Into<String>) -> Told {
        Told { out: out.into(), err: String::new(), exit: Exit::Done }
    }

    /// Creates one line for the standard output.
    pub(crate) fn line(line: impl Into<String>) -> Told {
        Told::out(line.into() + "\n")
    }
}

/// Sends a request; `tell` puts its response in words.
pub(crate) fn call(
    target: &Target,
    env: &Env<'_>,
    output: Output<'_>,
    call: &Call,
    tell: impl FnOnce(Record<'_>, &Page) -> Told,
) -> anyhow::Result<Exit> {
    let client = match target.client(env) {
        Ok(client) => client,
        Err(mistake) => return wrong(output, &mistake),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answer = match runtime.block_on(client.send(call)) {
        Ok(answer) => answer,
        Err(failure) => {
            if let (Failure::Refused { body, .. }, true) = (&failure, target.json) {
                output.out.json(body)?;
            }
            return Err(failure.into());
        }
    };
    let read = client.read(&answer)?;
    let told = tell(Record(&read), &page(output.out));
    match (target.json, answer.as_str()) {
        (true, "") => {}
        (true, answer) => output.out.json(answer)?,
        (false, _) => {
            for warning in Record(&read).list("warnings").filter_map(|warning| warning.0.as_str()) {
                writeln!(output.err, "warning: {}", one_line(warning))?;
            }
            write!(output.out, "{}", told.out)?;
            write!(output.err, "{}", told.err)?;
        }
    }
    Ok(told.exit)
}

/// Reports a mistake in the command line.
pub(crate) fn wrong(output: Output<'_>, mistake: &str) -> anyhow::Result<Exit> {
    writeln!(output.err, "{mistake}")?;
    Ok(Exit::Usage)
}

fn page(out: &Stream) -> Page {
    Page {
        now: u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default(),
        room: out.size().map(|(columns, _)| columns),
    }
}
