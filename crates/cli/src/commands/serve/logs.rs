//! The log of the server, on stderr: text for people on a terminal, one JSON object a
//! line otherwise.

use std::fmt::Result as Written;
use std::io;

use clap::ValueEnum;
use consort_config::Env;
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{Format as Events, Full, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{self, FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry::LookupSpan;

use crate::output::Reader;
use crate::show::drawing::{Drawing, Style};
use crate::show::paint::Colour;

/// The options for the log, as typed.
#[derive(Debug, clap::Args)]
pub(super) struct Wanted {
    /// The format of the log; default: text on a terminal, else json
    #[arg(long, value_name = "FORMAT")]
    log: Option<Format>,
    /// The lowest level that is logged; default: the filter in RUST_LOG, else info
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

/// Starts logging; returns the mistake in the options, if any.
pub(super) fn start(args: &Wanted, env: &Env<'_>, reader: Reader) -> Result<(), String> {
    let filter = match (args.log_level, env("RUST_LOG").filter(|set| !set.trim().is_empty())) {
        (Some(level), _) => targets(filter_of(level)),
        (None, Some(set)) => set.parse().map_err(|error| format!("RUST_LOG: {error}"))?,
        (None, None) => targets(LevelFilter::INFO),
    };
    let default = if reader == Reader::Terminal { Format::Text } else { Format::Json };
    // A line that cannot be written, as on a terminal that was closed, is not reported there.
    #[expect(clippy::disallowed_methods, reason = "the lines below are made for what reads them")]
    let lines = fmt::layer().with_ansi(false).with_writer(io::stderr).log_internal_errors(false);
    let lines = match args.log.unwrap_or(default) {
        Format::Text => {
            let colour = Colour::wanted(env);
            lines.without_time().with_level(false).map_event_format(|rest| TextLine { rest, colour, reader }).boxed()
        }
        Format::Json => {
            let lines = lines.json().flatten_event(true).with_span_list(false);
            lines.map_event_format(|whole| JsonLine { whole, reader }).boxed()
        }
    };
    let logs = tracing_subscriber::registry().with(lines.with_filter(filter));
    logs.try_init().map_err(|error| error.to_string())
}

/// Returns the filter for a level. A library that tells all it knows of every MCP server has its say from `debug` on.
fn targets(level: LevelFilter) -> Targets {
    let targets = Targets::new().with_default(level);
    if level == LevelFilter::INFO { targets.with_target("rmcp", LevelFilter::WARN) } else { targets }
}

/// The format for people. The default layer would let logged text control their terminal.
struct TextLine {
    /// Everything after time and level.
    rest: Events<Full, ()>,
    colour: Colour,
    reader: Reader,
}

impl<S, N> FormatEvent<S, N> for TextLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, ctx: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> Written {
        let mut time = String::new();
        SystemTime.format_time(&mut Writer::new(&mut time))?;
        let mut rest = String::new();
        self.rest.format_event(ctx, Writer::new(&mut rest), event)?;
        let level = *event.metadata().level();
        let time = Drawing::of(time);
        let word = Drawing::of(format!("{level:>5}"));
        let (time, word) = match self.colour {
            Colour::On => (time.styled(Style::Faint), word.styled(style_of(level))),
            Colour::Off => (time, word),
        };
        writer.write_str(&self.reader.drawn(&time.text(" ").then(word).text(" ").text(rest)))
    }
}

/// The format for programs, which a terminal may show too.
struct JsonLine<F> {
    whole: F,
    reader: Reader,
}

impl<S, N, F> FormatEvent<S, N> for JsonLine<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(&self, ctx: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> Written {
        let mut line = String::new();
        self.whole.format_event(ctx, Writer::new(&mut line), event)?;
        writer.write_str(&self.reader.json(&line))
    }
}

fn style_of(level: tracing::Level) -> Style {
    match level {
        tracing::Level::ERROR => Style::Red,
        tracing::Level::WARN => Style::Yellow,
        tracing::Level::INFO => Style::Green,
        tracing::Level::DEBUG => Style::Blue,
        tracing::Level::TRACE => Style::Magenta,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_mcp_library_knows_of_servers_is_told_to_those_who_ask() {
        let tells = |level| targets(level).would_enable("rmcp::service", &tracing::Level::INFO);
        assert!(!tells(LevelFilter::INFO) && tells(LevelFilter::DEBUG));
        assert!(targets(LevelFilter::INFO).would_enable("consort_tools::mcp", &tracing::Level::INFO));
    }
}
