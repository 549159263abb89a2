//! The cost of one more tool in the belt, one more message in the history, one more agent, and of whatever else there
//! can be one more of: negligible, or the same each time. The model is in this process, so all measured cost is ours.

use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::ensure;
use consort_core::draft::{Draft, Ensemble};
use consort_log::MemoryLog;
use consort_tools::Toolbox;

use crate::around::Around;
use crate::crowd::Crowd;
use crate::effort::{Effort, median};
use crate::instant::{InstantTool, TalkativeModel};
use crate::stage::{Stage, TOOL, task};
use crate::table::Table;

/// The sizes that are measured.
const SIZES: [usize; 3] = [10, 100, 1_000];
/// The maximum ratio between the cost of later additions and that of earlier ones.
const GROWTH_MAX: f64 = 2.0;
/// The share of the smallest cost below which an addition counts as free: the rest is noise.
const FREE: f64 = 0.001;
/// More than the number of concurrent calls: waiting for a slot is not measured here.
const SLOTS: NonZeroU32 = NonZeroU32::MAX;

/// The dimension that grows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Growing {
    /// The tools of the one task of a run.
    Belt,
    /// The average number of messages before a model call: a run of many rounds.
    History,
    /// The tasks of a run, each with its own agent.
    Agents,
    /// Things beside the work.
    Around(Around),
}

/// Microseconds of CPU at each size.
struct Costs([f64; 3]);

/// Measures, prints a separate table and adds the targets.
pub(crate) async fn measure(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    let [few, some, many] = SIZES;
    println!("\n{:<44} {few:>10} {some:>10} {many:>10} {:>10} {:>8}", "us of CPU", "one more", "growth");
    for (growing, unit, target) in [
        (Growing::Belt, "a run of one call, by tools in the belt", "one more tool in the belt"),
        (Growing::History, "a call and its result, by messages before it", "one more message in the history"),
        (Growing::Agents, "a run, by its agents", "one more agent"),
        (Growing::Around(Around::EndedRuns), "a run of one call, by ended runs", "one more ended run"),
        (Growing::Around(Around::Threads), "a turn, by chats in the store", "one more chat"),
        (Growing::Around(Around::Watchers), "a run of one call, by watchers of all runs", "one more watcher"),
    ] {
        let mut rounds = Vec::new();
        for _ in 0..effort.rounds {
            rounds.push(growing.costs(effort).await?);
        }
        let costs =
            Costs([0, 1, 2].map(|size| median(rounds.iter().filter_map(|Costs(costs)| costs.get(size)).copied())));
        let [at_few, at_some, at_many] = costs.0;
        let more = costs.one_more();
        let growth = costs.growth();
        println!("{unit:<44} {at_few:>10.1} {at_some:>10.1} {at_many:>10.1} {more:>10.2} {growth:>7.2}x");
        table.add(target, format!("{more:.2} us, a run of {few} {at_few:.0} us"), (growth, GROWTH_MAX), "x");
    }
    Ok(())
}

impl Costs {
    /// Returns the cost of one more where there are many.
    fn one_more(&self) -> f64 {
        let [_, some, many] = self.0;
        let [_, at_some, at_many] = SIZES.map(|size| size as f64);
        (many - some) / (at_many - at_some)
    }

    /// Returns the ratio of the cost of one more where there are many to that where there are few.
    fn growth(&self) -> f64 {
        let [few, some, _] = self.0;
        let [at_few, at_some, _] = SIZES.map(|size| size as f64);
        let early = (some - few) / (at_some - at_few);
        self.one_more().max(0.0) / early.max(few * FREE)
    }
}

impl Growing {
    async fn costs(self, effort: Effort) -> anyhow::Result<Costs> {
        let mut costs = [0.0; 3];
        for (cost, size) in costs.iter_mut().zip(SIZES) {
            *cost = self.cost(size, (effort.runs / size).max(4)).await?;
        }
        Ok(Costs(costs))
    }

    /// Returns the microseconds of CPU at this size, for so many runs one after the other.
    async fn cost(self, size: usize, jobs: usize) -> anyhow::Result<f64> {
        if let Growing::Around(around) = self {
            return around.cost(size).await;
        }
        // Each round adds a call and its result, so this many messages precede a call on average.
        let rounds = if self == Growing::History { size } else { 0 };
        let stage = Stage::with_tools(
            self.ensemble(size, rounds),
            Arc::new(MemoryLog::default()),
            TalkativeModel { rounds },
            SLOTS,
            self.tools(size)?,
        )?;
        let measured = stage.clone();
        let job = move || {
            let stage = measured.clone();
            async move { stage.run().await }
        };
        let per_run = Crowd { jobs, at_once: 1 }.cpu_us(job).await?;
        ensure!(stage.completed().await? == jobs, "a run was not completed");
        Ok(per_run / rounds.max(1) as f64)
    }

    fn ensemble(self, size: usize, rounds: usize) -> Ensemble {
        let what = "Find out what the weather will be like today.";
        let tasks = match self {
            Growing::Belt => {
                let tools = (0..size).map(|number| format!("{TOOL}-{number}")).collect();
                vec![Draft { tools, ..task("look", what) }]
            }
            Growing::History => {
                let max_iterations = u32::try_from(rounds + 1).ok();
                vec![Draft { tools: vec![TOOL.to_owned()], max_iterations, ..task("look", what) }]
            }
            Growing::Agents | Growing::Around(_) => {
                (0..size).map(|number| task(&format!("look-{number}"), what)).collect()
            }
        };
        Ensemble { name: "growing".to_owned(), tasks, ..Ensemble::default() }
    }

    fn tools(self, size: usize) -> anyhow::Result<Toolbox> {
        let names = match self {
            Growing::Belt => (0..size).map(|number| format!("{TOOL}-{number}")).collect(),
            Growing::History | Growing::Agents | Growing::Around(_) => vec![TOOL.to_owned()],
        };
        let with = |tools: Toolbox, name: &String| tools.with(InstantTool::new(name));
        Ok(names.iter().try_fold(Toolbox::default(), with)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn everything_that_grows_can_be_measured() {
        for growing in [Growing::Belt, Growing::History, Growing::Agents] {
            for size in [10, 100] {
                // So few runs may take less time than the clock can resolve.
                assert!(growing.cost(size, 4).await.unwrap().is_finite());
            }
        }
    }

    #[test]
    fn what_costs_the_same_each_time_does_not_grow_and_what_is_free_does_neither() {
        let linear = Costs([110.0, 200.0, 1_100.0]);
        assert_eq!((linear.one_more(), linear.growth()), (1.0, 1.0));
        let flat = Costs([100.0, 100.5, 110.0]);
        assert!(flat.growth() < GROWTH_MAX, "{}", flat.growth());
        let square = Costs([100.0, 10_000.0, 1_000_000.0]);
        assert!(square.growth() > GROWTH_MAX);
    }
}
