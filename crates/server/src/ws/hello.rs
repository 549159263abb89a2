//! The first frame: the current state of everything. Newer runs come before older ones
//! when there is not room for all, and long texts are cut before anything is left out.

use std::collections::HashMap;
use std::sync::Arc;

use consort_core::spec::Kind;
use consort_core::view;
use consort_log::{Order, Query, Row, Seq};
use consort_runtime::engine::Engine;

use crate::Site;
use crate::ws::answer::{self, Answer};
use crate::ws::calls::ModelCall;
use crate::ws::feed_positions::{FeedPosition, FeedPositions};
use crate::ws::sent::{Form, SentFrame};
use crate::ws::trace::Trace;
use consort_inbound::problem::Problem;

/// The maximum number of bytes of a `hello`.
pub(super) const HELLO_MAX: usize = 4 * 1024 * 1024;
/// The maximum number of bytes for the newest model calls, and likewise for the open reviews.
const PART_MAX: usize = 1024 * 1024;
/// Bytes reserved for the names of its lists.
const FRAMING: usize = 100;
/// Runs searched for open reviews; more are never active at once.
const ACTIVE_MAX: usize = 10_000;

/// The frame, and the client's position in every run after it.
pub(super) struct Hello {
    pub(super) text: Arc<str>,
    pub(super) places: FeedPositions,
    /// The number of events of each work for a peer whose open reviews the frame holds.
    pub(super) asked: HashMap<Arc<str>, Seq>,
}

/// The content of the frame, before it is cut to size.
#[derive(Default)]
struct Story {
    /// Retained runs, newest first.
    traces: Vec<Arc<Trace>>,
    reviews: Vec<SentFrame>,
}

impl Hello {
    /// Creates the frame. Must be called after the feed was opened: events that happen in
    /// between are in both, and the positions filter them.
    pub(super) async fn now(site: &Site, runs: &Engine) -> Result<Hello, Problem> {
        let mut places = FeedPositions::default();
        let mut story = story(site, runs, &mut places).await?;
        let asked = asked(runs, &mut story.reviews).await?;
        Ok(Hello { text: written(head(site, &story.traces), &story).into(), places, asked })
    }

    /// Creates the frame for another ensemble: who this is, and no runs.
    pub(super) fn to_a_peer(site: &Site) -> Hello {
        let text = written(head(site, &[]), &Story::default()).into();
        Hello { text, places: FeedPositions::default(), asked: HashMap::new() }
    }
}

/// Collects the open reviews in work for peers; work that was erased meanwhile is left out.
async fn asked(runs: &Engine, reviews: &mut Vec<SentFrame>) -> Result<HashMap<Arc<str>, Seq>, Problem> {
    let engine = runs.only(Kind::Peer);
    let mut asked = HashMap::new();
    let active = rows(&engine, Kind::Peer, Some(false), ACTIVE_MAX).await?;
    for (run, _) in active.into_iter().filter(|(_, row)| view::awaits_review(&row.body)) {
        let Ok(frames) = engine.page(&run, 0, usize::MAX).await else { continue };
        let trace = Trace::of(&frames, 0);
        reviews.extend(trace.reviews.into_iter().map(|(_, sent)| sent));
        asked.insert(run, trace.len);
    }
    Ok(asked)
}

async fn story(site: &Site, runs: &Engine, places: &mut FeedPositions) -> Result<Story, Problem> {
    let retained = rows(runs, Kind::Run, None, site.server.sockets.retained_runs).await?;
    let active = rows(runs, Kind::Run, Some(false), ACTIVE_MAX).await?;
    let names: Vec<Arc<str>> = retained.iter().map(|(run, _)| run.clone()).collect();
    if runs.sees_all() {
        site.traces.keep(&names);
    }
    let mut traces = Vec::new();
    let mut reviews = Vec::new();
    for run in &names {
        let Some(trace) = site.traces.of(site, runs, run).await? else { continue };
        let place = if trace.ended_at.is_some() { FeedPosition::Over } else { FeedPosition::Feed(Some(trace.len)) };
        places.set(run.clone(), place);
        reviews.extend(trace.reviews.iter().map(|(_, sent)| sent.clone()));
        traces.push(trace);
    }
    for (run, row) in active.iter().filter(|(run, _)| !names.contains(run)) {
        places.set(run.clone(), FeedPosition::Feed(None));
        if view::awaits_review(&row.body)
            && let Some(trace) = site.traces.of(site, runs, run).await?
        {
            reviews.extend(trace.reviews.iter().map(|(_, sent)| sent.clone()));
        }
    }
    Ok(Story { traces, reviews })
}

