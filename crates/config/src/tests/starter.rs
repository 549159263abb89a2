//! The starter is valid: as it is, and with every commented setting enabled.

use std::collections::BTreeSet;
use std::path::Path;

use consort_core::spec::OnTimeout;

use super::{CONTRACT, SECRET};
use crate::server::Server;
use crate::typed::{self, Table};
use crate::{Builtin, Config, FILE_NAME, STARTER};

/// Returns the starter with every `#` removed that is directly before a setting.
pub(super) fn switched_on() -> String {
    let on = |line: &'static str| match line.strip_prefix('#') {
        // `#:` is for editors.
        Some(setting) if !setting.is_empty() && !setting.starts_with([' ', ':']) => setting,
        Some(_) | None => line,
    };
    STARTER.lines().map(on).collect::<Vec<_>>().join("\n")
}

fn set(_: &str) -> Option<String> {
    Some(SECRET.to_owned())
}

#[test]
fn the_demo_is_the_starter_and_needs_no_key() {
    let demo = Config::demo();
    assert_eq!(Config::parse(STARTER, Path::new(FILE_NAME), &|_| None), Ok(demo.clone()));
    let template = demo.template.unwrap();
    assert_eq!((demo.models.len(), template.ensemble.tasks.len()), (1, 3));
    assert!(template.ensemble.tasks.iter().any(|task| task.tools == ["calculator"]));
}

#[test]
fn every_setting_of_the_starter_is_known_and_those_of_the_server_are_defaults() {
    let on = Config::parse(&switched_on(), Path::new(FILE_NAME), &set).unwrap();
    let demo = Config::demo();
    assert_eq!((on.chat.rules.limits, on.run_limits), (demo.chat.rules.limits, demo.run_limits));
    assert_eq!(on.tools.builtin, Builtin::ALL, "the starter lists every built-in tool");
    assert_eq!((on.models.len(), on.mcp.len(), on.network.options.peers.len()), (4, 2, 2));
    let Server { on_timeout, workspace, trace_dir, api_keys, oidc, quotas, .. } = on.server.clone();
    assert_eq!((demo.server.on_timeout, on_timeout), (None, Some(OnTimeout::Continue)), "silence approves if written");
    assert_eq!(on.server, Server { on_timeout, workspace, trace_dir, api_keys, oidc, quotas, ..demo.server });
}

#[test]
fn every_key_of_the_contract_is_in_the_starter() {
    let keys = |text: &str| {
        let (table, _notes) = typed::read(text, Path::new(FILE_NAME), &set).unwrap();
        let mut keys = BTreeSet::new();
        collect(&table, &mut keys);
        keys
    };
    let contract = keys(CONTRACT);
    let starter = keys(&switched_on());
    let chosen = ["haiku", "year"].map(str::to_owned);
    let missing: Vec<_> = contract.difference(&starter).filter(|key| !chosen.contains(key)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn collect(table: &Table, keys: &mut BTreeSet<String>) {
    for (name, value) in table {
        keys.insert(name.clone());
        collect_value(value, keys);
    }
}

fn collect_value(value: &typed::Typed, keys: &mut BTreeSet<String>) {
    match value {
        typed::Typed::Table(inner) => collect(inner, keys),
        typed::Typed::List(items) => items.iter().for_each(|item| collect_value(item, keys)),
        typed::Typed::Text(_) | typed::Typed::Whole(_) | typed::Typed::Decimal(_) => {}
        typed::Typed::Flag(_) | typed::Typed::Moment(_) => {}
    }
}
