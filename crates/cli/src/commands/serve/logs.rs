//! What the server says about itself, on stderr: for people on a terminal, one
//! JSON object a line otherwise.

use std::io::{self, IsTerminal};

use clap::ValueEnum;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::prelude::*;

use crate::config::Env;

/// What was typed about it.
#[derive(Debug, clap::Args)]
pub(super) struct Wanted {
    /// How to log; default: text on a terminal, else json
    #[arg(long, value_name = "FORMAT")]
    log: Option<Format>,
    /// What to log; default: what RUST_LOG says, else info
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<Level>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One object a line
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// Logs from now on; says what is wrong with what was asked for.
pub(super) fn start(args: &Wanted, env: &Env<'_>) -> Result<(), String> {
    let filter = match (args.log_level, env("RUST_LOG").filter(|set| !set.trim().is_empty())) {
        (Some(level), _) => Targets::new().with_default(filter_of(level)),
        (None, Some(set)) => set.parse().map_err(|error| format!("RUST_LOG: {error}"))?,
        (None, None) => Targets::new().with_default(LevelFilter::INFO),
    };
    let default = if io::stderr().is_terminal() { Format::Text } else { Format::Json };
    let lines = fmt::layer().with_writer(io::stderr);
    let lines = match args.log.unwrap_or(default) {
        Format::Text => lines.boxed(),
        Format::Json => lines.json().flatten_event(true).with_span_list(false).boxed(),
    };
    let logs = tracing_subscriber::registry().with(lines.with_filter(filter));
    logs.try_init().map_err(|error| error.to_string())
}

fn filter_of(level: Level) -> LevelFilter {
    match level {
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
        Level::Trace => LevelFilter::TRACE,
    }
}