async fn rows(engine: &Engine, kind: Kind, ended: Option<bool>, limit: usize) -> Result<Vec<(Arc<str>, Row)>, Problem> {
    let kind = Some(kind.word().to_owned());
    let query = Query { kind, ended, order: Order::NewestStart, limit, ..Query::default() };
    Ok(engine.list(query).await?.rows)
}

/// Returns everything but the lists that may be long.
fn head(site: &Site, traces: &[Arc<Trace>]) -> answer::Hello {
    let server = &site.server;
    let about = server.network.introduction();
    let newest = traces.iter().find_map(|trace| trace.started.clone());
    let (ensemble_id, started_at) = newest.map_or((None, None), |(id, started)| (Some(id), Some(started)));
    answer::Hello {
        ensemble_id,
        started_at,
        ensemble: about.ensemble.unwrap_or_default(),
        realm: about.realm,
        version: about.version.unwrap_or_default(),
        shared_capabilities: about.shared_capabilities,
        lease_ms: about.lease_ms.unwrap_or_default(),
        max_frame_bytes: server.sockets.max_frame_bytes,
        truncated: false,
    }
}

fn written(mut head: answer::Hello, story: &Story) -> String {
    let (calls, cut_calls) = fitted_calls(&recent(&story.traces));
    let size_in = |form: Form| story.reviews.iter().map(|sent| sent.size(form)).sum::<usize>();
    let form = if size_in(Form::Whole) > PART_MAX { Form::Short } else { Form::Whole };
    let begun = Answer::Hello(Box::new(head.clone())).text().len();
    let calls_size = calls.iter().map(Pair::size).sum::<usize>() + calls.len().saturating_sub(1);
    let spent = begun + calls_size + size_in(form) + FRAMING;
    let (mut kept, cut_frames) = fitted(&story.traces, HELLO_MAX.saturating_sub(spent));
    kept.extend(story.reviews.iter().map(|sent| Chosen { sent, form }));
    head.truncated = cut_calls || form == Form::Short || cut_frames;
    let mut text = Answer::Hello(Box::new(head)).text();
    text.pop();
    text.reserve_exact(kept.iter().map(Chosen::size).sum::<usize>() + calls_size + FRAMING);
    // Frames are JSON already, exactly as they were sent.
    text.push_str(r#","snapshotTrace":["#);
    for (position, chosen) in kept.iter().enumerate() {
        text.extend([if position > 0 { "," } else { "" }, chosen.text()]);
    }
    text.push_str(r#"],"recentIterations":["#);
    for (position, call) in calls.iter().enumerate() {
        text.push_str(if position > 0 { "," } else { "" });
        call.write(&mut text);
    }
    text.push_str("]}");
    text
}

/// A frame for `hello`, and the form that there is room for.
#[derive(Clone, Copy)]
struct Chosen<'a> {
    sent: &'a SentFrame,
    form: Form,
}

impl<'a> Chosen<'a> {
    fn text(&self) -> &'a str {
        self.sent.text(self.form)
    }

    fn size(&self) -> usize {
        self.sent.size(self.form)
    }
}

/// Returns frames of all runs in the order of their events, as many as fit, and
/// whether anything is missing.
fn fitted(traces: &[Arc<Trace>], mut room: usize) -> (Vec<Chosen<'_>>, bool) {
    let mut all = Vec::new();
    let mut cut = false;
    for (position, trace) in traces.iter().enumerate() {
        let size_in = |form: Form| trace.kept.iter().map(|sent| sent.size(form)).sum::<usize>();
        let form = if size_in(trace.form) > room { Form::Short } else { trace.form };
        cut |= form == Form::Short;
        if form == Form::Short && size_in(form) > room && position > 0 {
            break;
        }
        let frames = newest(&trace.kept, form, room);
        room = room.saturating_sub(frames.iter().map(Chosen::size).sum());
        all.push(frames);
    }
    let mut all: Vec<Chosen<'_>> = all.into_iter().rev().flatten().collect();
    all.sort_by_key(|chosen| chosen.sent.at());
    (all, cut)
}

/// Returns the first frame, which the others depend on, and the newest.
fn newest(frames: &[SentFrame], form: Form, room: usize) -> Vec<Chosen<'_>> {
    let Some((first, rest)) = frames.split_first() else { return Vec::new() };
    let mut left = room.saturating_sub(first.size(form));
    let fits = |sent: &&SentFrame| {
        let fits = sent.size(form) <= left;
        left = left.saturating_sub(sent.size(form));
        fits
    };
    let count = rest.iter().rev().take_while(fits).count();
    let newest = rest.get(rest.len() - count..).unwrap_or_default();
    std::iter::once(first).chain(newest).map(|sent| Chosen { sent, form }).collect()
}

