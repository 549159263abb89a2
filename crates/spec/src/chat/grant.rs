//! The permissions that a user has given for the rest of a thread: each for one tool and one host, as they were shown.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::Millis;
use crate::requests::catalog::ToolInfo;
use crate::time::Iso;

/// The maximum number of grants of a thread; the oldest lapses.
pub const GRANTS_MAX: usize = 256;

/// The permission to call one tool for the rest of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Its id, unique in its thread.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// The host, or the name of an MCP server or a peer, that its calls may carry data to.
    pub host: Option<String>,
    /// The digest of the tool as it was shown.
    pub digest: String,
    /// The time at which it was given.
    pub at: Millis,
}

impl Grant {
    /// Returns whether it covers a call of this tool to this host.
    pub fn covers(&self, tool: &ToolInfo, host: Option<&str>) -> bool {
        self.tool == tool.name && self.host.as_deref() == host && self.digest == tool.digest()
    }

    /// Returns the grant as it is listed, beside the tools that there are now.
    pub fn view(&self, tools: &[Arc<ToolInfo>]) -> GrantView {
        let Grant { id, tool, host, at, .. } = self.clone();
        let is_other = |now: &&Arc<ToolInfo>| now.name == tool && now.digest() != self.digest;
        let lapsed = tools.iter().any(|now| is_other(&now));
        GrantView { id, tool, host, granted_at: Iso(at), lapsed }
    }
}

/// A permission that was given for the rest of a chat.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Grant")]
pub struct GrantView {
    /// The id to take it back by.
    pub id: String,
    /// The tool that may be called.
    pub tool: String,
    /// The host, MCP server or peer that it may send to; null when it sends nothing.
    pub host: Option<String>,
    /// When it was allowed.
    pub granted_at: Iso,
    /// True where the tool is not the one that was shown then: it is described otherwise, and is asked about again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lapsed: bool,
}
