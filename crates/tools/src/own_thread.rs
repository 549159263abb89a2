//! Work that may nest deeply or take long: a thread of its own, with a large
//! stack, that is told when to give up. It ends with its work, and the work
//! looks at its patience.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// When work has to give up: at its deadline, or when nobody waits any more.
#[derive(Clone, Debug)]
pub(super) struct Patience {
    deadline: Instant,
    waiting: Weak<()>,
}

impl Patience {
    pub(super) fn is_over(&self) -> bool {
        self.waiting.strong_count() == 0 || Instant::now() >= self.deadline
    }
}

/// Does `work` on a thread of its own. Only as much of the stack as is used is
/// ever taken from the machine.
pub(super) async fn on_own_thread<T, W>(name: &str, stack: usize, limit: Duration, work: W) -> Result<T, String>
where
    T: Send + 'static,
    W: FnOnce(Patience) -> Result<T, String> + Send + 'static,
{
    let waiting = Arc::new(());
    let patience = Patience { deadline: Instant::now() + limit, waiting: Arc::downgrade(&waiting) };
    let (reply, result) = oneshot::channel();
    let thread = std::thread::Builder::new().name(name.to_owned()).stack_size(stack);
    let spawned = thread.spawn(move || {
        let _nobody_waits = reply.send(work(patience));
    });
    spawned.map_err(|error| format!("there is no thread to work in: {error}"))?;
    let result = result.await.unwrap_or_else(|_broken| Err("the work broke off".to_owned()));
    drop(waiting);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_nobody_waits_for_is_told_to_give_up() {
        let (told, hears) = oneshot::channel();
        let work = move |patience: Patience| {
            while !patience.is_over() {
                std::thread::yield_now();
            }
            told.send(()).map_err(|()| String::new())
        };
        let mut waiting = Box::pin(on_own_thread("test", 1 << 20, Duration::from_secs(3600), work));
        assert!(futures::poll!(&mut waiting).is_pending());
        drop(waiting);
        hears.await.unwrap();
    }
}
