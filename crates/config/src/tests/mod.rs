//! The configuration as a whole: every kind of mistake with its exact message, the
//! contract's own example, and the starter.

mod contract;
mod reference;
mod starter;

use std::path::Path;

use super::{Builtin, Config, Mistakes};

/// The value of the tests' variables; must be shown nowhere.
const SECRET: &str = "hush-hush";
/// The file of the contract, with its gaps filled in.
const CONTRACT: &str = include_str!("contract.toml");

fn env(name: &str) -> Option<String> {
    let known = ["SECRET", "ANTHROPIC_API_KEY", "SEARCH_KEY", "EMBED_KEY"];
    known.contains(&name).then(|| SECRET.to_owned())
}

fn parse(text: &str, folder: &Path) -> Result<Config, Mistakes> {
    Config::parse(text, &folder.join("consort.toml"), &env)
}

#[test]
fn every_mistake_is_told_with_its_place_and_what_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("broken.json"), r#"{ "type": "#).unwrap();
    std::fs::write(folder.path().join("strin.json"), r#"{ "type": "strin" }"#).unwrap();
    let shop = r#"{ "openapi": "3.0.0", "servers": [{ "url": "http://x" }], "paths": { "/": { "get": { "operationId": "list", "tags": ["issues"] } } } }"#;
    std::fs::write(folder.path().join("shop.json"), shop).unwrap();
    let cases: Vec<&str> = include_str!("mistakes.txt").split("-----\n").skip(1).collect();
    assert!(cases.len() >= 40);
    for case in cases {
        let (text, expected) = case.split_once("\n=> ").unwrap();
        let mut mistakes = parse(&format!("{text}\n"), folder.path()).unwrap_err();
        mistakes.file = "".into();
        let told = mistakes.to_string();
        let told: Vec<&str> = told.lines().map(|line| line.trim_start_matches(':')).collect();
        let expected: Vec<&str> = expected.trim_end().split("\n=> ").collect();
        assert_eq!(told[..told.len() - 1], expected, "{text}");
        let count = if expected.len() == 1 { "1 mistake".to_owned() } else { format!("{} mistakes", expected.len()) };
        assert_eq!(told[told.len() - 1], count);
    }
}

#[test]
fn an_unknown_built_in_tool_is_told_with_those_there_are() {
    let mistakes = parse("[tools]\nbuiltin = ['calculator', 'browser']\n", Path::new("")).unwrap_err();
    let names = Builtin::ALL.iter().copied().map(Builtin::name).collect::<Vec<_>>().join(", ");
    let expected = format!("2:26: tools.builtin[1]: must be one of {names}, not \"browser\"\n");
    assert!(mistakes.to_string().contains(&expected), "{mistakes}");
}

#[test]
fn no_message_shows_what_a_variable_holds() {
    let quotes: Vec<usize> = CONTRACT.match_indices('"').map(|(at, _)| at).collect();
    let mut refused = 0;
    for pair in quotes.chunks(2) {
        let text = format!("{}\"${{SECRET}}{}", &CONTRACT[..pair[0]], &CONTRACT[pair[1]..]);
        if let Err(mistakes) = parse(&text, Path::new("")) {
            refused += 1;
            assert!(!mistakes.to_string().contains(SECRET), "{mistakes}");
        }
    }
    assert!(refused > 30, "{refused}");
}

#[test]
fn a_file_that_is_not_there_is_told_in_words() {
    let mistakes = Config::load(Path::new("nowhere/consort.toml"), &env).unwrap_err();
    assert!(mistakes.to_string().starts_with("nowhere/consort.toml: cannot be read: "), "{mistakes}");
}

#[test]
fn an_empty_file_has_no_models_no_ensemble_and_no_mistakes() {
    let config = parse("", Path::new("home")).unwrap();
    assert!(config.models.is_empty() && config.template.is_none() && config.chat.rules.model.is_none());
    assert_eq!(config.store, Path::new("home/consort-data"));
    let ensemble = "[ensemble]\nname = 'e'\n[[ensemble.task]]\ndescription = 'x'\n[run.budget]\nmax_cost_usd = 1\n";
    assert!(parse(ensemble, Path::new("home")).is_ok());
}

#[test]
fn models_keep_the_order_of_the_file_and_the_first_one_is_the_default() {
    let model = |alias: &str| format!("[models.{alias}]\nprovider = \"demo\"\nmodel = \"m\"\n");
    let config = parse(&["zeta", "alpha", "mid"].map(model).concat(), Path::new("")).unwrap();
    let aliases: Vec<&str> = config.models.iter().map(|model| model.info.alias.as_str()).collect();
    assert_eq!(aliases, ["zeta", "alpha", "mid"]);
    assert_eq!(config.chat.rules.model.as_deref(), Some("zeta"));
}

#[test]
fn tools_that_exist_only_once_a_server_runs_are_taken_on_trust() {
    let task = "[ensemble]\nname = 'e'\n[[ensemble.task]]\ndescription = 'x {topic}'\ntools = ['append_line', 'run_subtask', 'files:*']\n";
    assert!(parse(task, Path::new("")).is_err());
    assert!(parse(&format!("[mcp.files]\ncommand = 'x'\n{task}"), Path::new("")).is_ok());
}

#[test]
fn a_key_opens_a_bind_to_other_machines() {
    let bind = |host: &str| format!("[server]\nhost = '{host}'\n");
    let key = format!("[[server.api_key]]\nname = 'ci'\nkey_sha256 = '{}'\n", "0f".repeat(32));
    for host in ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost"] {
        assert!(parse(&bind(host), Path::new("")).is_ok(), "{host}");
    }
    for host in ["0.0.0.0", "::", "10.0.0.7", "example.org"] {
        assert!(parse(&bind(host), Path::new("")).is_err(), "{host}");
        assert!(parse(&format!("{}{key}", bind(host)), Path::new("")).is_ok(), "{host}");
    }
}

#[test]
fn schemas_may_stand_in_a_file_beside_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("answer.json"), r#"{ "type": "object" }"#).unwrap();
    let task = "[ensemble]\nname = 'e'\n[[ensemble.task]]\ndescription = 'x'\noutput_schema_file = 'answer.json'\n";
    let template = parse(task, folder.path()).unwrap().template.unwrap();
    assert_eq!(template.ensemble.tasks[0].output_schema, Some(serde_json::json!({ "type": "object" })));
}

#[test]
fn made_up_files_are_refused_with_their_mistakes_or_mean_something() {
    let examples = [CONTRACT, super::STARTER, "[server]\nport = 1\n", "[telemetry]\notlp_endpoint = 'http://a'\n"];
    consort_fuzz::text(&examples, |text| {
        let told = parse(text, Path::new("home")).map_err(|mistakes| mistakes.to_string());
        assert!(!matches!(&told, Err(words) if words.trim().is_empty() || words.contains(SECRET)), "{told:?}");
    });
}

#[test]
fn allowed_hosts_are_hosts_or_names_and_a_port_does_not_count() {
    let read = |list: &str| parse(&format!("[chat]\nallowed_hosts = {list}\n"), Path::new("home"));
    let hosts = read("['API.example.com:443', 'files', '[::1]']").unwrap().chat.rules.allowed_hosts;
    assert_eq!(hosts, ["api.example.com", "files", "::1"]);
    for wrong in ["'https://example.com/x'", "7", "''", "'a b'", "'me@example.com'", "'::1'"] {
        let mistakes = read(&format!("[{wrong}]")).unwrap_err().to_string();
        assert!(mistakes.contains("chat.allowed_hosts[0]") && mistakes.contains("a host such as"), "{mistakes}");
    }
}
