//! Programs that try to get out of the sandbox, in the real one.

use std::path::Path;

use super::*;

const LIMITS: SandboxLimits =
    SandboxLimits { time: Duration::from_secs(300), memory: 256 * 1024 * 1024, output: 64 * 1024 };

fn sandbox() -> Sandbox {
    Sandbox::find().expect("bubblewrap is needed: scripts/setup test")
}

fn job(workspace: &Path, script: &str) -> Job {
    Job {
        program: "/bin/sh".into(),
        args: vec!["-c".to_owned(), script.to_owned()],
        access: Access { workspace: Some(workspace.to_owned()), writes: true, ..Access::default() },
        env: vec![("COLOUR".to_owned(), "green".to_owned())],
        limits: LIMITS,
    }
}

async fn shell(workspace: &Path, script: &str) -> Ended {
    sandbox().run(&job(workspace, script)).await.unwrap()
}

/// Returns what a script wrote; it must succeed.
async fn said(workspace: &Path, script: &str) -> String {
    let ended = shell(workspace, script).await;
    assert_eq!(ended.end, End::Exited(Some(0)), "{script}: {ended:?}");
    ended.stdout.text()
}

#[tokio::test]
async fn a_program_works_in_the_workspace_and_tells_how_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.txt"), "bees").unwrap();
    assert_eq!(said(folder.path(), "pwd; cat in.txt; echo $COLOUR > out.txt").await, "/workspace\nbees");
    assert_eq!(std::fs::read_to_string(folder.path().join("out.txt")).unwrap(), "green\n");
    let ended = shell(folder.path(), "echo no >&2; exit 3").await;
    assert_eq!((ended.end, ended.stderr.text().as_str()), (End::Exited(Some(3)), "no"));
}

#[tokio::test]
async fn a_program_is_started_only_while_the_node_may_act() {
    let folder = tempfile::tempdir().unwrap();
    let (may, right) = right::gate();
    let root = folder.path().to_owned();
    let gated = tokio::spawn(right::within(right, async move { said(&root, "echo now > gated.txt").await }));
    said(folder.path(), "echo now > free.txt").await;
    assert!(!folder.path().join("gated.txt").exists());
    may.send_replace(true);
    gated.await.unwrap();
    assert!(folder.path().join("gated.txt").exists());
}

#[tokio::test]
async fn nothing_outside_of_the_workspace_is_seen_or_written() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.txt");
    std::fs::write(&secret, "hush").unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(&secret, folder.path().join("link")).unwrap();
    let path = secret.display();
    for script in [
        format!("cat {path}"),
        "cat link".to_owned(),
        format!("cat /workspace/../{path}"),
        "cat /etc/passwd /etc/shadow".to_owned(),
        "ls /root /home".to_owned(),
        format!("cat /proc/1/root{path}"),
        "echo x > /usr/bin/x".to_owned(),
        "echo x > /x".to_owned(),
        "echo x > /dev/shm/x".to_owned(),
        "mount -t tmpfs none /mnt".to_owned(),
        "unshare -r true".to_owned(),
    ] {
        let ended = shell(folder.path(), &script).await;
        assert!(matches!(ended.end, End::Exited(Some(1..))), "{script}: {ended:?}");
        assert!(!ended.stdout.text().contains("hush"), "{script}: {ended:?}");
    }
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "hush");
    let seen = said(folder.path(), "ps -e 2>/dev/null | wc -l; env; id -u").await;
    assert!(!seen.contains("CARGO") && seen.ends_with("65534"), "nothing of our environment, nobody's rights: {seen}");
}

#[tokio::test]
async fn there_is_no_network_not_even_to_this_machine() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "python3 - <<'E'\nimport socket\nfor host in ('127.0.0.1', '10.0.0.1', '1.1.1.1'):\n  \
         s = socket.socket()\n  s.settimeout(2)\n  assert s.connect_ex((host, {port})) != 0\nprint('alone')\nE"
    );
    assert_eq!(said(folder.path(), &script).await, "alone");
    assert!(listener.accept().is_err(), "nobody called");
}

#[tokio::test]
async fn a_program_that_takes_too_long_is_ended_with_everything_it_started() {
    let folder = tempfile::tempdir().unwrap();
    // Long enough to begin on a busy machine.
    let limits = SandboxLimits { time: Duration::from_secs(10), ..LIMITS };
    let job = Job { limits, ..job(folder.path(), "(while true; do date > tick; done) & echo begun; wait") };
    let ended = sandbox().run(&job).await.unwrap();
    assert_eq!((ended.end, ended.stdout.text().as_str()), (End::OutOfTime, "begun"));
    assert_quiet(&folder.path().join("tick"));
}

