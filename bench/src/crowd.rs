//! Many jobs with a limited concurrency.

use tokio::task::JoinSet;

use crate::meter;

/// The number of jobs, and their concurrency.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd {
    /// The total number of jobs; a multiple of `at_once`.
    pub(crate) jobs: usize,
    /// The number of jobs under way at the same time.
    pub(crate) at_once: usize,
}

impl Crowd {
    /// Does every job.
    pub(crate) async fn work<W>(self, job: impl Fn() -> W + Clone + Send + 'static) -> anyhow::Result<()>
    where
        W: Future<Output = anyhow::Result<()>> + Send,
    {
        let mut workers = JoinSet::new();
        for _ in 0..self.at_once {
            let job = job.clone();
            workers.spawn(async move {
                for _ in 0..self.jobs / self.at_once {
                    job().await?;
                }
                anyhow::Ok(())
            });
        }
        while let Some(worker) = workers.join_next().await {
            worker??;
        }
        Ok(())
    }

    /// Does every job; returns the microseconds of CPU per job.
    pub(crate) async fn cpu_us<W>(self, job: impl Fn() -> W + Clone + Send + 'static) -> anyhow::Result<f64>
    where
        W: Future<Output = anyhow::Result<()>> + Send,
    {
        let before = meter::cpu()?;
        self.work(job).await?;
        let used = meter::cpu()?.saturating_sub(before);
        Ok(used.as_secs_f64() * 1e6 / self.jobs as f64)
    }
}
