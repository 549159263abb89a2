//! Tests the forms in which an id may be typed: its shortest unique beginning, or `latest`.

use crate::binary::run;
use crate::served::Served;

const ONE: &str = "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n[ensemble]\nname = 'one'\n\
    [[ensemble.task]]\nname = 'only'\ndescription = 'Say hello'\n";

/// Returns the shortest beginning of an id that another one does not have.
fn beginning<'a>(id: &'a str, other: &str) -> &'a str {
    let same = id.bytes().zip(other.bytes()).take_while(|(one, two)| one == two).count();
    &id[..=same]
}

#[test]
fn a_beginning_or_latest_stands_for_a_run_in_every_command() {
    let server = Served::start(Some(ONE));
    let (status, _, words) = server.consort(&["runs", "show", "latest"]);
    assert_eq!((status, words.as_str()), (Some(1), "consort: there is no run yet, so none is the latest\n"));
    let ids = [(); 2].map(|()| {
        assert_eq!(server.consort(&["run"]).0, Some(0));
        server.newest()
    });
    let [old, new] = &ids;
    let short_old = beginning(old, new);
    let short_new = beginning(new, old);
    assert!(short_old.len() < old.len(), "{ids:?}");
    assert_eq!(server.json(&["runs", "show", short_old])["runId"], **old);
    assert_eq!(server.json(&["runs", "show", short_new])["runId"], **new);
    assert_eq!(server.json(&["runs", "show", "latest"])["runId"], **new);
    assert_eq!(server.consort(&["runs", "watch", short_old]).0, Some(0));
    assert_eq!(server.json(&["reviews", "list", "--run", "latest"])["total"], 0);
    let forked = server.json(&["runs", "fork", short_old, "--seq", "1"]);
    assert_eq!(forked["forkedFrom"]["runId"], **old, "{forked}");
    let forked = forked["runId"].as_str().unwrap();
    assert_eq!(server.consort(&["runs", "watch", "latest"]).0, Some(0));
    assert_eq!(server.said(&["runs", "rm", "latest"]), format!("{forked}: erased\n"), "the whole id is told");
    assert_eq!(server.said(&["runs", "rm", short_new]), format!("{new}: erased\n"));
    assert_eq!(server.json(&["runs", "list"])["runs"][0]["runId"], **old);
}

#[test]
fn a_beginning_of_more_than_one_is_wrong_usage_and_does_nothing() {
    let server = Served::start(Some(ONE));
    let mut ids = [(); 2].map(|()| {
        assert_eq!(server.consort(&["run"]).0, Some(0));
        server.newest()
    });
    ids.reverse();
    let expected = format!("consort: `run-` is the beginning of 2 runs:\n  {}\n  {}\n", ids[0], ids[1]);
    for args in [
        ["runs", "show", "run-"].as_slice(),
        &["runs", "watch", "run-"],
        &["runs", "rm", "run-"],
        &["runs", "retry", "run-"],
        &["runs", "cancel", "run-"],
        &["reviews", "list", "--run", "run-"],
    ] {
        assert_eq!(server.consort(args), (Some(2), String::new(), expected.clone()), "{args:?}");
    }
    assert_eq!(server.json(&["runs", "list"])["total"], 2);
    let (status, _, words) = server.consort(&["runs", "show", "run-x"]);
    assert_eq!((status, words.ends_with("(RUN_NOT_FOUND)\n")), (Some(1), true), "{words}");
    let whole = format!("run-{}", "0".repeat(32));
    let (status, _, words) = server.consort(&["runs", "rm", &whole]);
    assert_eq!((status, words.ends_with("(RUN_NOT_FOUND)\n")), (Some(1), true), "{words}");
}

#[test]
fn a_review_is_decided_by_its_beginning() {
    let config = ONE.to_owned() + "review = 'required'\n[server]\nreview_timeout = '0s'\n";
    let server = Served::start(Some(&config));
    let mut runner = server.begin(&["run", "--json"]);
    let mut frames = std::io::BufRead::lines(std::io::BufReader::new(runner.stdout.take().unwrap()));
    assert!(frames.any(|line| line.unwrap().contains(r#""type":"review_requested""#)));
    let id = server.newest();
    let decided = server.said(&["reviews", "decide", "latest", "approve"]);
    assert!(decided.starts_with(&format!("{id}-review-0: ")), "{decided}");
    frames.for_each(drop);
    assert_eq!(runner.wait().unwrap().code(), Some(0));
    let (status, _, words) = server.consort(&["reviews", "decide", "latest", "approve"]);
    assert_eq!((status, words.as_str()), (Some(1), "consort: there is no review yet, so none is the latest\n"));
}

#[test]
fn a_conversation_goes_on_by_its_beginning_without_a_server_too() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("consort.toml"), ONE).unwrap();
    let chat = |args: &[&str]| run(folder.path(), &[&["chat"], args].concat());
    let (status, _, words) = chat(&["--thread", "latest", "hello"]);
    assert_eq!((status, words.contains("there is no thread yet")), (Some(1), true), "{words}");
    let thread = |words: &str| words.rsplit(' ').next().unwrap().trim().to_owned();
    let (status, _, words) = chat(&["hello"]);
    assert_eq!(status, Some(0), "{words}");
    let first = thread(&words);
    let second = thread(&chat(&["hello again"]).2);
    assert!(first.starts_with("thread-") && second.starts_with("thread-"), "{words}");
    let (status, _, words) = chat(&["--thread", "thread-", "more"]);
    let expected = format!("consort: `thread-` is the beginning of 2 threads:\n  {second}\n  {first}\n");
    assert_eq!((status, words), (Some(2), expected));
    let (status, _, words) = chat(&["--thread", beginning(&first, &second), "more"]);
    assert_eq!((status, thread(&words)), (Some(0), first.clone()), "{words}");
    let (status, _, words) = chat(&["--thread", "latest", "more"]);
    assert_eq!((status, thread(&words)), (Some(0), first), "the one last spoken in: {words}");
}

#[test]
fn a_shell_completes_ids() {
    let server = Served::start(Some(ONE));
    assert_eq!(server.consort(&["run"]).0, Some(0));
    let run_id = server.newest();
    let script = format!(
        "PATH={}:$PATH; source <(consort completions bash); COMP_WORDS=(consort runs show run-); COMP_CWORD=3; \
         _consort_or_ids consort run- show; echo \"${{COMPREPLY[@]}}\"; \
         COMP_WORDS=(consort runs sho); COMP_CWORD=2; _consort_or_ids consort sho runs; echo \"${{COMPREPLY[@]}}\"",
        std::path::Path::new(env!("CARGO_BIN_EXE_consort")).parent().unwrap().display()
    );
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", &script]).env("CONSORT_URL", &server.url).current_dir(server.folder.path());
    let output = bash.output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{run_id}\nshow\n"), "{words}");
    let (status, ids, _) = run(server.folder.path(), &["ids", "threads", "--url", "http://127.0.0.1:1"]);
    assert_eq!((status, ids.as_str()), (Some(3), ""));
}
