//! `make install`, with a binary that is built already.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::binary::{Ended, ended};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs `make` with these arguments, below a folder of the test.
fn make(words: &[&str], below: &Path) -> Ended {
    let mut command = Command::new("make");
    command.args(words).current_dir(repository()).env_remove("PREFIX").env("DESTDIR", below);
    let Output { status, stdout, stderr } = command.env("CONSORT_BIN", env!("CARGO_BIN_EXE_consort")).output().unwrap();
    ended(Output { status, stdout, stderr })
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    files.sort();
    files
}

#[test]
fn make_install_puts_a_binary_that_runs_its_completions_and_its_manual_below_the_prefix_and_uninstall_takes_them_away()
{
    let below = tempfile::tempdir().unwrap();
    let (status, words, errors) = make(&["install", "PREFIX=/opt/consort"], below.path());
    assert_eq!((status, errors.as_str()), (Some(0), ""), "{words}");
    let root = below.path().join("opt/consort");
    let shells = [
        "bash-completion/completions/consort",
        "fish/vendor_completions.d/consort.fish",
        "zsh/site-functions/_consort",
    ];
    let expected: Vec<PathBuf> =
        [root.join("bin/consort")].into_iter().chain(shells.map(|file| root.join("share").join(file))).collect();
    let (manual, others): (Vec<PathBuf>, Vec<PathBuf>) =
        files(below.path()).into_iter().partition(|file| file.starts_with(root.join("share/man/man1")));
    assert_eq!(others, expected);
    assert!(manual.contains(&root.join("share/man/man1/consort-serve.1")) && manual.len() > 20, "{manual:?}");
    let version = ended(Command::new(&expected[0]).arg("--version").output().unwrap());
    assert_eq!(version, (Some(0), format!("consort {}\n", env!("CARGO_PKG_VERSION")), String::new()));
    assert!(words.contains(&format!("installed {}, consort ", expected[0].display())), "{words}");
    assert_eq!(make(&["uninstall", "PREFIX=/opt/consort"], below.path()).0, Some(0));
    assert_eq!(files(below.path()), [] as [PathBuf; 0]);
}

#[test]
fn without_a_prefix_it_goes_to_the_home_of_whoever_installs_and_of_root_to_usr_local() {
    let below = tempfile::tempdir().unwrap();
    assert_eq!(make(&["install"], below.path()).0, Some(0));
    let id = Command::new("id").arg("-u").output().unwrap().stdout;
    let home = std::env::var("HOME").unwrap_or_default();
    let prefix = if id == b"0\n" { "/usr/local".to_owned() } else { format!("{home}/.local") };
    assert!(below.path().join(prefix.trim_start_matches('/')).join("bin/consort").is_file());
}
