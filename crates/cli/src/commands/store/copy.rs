//! `consort store copy`: everything from one store to another, an empty one, of either kind. The
//! source is read completely before anything is written, the copy is read again, and the source is marked as
//! moved, so that two servers never go on with the same runs.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use consort_log::transfer::{self, Detailed, Epochs, Survey};
use consort_log::{Error, Log, Query, SqliteLog, private};
use consort_postgres::{OpenError, PgLog, is_address};

use crate::exit::Exit;
use crate::output::Output;

/// The time to wait for a database.
pub(super) const WAIT: Duration = Duration::from_secs(5);
/// Streams erased at once when a copy has failed.
const ERASED: usize = 500;

/// The arguments, as typed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The store to copy: a data folder, or postgres://…
    #[arg(long, value_name = "FOLDER|URL")]
    from: String,
    /// The empty store to copy to: a data folder, or postgres://…
    #[arg(long, value_name = "FOLDER|URL")]
    to: String,
}

/// A reason to end.
struct Refusal {
    reason: String,
    exit: Exit,
}

fn refuse(exit: Exit) -> impl Fn(String) -> Refusal {
    move |reason| Refusal { reason, exit }
}

fn failed(error: impl Display) -> Refusal {
    Refusal { reason: error.to_string(), exit: Exit::Failed }
}

/// An opened store.
enum Opened {
    File(Arc<SqliteLog>, PathBuf),
    Database(Arc<PgLog>),
}

impl Opened {
    fn log(&self) -> &dyn Detailed {
        match self {
            Opened::File(log, _) => &**log,
            Opened::Database(log) => &**log,
        }
    }

    /// Returns the place without user and password.
    fn shown(&self) -> String {
        match self {
            Opened::File(_, path) => path.display().to_string(),
            Opened::Database(log) => format!("postgres://{}", log.place()),
        }
    }
}

/// Executes the command.
pub(super) fn run(args: &Args, output: Output<'_>) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match runtime.block_on(copy(args)) {
        Ok((Survey { streams, records, digest }, from, to)) => {
            output.out.say(format_args!("copied {from} to {to}"))?;
            output.out.say(format_args!("streams: {streams}\nrecords: {records}\ndigest: {digest}"))?;
            output.out.say(format_args!("{from} is marked as moved and serves no more"))?;
            Ok(Exit::Done)
        }
        Err(Refusal { reason, exit }) => {
            output.err.say(&reason)?;
            Ok(exit)
        }
    }
}

/// Copies; returns what was copied, and both places.
async fn copy(args: &Args) -> Result<(Survey, String, String), Refusal> {
    let from = source(&args.from).await?;
    let to = target(&args.to).await?;
    let before = transfer::survey(from.log()).await.map_err(failed)?;
    let epochs = match to {
        Opened::File(..) => Epochs::Fresh,
        Opened::Database(_) => Epochs::Kept,
    };
    let after = match transfer::copy(from.log(), to.log(), epochs).await {
        Ok(()) => transfer::survey(to.log()).await,
        Err(error) => Err(error),
    };
    let differs = || Error::Unavailable(format!("what arrived differs from what {} holds", from.shown()));
    match after.and_then(|after| if after == before { Ok(after) } else { Err(differs()) }) {
        Ok(after) => {
            let source = from.shown();
            let target = to.shown();
            retire(from, &target).await.map_err(failed)?;
            Ok((after, source, target))
        }
        Err(error) => {
            // Half a copy would be taken for a whole one.
            let emptied = empty(to.log()).await;
            let rest = if emptied.is_ok() { "" } else { "; remove what was copied before you try again" };
            Err(failed(format!("nothing is copied: {error}{rest}")))
        }
    }
}

/// Opens a store that nobody uses.
async fn source(place: &str) -> Result<Opened, Refusal> {
    let wrong = refuse(Exit::Usage);
    if is_address(place) {
        let log = database(place).await?;
        if let Some(to) = log.moved().await.map_err(failed)? {
            return Err(wrong(format!("the content of {} was moved to {to}", log.place())));
        }
        let nodes = log.live_nodes().await.map_err(failed)?;
        if !nodes.is_empty() {
            return Err(wrong(format!("{} is in use by {}: stop them first", log.place(), nodes.join(", "))));
        }
        return Ok(Opened::Database(Arc::new(log)));
    }
    let file = consort::database(place.as_ref());
    if !file.exists() {
        return Err(wrong(format!("there is nothing to copy: {} does not exist", file.display())));
    }
    let log = SqliteLog::open(&file).map_err(|error| wrong(error.to_string()))?;
    Ok(Opened::File(Arc::new(log), file))
}

/// Opens a store that is empty.
async fn target(place: &str) -> Result<Opened, Refusal> {
    let wrong = refuse(Exit::Usage);
    let opened = if is_address(place) {
        Opened::Database(Arc::new(database(place).await?))
    } else {
        let folder = PathBuf::from(place);
        private::create_folder(&folder)
            .map_err(|error| wrong(format!("cannot make the folder {}: {error}", folder.display())))?;
        let file = consort::database(&folder);
        Opened::File(Arc::new(SqliteLog::open(&file).map_err(|error| wrong(error.to_string()))?), file)
    };
    let some = opened.log().list(Query { limit: 1, ..Query::default() }).await.map_err(failed)?;
    if some.total > 0 {
        let streams = some.total;
        return Err(wrong(format!("{} is not empty ({streams} streams): name an empty one", opened.shown())));
    }
    Ok(opened)
}

/// Connects to a database.
async fn database(address: &str) -> Result<PgLog, Refusal> {
    PgLog::open_within(address, WAIT).await.map_err(|error| {
        let exit = match error {
            OpenError::Refused(_) => Exit::Usage,
            OpenError::Away(_) => Exit::Unreachable,
        };
        refuse(exit)(error.to_string())
    })
}

/// Marks a store as moved.
async fn retire(from: Opened, to: &str) -> Result<(), Error> {
    match from {
        Opened::File(log, path) => {
            // The file has one owner at a time.
            drop(log);
            SqliteLog::retire(&path, to)
        }
        Opened::Database(log) => log.retire(to).await,
    }
}

async fn empty(log: &dyn Log) -> Result<(), Error> {
    loop {
        let rows = log.list(Query { limit: ERASED, ..Query::default() }).await?.rows;
        if rows.is_empty() {
            return Ok(());
        }
        log.erase(rows.into_iter().map(|(stream, _)| stream).collect()).await?;
    }
}
