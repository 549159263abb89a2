//! Metrics for the operator of the process. Names are listed in one place; labels come
//! from catalogs and never from requests, and beyond a limit new series are not added.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Upper bounds of the histogram's buckets, in seconds.
const BUCKETS: [f64; 12] = [0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];
/// The maximum number of series: far more than routes, models and tools make together.
const SERIES_MAX: usize = 4096;

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meter {
    /// The duration of model calls, by model and outcome.
    ModelCall,
    /// Input and output tokens, by model.
    ModelTokens,
    /// Model calls whose tokens were not reported, by model.
    ModelUncounted,
    /// The duration of tool calls, by tool and outcome.
    ToolCall,
    /// Runs that ended, by status.
    RunsEnded,
    /// The time from the request to stop a run to its end.
    Cancel,
    /// The time to store a decision.
    Commit,
    /// The number of times that a watcher fell behind and had to read the log.
    Lag,
    /// Requests, by method, route and status.
    HttpRequests,
    /// Requests and connections that were refused, by reason.
    Refusals,
    /// Attempts to tell webhooks, by webhook and by the status of the delivery that they led to.
    WebhookAttempts,
    /// Due times of schedules, by schedule and outcome.
    ScheduleDue,
    /// Spans that a collector has accepted.
    SpansExported,
    /// Spans that were lost, by reason.
    SpansDropped,
}

impl Meter {
    #[cfg(test)]
    const ALL: [Meter; 14] = [
        Meter::ModelCall,
        Meter::ModelTokens,
        Meter::ModelUncounted,
        Meter::ToolCall,
        Meter::RunsEnded,
        Meter::Cancel,
        Meter::Commit,
        Meter::Lag,
        Meter::HttpRequests,
        Meter::Refusals,
        Meter::WebhookAttempts,
        Meter::ScheduleDue,
        Meter::SpansExported,
        Meter::SpansDropped,
    ];

    fn name(self) -> &'static str {
        match self {
            Meter::ModelCall => "consort_model_call_seconds",
            Meter::ModelTokens => "consort_model_tokens_total",
            Meter::ModelUncounted => "consort_model_calls_uncounted_total",
            Meter::ToolCall => "consort_tool_call_seconds",
            Meter::RunsEnded => "consort_runs_ended_total",
            Meter::Cancel => "consort_cancel_seconds",
            Meter::Commit => "consort_commit_seconds",
            Meter::Lag => "consort_watcher_lag_total",
            Meter::HttpRequests => "consort_http_requests_total",
            Meter::Refusals => "consort_refusals_total",
            Meter::WebhookAttempts => "consort_webhook_attempts_total",
            Meter::ScheduleDue => "consort_schedule_due_total",
            Meter::SpansExported => "consort_spans_exported_total",
            Meter::SpansDropped => "consort_spans_dropped_total",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Meter::ModelCall => "How long models took.",
            Meter::ModelTokens => "Tokens read and written by models.",
            Meter::ModelUncounted => "Replies of models that did not say how many tokens they took.",
            Meter::ToolCall => "How long tools took.",
            Meter::RunsEnded => "Runs that ended.",
            Meter::Cancel => "From the request to stop a run to its end.",
            Meter::Commit => "How long it took to store a decision.",
            Meter::Lag => "How often a watcher fell behind.",
            Meter::HttpRequests => "Requests answered.",
            Meter::Refusals => "Requests and connections refused.",
            Meter::WebhookAttempts => "Attempts to tell webhooks, and what became of the message.",
            Meter::ScheduleDue => "Due times of schedules, and what came of them.",
            Meter::SpansExported => "Spans a collector has taken.",
            Meter::SpansDropped => "Spans that were lost.",
        }
    }
}

/// The values of all metrics; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Meters(Arc<Mutex<BTreeMap<Meter, BTreeMap<String, Count>>>>);

#[derive(Clone, Debug)]
enum Count {
    Total(u64),
    Spans { buckets: [u64; BUCKETS.len()], sum: f64, count: u64 },
}

impl Meters {
    /// Adds to a counter.
    pub fn add(&self, meter: Meter, labels: &[(&str, &str)], more: u64) {
        self.note(meter, labels, Count::Total(0), |count| match count {
            Count::Total(total) => *total += more,
            Count::Spans { .. } => {}
        });
    }

    /// Records a duration.
    pub fn time(&self, meter: Meter, labels: &[(&str, &str)], took: Duration) {
        let seconds = took.as_secs_f64();
        let none = Count::Spans { buckets: [0; BUCKETS.len()], sum: 0.0, count: 0 };
        self.note(meter, labels, none, |count| match count {
            Count::Total(_) => {}
            Count::Spans { buckets, sum, count } => {
                let within = buckets.iter_mut().zip(BUCKETS).filter(|(_, end)| seconds <= *end);
                within.for_each(|(bucket, _)| *bucket += 1);
                *sum += seconds;
                *count += 1;
            }
        });
    }

