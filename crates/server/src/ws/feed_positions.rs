//! The position of one client in each run, so that it sees every frame once and in
//! order, whether it comes from `hello`, from the feed or from the log.

use std::collections::HashMap;
use std::sync::Arc;

use consort_log::Seq;
use consort_runtime::feed::News;
use consort_runtime::ring::{CommitFrames, Frame};
use futures::stream::AbortHandle;

/// The position of a client in a run.
#[derive(Debug)]
pub(super) enum FeedPosition {
    /// It follows the feed and expects this event next; any event, if none.
    Feed(Option<Seq>),
    /// It follows the log, where this event comes next; the feed is ignored.
    Log(AbortHandle, Seq),
    /// It has seen the end; later frames of the feed are old.
    Over,
}

/// The effect of a feed entry for a client.
#[derive(Debug, PartialEq)]
pub(super) enum Meaning {
    /// These frames are sent.
    Frames(Vec<Frame>),
    /// Events are missing: these frames are sent, then the log from this event on.
    Gap(Vec<Frame>, Seq),
}

/// The position of a client in each run. A run that is not listed starts from its
/// beginning.
#[derive(Debug, Default)]
pub(super) struct FeedPositions(HashMap<Arc<str>, FeedPosition>);

impl FeedPositions {
    pub(super) fn set(&mut self, run: Arc<str>, place: FeedPosition) {
        if let Some(FeedPosition::Log(tail, _)) = self.0.insert(run, place) {
            tail.abort();
        }
    }

    /// Records that the client has read this run up to here, in the log.
    pub(super) fn read_to(&mut self, run: &str, seq: Seq) {
        if let Some(FeedPosition::Log(_, next)) = self.0.get_mut(run) {
            *next = seq;
        }
    }

    /// Returns the next event of every run that goes on.
    pub(super) fn positions(&self) -> Vec<(Arc<str>, Seq)> {
        let next = |(run, place): (&Arc<str>, &FeedPosition)| match place {
            FeedPosition::Feed(next) => next.map(|next| (run.clone(), next)),
            FeedPosition::Log(_, next) => Some((run.clone(), *next)),
            FeedPosition::Over => None,
        };
        self.0.iter().filter_map(next).collect()
    }

    /// Returns the number of runs that are followed in the log.
    pub(super) fn in_log(&self) -> usize {
        self.0.values().filter(|place| matches!(place, FeedPosition::Log(..))).count()
    }

    /// Stops following these runs in the log. If they are wanted again, they are joined at
    /// their current position.
    pub(super) fn leave_log(&mut self, left: impl Fn(&str) -> bool) {
        for (run, place) in &mut self.0 {
            if let FeedPosition::Log(tail, _) = place
                && left(run)
            {
                tail.abort();
                *place = FeedPosition::Feed(None);
            }
        }
    }

    /// Forgets runs that are over; only correct when the feed holds nothing older.
    pub(super) fn forget_ended(&mut self) {
        self.0.retain(|_, place| !matches!(place, FeedPosition::Over));
    }

    pub(super) fn take(&mut self, news: &News) -> Meaning {
        let place = self.0.entry(news.run.clone()).or_insert(FeedPosition::Feed(Some(0)));
        let FeedPosition::Feed(next) = place else { return Meaning::Frames(Vec::new()) };
        let frames = match &news.slot {
            CommitFrames::Frames(frames) => frames,
            CommitFrames::Unrendered => {
                return next.map_or(Meaning::Frames(Vec::new()), |next| Meaning::Gap(Vec::new(), next));
            }
        };
        let mut shown = Vec::with_capacity(frames.len());
        for frame in frames.iter() {
            match frame {
                Frame::Event { seq, .. } => {
                    let wanted = next.unwrap_or(*seq);
                    if *seq > wanted {
                        return Meaning::Gap(shown, wanted);
                    }
                    if *seq < wanted {
                        continue;
                    }
                    *next = Some(seq + 1);
                }
                Frame::Delta { after, .. } if next.is_some_and(|next| after + 1 < next) => continue,
                Frame::Delta { .. } => {}
                Frame::Result { .. } => {
                    shown.push(frame.clone());
                    *place = FeedPosition::Over;
                    return Meaning::Frames(shown);
                }
            }
            shown.push(frame.clone());
        }
        Meaning::Frames(shown)
    }
}

