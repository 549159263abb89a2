//! A wall clock that jumps by hours, back and forth, while the server works and between
//! its processes. Everything ends when it would have, and no budget of time is used up by a jump.

use std::time::Duration;

use serde_json::json;

use super::failing_world;
use super::shim::Shim;
use crate::chaos::{Client, DueTimes, Trouble, Verdict};
use crate::dice::Dice;
use crate::victim::Victim;

/// The longest time between two jumps.
const CALM_MAX_US: u64 = 600_000;
/// The furthest jump; answers to idempotency keys are kept for a day.
const HOURS_MAX: u64 = 10;

async fn suffer(jumps: u64, dice: &mut Dice) -> Verdict {
    let (mut world, shim) = failing_world(&mut dice.split()).await;
    let load = world.load(dice.split());
    for _jump in 0..jumps {
        tokio::time::sleep(Duration::from_micros(dice.roll(CALM_MAX_US))).await;
        let hours = dice.roll(2 * HOURS_MAX + 1).cast_signed() - HOURS_MAX.cast_signed();
        shim.shift_clock(hours * 3600);
        if dice.one_in(2) {
            world.main.kill();
            world.main.start();
        }
    }
    world.judge(load, DueTimes::AtMostOnce).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_clock_jumps_by_hours_keeps_every_promise() {
    let trouble = Trouble { name: "jumps of a clock", variable: "CONSORT_CLOCK_JUMPS", usual: 5, per_server: 30 };
    trouble.endure(suffer).await;
}

const CONFIG: &str = "
[server]
review_timeout = '3s'
on_timeout = 'CONTINUE'
[run.budget]
max_wall_clock = '30s'
[models.demo]
provider = 'demo'
model = 'demo'
[ensemble]
name = 'desk'
[[ensemble.task]]
name = 'write'
description = 'Say hello'
review = 'required'
[[ensemble.task]]
name = 'print'
description = 'Say goodbye'
";

/// A review is open, the clock jumps while the server is down, and the review times out when
/// it would have: not for ever later, and the run's own time is not used up.
#[tokio::test(flavor = "multi_thread")]
async fn a_review_times_out_and_a_run_ends_whatever_the_clock_says_after_a_restart() {
    for hours in [-5, 0, 5] {
        let folder = tempfile::tempdir().unwrap();
        let mut dice = Dice::seeded();
        let shim = Shim::new(folder.path(), &mut dice);
        let mut server = shim.around(Victim::new(folder.path(), "main"));
        server.configure(CONFIG);
        server.start();
        let client = Client::new(&server.url());
        let (status, accepted) = client.post_any("/api/runs", &json!({})).await;
        assert_eq!(status, 202, "{accepted}");
        let run = format!("/api/runs/{}", accepted["runId"].as_str().unwrap());
        client.until(&run, |run| run["openReviews"][0].is_string()).await;
        server.kill();
        shim.shift_clock(hours * 3600);
        server.start();
        let ended = client.until(&run, |run| run["completedAt"].is_string()).await;
        assert_eq!(ended["status"], "COMPLETED", "{hours} hours: {ended}");
        let events = client.events(accepted["runId"].as_str().unwrap()).await;
        let times: Vec<&str> = events.iter().map(|event| event["at"].as_str().unwrap()).collect();
        assert!(times.is_sorted(), "{hours} hours: {times:?}");
        server.kill();
        assert!(!server.said().contains("panicked at"), "{}", server.said());
    }
}