    fn note(&self, meter: Meter, labels: &[(&str, &str)], none: Count, change: impl FnOnce(&mut Count)) {
        let mut counts = self.counts();
        let series = counts.entry(meter).or_default();
        let labels = written(labels);
        if series.len() < SERIES_MAX || series.contains_key(&labels) {
            change(series.entry(labels).or_insert(none));
        }
    }

    /// Returns all metrics, in the text format of Prometheus.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (meter, series) in &*self.counts() {
            let spans = series.values().any(|count| matches!(count, Count::Spans { .. }));
            head(&mut text, meter.name(), if spans { "histogram" } else { "counter" }, meter.help());
            series.iter().for_each(|(labels, count)| count.write(&mut text, meter.name(), labels));
        }
        text
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<Meter, BTreeMap<String, Count>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Count {
    fn write(&self, text: &mut String, name: &str, labels: &str) {
        match self {
            Count::Total(total) => line(text, name, labels, total),
            Count::Spans { buckets, sum, count } => {
                let comma = if labels.is_empty() { "" } else { "," };
                let ends = BUCKETS.iter().map(ToString::to_string).chain(["+Inf".to_owned()]);
                for (end, within) in ends.zip(buckets.iter().chain([count])) {
                    line(text, &format!("{name}_bucket"), &format!("{labels}{comma}le=\"{end}\""), within);
                }
                line(text, &format!("{name}_sum"), labels, sum);
                line(text, &format!("{name}_count"), labels, count);
            }
        }
    }
}

/// Appends a gauge with its values, in the same format.
pub fn gauge(text: &mut String, name: &str, help: &str, values: &[(&[(&str, &str)], usize)]) {
    head(text, name, "gauge", help);
    values.iter().for_each(|(labels, value)| line(text, name, &written(labels), value));
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _never_fails = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn line(text: &mut String, name: &str, labels: &str, value: impl std::fmt::Display) {
    let _never_fails =
        if labels.is_empty() { writeln!(text, "{name} {value}") } else { writeln!(text, "{name}{{{labels}}} {value}") };
}

fn written(labels: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(labels.iter().map(|(name, value)| name.len() + value.len() + 4).sum());
    for (name, value) in labels {
        text.push_str(if text.is_empty() { "" } else { "," });
        text.push_str(name);
        text.push_str("=\"");
        push_escaped(&mut text, value);
        text.push('"');
    }
    text
}

fn push_escaped(text: &mut String, value: &str) {
    if !value.contains(['\\', '"', '\n']) {
        return text.push_str(value);
    }
    for sign in value.chars() {
        match sign {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            sign => text.push(sign),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_and_spans_are_written_as_prometheus_reads_them() {
        let meters = Meters::default();
        meters.add(Meter::ModelTokens, &[("model", "a\"b")], 2);
        meters.add(Meter::ModelTokens, &[("model", "a\"b")], 3);
        meters.time(Meter::Commit, &[], Duration::from_millis(30));
        let text = meters.text();
        assert!(text.starts_with(
            "# HELP consort_model_tokens_total Tokens read and written by models.\n\
             # TYPE consort_model_tokens_total counter\n\
             consort_model_tokens_total{model=\"a\\\"b\"} 5\n"
        ));
        assert!(
            text.contains(
                "consort_commit_seconds_bucket{le=\"0.025\"} 0\nconsort_commit_seconds_bucket{le=\"0.1\"} 1\n"
            )
        );
        assert!(text.ends_with("{le=\"+Inf\"} 1\nconsort_commit_seconds_sum 0.03\nconsort_commit_seconds_count 1\n"));
    }

    #[test]
    fn the_guide_explains_every_metric() {
        let guide = include_str!("../../../docs/operating.md");
        let table = guide.split("### What is measured").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
        for meter in Meter::ALL {
            assert!(table.contains(&format!("`{}`", meter.name())), "{}", meter.name());
        }
    }

    #[test]
    fn past_the_limit_only_known_series_grow() {
        let meters = Meters::default();
        (0..=SERIES_MAX).for_each(|at| meters.add(Meter::Lag, &[("at", &at.to_string())], 1));
        meters.add(Meter::Lag, &[("at", "0")], 1);
        let text = meters.text();
        assert!(text.contains("{at=\"0\"} 2\n") && !text.contains(&format!("{{at=\"{SERIES_MAX}\"}}")));
    }
}