#[tokio::test]
async fn what_is_left_in_the_background_ends_with_the_program_and_with_a_dropped_call() {
    let folder = tempfile::tempdir().unwrap();
    let tick = folder.path().join("tick");
    let endless = "(while true; do date > tick; done) >/dev/null 2>&1 &";
    said(folder.path(), &format!("setsid sh -c '{endless}' ; nohup sh -c '{endless}'; until [ -e tick ]; do :; done"))
        .await;
    assert_quiet(&tick);
    std::fs::remove_file(&tick).unwrap();
    let sandbox = sandbox();
    let job = job(folder.path(), &format!("{endless} wait"));
    tokio::select! {
        ended = sandbox.run(&job) => panic!("{ended:?}"),
        () = appears(&tick) => {}
    }
    assert_quiet(&tick);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_outlives_the_thread_that_asked_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let begun = folder.path().join("begun");
    let ticks = folder.path().join("ticks");
    let job = job(folder.path(), "echo > begun; until [ -e go ]; do echo x >> ticks; sleep 0.01; done; echo done");
    let runtime = tokio::runtime::Handle::current();
    let asking = std::thread::spawn(move || {
        let sandbox = sandbox();
        let mut running = Box::pin(async move { sandbox.run(&job).await.unwrap() });
        runtime.block_on(async {
            tokio::select! {
                ended = &mut running => panic!("{ended:?}"),
                () = appears(&begun) => {}
            }
        });
        running
    });
    let mut running = tokio::task::spawn_blocking(|| asking.join().unwrap()).await.unwrap();
    // It goes on without that thread: what it has written grows.
    let length = || std::fs::metadata(&ticks).map_or(0, |ticks| ticks.len());
    let before = length();
    while length() < before + 20 {
        tokio::select! {
            ended = &mut running => panic!("{ended:?}"),
            () = tokio::time::sleep(Duration::from_millis(10)) => {}
        }
    }
    std::fs::write(folder.path().join("go"), "").unwrap();
    let ended = running.await;
    assert_eq!((ended.end, ended.stdout.text().as_str()), (End::Exited(Some(0)), "done"));
}

/// Waits until a file is there.
async fn appears(path: &Path) {
    while !path.exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Checks that nobody goes on writing a file: once it is replaced it stays as it is.
fn assert_quiet(tick: &Path) {
    // The kernel ends a namespace's processes one after the other; the last of them is over when a marker survives
    // a thousand looks.
    let until = Instant::now() + LIMITS.time;
    loop {
        std::fs::write(tick, "quiet").unwrap();
        let survives = (0..1_000).all(|_| std::fs::read_to_string(tick).unwrap() == "quiet");
        if survives {
            return;
        }
        assert!(Instant::now() < until, "something still writes");
    }
}

#[tokio::test]
async fn memory_is_limited_for_one_process_and_for_all_together() {
    let folder = tempfile::tempdir().unwrap();
    let one = shell(folder.path(), "python3 -c 'bytearray(1 << 30)'").await;
    assert_eq!(one.end, End::Exited(Some(1)), "{one:?}");
    assert!(one.stderr.text().contains("MemoryError"), "{one:?}");
    let hold = "python3 -c 'import time; held = bytearray(100 << 20); time.sleep(60)'";
    let many = shell(folder.path(), &format!("for i in 1 2 3 4 5 6; do {hold} & done; wait")).await;
    assert_eq!(many.end, End::OutOfMemory, "{many:?}");
}

#[tokio::test]
async fn a_program_that_multiplies_itself_comes_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let ended = shell(folder.path(), "while :; do sleep 60 & done").await;
    // The kernel refuses another process, except to root's: that one is ended.
    assert!(matches!(ended.end, End::Exited(Some(2)) | End::TooManyProcesses), "{ended:?}");
}

#[tokio::test]
async fn output_is_read_to_its_end_and_kept_to_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let ended = shell(folder.path(), "head -c 10000000 /dev/zero | tr '\\0' x; echo end >&2").await;
    assert_eq!((ended.end, ended.stderr.text().as_str()), (End::Exited(Some(0)), "end"));
    let text = ended.stdout.text();
    assert!(text.len() < LIMITS.output + 100 && text.ends_with("(9934464 more bytes were left out)"), "{}", text.len());
}

#[tokio::test]
async fn kept_paths_cannot_be_changed_or_moved_away() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    std::fs::write(folder.path().join("AGENTS.md"), "Be kind.").unwrap();
    let mut job = job(folder.path(), "");
    job.access.kept = vec![".git".into(), "AGENTS.md".into()];
    for script in ["echo x > .git/config", "mv .git x", "rm AGENTS.md", "echo x > AGENTS.md", "mv AGENTS.md x"] {
        job.args = vec!["-c".to_owned(), script.to_owned()];
        let ended = sandbox().run(&job).await.unwrap();
        assert!(matches!(ended.end, End::Exited(Some(1..))), "{script}: {ended:?}");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("AGENTS.md")).unwrap(), "Be kind.");
}
