//! Work that may recurse deeply or take long: a separate thread, with a large stack, and a
//! signal that tells it to give up. The thread ends with its work, which checks the signal.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// The condition under which work has to give up: its deadline, or a caller that no longer waits.
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

/// Does `work` on a separate thread. Only the part of the stack that is used takes memory.
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
        let (stop, stopped) = oneshot::channel();
        let work = move |patience: Patience| {
            while !patience.is_over() {
                std::thread::yield_now();
            }
            stop.send(()).map_err(|()| String::new())
        };
        let mut waiting = Box::pin(on_own_thread("test", 1 << 20, Duration::from_secs(3600), work));
        assert!(futures::poll!(&mut waiting).is_pending());
        drop(waiting);
        stopped.await.unwrap();
    }
}
