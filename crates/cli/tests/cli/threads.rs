//! `consort threads`: conversations of a server from the terminal.

use crate::served::Served;

const DEMO: &str = "[models.demo]\nprovider = 'demo'\nmodel = 'm'\n";

#[test]
fn conversations_are_listed_read_and_erased() {
    let server = Served::start(Some(DEMO));
    assert_eq!(server.consort(&["threads", "list"]), (Some(0), String::new(), "no chats\n".to_owned()));
    let (status, _, words) = server.consort(&["chat", "what is 42 * 17?"]);
    assert_eq!(status, Some(0), "{words}");
    assert_eq!(server.consort(&["chat", "--thread", "latest", "and 6 * 7?"]).0, Some(0));
    let listed = server.json(&["threads", "list"]);
    assert_eq!(listed["total"], 1, "{listed}");
    let id = listed["threads"][0]["id"].as_str().unwrap();

    let table = server.said(&["threads", "list"]);
    assert!(table.starts_with("THREAD ") && table.contains(&format!("\n{id}  ")), "{table}");
    assert!(server.said(&["threads", "list", "--search", "42"]).contains(id));
    assert_eq!(server.consort(&["threads", "list", "--search", "zebra"]).2, "no chats\n");

    let shown = server.said(&["threads", "show", "latest"]);
    assert!(shown.starts_with(&format!("thread  {id}\n")), "{shown}");
    assert!(shown.contains("\n── you ──\nwhat is 42 * 17?\n\n── assistant ──\n"), "{shown}");
    assert!(shown.contains("714") && shown.contains("and 6 * 7?"), "{shown}");
    let shown = server.json(&["threads", "show", "thread-"]);
    assert_eq!(shown["id"], id, "{shown}");
    assert_eq!(shown["messages"][0]["content"], "what is 42 * 17?", "{shown}");

    let (status, out, words) = server.consort(&["threads", "show", "thread-x", "--json"]);
    assert_eq!((status, out.contains("\"THREAD_NOT_FOUND\"")), (Some(1), true), "{out}{words}");
    assert_eq!(server.consort(&["threads", "show"]).0, Some(2));
    assert_eq!(server.said(&["threads", "rm", "latest"]), format!("{id}: erased\n"));
    let (status, _, words) = server.consort(&["threads", "rm", "latest"]);
    assert_eq!((status, words.as_str()), (Some(1), "consort: there is no thread yet, so none is the latest\n"));
    let (status, _, words) = server.consort(&["threads", "rm", id]);
    assert_eq!((status, words.ends_with("(THREAD_NOT_FOUND)\n")), (Some(1), true), "{words}");
}
