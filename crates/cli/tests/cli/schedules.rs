//! Schedules from a terminal, and over a server that is killed while it begins their runs.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::binary::run;
use crate::served::Served;

const PULSE: &str = "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n[server]\nmax_retained_completed_runs = 1000\n\
    [ensemble]\nname = 'one'\n[[ensemble.task]]\nname = 'only'\ndescription = 'Say hello'\n\
    [[schedule]]\nname = 'pulse'\nevery = '1s'\n";

/// Returns the due times of all runs of the schedule.
fn dues(server: &Served) -> Vec<String> {
    let runs = server.json(&["runs", "list", "--tag", "schedule:pulse", "--limit", "500"]);
    let ids: Vec<String> =
        runs["runs"].as_array().unwrap().iter().map(|run| run["runId"].as_str().unwrap().to_owned()).collect();
    let due = |id: &String| server.json(&["runs", "show", id])["schedule"]["due"].as_str().unwrap().to_owned();
    ids.iter().map(due).collect()
}

#[test]
fn a_server_that_is_killed_begins_no_due_time_twice_and_makes_up_for_the_last() {
    let mut server = Served::start(Some(PULSE));
    for _kill in 0..4 {
        let before = dues(&server).len();
        while dues(&server).len() <= before {}
        server.kill();
        server.restart();
    }
    let dues = dues(&server);
    let distinct: BTreeSet<&String> = dues.iter().collect();
    assert_eq!(distinct.len(), dues.len(), "{dues:?}");
    assert!(dues.len() >= 4, "{dues:?}");
}

#[test]
fn schedules_are_listed_paused_triggered_and_resumed() {
    let server = Served::start(Some(&PULSE.replace("1s", "1h")));
    let listed = server.said(&["schedules", "list"]);
    assert!(listed.lines().nth(1).unwrap().starts_with("pulse     every 1h  the ensemble"), "{listed}");
    assert_eq!(server.said(&["schedules", "pause", "pulse"]), "pulse: paused\n");
    let id = server.said(&["schedules", "trigger", "pulse"]);
    assert!(id.starts_with("run-"), "{id}");
    let rows = server.json(&["schedules", "list"]);
    assert_eq!(
        (&rows["schedules"][0]["paused"], rows["schedules"][0]["last"]["runId"].as_str()),
        (&Value::Bool(true), Some(id.trim()))
    );
    assert!(server.said(&["schedules", "resume", "pulse"]).starts_with("pulse: goes on, next in "));
    let (status, _, words) = server.consort(&["schedules", "pause", "nothing"]);
    assert_eq!((status, words.as_str()), (Some(1), "consort: No schedule named nothing (SCHEDULE_NOT_FOUND)\n"));
}

#[test]
fn a_wrong_schedule_or_webhook_is_told_by_line_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = "[[schedule]]\nname = 'a'\ncron = '0 0 8 * * MON'\ntimezone = 'Mars/Olympus'\noverlap = 'stop'\n\
        [[schedule]]\nname = 'a'\nevery = '1s'\ncron = '0 8 * * *'\nworkflow = 'w'\ncatchup = 'one'\n\
        [[webhook]]\nname = 'ops'\nurl = 'ftp://x'\nsecret = 'whsec_short'\nevents = ['run.done']\n";
    std::fs::write(folder.path().join("consort.toml"), wrong).unwrap();
    let (status, _, words) = run(folder.path(), &["check"]);
    assert_eq!(status, Some(2), "{words}");
    for expected in [
        "consort.toml:3:1: schedule[0].cron: must have five fields",
        "consort.toml:4:1: schedule[0].timezone: there is no time zone `Mars/Olympus`",
        "consort.toml:5:1: schedule[0].overlap: must be one of skip, queue, cancel_previous",
        "schedule[0].workflow: is required where there is no [ensemble]",
        "schedule[1].name: another schedule has this name",
        "schedule[1].every: a schedule has `cron` or `every`, not both",
        "schedule[1].catchup: unknown key; did you mean `catch_up`?",
        "webhook[0].url: must be an address that starts with http:// or https://",
        "webhook[0].secret: must be `whsec_` and 24 to 64 bytes in base64",
        "webhook[0].events[0]: must be one of run.completed",
    ] {
        assert!(words.contains(expected), "{expected}\n{words}");
    }
}
