//! Files: named in messages, attached to runs, written in the configuration.

use std::path::Path;

use serde_json::{Value, json};

use crate::binary::{piped, run};
use crate::model::Model;
use crate::served::Served;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";
const SHOWN: &str = "## Attached file: prices.csv\n\ntea,3";

/// Files to attach, and a configuration with a task that has one.
fn place(folder: &Path, model: &Model) -> String {
    std::fs::write(folder.join("prices.csv"), "tea,3").unwrap();
    std::fs::write(folder.join("my photo.png"), PNG).unwrap();
    let task = "[ensemble]\nname = 'prices'\n[[ensemble.task]]\nname = 'a'\ndescription = 'Find what costs most'\n";
    let config = format!("{}vision = true\n{task}", model.config);
    std::fs::write(folder.join("consort.toml"), &config).unwrap();
    config
}

/// The parts of the last message the model was told.
fn parts(model: &Model) -> Vec<Value> {
    serde_json::from_str(&model.told.recv().unwrap()).unwrap()
}

/// The exit status, output and messages of a command.
type Told = (Option<i32>, String, String);
/// A way to give a command.
type Way<'a> = &'a dyn Fn(&[&str]) -> Told;

#[test]
fn a_message_attaches_the_files_it_names_here_and_on_a_server() {
    let model = Model::saying("Done.");
    let folder = tempfile::tempdir().unwrap();
    let config = place(folder.path(), &model);
    let server = Served::start(Some(&config));
    server.write("prices.csv", "tea,3");
    let here = |typed: &[&str]| run(folder.path(), typed);
    let there = |typed: &[&str]| server.consort(typed);
    let ways: [Way<'_>; 2] = [&here, &there];
    for consort in ways {
        let (status, answer, words) = consort(&["chat", "What costs @prices.csv most?"]);
        assert_eq!((status, answer.trim()), (Some(0), "Done."), "{words}");
        assert_eq!(model.told.recv().unwrap(), format!("What costs @prices.csv most?\n\n{SHOWN}"));
        let (status, _, words) = consort(&["chat", "What is @nowhere.pdf?"]);
        assert_eq!((status, words.trim()), (Some(2), "there is no file 'nowhere.pdf' to attach"));
    }
    let (status, _, words) = here(&["chat", "Who is on @\"my photo.png\"?"]);
    assert_eq!(status, Some(0), "{words}");
    let url = "data:image/png;base64,iVBORw0KGgpyZXN0";
    let expected = [
        json!({ "type": "text", "text": "Who is on @\"my photo.png\"?" }),
        json!({ "type": "image_url", "image_url": { "url": url } }),
    ];
    assert_eq!(parts(&model), expected);
    let (status, _, words) = piped(folder.path(), &["chat"], "What costs @prices.csv most?");
    assert_eq!(status, Some(0), "{words}");
    assert_eq!(model.told.recv().unwrap(), "What costs @prices.csv most?", "who wrote it does not choose files");
}

#[test]
fn a_picture_for_a_model_that_cannot_see_is_refused_before_it_is_asked() {
    let model = Model::saying("Done.");
    let folder = tempfile::tempdir().unwrap();
    place(folder.path(), &model);
    std::fs::write(folder.path().join("consort.toml"), &model.config).unwrap();
    let (status, _, words) = run(folder.path(), &["chat", "Who is on @\"my photo.png\"?"]);
    assert_eq!(status, Some(2), "{words}");
    assert!(words.contains("model 'm' cannot see the picture 'my photo.png'"), "{words}");
    assert!(model.told.try_recv().is_err());
}

#[test]
fn a_run_takes_files_from_the_command_line_and_from_its_configuration() {
    let model = Model::saying("Done.");
    let folder = tempfile::tempdir().unwrap();
    let config = place(folder.path(), &model);
    let server = Served::start(Some(&config));
    server.write("prices.csv", "tea,3");
    for (status, _, words) in
        [run(folder.path(), &["run", "--attach", "prices.csv"]), server.consort(&["run", "--attach", "prices.csv"])]
    {
        assert_eq!(status, Some(0), "{words}");
        let told = model.told.recv().unwrap();
        assert!(told.ends_with(SHOWN), "{told}");
    }
    let (status, _, words) = run(folder.path(), &["run", "--attach", "nowhere.pdf"]);
    assert!(status != Some(0) && words.contains("'nowhere.pdf' cannot be attached"), "{status:?} {words}");
    let named = format!("{config}attachments = ['./prices.csv', '{{picture}}']\n");
    std::fs::write(folder.path().join("consort.toml"), named).unwrap();
    let (status, _, words) = run(folder.path(), &["check"]);
    assert_eq!(status, Some(0), "{words}");
    let (status, _, words) = run(folder.path(), &["run", "--input", "picture=./prices.csv"]);
    assert!(status != Some(0) && words.contains("there is no attachment './prices.csv'"), "{status:?} {words}");
}

#[test]
fn what_cannot_be_attached_is_told_by_check_with_its_place() {
    let model = Model::saying("Done.");
    let folder = tempfile::tempdir().unwrap();
    let config = place(folder.path(), &model);
    std::fs::write(folder.path().join("no.png"), "no picture").unwrap();
    for (written, told) in [
        ("'nowhere.pdf'", "ensemble.task[0].attachments[0]: cannot be read: "),
        ("'no.png'", "ensemble.task[0].attachments[0]: cannot be attached: the bytes are not those of 'image/png'"),
        ("'prices.csv', '{dir}/x.pdf'", "ensemble.task[0].attachments[1]: a path is written literally"),
    ] {
        std::fs::write(folder.path().join("consort.toml"), format!("{config}attachments = [{written}]\n")).unwrap();
        let (status, _, words) = run(folder.path(), &["check"]);
        assert!(status == Some(2) && words.contains(told), "{status:?} {words}");
    }
    let blind = format!("{config}attachments = ['my photo.png']\n").replace("vision = true\n", "");
    std::fs::write(folder.path().join("consort.toml"), blind).unwrap();
    let (status, _, words) = run(folder.path(), &["check"]);
    assert!(status == Some(2) && words.contains("the model `m` cannot see pictures"), "{status:?} {words}");
}
