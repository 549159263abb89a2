//! The real binary under mixed load, killed again and again: runs, chats, reviews, cancellations,
//! budgets and a peer. Its models and tools are in the test's process, which is not killed.

mod client;
mod jobs;
mod outside;
mod verdict;
mod world;

use std::time::{Duration, Instant};

pub(crate) use self::client::Client;
pub(crate) use self::verdict::Verdict;
pub(crate) use self::world::World;

use crate::dice::{Dice, number, say};

/// The variable that sets the number of kills.
const KILLS: &str = "CONSORT_SERVER_KILLS";
const KILLS_DEFAULT: u64 = 6;
/// The number of kills of one server; then its jobs may end, and all of them are judged.
const KILLS_PER_SERVER: u64 = 40;
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
    world.judge(load).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_killed_under_mixed_load_keeps_every_promise() {
    let kills = number(KILLS).unwrap_or(KILLS_DEFAULT);
    let mut dice = Dice::seeded();
    let began = Instant::now();
    say(&format!("{kills} kills of a server; to repeat them: {}", dice.again(KILLS, kills)));
    let mut left = kills;
    let mut verdict = Verdict::default();
    while left > 0 {
        let some = left.min(KILLS_PER_SERVER);
        verdict.add(suffer(some, &mut dice).await);
        left -= some;
        say(&format!("{left} kills left: {verdict}"));
    }
    say(&format!("{verdict}; {:.1} s", began.elapsed().as_secs_f64()));
    verdict.check();
}
