//! The real binary, in a folder of its own.

use std::process::{Command, Output};

#[test]
fn init_then_check_is_ok_and_mistakes_end_with_status_two() {
    let folder = tempfile::tempdir().unwrap();
    let consort = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_consort"));
        let Output { status, stdout, stderr } = command.args(args).current_dir(folder.path()).output().unwrap();
        (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    };
    let done = |text: &str| (Some(0), format!("{text}\n"), String::new());
    let wrong = |text: &str| (Some(2), String::new(), format!("{text}\n"));

    let demo = "no consort.toml, so the built-in demo: ok (1 model, 5 tools, 3 tasks)";
    assert_eq!(consort(&["check"]), done(demo));
    assert_eq!(consort(&["init"]), done("wrote consort.toml"));
    assert_eq!(consort(&["check"]), done("consort.toml: ok (1 model, 5 tools, 3 tasks)"));
    assert_eq!(consort(&["init"]), wrong("consort.toml exists and was left alone"));

    let unset = "[models.a]\nprovider = 'demo'\nmodel = 'm'\napi_key = '${CONSORT_TEST_NOT_SET}'\n";
    std::fs::write(folder.path().join("other.toml"), unset).unwrap();
    let message = "models.a.api_key: the environment variable `CONSORT_TEST_NOT_SET` is not set";
    assert_eq!(consort(&["check", "--config", "other.toml"]), wrong(&format!("other.toml:4:1: {message}\n1 mistake")));

    let (status, _, words) = consort(&["check", "--config", "nope.toml"]);
    assert_eq!(status, Some(2));
    assert!(words.starts_with("nope.toml: cannot be read: "), "{words}");
    assert_eq!(consort(&["chekc"]).0, Some(2));
}
