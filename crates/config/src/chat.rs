//! `[chat]`: the models, tools and limits of chats.

use std::time::Duration;

use consort_chat::{DETACH_GRACE, MAX_CONCURRENT_TURNS};
use consort_core::chat::{Mode, Rules};
use consort_core::reach::host_alone;
use consort_models::{Options, Provider};

use super::budget;
use super::fields::Fields;
use super::models::WEB;
use super::tools::{PERMISSIONS, millis};
use super::typed::Typed;
use super::values::{Parsed, address, at_least, duration, duration_or_zero, flag, refused, text, word};

/// Chats.
#[derive(Clone, Debug, PartialEq)]
pub struct Chat {
    /// The limits and permissions of a turn; a model is absent only when there is none.
    pub rules: Rules,
    /// MCP servers whose tools chats may use.
    pub mcp: Vec<String>,
    /// The time that a turn goes on after its last client has left.
    pub detach_grace: Duration,
    /// The maximum number of turns at the same time.
    pub max_concurrent_turns: usize,
    /// The model documents are searched with, besides their words.
    pub embeddings: Option<Options>,
}

const PERMISSION_MODES: &[(&str, Mode)] = &[("plan", Mode::Plan), ("default", Mode::Default), ("auto", Mode::Auto)];

/// Reads `[chat]`; without a model the catalog's first is used.
pub(super) fn read(fields: &mut Fields<'_>, first_model: Option<&str>) -> Chat {
    let usual = Rules::default();
    let rules = Rules {
        model: fields.read("model", text).or(first_model.map(str::to_owned)),
        mode: fields.read("permission_mode", word(PERMISSION_MODES)).unwrap_or_default(),
        classes: fields.each("classes", word(PERMISSIONS)).unwrap_or(usual.classes),
        workflow_registry: fields.read("workflow_registry", flag).unwrap_or(usual.workflow_registry),
        approval_timeout_ms: fields.read("approval_timeout", duration).map_or(usual.approval_timeout_ms, millis),
        allowed_hosts: fields.each("allowed_hosts", host).unwrap_or_default(),
        limits: fields.section("budget", |fields| budget::read(fields, &usual.limits)),
    };
    Chat {
        rules,
        mcp: fields.names("mcp", text),
        detach_grace: fields.read("detach_grace", duration_or_zero).unwrap_or(DETACH_GRACE),
        max_concurrent_turns: fields.read("max_concurrent_turns", at_least(1)).unwrap_or(MAX_CONCURRENT_TURNS),
        embeddings: fields.table("embeddings", embeddings),
    }
}

/// Parses a host, or the name of an MCP server or a peer. A port is ignored.
fn host(value: &Typed) -> Parsed<String> {
    let wanted = "a host such as \"api.example.com\", or the name of an MCP server or a peer";
    let named = if let Typed::Text(typed) = value { host_alone(&typed.meant) } else { None };
    named.map_or_else(|| refused(value, wanted), Ok)
}

fn embeddings(fields: &mut Fields<'_>) -> Options {
    let model = fields.need("model", text).unwrap_or_default();
    let base_url = fields.read("base_url", address(WEB));
    let base_url = base_url.as_deref().unwrap_or(Provider::OpenAi.base_url());
    Options { api_key: fields.read("api_key", text), ..Options::new(base_url, &model) }
}