#[cfg(test)]
mod tests {
    use consort_core::frame::field::Iso;
    use consort_core::frame::live::LiveFrame;
    use consort_core::frame::numbered::{EventFrame, RunFrame};
    use consort_core::frame::run;
    use consort_core::owner::Owner;
    use consort_core::run::Run;

    use super::*;

    fn event(seq: Seq) -> Frame {
        let frame = run::Frame::RunPaused { by: String::new() };
        let frame = EventFrame::Run(RunFrame { run_id: "r".into(), seq, frame, inherited: false, at: Iso(0) });
        Frame::Event { seq, frame: Arc::new(frame), text: "{}".into() }
    }

    fn delta(after: Seq) -> Frame {
        let conversation = Arc::default();
        let token = String::new();
        let frame = LiveFrame::Token { run_id: "r".into(), conversation, token, offset: 0, sent_at: Iso(0) };
        Frame::Delta { after, frame: Arc::new(frame), text: "{}".into() }
    }

    fn news(frames: Vec<Frame>) -> News {
        News { run: "r".into(), seen_by: Owner::local(), slot: CommitFrames::Frames(frames.into()) }
    }

    #[test]
    fn a_new_run_is_seen_from_its_first_event_each_once() {
        let mut places = FeedPositions::default();
        assert_eq!(places.take(&news(vec![event(0), event(1)])), Meaning::Frames(vec![event(0), event(1)]));
        assert_eq!(places.take(&news(vec![event(1), event(2)])), Meaning::Frames(vec![event(2)]));
        assert_eq!(places.take(&news(vec![event(4)])), Meaning::Gap(vec![], 3));
        let unrendered = News { run: "other".into(), seen_by: Owner::local(), slot: CommitFrames::Unrendered };
        assert_eq!(places.take(&unrendered), Meaning::Gap(vec![], 0));
    }

    #[test]
    fn what_hello_held_is_not_shown_again_and_its_words_are_old() {
        let mut places = FeedPositions::default();
        places.set("r".into(), FeedPosition::Feed(Some(5)));
        assert_eq!(
            places.take(&news(vec![event(3), delta(3), event(4), delta(4), event(5)])),
            Meaning::Frames(vec![delta(4), event(5)])
        );
    }

    #[test]
    fn a_run_hello_left_out_is_joined_wherever_it_is() {
        let mut places = FeedPositions::default();
        places.set("r".into(), FeedPosition::Feed(None));
        let unrendered = News { run: "r".into(), seen_by: Owner::local(), slot: CommitFrames::Unrendered };
        assert_eq!(places.take(&unrendered), Meaning::Frames(vec![]));
        assert_eq!(places.take(&news(vec![event(7)])), Meaning::Frames(vec![event(7)]));
        assert_eq!(places.take(&news(vec![event(9)])), Meaning::Gap(vec![], 8));
    }

    #[test]
    fn a_run_that_is_left_is_not_read_any_more_and_joined_wherever_it_is() {
        let mut places = FeedPositions::default();
        let (left, _) = AbortHandle::new_pair();
        let (kept, _) = AbortHandle::new_pair();
        places.set("r".into(), FeedPosition::Log(left.clone(), 0));
        places.set("kept".into(), FeedPosition::Log(kept.clone(), 2));
        places.leave_log(|run| run == "r");
        assert_eq!((left.is_aborted(), kept.is_aborted(), places.in_log()), (true, false, 1));
        places.read_to("kept", 3);
        assert_eq!(places.positions(), [("kept".into(), 3)]);
        assert_eq!(places.take(&news(vec![event(7)])), Meaning::Frames(vec![event(7)]));
    }

    #[test]
    fn after_the_result_nothing_old_comes_back() {
        let mut places = FeedPositions::default();
        let result = Frame::result(Run::default().result("r"));
        assert_eq!(places.take(&news(vec![event(0), result.clone()])), Meaning::Frames(vec![event(0), result]));
        assert_eq!(places.take(&news(vec![event(0)])), Meaning::Frames(vec![]));
        places.forget_ended();
        assert_eq!(places.take(&news(vec![event(0)])), Meaning::Frames(vec![event(0)]));
    }
}
