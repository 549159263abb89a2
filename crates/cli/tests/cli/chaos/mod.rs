//! The real binary under mixed load, killed again and again: runs, chats, reviews, cancellations, budgets, a peer, a
//! schedule, a hook and a webhook. Its models, tools and receivers are in the test's process, which is not killed.

mod client;
mod jobs;
mod notices;
mod outside;
mod ticks;
mod verdict;
mod world;

use std::time::{Duration, Instant};

pub(crate) use self::client::Client;
pub(crate) use self::ticks::DueTimes;
pub(crate) use self::verdict::Verdict;
pub(crate) use self::world::World;

use crate::dice::{Dice, number, say};

/// The longest life of a process after it listens.
const LIFE_MAX_US: u64 = 1_200_000;
/// One kill in so many hits the peer too.
const PEER_EVERY: u64 = 4;

/// Kills a server this often under load, and checks the result.
async fn suffer(kills: u64, dice: &mut Dice) -> Verdict {
    let mut world = World::start(|_, server| server).await;
    let load = world.load(dice.split());
    for _kill in 0..kills {
        tokio::time::sleep(Duration::from_micros(dice.roll(LIFE_MAX_US))).await;
        let with_peer = dice.one_in(PEER_EVERY);
        world.main.kill();
        if with_peer {
            world.pantry.kill();
            world.pantry.start();
        }
        world.main.start();
    }
    world.judge(load, DueTimes::Each).await
}

/// Something that servers suffer again and again.
pub(crate) struct Trouble {
    /// Its name, in the plural.
    pub(crate) name: &'static str,
    /// The variable that sets how often.
    pub(crate) variable: &'static str,
    /// The number of times, unless the variable sets it.
    pub(crate) usual: u64,
    /// The number of times for one server; then its jobs may end, and all of them are judged.
    pub(crate) per_server: u64,
}

impl Trouble {
    /// Lets one server after the other suffer it, and checks what comes of that.
    pub(crate) async fn endure(self, mut suffer: impl AsyncFnMut(u64, &mut Dice) -> Verdict) {
        let Trouble { name, variable, usual, per_server } = self;
        let times = number(variable).unwrap_or(usual);
        let mut dice = Dice::seeded();
        let began = Instant::now();
        say(&format!("{times} {name}; to repeat them: {}", dice.again(variable, times)));
        let mut left = times;
        let mut verdict = Verdict::default();
        while left > 0 {
            let some = left.min(per_server);
            verdict.add(suffer(some, &mut dice).await);
            left -= some;
            say(&format!("{left} {name} left: {verdict}"));
        }
        say(&format!("{verdict}; {:.1} s", began.elapsed().as_secs_f64()));
        verdict.check();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_killed_under_mixed_load_keeps_every_promise() {
    let trouble = Trouble { name: "kills of a server", variable: "CONSORT_SERVER_KILLS", usual: 6, per_server: 40 };
    trouble.endure(suffer).await;
}
