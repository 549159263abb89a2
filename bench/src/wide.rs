//! One task, many that read it, one that reads them all: the cost of a task must not depend
//! on the number of tasks. The model is in this process, so all measured cost is ours.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use anyhow::ensure;
use consort_log::{Log, MemoryLog, SqliteLog};

use crate::crowd::Crowd;
use crate::effort::{Effort, median};
use crate::instant::InstantModel;
use crate::stage::{Stage, wide};
use crate::table::Table;

const NARROW: usize = 100;
const WIDE: usize = 10_000;
/// The number of tasks beside the wide ones: the first and the last.
const ENDS: usize = 2;
/// The default number of slots of a model.
const SLOTS: Option<NonZeroU32> = NonZeroU32::new(64);
const RATIO_MAX: f64 = 1.5;

/// The log to which the events are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Store {
    Memory,
    Disk,
}

/// Measures and adds the targets.
pub(crate) async fn measure(effort: Effort, table: &mut Table) -> anyhow::Result<()> {
    for (store, what) in [
        (Store::Memory, "1 to 10,000 to 1, in memory: CPU per task"),
        (Store::Disk, "1 to 10,000 to 1, on disk: CPU per task"),
    ] {
        let mut narrow = Vec::new();
        let mut broad = Vec::new();
        for _ in 0..effort.large_rounds {
            narrow.push(per_task(NARROW, WIDE / NARROW, store).await?);
            broad.push(per_task(WIDE, 1, store).await?);
        }
        let ratio = median(narrow.iter().zip(&broad).map(|(narrow, broad)| broad / narrow));
        let measured = format!("{:.1} us, at 100 {:.1} us", median(broad), median(narrow));
        table.add(what, measured, (ratio, RATIO_MAX), "x");
    }
    Ok(())
}

/// Returns the microseconds of CPU per task, for so many runs one after the other.
async fn per_task(width: usize, jobs: usize, store: Store) -> anyhow::Result<f64> {
    let folder = tempfile::tempdir()?;
    let stage = Stage::new(wide(width), log(store, folder.path())?, InstantModel, SLOTS.unwrap_or(NonZeroU32::MAX))?;
    let measured = stage.clone();
    let job = move || {
        let stage = measured.clone();
        async move { stage.run().await }
    };
    let per_run = Crowd { jobs, at_once: 1 }.cpu_us(job).await?;
    ensure!(stage.completed().await? == jobs, "a wide run was not completed");
    Ok(per_run / (width + ENDS) as f64)
}

fn log(store: Store, folder: &Path) -> anyhow::Result<Arc<dyn Log>> {
    Ok(match store {
        Store::Memory => Arc::new(MemoryLog::default()),
        Store::Disk => Arc::new(SqliteLog::open(&folder.join("log.db"))?),
    })
}
