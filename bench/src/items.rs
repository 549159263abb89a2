//! A task that is done for each of a thousand items beside a thousand declared tasks of the same work: the
//! CPU of a run. The model is in this process, so all measured cost is ours.

use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::ensure;
use consort_core::draft::Ensemble;
use consort_log::MemoryLog;

use crate::crowd::Crowd;
use crate::effort::{Effort, median};
use crate::instant::InstantModel;
use crate::stage::{Stage, items, wide};
use crate::table::Table;

const WIDTH: usize = 1_000;
/// The number of runs of each side, one after the other.
const RUNS: usize = 5;
/// The default number of slots of a model.
const SLOTS: Option<NonZeroU32> = NonZeroU32::new(64);
const RATIO_MAX: f64 = 1.5;

/// Measures and adds the target.
pub(crate) async fn measure(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    let mut declared = Vec::new();
    let mut fanned = Vec::new();
    for _ in 0..effort.large_rounds {
        declared.push(per_run(wide(WIDTH)).await?);
        fanned.push(per_run(items(WIDTH)).await?);
    }
    let ratio = median(declared.iter().zip(&fanned).map(|(declared, fanned)| fanned / declared));
    let ms = |side: Vec<f64>| median(side) / 1000.0;
    let measured = format!("{:.1} ms, declared {:.1} ms", ms(fanned), ms(declared));
    table.add("for_each of a thousand items: CPU", measured, (ratio, RATIO_MAX), "x");
    Ok(())
}

/// Returns the microseconds of CPU of one run.
async fn per_run(ensemble: Ensemble) -> anyhow::Result<f64> {
    let log = Arc::new(MemoryLog::default());
    let stage = Stage::new(ensemble, log, InstantModel, SLOTS.unwrap_or(NonZeroU32::MAX))?;
    let measured = stage.clone();
    let job = move || {
        let stage = measured.clone();
        async move { stage.run().await }
    };
    let per_run = Crowd { jobs: RUNS, at_once: 1 }.cpu_us(job).await?;
    ensure!(stage.completed().await? == RUNS, "a run was not completed");
    Ok(per_run)
}
