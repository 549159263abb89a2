//! Keys from the terminal: made by the binary, put into its file, and kept apart by their owners.

use crate::binary::run;
use crate::served::Served;

const REST: &str = "\n[models.demo]\nprovider = 'demo'\nmodel = 'm'\n[ensemble]\nname = 'e'\n[[ensemble.task]]\ndescription = 'Greet'\n";

/// Returns a new key and its block.
fn new(args: &[&str]) -> (String, String) {
    let (status, answer, words) = run(std::path::Path::new("."), &[&["keys", "new"], args].concat());
    assert_eq!(status, Some(0), "{words}");
    let (key, block) = answer.split_once("\n\n").unwrap();
    assert!(!words.contains(key), "it is printed once: {words}");
    (key.to_owned(), block.to_owned())
}

#[test]
fn keys_that_were_made_are_let_in_and_see_the_runs_of_their_owner() {
    let (ann, first) = new(&["ann", "--scopes", "run", "--owner", "team-a"]);
    let (bob, second) = new(&["bob", "--scopes", "read,run", "--owner", "team-a"]);
    let (eve, third) = new(&["eve", "--scopes", "read,run,review"]);
    let server = Served::start(Some(&[&*first, &second, &third, REST].concat()));
    let (status, answer, words) = server.consort(&["run", "--key", &ann]);
    assert_eq!(status, Some(0), "{answer}{words}");
    let listed = |key: &str| server.json(&["runs", "list", "--key", key])["total"].clone();
    assert_eq!([&ann, &bob, &eve].map(|key| listed(key)), [1.into(), 1.into(), serde_json::Value::from(0)]);
    let run = server.json(&["runs", "list", "--key", &bob])["runs"][0]["runId"].as_str().unwrap().to_owned();
    let (status, _, words) = server.consort(&["runs", "rm", &run, "--key", &eve]);
    assert!(status == Some(1) && words.contains("RUN_NOT_FOUND"), "{words}");
}

#[test]
fn what_no_key_can_be_is_wrong_usage() {
    for args in [
        &["new", "ci"][..],
        &["new", "ci", "--scopes", "write"],
        &["new", "peer:kitchen", "--scopes", "peer"],
        &["new", "ci", "--scopes", "run", "--owner", "oidc:me"],
    ] {
        let (status, answer, words) = run(std::path::Path::new("."), &[&["keys"], args].concat());
        assert_eq!((status, answer.as_str()), (Some(2), ""), "{args:?}: {words}");
    }
}
