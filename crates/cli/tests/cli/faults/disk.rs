//! A disk on which writes fail: with errors, without room, in part, or when they are to be made
//! durable. Whatever the server has acknowledged stays, and work goes on when the disk is well again.

use std::time::Duration;

use serde_json::json;

use super::failing_world;
use super::shim::{SYNC_EIO, Shim, WRITE_EIO, WRITE_ENOSPC};
use crate::chaos::{Client, DueTimes, Trouble, Verdict};
use crate::dice::Dice;
use crate::victim::Victim;

/// The longest time that the disk is well, and that it fails.
const WELL_MAX_US: u64 = 400_000;
const FAILS_MAX_US: u64 = 700_000;
/// The time after which a disk is well again that fails while a server starts.
const START: Duration = Duration::from_secs(1);

/// Lets the disk of a server under load fail this often, and checks the result.
async fn suffer(faults: u64, dice: &mut Dice) -> Verdict {
    let (mut world, shim) = failing_world(&mut dice.split()).await;
    let load = world.load(dice.split());
    for _fault in 0..faults {
        tokio::time::sleep(Duration::from_micros(dice.roll(WELL_MAX_US))).await;
        shim.fail_somehow(dice);
        tokio::time::sleep(Duration::from_micros(dice.roll(FAILS_MAX_US))).await;
        if dice.one_in(2) {
            world.main.kill();
            start_again(&mut world.main, &shim);
        }
        shim.lift();
    }
    assert!(shim.hits() > 0, "something went wrong");
    world.judge(load, DueTimes::AtMostOnce).await
}

/// Starts a server while its disk fails: it works, or ends with a reason.
fn start_again(server: &mut Victim, shim: &Shim) {
    std::thread::scope(|scope| {
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || {
            // A server may also wait for its disk.
            let _started = is_done.recv_timeout(START);
            shim.lift();
        });
        let said = server.said().len();
        if !server.try_start() {
            let reason = server.said().split_off(said);
            assert!(reason.contains("cannot use the data folder "), "it says why it does not start: {reason}");
            shim.lift();
            server.start();
        }
        drop(done);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_disk_fails_again_and_again_keeps_every_promise() {
    let trouble = Trouble { name: "faults of a disk", variable: "CONSORT_DISK_FAULTS", usual: 12, per_server: 30 };
    trouble.endure(suffer).await;
}

const CONFIG: &str = "
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

#[tokio::test(flavor = "multi_thread")]
async fn a_run_waits_for_a_disk_that_fails_says_so_and_goes_on() {
    for faults in [WRITE_EIO, WRITE_ENOSPC, SYNC_EIO] {
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
        let review = client.until(&run, |run| run["openReviews"][0].is_string()).await["openReviews"][0].clone();

        shim.fail(faults, 1);
        let (status, refused) = client.post_any("/api/runs", &json!({})).await;
        assert_eq!((status, refused["error"].as_str()), (503, Some("STORAGE_UNAVAILABLE")), "{faults}: {refused}");
        let decide = format!("/api/reviews/{}", review.as_str().unwrap());
        let decision = json!({ "decision": "CONTINUE" });
        let (deciding, waiting) = tokio::join!(client.post_any(&decide, &decision), async {
            let waiting = client.until(&run, |run| run["waitingFor"] == "storage").await;
            let (status, ready) = client.get_any("/api/health/ready").await;
            assert_eq!(status, 503, "{ready}");
            shim.lift();
            waiting
        });
        assert_eq!(waiting["status"], "RUNNING", "{waiting}");
        assert_eq!(deciding.0, 200, "{}", deciding.1);
        let ended = client.until(&run, |run| run["completedAt"].is_string()).await;
        assert_eq!(ended["status"], "COMPLETED", "{ended}");
        client.until_ready().await;
        server.kill();
        assert!(!server.said().contains("panicked at"), "{}", server.said());
    }
}