/// Returns the newest model calls of the newest run, and of those that were still
/// active when it started; older runs are left out.
fn recent(traces: &[Arc<Trace>]) -> Vec<&ModelCall> {
    let newest = traces.iter().find(|trace| trace.started.is_some());
    let began = newest.and_then(|trace| Some(trace.started.as_ref()?.1));
    let lasted = |trace: &&Arc<Trace>| match (&trace.ended_at, began) {
        (Some(ended), Some(began)) => *ended > began || newest.is_some_and(|newest| Arc::ptr_eq(newest, trace)),
        (None, _) | (_, None) => true,
    };
    let mut calls: Vec<&ModelCall> = traces.iter().filter(lasted).flat_map(|trace| trace.calls.all()).collect();
    calls.sort_by_key(|call| call.started.at());
    calls
}

/// Returns the newest calls that fit, and whether anything is missing.
fn fitted_calls<'a>(calls: &[&'a ModelCall]) -> (Vec<Pair<'a>>, bool) {
    let mut room = PART_MAX;
    let mut cut = false;
    let mut fitting = Vec::new();
    for call in calls.iter().rev() {
        let mut pair = Pair { call, form: Form::Whole };
        if pair.size() > room {
            cut = true;
            pair.form = Form::Short;
        }
        if pair.size() > room {
            break;
        }
        room -= pair.size();
        fitting.push(pair);
    }
    fitting.reverse();
    (fitting, cut)
}

/// A model call for `hello`, and the form that there is room for.
#[derive(Clone, Copy)]
struct Pair<'a> {
    call: &'a ModelCall,
    form: Form,
}

impl<'a> Pair<'a> {
    /// Returns the parts of its text.
    fn parts(&self) -> [&'a str; 5] {
        let ModelCall { started, completed, .. } = self.call;
        let started = started.text(self.form);
        match completed {
            Some(completed) => [r#"{"started":"#, started, r#","completed":"#, completed.text(self.form), "}"],
            None => [r#"{"started":"#, started, "", "", "}"],
        }
    }

    fn size(&self) -> usize {
        self.parts().iter().map(|part| part.len()).sum()
    }

    fn write(&self, text: &mut String) {
        text.extend(self.parts());
    }
}

#[cfg(test)]
mod tests {
    use consort_core::frame::field::{ConversationPlace, Iso, TaskPlace};
    use consort_core::frame::numbered::{EventFrame, RunFrame};
    use consort_core::frame::run::Frame;

    use super::*;

    fn sent(at: u64, bytes: usize) -> SentFrame {
        let task_description = "x".repeat(bytes);
        let task = TaskPlace {
            conversation: ConversationPlace { task_description, ..ConversationPlace::default() },
            task_name: None,
        };
        let frame = Frame::ReflectionStarted { task };
        let frame = RunFrame { run_id: "r".into(), seq: 0, frame, inherited: false, at: Iso(at) };
        let frame = EventFrame::Run(frame);
        SentFrame::new(&frame, &frame.text().into())
    }

    fn trace(frames: Vec<SentFrame>) -> Arc<Trace> {
        Arc::new(Trace::with(frames))
    }

    fn times(frames: &[Chosen<'_>]) -> Vec<u64> {
        frames.iter().map(|chosen| chosen.sent.at().0).collect()
    }

    #[test]
    fn runs_are_told_in_the_order_of_their_events_when_there_is_room() {
        let traces = [trace(vec![sent(2, 1), sent(4, 1)]), trace(vec![sent(1, 1), sent(3, 1)])];
        let (all, cut) = fitted(&traces, 1_000);
        assert_eq!((times(&all), cut), (vec![1, 2, 3, 4], false));
    }

    #[test]
    fn newer_runs_are_kept_first_and_texts_are_cut_before_anything_is_left_out() {
        let traces = [trace(vec![sent(5, 5_000)]), trace(vec![sent(3, 5_000)]), trace(vec![sent(1, 5_000)])];
        let (all, cut) = fitted(&traces, 6_500);
        assert_eq!((times(&all), cut), (vec![3, 5], true));
        assert!(all[0].text().contains("[truncated]") && !all[1].text().contains("[truncated]"));
        let one = [trace(vec![sent(1, 500), sent(2, 500), sent(3, 500)])];
        assert_eq!(times(&fitted(&one, 1_300).0), [1, 3], "what it belongs to, and the newest");
    }
}
