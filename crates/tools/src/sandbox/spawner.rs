//! The thread that starts the programs of a sandbox. A program dies with its parent, and to the kernel that is the
//! thread which started it: those of a runtime come and go, and would take programs with them.

use std::io;
use std::thread;

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

/// The number of programs that wait to be started; further calls wait for room.
const ORDERS_MAX: usize = 64;

/// A program to start.
struct Order {
    command: Command,
    /// The runtime in which its end is waited for.
    runtime: Handle,
    started: oneshot::Sender<io::Result<Child>>,
}

/// A handle to the thread, which ends with the last of them.
#[derive(Clone, Debug)]
pub(super) struct Spawner(mpsc::Sender<Order>);

impl Spawner {
    /// Starts the thread.
    pub(super) fn start() -> io::Result<Spawner> {
        let (orders, mut queue) = mpsc::channel::<Order>(ORDERS_MAX);
        let work = move || {
            while let Some(Order { mut command, runtime, started }) = queue.blocking_recv() {
                let _inside = runtime.enter();
                // A program that nobody waits for any more is dropped here, and so ended.
                let _nobody_waits = started.send(command.spawn());
            }
        };
        thread::Builder::new().name("sandbox".to_owned()).spawn(work)?;
        Ok(Spawner(orders))
    }

    /// Starts a program, which lives on when the calling thread ends.
    pub(super) async fn spawn(&self, command: Command) -> io::Result<Child> {
        let (started, child) = oneshot::channel();
        let order = Order { command, runtime: Handle::current(), started };
        self.0.send(order).await.map_err(|_order| gone())?;
        child.await.map_err(|_dropped| gone())?
    }
}

fn gone() -> io::Error {
    io::Error::other("the thread that starts programs is gone")
}
