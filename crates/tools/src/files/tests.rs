//! Tests a corpus of forbidden paths, races against symbolic links, and the four tools on real files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use consort_core::catalog::{CancelClass, EffectClass, Permission};
use consort_core::event::{ChangeType, FileChange};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;

use super::*;
use crate::{Answer, Invocation, Tool};

const SECRET: &str = "nobody may read this";

/// A folder with a workspace in it and, beside that, files that must not be reachable.
struct World {
    home: TempDir,
    workspace: Workspace,
    _socket: UnixListener,
}

impl World {
    fn new() -> World {
        let home = tempfile::tempdir().unwrap();
        let inside = home.path().join("workspace");
        let outside = home.path().join("outside");
        fs::create_dir_all(inside.join("notes")).unwrap();
        fs::create_dir_all(inside.join("deep")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(inside.join("notes/plan.md"), "one\ntwo\nthree\n").unwrap();
        fs::write(outside.join("secret.txt"), SECRET).unwrap();
        fs::write(outside.join("other.txt"), SECRET).unwrap();
        let links: [(PathBuf, &str); 19] = [
            (outside.clone(), "link_dir"),
            (outside.join("secret.txt"), "link_file"),
            ("../outside".into(), "rel_dir"),
            ("../outside/secret.txt".into(), "rel_file"),
            ("..".into(), "up"),
            ("/".into(), "root"),
            ("/etc".into(), "etc"),
            ("/proc/self/root".into(), "proc"),
            ("link_dir".into(), "chain"),
            ("notes/../link_dir".into(), "twice"),
            ("notes/../..".into(), "back"),
            ("../../outside/secret.txt".into(), "deep/far"),
            ("../../outside".into(), "deep/farther"),
            ("/dev/null".into(), "dev_null"),
            ("../outside/missing".into(), "dangling_out"),
            (outside.join("missing"), "dangling_out_abs"),
            ("missing".into(), "dangling_in"),
            ("loop".into(), "loop"),
            ("a_loop".into(), "b_loop"),
        ];
        links.iter().for_each(|(to, name)| symlink(to, inside.join(name)).unwrap());
        symlink("b_loop", inside.join("a_loop")).unwrap();
        assert!(Command::new("mkfifo").arg(inside.join("pipe")).status().unwrap().success());
        let socket = UnixListener::bind(inside.join("socket")).unwrap();
        World { workspace: Workspace::open(&inside).unwrap(), home, _socket: socket }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.home.path().join("workspace").join(path)
    }

    async fn read(&self, path: &str) -> Answer {
        ReadFile::new(&self.workspace).call(Invocation::test(json!({ "path": path }))).await
    }

    async fn write(&self, path: &str, content: &str) -> Answer {
        self.written(path, content).await.0
    }

    /// Returns the answer, and the recorded file changes.
    async fn written(&self, path: &str, content: &str) -> (Answer, Vec<FileChange>) {
        let call = Invocation::test(json!({ "path": path, "content": content }));
        let account = call.account.clone();
        (WriteFile::new(&self.workspace).call(call).await, account.changes())
    }

    async fn edit(&self, args: Value) -> Answer {
        EditFile::new(&self.workspace).call(Invocation::test(args)).await
    }

    async fn list(&self, args: Value) -> String {
        let answer = ListFiles::new(&self.workspace).call(Invocation::test(args)).await;
        let Answer::Done { text, data: None } = answer else { panic!("{answer:?}") };
        text
    }
}

fn failure(answer: Answer) -> String {
    let Answer::Failed(why) = answer else { panic!("{answer:?}") };
    why
}

/// Returns every path below a folder, with its content.
fn tree(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let (path, kind) = { entry.map(|entry| (entry.path(), entry.file_type().unwrap())).unwrap() };
        found.push((path.clone(), kind.is_file().then(|| fs::read(&path).unwrap())));
        if kind.is_dir() {
            found.extend(tree(&path));
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn every_path_of_the_corpus_is_refused_by_every_tool_and_changes_nothing() {
    let world = World::new();
    let before = tree(world.home.path());
    let corpus = include_str!("refused_paths.txt");
    let rows: Vec<_> = corpus.lines().filter(|line| !line.starts_with('#')).collect();
    for row in &rows {
        let (path, part) = row.split_once('\t').unwrap();
        let path: String = serde_json::from_str(path).unwrap();
        let why = failure(timeout(Duration::from_secs(120), world.read(&path)).await.unwrap());
        assert!(why.contains(part), "{path:?}: {why}");
        let edited = world.edit(json!({ "path": path, "old": "o", "new": "0", "all": true })).await;
        for answer in [world.write(&path, "mine").await, edited] {
            let why = failure(answer);
            assert!(!why.contains(SECRET) && why.contains('`'), "{path:?}: {why}");
        }
        if part != "the workspace itself" && part != "is a folder" {
            let listed = ListFiles::new(&world.workspace).call(Invocation::test(json!({ "path": path }))).await;
            assert!(matches!(listed, Answer::Failed(_)), "{path:?}: {listed:?}");
        }
    }
    assert_eq!(tree(world.home.path()), before);
    assert!(rows.len() > 150, "{}", rows.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_is_swapped_while_files_are_used_never_leads_outside() {
    let world = World::new();
    let room = world.path("room");
    let stop = Arc::new(AtomicBool::new(false));
    fs::create_dir(&room).unwrap();
    fs::write(room.join("secret.txt"), "inside").unwrap();
    let swap = {
        let stop = stop.clone();
        let outside = world.home.path().join("outside");
        let aside = world.path("aside");
        std::thread::spawn(move || {
            let mut swaps = 0;
            while !stop.load(Ordering::Relaxed) {
                fs::rename(&room, &aside).unwrap();
                symlink(&outside, &room).unwrap();
                fs::remove_file(&room).unwrap();
                fs::rename(&aside, &room).unwrap();
                swaps += 1;
            }
            swaps
        })
    };
    let mut inside = 0;
    let mut refused = 0;
    // As many rounds as it takes to have seen both, and a thousand at least.
    for turn in 0..100_000 {
        match world.read("room/secret.txt").await {
            Answer::Done { text, .. } if text.contains("inside") => inside += 1,
            Answer::Done { text, .. } => panic!("{text}"),
            Answer::Failed(_) => refused += 1,
            Answer::Unknown(why) | Answer::Late { why, .. } => panic!("{why}"),
        }
        let _either = world.edit(json!({ "path": "room/secret.txt", "old": "inside", "new": "inside " })).await;
        let listed = ListFiles::new(&world.workspace).call(Invocation::test(json!({ "glob": "room/*" }))).await;
        assert!(!format!("{listed:?}").contains("other.txt"), "{listed:?}");
        if turn > 1_000 && inside > 0 && refused > 0 {
            break;
        }
    }
    stop.store(true, Ordering::Relaxed);
    assert!(swap.join().unwrap() > 0 && inside > 0 && refused > 0, "{inside} {refused}");
    let outside = tree(&world.home.path().join("outside"));
    assert_eq!(outside.len(), 2);
    assert!(outside.iter().all(|(_, content)| content.as_deref() == Some(SECRET.as_bytes())), "{outside:?}");
}

#[tokio::test]
async fn a_new_file_is_written_with_its_folders_and_the_answer_says_so() {
    let world = World::new();
    let (answer, changes) = world.written("reports/2026/may.md", "a\nb\n").await;
    let file_path = "reports/2026/may.md".to_owned();
    let change = FileChange { file_path, change_type: ChangeType::Created, lines_added: 2, lines_removed: 0 };
    let text = "created `reports/2026/may.md` with 2 lines".to_owned();
    assert_eq!((answer, changes), (Answer::Done { text, data: None }, vec![change]));
    assert_eq!(fs::read_to_string(world.path("reports/2026/may.md")).unwrap(), "a\nb\n");
}

#[tokio::test]
async fn a_link_to_a_folder_inside_is_followed_and_one_to_a_file_is_not_replaced() {
    let world = World::new();
    symlink("notes", world.path("inner")).unwrap();
    symlink("notes/plan.md", world.path("plan_link")).unwrap();
    assert!(matches!(world.write("inner/new/x.md", "x").await, Answer::Done { .. }));
    assert_eq!(fs::read_to_string(world.path("notes/new/x.md")).unwrap(), "x");
    assert!(matches!(world.read("plan_link").await, Answer::Done { .. }));
    assert!(failure(world.write("plan_link", "x").await).contains("is a symbolic link"));
    assert!(fs::symlink_metadata(world.path("plan_link")).unwrap().is_symlink());
}

#[tokio::test]
async fn an_absolute_link_to_a_place_inside_works_and_one_elsewhere_does_not() {
    let world = World::new();
    symlink(world.path("notes"), world.path("abs_dir")).unwrap();
    symlink(world.path("notes/plan.md"), world.path("abs_file")).unwrap();
    symlink("abs_dir/plan.md", world.path("over")).unwrap();
    symlink(world.path("notes").join("..").join("abs_file"), world.path("round")).unwrap();
    symlink(world.path(""), world.path("notes/home")).unwrap();
    let plain = world.read("notes/plan.md").await;
    assert!(matches!(plain, Answer::Done { .. }));
    for path in ["abs_dir/plan.md", "abs_file", "over", "round", "notes/home/notes/plan.md"] {
        assert!(matches!(world.read(path).await, Answer::Done { .. }), "{path}");
    }
    assert!(matches!(world.write("abs_dir/new/x.md", "x").await, Answer::Done { .. }));
    assert_eq!(fs::read_to_string(world.path("notes/new/x.md")).unwrap(), "x");
    assert!(matches!(world.workspace.list("abs_dir").await, Ok(items) if !items.is_empty()));
    // A folder that only begins like the workspace, and a way out behind a way in.
    fs::create_dir(world.home.path().join("workspace-2")).unwrap();
    fs::write(world.home.path().join("workspace-2/secret.txt"), "secret").unwrap();
    symlink(world.home.path().join("workspace-2"), world.path("beside")).unwrap();
    symlink(world.path("..").join("outside"), world.path("out")).unwrap();
    symlink(world.path("link_dir"), world.path("chained")).unwrap();
    for path in ["beside/secret.txt", "out/secret.txt", "chained/secret.txt"] {
        let why = failure(world.read(path).await);
        assert!(why.contains("leads outside the workspace"), "{path}: {why}");
    }
    symlink(world.path("turn_b"), world.path("turn_a")).unwrap();
    symlink(world.path("turn_a"), world.path("turn_b")).unwrap();
    failure(world.read("turn_a").await);
}

#[tokio::test]
async fn what_the_run_has_not_read_as_it_is_now_is_not_overwritten() {
    let world = World::new();
    assert!(failure(world.write("notes/plan.md", "x").await).contains("has not been read"));
    let elsewhere = Invocation { run: "other".into(), ..Invocation::test(json!({ "path": "notes/plan.md" })) };
    let _read = ReadFile::new(&world.workspace).call(elsewhere).await;
    assert!(failure(world.write("notes/plan.md", "x").await).contains("has not been read"));

    let read = world.read("./notes//plan.md").await;
    assert_eq!(read, Answer::Done { text: "     1\tone\n     2\ttwo\n     3\tthree\n".to_owned(), data: None });
    fs::write(world.path("notes/plan.md"), "somebody else\n").unwrap();
    assert!(failure(world.write("notes/plan.md", "x").await).contains("has changed since it was read"));
    let edit = json!({ "path": "notes/plan.md", "old": "else", "new": "me" });
    assert!(failure(world.edit(edit).await).contains("has changed since it was read"));

    let _read = world.read("notes/plan.md").await;
    let (_, changes) = world.written("notes/plan.md", "somebody else\nand me\n").await;
    let [FileChange { change_type, lines_added, lines_removed, .. }] = changes[..] else { panic!("{changes:?}") };
    assert_eq!((change_type, lines_added, lines_removed), (ChangeType::Modified, 1, 0));
    assert!(matches!(world.write("notes/plan.md", "again\n").await, Answer::Done { .. }));
}

#[tokio::test]
async fn a_repeated_write_finds_its_own_work_and_succeeds() {
    let world = World::new();
    let _first = world.write("new.txt", "same").await;
    // The server has been restarted: the record of reads is empty.
    let again = Workspace::open(&world.path("")).unwrap();
    let answer = WriteFile::new(&again).call(Invocation::test(json!({ "path": "new.txt", "content": "same" }))).await;
    let Answer::Done { text, data: None } = answer else { panic!("{answer:?}") };
    assert!(text.contains("already has exactly this content"), "{text}");
}

#[tokio::test]
async fn replacing_a_file_keeps_its_permissions_and_leaves_nothing_beside_it() {
    let world = World::new();
    let script = world.path("notes/run.sh");
    fs::write(&script, "echo old\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).unwrap();
    fs::hard_link(&script, world.home.path().join("outside/linked.sh")).unwrap();
    let answer = world.edit(json!({ "path": "notes/run.sh", "old": "old", "new": "new" })).await;
    assert!(matches!(answer, Answer::Done { .. }), "{answer:?}");
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(fs::read_to_string(&script).unwrap(), "echo new\n");
    assert_eq!(fs::read_to_string(world.home.path().join("outside/linked.sh")).unwrap(), "echo old\n");
    assert_eq!(fs::read_dir(world.path("notes")).unwrap().count(), 2);

    fs::set_permissions(&script, fs::Permissions::from_mode(0o444)).unwrap();
    let refused = world.edit(json!({ "path": "notes/run.sh", "old": "new", "new": "newer" })).await;
    assert!(failure(refused).contains("read-only"));
}

#[tokio::test]
async fn an_edit_needs_exactly_one_occurrence_unless_all_are_meant() {
    let world = World::new();
    fs::write(world.path("notes/list.txt"), "a b\na b\na c\n").unwrap();
    let edit = |old: &str, all: bool| json!({ "path": "notes/list.txt", "old": old, "new": "z", "all": all });
    assert!(failure(world.edit(edit("a b", false)).await).contains("occurs 2 times"));
    assert!(failure(world.edit(edit("x", true)).await).contains("does not occur"));
    assert!(failure(world.edit(edit("", true)).await).contains("must not be empty"));
    assert!(failure(world.edit(edit("z", true)).await).contains("must differ"));
    assert!(matches!(world.edit(edit("a c", false)).await, Answer::Done { .. }));
    let Answer::Done { text, .. } = world.edit(edit("a b", true)).await else { panic!() };
    assert_eq!(text, "changed `notes/list.txt`: 2 lines added, 2 removed");
    assert_eq!(fs::read_to_string(world.path("notes/list.txt")).unwrap(), "z\nz\nz\n");
    let long = json!({ "path": "notes/list.txt", "old": "z", "new": "y".repeat(2 * 1024 * 1024), "all": true });
    assert!(failure(world.edit(long).await).contains("would have 6291459 bytes"));
}

#[tokio::test]
async fn what_is_not_text_or_too_long_is_refused_with_its_size() {
    let world = World::new();
    fs::write(world.path("image.png"), b"\x89PNG\0\0").unwrap();
    fs::write(world.path("latin.txt"), b"caf\xe9").unwrap();
    fs::File::create(world.path("huge.log")).unwrap().set_len(5 * 1024 * 1024).unwrap();
    assert!(failure(world.read("image.png").await).contains("zero bytes (6 bytes)"));
    assert!(failure(world.read("latin.txt").await).contains("not UTF-8 (4 bytes)"));
    assert!(failure(world.read("huge.log").await).contains("has 5242880 bytes"));
    let long = "x".repeat(5 * 1024 * 1024);
    assert!(failure(world.write("long.txt", &long).await).contains("has 5242880 bytes"));
}

#[tokio::test]
async fn folders_are_listed_in_order_with_sizes_and_links_are_not_followed() {
    let world = World::new();
    let listed = world.list(json!({})).await;
    assert!(listed.contains("link_dir (symbolic link)\n") && listed.contains("\nnotes/\n"), "{listed}");
    assert!(listed.contains("\npipe (not a file)\n"), "{listed}");
    assert!(listed.lines().is_sorted(), "{listed}");
    fs::create_dir_all(world.path("notes/old/older")).unwrap();
    fs::write(world.path("notes/old/older/b.md"), "12").unwrap();
    fs::write(world.path("notes/a.md"), "1").unwrap();
    let rows = world.list(json!({ "path": "notes", "glob": "**/*.md" })).await;
    assert_eq!(rows, "a.md (1 bytes)\nold/older/b.md (2 bytes)\nplan.md (14 bytes)");
    assert_eq!(world.list(json!({ "path": "notes", "glob": "*.md" })).await, "a.md (1 bytes)\nplan.md (14 bytes)");
    assert_eq!(world.list(json!({ "glob": "**/secret.txt" })).await, "(nothing)");
    let bad = ListFiles::new(&world.workspace).call(Invocation::test(json!({ "glob": "[" }))).await;
    assert!(failure(bad).contains("is not a pattern"));
}

#[tokio::test]
async fn a_long_list_is_cut_and_says_how_much_there_is() {
    let world = World::new();
    fs::create_dir(world.path("many")).unwrap();
    (0..1_200).for_each(|number| fs::write(world.path(&format!("many/{number:04}")), "").unwrap());
    let listed = world.list(json!({ "path": "many" })).await;
    assert_eq!(listed.lines().count(), 1_001);
    assert!(listed.ends_with("(the first 1000 of 1200; name a folder or a narrower pattern)"));
}

#[test]
fn what_changes_files_holds_the_lock_and_what_reads_does_not() {
    let world = World::new();
    let read = ReadFile::new(&world.workspace);
    let write = WriteFile::new(&world.workspace);
    let list = ListFiles::new(&world.workspace);
    let edit = EditFile::new(&world.workspace);
    for info in [read.info(), list.info()] {
        assert_eq!((info.effect, info.parallel_safe, &info.lock), (EffectClass::Read, true, &None));
        assert_eq!(info.permission, Permission::WorkspaceWrite);
    }
    for (info, effect) in [(write.info(), EffectClass::Idempotent), (edit.info(), EffectClass::Once)] {
        assert_eq!((info.effect, info.parallel_safe, info.cancel), (effect, false, CancelClass::Finish));
        assert_eq!((info.permission, info.lock.as_deref()), (Permission::WorkspaceWrite, Some("workspace_fs")));
    }
}

#[tokio::test]
async fn git_is_neither_read_nor_listed_nor_written_not_even_through_a_link() {
    let world = World::new();
    fs::create_dir_all(world.path(".git/hooks")).unwrap();
    fs::write(world.path(".git/config"), SECRET).unwrap();
    symlink(".git", world.path("tools")).unwrap();
    symlink("../.git/hooks", world.path("notes/hooks")).unwrap();
    for path in [".git/config", ".GIT/config", "./.git/config", "notes/.git/x", ".git", "tools/config", ".git./config"]
    {
        for answer in [world.read(path).await, world.write(path, "x").await] {
            assert!(
                matches!(&answer, Answer::Failed(why) if why.contains(".git") || why.contains("git")),
                "{path} {answer:?}"
            );
        }
    }
    assert!(matches!(world.write("notes/hooks/post-checkout", "x").await, Answer::Failed(_)));
    assert!(!world.path(".git/hooks/post-checkout").exists());
    assert_eq!(fs::read_to_string(world.path(".git/config")).unwrap(), SECRET);
    for args in [json!({}), json!({ "glob": "**" }), json!({ "glob": "**/config" })] {
        let listed = ListFiles::new(&world.workspace).call(Invocation::test(args)).await;
        assert!(
            matches!(&listed, Answer::Done { text, .. } if !text.contains(".git") && !text.contains("config")),
            "{listed:?}"
        );
    }
    let inside = ListFiles::new(&world.workspace).call(Invocation::test(json!({ "path": "tools" }))).await;
    assert!(matches!(inside, Answer::Failed(_)), "{inside:?}");
    assert!(matches!(world.workspace.text("tools/config").await, Err(Hidden::Outside(_))));
    assert!(world.workspace.list("").await.unwrap().iter().all(|item| item.name != ".git"));
    assert!(matches!(world.read("notes/plan.md").await, Answer::Done { .. }), "names with git in them are fine");
}

#[tokio::test]
async fn files_that_prompts_are_built_from_are_written_only_on_a_persons_word() {
    let world = World::new();
    let workspace = Workspace::guarding(&world.path(""), ["consort.toml".to_owned()]).unwrap();
    let call = |path: &str, may_instruct: bool| {
        let mut call = Invocation::test(json!({ "path": path, "content": "x" }));
        call.account.terms = consort_core::next::Terms { may_instruct, exact: true };
        call
    };
    let write = WriteFile::new(&workspace);
    for path in ["AGENTS.md", "agents.md", "notes/AGENTS.md", "consort.toml"] {
        assert!(matches!(write.call(call(path, false)).await, Answer::Failed(why) if why.contains("agents are told")));
        assert!(!world.path(path).exists());
        assert!(matches!(write.call(call(path, true)).await, Answer::Done { .. }), "{path}");
        let mut edit = call(path, false);
        edit.args = json!({ "path": path, "old": "x", "new": "y" });
        assert!(matches!(EditFile::new(&workspace).call(edit).await, Answer::Failed(_)), "{path}");
    }
    assert_eq!(write.info().reach.guarded, ["AGENTS.md", "consort.toml"]);
    let chain = crate::Pipeline::new("note", "", [crate::Step::new(write.clone()).with("path", "AGENTS.md")]).unwrap();
    fs::remove_file(world.path("AGENTS.md")).unwrap();
    let answer = chain.call(call("AGENTS.md", true)).await;
    assert!(matches!(answer, Answer::Failed(_)), "no step of a chain is on a person's word: {answer:?}");
}

#[tokio::test]
async fn a_file_is_changed_only_while_the_node_may_act() {
    let world = World::new();
    let (may, right) = right::gate();
    let write = WriteFile::new(&world.workspace);
    let call = Invocation::test(json!({ "path": "gated.md", "content": "x" }));
    let gated = tokio::spawn(right::within(right, async move { write.call(call).await }));
    assert!(matches!(world.write("free.md", "x").await, Answer::Done { .. }));
    assert!(!world.path("gated.md").exists());
    may.send_replace(true);
    assert!(matches!(gated.await.unwrap(), Answer::Done { .. }));
    assert!(world.path("gated.md").exists());
}
