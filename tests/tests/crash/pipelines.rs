//! A chain of tools with an effect in its middle: wherever the process dies,
//! between two steps included, the effect happens once, or again with the same
//! key where that is allowed.

use std::collections::BTreeSet;
use std::sync::Arc;

use consort_core::catalog::EffectClass;
use consort_core::draft::Request;
use consort_core::event::{Event, EventKind};
use consort_core::message::Outcome;
use consort_log::{Log, MemoryLog, Query};
use consort_models::ScriptedModel;
use consort_runtime::engine::Engine;
use consort_tools::{Pipeline, ScriptedTool};
use serde_json::json;
use tokio::time::timeout;

use super::PATIENCE;
use crate::support::{Death, DyingLog, compiled, engine, ensemble, events, models, task, toolbox};

/// A chain that looks, acts, and tells.
struct Chain {
    look: ScriptedTool,
    middle: ScriptedTool,
    tell: ScriptedTool,
    model: ScriptedModel,
}

impl Chain {
    fn new(effect: EffectClass, tell: ScriptedTool) -> Chain {
        let model = ScriptedModel::new().calls("1.0", "chain", &json!({ "input": "tea" })).says("1.1", "done");
        let middle = ScriptedTool::new("middle").effect(effect).answers("paid");
        Chain { look: ScriptedTool::new("look").answers("sunny"), middle, tell, model }
    }

    fn engine(&self, log: Arc<dyn Log>) -> Engine {
        let steps = [&self.look, &self.middle, &self.tell].map(ScriptedTool::clone);
        let pipeline = Pipeline::new("chain", "Looks, does and tells", steps).unwrap();
        engine(log, models(self.model.clone(), ScriptedModel::new()), toolbox([pipeline]))
    }

    async fn submit(&self, engine: &Engine) -> Arc<str> {
        let run = compiled(engine, &ensemble(vec![task("a", &["chain"])]), Request::default());
        engine.submit(run).await.unwrap()
    }

    /// Lets a second process take over; returns all events stored in the end.
    async fn recovered(&self, log: &MemoryLog) -> Vec<Event> {
        let stored = log.list(Query { limit: 1, ..Query::default() }).await.unwrap();
        let [(id, _)] = stored.rows.as_slice() else { panic!("one run: {stored:?}") };
        let second = self.engine(Arc::new(log.clone()));
        second.recover().await.unwrap();
        timeout(PATIENCE, second.finished(id)).await.expect("the run ends");
        assert_eq!(second.run(id).await.unwrap().answer(), Some("done"));
        events(log, id).await
    }

    /// Returns how often the effect began and ended, and the number of its keys.
    fn effects(&self) -> (usize, usize, usize) {
        let ledger = self.middle.ledger();
        let count = |word: &str| ledger.iter().filter(|line| line.starts_with(word)).count();
        let keys: BTreeSet<&str> = ledger.iter().filter_map(|line| line.split_once(' ')).map(|(_, key)| key).collect();
        (count("began"), count("finished"), keys.len())
    }
}

fn outcome(events: &[Event]) -> &Outcome {
    let returned = events.iter().find_map(|event| match &event.kind {
        EventKind::ToolReturned { outcome, .. } => Some(outcome),
        _ => None,
    });
    returned.expect("the chain has an outcome")
}

#[tokio::test(start_paused = true)]
async fn a_chain_that_dies_behind_its_effect_does_it_once_or_again_with_the_same_key() {
    for effect in [EffectClass::Once, EffectClass::Idempotent] {
        // The first process dies while the last step hangs.
        let chain = Chain::new(effect, ScriptedTool::new("tell").hangs().answers("told"));
        let log = MemoryLog::default();
        let first = chain.engine(Arc::new(log.clone()));
        chain.submit(&first).await;
        while chain.tell.ledger().is_empty() {
            tokio::task::yield_now().await;
        }
        first.stop().await;
        drop(first);
        let events = chain.recovered(&log).await;
        match effect {
            EffectClass::Idempotent | EffectClass::Read => {
                assert_eq!((chain.effects(), chain.tell.ledger().len()), ((2, 2, 1), 4));
                assert!(matches!(outcome(&events), Outcome::Answer { text, .. } if text.as_str() == "told"));
            }
            EffectClass::Once => {
                assert_eq!((chain.effects(), chain.look.ledger().len()), ((1, 1, 1), 2));
                assert!(matches!(outcome(&events), Outcome::Unknown { .. }), "{:?}", outcome(&events));
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_chain_ends_the_same_wherever_the_process_died() {
    let mut deaths = 0;
    let mut unknown = 0;
    for (effect, death) in [
        (EffectClass::Once, Death::Storing as fn(usize) -> Death),
        (EffectClass::Once, Death::Stored),
        (EffectClass::Idempotent, Death::Storing),
        (EffectClass::Idempotent, Death::Stored),
    ] {
        for appends in 1.. {
            let chain = Chain::new(effect, ScriptedTool::new("tell").answers("told"));
            let log = Arc::new(DyingLog::new(death(appends)));
            let first = chain.engine(log.clone());
            let died = tokio::select! {
                biased;
                () = log.died() => true,
                () = async { first.finished(&chain.submit(&first).await).await } => false,
            };
            drop(first);
            while Arc::strong_count(&log) > 1 {
                tokio::task::yield_now().await;
            }
            let events = chain.recovered(&log.inner).await;
            let (begun, finished, keys) = chain.effects();
            assert!(keys <= 1 && (effect != EffectClass::Once || (begun <= 1 && finished <= 1)), "{begun} {finished}");
            unknown += usize::from(matches!(outcome(&events), Outcome::Unknown { .. }));
            if !died {
                break;
            }
            deaths += 1;
        }
    }
    assert!(deaths > 10 && unknown > 0, "{deaths} deaths, {unknown} unknown");
}
