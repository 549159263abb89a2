//! `[chat]`: what a conversation may use.

use std::time::Duration;

use consort_chat::{DETACH_GRACE, MAX_CONCURRENT_TURNS};
use consort_core::budget::Limits;
use consort_core::catalog::Permission;
use consort_core::chat::{Mode, Rules};

use super::budget;
use super::fields::Fields;
use super::models::{OPENAI_URL, WEB};
use super::secret::{Address, Secret};
use super::tools::PERMISSIONS;
use super::values::{address, at_least, duration, duration_or_zero, flag, secret, text, word};

/// Conversations.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chat {
    /// The alias asked; absent only when there are no models.
    pub(crate) model: Option<String>,
    /// What may be done without asking: the default, and the most a message may ask for.
    pub(crate) permission_mode: Mode,
    /// Classes of tools on the belt.
    pub(crate) classes: Vec<Permission>,
    /// MCP servers whose tools are on the belt.
    pub(crate) mcp: Vec<String>,
    /// Whether chat in the editor can build workflows.
    pub(crate) workflow_registry: bool,
    /// How long a question for permission stays open.
    pub(crate) approval_timeout: Duration,
    /// How long a turn goes on after its last client has left.
    pub(crate) detach_grace: Duration,
    /// Turns at the same time.
    pub(crate) max_concurrent_turns: usize,
    /// What documents are searched with, besides their words.
    pub(crate) embeddings: Option<Embeddings>,
    /// What a turn may use.
    pub(crate) limits: Limits,
}

/// A model that turns text into vectors.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Embeddings {
    /// What the provider calls it.
    pub(crate) model: String,
    /// Where it is served.
    pub(crate) base_url: Address,
    /// What it is paid with.
    pub(crate) api_key: Option<Secret>,
}

const PERMISSION_MODES: &[(&str, Mode)] = &[("plan", Mode::Plan), ("default", Mode::Default), ("auto", Mode::Auto)];

/// Reads `[chat]`; without a model the catalog's first is asked.
pub(super) fn read(fields: &mut Fields<'_>, first_model: Option<&str>) -> Chat {
    let usual = Rules::default();
    Chat {
        model: fields.read("model", text).or(first_model.map(str::to_owned)),
        permission_mode: fields.read("permission_mode", word(PERMISSION_MODES)).unwrap_or_default(),
        classes: fields.each("classes", word(PERMISSIONS)).unwrap_or(usual.classes),
        mcp: fields.names("mcp", text),
        workflow_registry: fields.read("workflow_registry", flag).unwrap_or(usual.workflow_registry),
        approval_timeout: fields
            .read("approval_timeout", duration)
            .unwrap_or(Duration::from_millis(usual.approval_timeout_ms)),
        detach_grace: fields.read("detach_grace", duration_or_zero).unwrap_or(DETACH_GRACE),
        max_concurrent_turns: fields.read("max_concurrent_turns", at_least(1)).unwrap_or(MAX_CONCURRENT_TURNS),
        embeddings: fields.table("embeddings", embeddings),
        limits: fields.section("budget", |fields| budget::read(fields, &usual.limits)),
    }
}

fn embeddings(fields: &mut Fields<'_>) -> Embeddings {
    Embeddings {
        model: fields.need("model", text).unwrap_or_default(),
        base_url: fields.read("base_url", address(WEB)).unwrap_or_else(|| Address::new(OPENAI_URL)),
        api_key: fields.read("api_key", secret),
    }
}
